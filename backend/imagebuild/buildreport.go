package imagebuild

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"loop/agentimage"
	"loop/backend/core"
)

// reporter gathers what a build says and publishes it a few times a second.
type reporter struct {
	s *Service

	mu    sync.Mutex
	st    core.ImageStatus
	dirty bool
	out   *output // all that is said
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
	r.out.add(text)
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
	tick := time.Tick(publishEvery)
	for {
		r.mu.Lock()
		dirty := r.dirty
		r.dirty = false
		r.mu.Unlock()
		if dirty {
			r.s.opts.Publish(r.said())
		}
		select {
		case <-tick:
		case <-stop:
			return
		}
	}
}

// buildProgress estimates how far a build is from what the builder prints: steps read
// “#9 [claude 2/2] RUN …” from BuildKit, which counts within a stage, and
// “Step 3/12 : RUN …” from the engine's own builder, which counts through.
type buildProgress struct {
	counts int               // how many counts there will be: a stage's size is known only once one of its steps was seen
	steps  map[string][2]int // by stage: step, steps
	of     int               // steps of the stage that moved last
	lines  int               // of output since it did
}

// kitStages is how many stages agentimage/Dockerfile has.
const kitStages = 3

var buildStep = regexp.MustCompile(`^(?:#\d+ \[([\w-]+) +|Step )(\d{1,3})/(\d{1,3})[] ]`)

func (p *buildProgress) line(line string) float64 {
	if m := buildStep.FindStringSubmatch(line); m != nil && len(p.steps) < 2*kitStages {
		n, _ := strconv.Atoi(m[2])
		of, _ := strconv.Atoi(m[3])
		if n > p.steps[m[1]][0] && n <= of {
			p.steps[m[1]] = [2]int{n, of}
			p.of, p.lines = of, 0
		}
	}
	p.lines++
	var sum float64
	for _, s := range p.steps {
		sum += float64(s[0]-1) / float64(s[1])
	}
	// A stage that has begun means that those before it are nearly done, and a
	// long step that it moves: installing packages prints some 300 lines.
	sum += 0.4 * float64(max(0, len(p.steps)-1))
	if p.of > 0 {
		sum += 0.8 / float64(p.of) * float64(p.lines) / float64(p.lines+150)
	}
	return min(sum/float64(p.counts), 0.95)
}

// builder takes what a builder prints.
func (r *reporter) builder(counts int) func(line string) {
	p := buildProgress{counts: counts, steps: map[string][2]int{}}
	return func(line string) {
		r.line(line)
		r.progress(shareProbe + p.line(line)*(shareBuild-shareProbe))
	}
}

// explain turns what went wrong into a failure with a remedy, looking at the
// last lines of output for causes a person can act on. what names the image.
func explain(ctx context.Context, what string, err error, lines []string) error {
	if ctx.Err() != nil {
		return cancelled(context.Cause(ctx))
	}
	// CodeInternal is the engine's own words on a failed step.
	if f, ok := errors.AsType[*core.Failure](err); ok && f.Code != core.CodeInternal {
		return err
	}
	tail := lines[max(0, len(lines)-12):]
	text := strings.ToLower(err.Error() + "\n" + strings.Join(tail, "\n"))
	cause, remedy := "The "+what+" could not be built.", "Look at the last lines of the build in the detail, then try again."
	code := core.CodeImageBuild
	switch {
	case strings.Contains(text, agentimage.NotDebian):
		cause = "The " + what + " could not be built: the image beneath is neither Debian nor Ubuntu."
		remedy = "Loop installs what agents need with apt-get. Name an image of Debian or Ubuntu, or use .loop/setup.sh."
	case containsAny(text, "no space left on device"):
		code = core.CodeDiskFull
		cause = "The " + what + " could not be built: the engine's disk is full."
		remedy = "Free space, for example with “docker image prune” and “docker builder prune”, then try again."
	case containsAny(text, "certificate", "self-signed", "x509", "ssl routines"):
		cause, remedy = "The "+what+" could not be built: a server's certificate was not trusted.",
			"If a proxy inspects TLS here, name its certificate file in extra_ca_files in the settings, then try again."
	case containsAny(text, "could not resolve", "temporary failure resolving", "no such host", "connection refused", "connection timed out",
		"network is unreachable", "failed to fetch", "could not connect", "i/o timeout", "curl: (6)", "curl: (7)", "curl: (28)", "curl: (35)"):
		cause = "The " + what + " could not be built: a download failed."
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
