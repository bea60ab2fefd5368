package imagebuild

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"loop/backend/core"
)

// reporter gathers what a build says and publishes it a few times a second.
type reporter struct {
	s *Service

	mu    sync.Mutex
	st    core.ImageStatus
	dirty bool
}

// step names what is done now and how far the whole is, 0 to 1.
func (r *reporter) step(text string, progress float64) {
	r.change(func() {
		r.st.Step = text
		r.st.Progress = max(r.st.Progress, min(progress, 1)) // never backwards
	})
	r.s.log.Info("image build", "step", text)
}

// progress moves the estimate without naming a new step.
func (r *reporter) progress(p float64) {
	r.change(func() { r.st.Progress = max(r.st.Progress, min(p, 1)) })
}

// line keeps a line of output.
func (r *reporter) line(text string) {
	text = strings.ToValidUTF8(strings.TrimRight(text, "\r\n"), "�")
	if i := strings.LastIndexByte(text, '\r'); i >= 0 {
		text = text[i+1:] // a progress bar's last state
	}
	if text = clip(text); strings.TrimSpace(text) == "" {
		return
	}
	r.change(func() {
		r.st.Lines = append(r.st.Lines, text)
		if over := len(r.st.Lines) - keptLines; over > 0 {
			r.st.Lines = slices.Delete(r.st.Lines, 0, over)
		}
	})
	r.s.log.Debug("image build", "line", text)
}

// remark sets what the person should know about the image even when all went well.
func (r *reporter) remark(text string) {
	r.change(func() { r.st.Note = text })
	r.s.log.Warn("image build", "note", text)
}

func (r *reporter) change(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
	r.dirty = true
}

// said is what the build has said so far.
func (r *reporter) said() core.ImageStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	st := r.st
	st.Lines = slices.Clone(st.Lines)
	return st
}

func (r *reporter) publishLoop(stop <-chan struct{}) {
	t := time.NewTicker(publishEvery)
	defer t.Stop()
	for {
		r.mu.Lock()
		dirty := r.dirty
		r.dirty = false
		r.mu.Unlock()
		if dirty {
			r.s.opts.Publish(r.said())
		}
		select {
		case <-t.C:
		case <-stop:
			return
		}
	}
}

// explain turns what went wrong into a failure with a remedy, looking at the
// last lines of output for causes a person can act on.
func explain(ctx context.Context, err error, lines []string) error {
	if ctx.Err() != nil {
		return cancelled(context.Cause(ctx))
	}
	// CodeInternal is the engine's own words on a failed step.
	if f, ok := errors.AsType[*core.Failure](err); ok && f.Code != core.CodeInternal {
		return err
	}
	tail := lines[max(0, len(lines)-12):]
	text := strings.ToLower(err.Error() + "\n" + strings.Join(tail, "\n"))
	cause, remedy := "The agent image could not be built.", "Look at the last lines of the build in the detail, then try again."
	code := core.CodeImageBuild
	switch {
	case containsAny(text, "no space left on device"):
		code = core.CodeDiskFull
		cause = "The agent image could not be built: the engine's disk is full."
		remedy = "Free space, for example with “docker image prune” and “docker builder prune”, then try again."
	case containsAny(text, "certificate", "self-signed", "x509", "ssl routines"):
		cause, remedy = "The agent image could not be built: a server's certificate was not trusted.",
			"If a proxy inspects TLS here, name its certificate file in extra_ca_files in the settings, then try again."
	case containsAny(text, "could not resolve", "temporary failure resolving", "no such host", "connection refused", "connection timed out",
		"network is unreachable", "failed to fetch", "could not connect", "i/o timeout", "curl: (6)", "curl: (7)", "curl: (28)", "curl: (35)"):
		cause = "The agent image could not be built: a download failed."
		remedy = "Check the network connection and the proxy settings, then try again."
	}
	f := core.Fail(code, err, cause, remedy)
	f.Detail = err.Error()
	if len(tail) > 0 {
		f.Detail += "\n\n" + strings.Join(tail, "\n")
	}
	return f
}

func containsAny(s string, subs ...string) bool {
	return slices.ContainsFunc(subs, func(sub string) bool { return strings.Contains(s, sub) })
}
