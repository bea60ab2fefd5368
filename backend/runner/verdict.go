package runner

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"loop/backend/core"
	"loop/backend/runner/transcript"
)

func cancelledFailure() *core.Failure {
	return core.Fail(core.CodeCancelled, nil, "The run was stopped.", "Send the prompt again if you want it to be done.")
}

// verdict says how a run ended and why. Retrying would be decided here.
func (w *work) verdict(e ending) (core.RunState, *core.Failure) {
	r, cause := w.parser.Result(), w.cause()
	switch {
	case r != nil && !r.Failed():
		return core.RunDone, nil // it had succeeded, whatever came after
	case errors.Is(cause, errCancelled) && !e.engineLost:
		return core.RunCancelled, cancelledFailure()
	case errors.Is(cause, errTimeout):
		return core.RunFailed, core.Fail(core.CodeTimeout, nil,
			fmt.Sprintf("The run took longer than %s and was stopped.", w.timeout().Round(time.Second)),
			"Raise container_timeout_sec in the settings, or split the work into smaller prompts.")
	case errors.Is(cause, errSpoolFull):
		return core.RunFailed, core.Fail(core.CodeSpoolFull, nil,
			"The agent printed more than Loop keeps of one run, and was stopped.",
			"Ask for less output at once; everything up to here is in the timeline.")
	case errors.Is(cause, errDiskFull):
		return core.RunFailed, diskFull("")
	case w.setupEnd != nil:
		return core.RunFailed, setupFailure(w.setupEnd)
	}
	detail := w.evidence(e)
	if r != nil {
		return core.RunFailed, resultFailure(r, w.parser.APIError(), detail)
	}
	if e.noLink != nil {
		return w.unlinked(e), withDetail(noLinkFailure(e.noLink), detail)
	}
	if e.early {
		return core.RunInterrupted, withDetail(core.Fail(core.CodeInterrupted, nil,
			"Loop was not running when this run's container ended, and the agent had given no result.",
			"Send the prompt again; everything the agent did until then is in the timeline and in the folder."), detail)
	}
	if e.engineLost {
		return core.RunFailed, withDetail(core.Fail(core.CodeEngineLost, nil,
			"The container engine went away during the run.",
			"Start the engine and send the prompt again; everything the agent did until then is in the timeline."), detail)
	}
	return core.RunFailed, noResultFailure(e, w.parser, detail)
}

// unlinked: a run of an earlier launch is interrupted, one of this launch failed.
func (w *work) unlinked(e ending) core.RunState {
	if e.early {
		return core.RunInterrupted
	}
	return core.RunFailed
}

// noLinkFailure explains a container that lived and could not be linked to any
// more, for instance because another version of Loop had made it.
func noLinkFailure(err error) *core.Failure {
	cause := "Loop could not link to the run's container again, so it stopped it."
	if f, ok := errors.AsType[*core.Failure](err); ok {
		cause += " " + f.Cause
	}
	return core.Fail(core.CodeNoLink, err, cause,
		"Send the prompt again; everything the agent did until then is in the timeline and in the folder.")
}

// setupFailure explains an error from before the CLI ran.
func setupFailure(err error) *core.Failure {
	if f, ok := errors.AsType[*core.Failure](err); ok {
		return f
	}
	switch {
	case errors.Is(err, core.ErrNoImage):
		return core.Fail(core.CodeNoImage, err, "The agent image is missing.", "Build it with “loop image build” or in the window.")
	case errors.Is(err, core.ErrLinkDown):
		return core.Fail(core.CodeNoLink, err, "The connection into the container broke before the agent had started.", "Try again; if it repeats, run “loop doctor”.")
	case errors.Is(err, core.ErrNotRunning), errors.Is(err, core.ErrNotFound):
		return core.Fail(core.CodeNoLink, err, "The container ended before the agent had started.", "Try again; if it repeats, run “loop doctor”.")
	case strings.HasPrefix(err.Error(), "start agent:"):
		return core.Fail(core.CodeNoResult, err, "The agent could not be started in the container.", "Check claude_bin_path in the settings, or build the agent image again.")
	}
	return core.AsFailure(err)
}

func resultFailure(r *transcript.Result, refused *transcript.APIError, detail string) *core.Failure {
	text := r.Text
	if text == "" {
		text = strings.Join(r.Errors, "\n")
	}
	kind := ""
	if refused != nil {
		kind = refused.Kind
	}
	low := strings.ToLower(text)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(low, w) {
				return true
			}
		}
		return false
	}
	status := ""
	if r.APIErrorStatus > 0 {
		status = fmt.Sprintf(" (%d)", r.APIErrorStatus)
	}
	var f *core.Failure
	switch { // limits before rates: a used-up plan is not helped by waiting a minute
	case has("not logged in", "please run /login"):
		f = core.Fail(core.CodeCredentials, nil, "The agent has no credentials for the model.",
			"Set an Anthropic API key or a Claude Code token in the settings, or use the demo channel.")
	case r.APIErrorStatus == 401, r.APIErrorStatus == 403, kind == "authentication_failed", has("invalid api key", "token has expired", "token revoked"):
		f = core.Fail(core.CodeModelAuth, nil, "The model's API refused the credentials"+status+".",
			"Check the API key or token in the settings; if it is right, check that it may use this model.")
	case kind == "billing_error", has("credit balance", "billing", "payment"):
		f = core.Fail(core.CodeModelLimit, nil, "The account behind the credentials has no credit left.",
			"Add credit to the account, or set other credentials in the settings.")
	case has("usage limit", "session limit", "weekly limit", "hit your limit"):
		f = core.Fail(core.CodeModelLimit, nil, "The usage limit of the plan is reached.",
			"Wait until the limit is reset, or set other credentials in the settings.")
	case r.APIErrorStatus == 429, kind == "rate_limit", has("(429)"):
		f = core.Fail(core.CodeModelLimit, nil, "The model's API limits the rate of requests"+status+".",
			"Wait a minute and try again.")
	case r.APIErrorStatus == 529, kind == "overloaded", has("overloaded"):
		f = core.Fail(core.CodeModelOverloaded, nil, "The model is overloaded"+status+".", "Wait a few minutes and try again.")
	case r.TerminalReason == "prompt_too_long", has("prompt is too long"):
		f = core.Fail(core.CodeModel, nil, "The conversation has become too long for the model.",
			"Send /compact as a prompt, or go on in a new channel.")
	case has("no conversation found"):
		f = core.Fail(core.CodeModel, nil, "The agent does not have the earlier conversation any more.",
			"Send the prompt again; it starts a new conversation.")
	case diskText(low):
		f = diskFull("")
	case r.APIErrorStatus >= 500:
		f = core.Fail(core.CodeModel, nil, "The model's API failed"+status+".", "Try again in a few minutes.")
	case r.APIErrorStatus > 0:
		f = core.Fail(core.CodeModel, nil, "The model's API refused the request"+status+".", "Look at the details; another model or a shorter prompt may help.")
	case has("malformed response", "connection error", "unable to connect", "fetch failed", "socket hang up", "econnre", "stream", "terminated", "timed out"):
		f = core.Fail(core.CodeModel, nil, "The connection to the model broke off.",
			"Check the network and anthropic_base_url in the settings, then try again.")
	case r.Subtype == "error_max_turns":
		f = core.Fail(core.CodeModel, nil, "The agent stopped at its limit of turns.", "Send a prompt such as “go on” to let it continue.")
	default:
		f = core.Fail(core.CodeModel, nil, "The agent reported an error.", "Look at the details and try again.")
	}
	if text != "" && !strings.Contains(detail, text) {
		detail = strings.TrimSpace(text + "\n" + detail)
	}
	return withDetail(f, detail)
}

func noResultFailure(e ending, p *transcript.Parser, detail string) *core.Failure {
	code := 0
	switch {
	case e.exit != nil:
		code = e.exit.Code
	case e.facts != nil:
		code = e.facts.ExitCode
	}
	var f *core.Failure
	switch {
	case e.facts != nil && e.facts.OOMKilled:
		f = core.Fail(core.CodeOutOfMemory, nil, "The container ran out of memory and the agent was killed.",
			"Raise container_memory_mb in the settings, or ask for less at once.")
	case diskText(strings.ToLower(detail)):
		f = diskFull("")
	case code == 137:
		f = core.Fail(core.CodeKilled, nil, "The agent was killed (exit code 137) without a result.",
			"If you did not stop its container, memory was probably short: raise container_memory_mb in the settings and check that the disk is not full.")
	case code == 126, code == 127:
		f = core.Fail(core.CodeNoResult, nil, fmt.Sprintf("The agent could not be started in the container (exit code %d).", code),
			"Check claude_bin_path in the settings, or build the agent image again.")
	case e.gone && e.exit == nil:
		f = core.Fail(core.CodeKilled, nil, "The container ended before the agent had given a result.",
			"Send the prompt again; everything the agent did until then is in the timeline and in the folder.")
	case p.Lines() == 0 && p.Garbage() == "" && e.stderr == "":
		f = core.Fail(core.CodeNoResult, nil, fmt.Sprintf("The agent ended without printing anything (exit code %d).", code),
			"Try again; if it repeats, build the agent image again.")
	default:
		f = core.Fail(core.CodeNoResult, nil, fmt.Sprintf("The agent ended without a result (exit code %d).", code),
			"Look at what it printed in the details, and try again.")
	}
	return withDetail(f, detail)
}

func diskFull(detail string) *core.Failure {
	return withDetail(core.Fail(core.CodeDiskFull, nil, "The disk is full, so the agent could not go on.",
		"Free some space on the disk of the container engine and of the folder, then send the prompt again."), detail)
}

func diskText(low string) bool {
	return strings.Contains(low, "enospc") || strings.Contains(low, "no space left on device")
}

// evidence is what was printed besides the transcript, for the details.
func (w *work) evidence(e ending) string {
	var parts []string
	if s := strings.TrimSpace(strings.ToValidUTF8(e.stderr, "\uFFFD")); s != "" {
		parts = append(parts, "stderr:\n"+s)
	}
	if s := strings.TrimSpace(w.parser.Garbage()); s != "" {
		parts = append(parts, "stdout:\n"+s)
	}
	if a := w.parser.APIError(); a != nil {
		parts = append(parts, a.Text)
	}
	if e.facts != nil && e.facts.Error != "" {
		parts = append(parts, "engine: "+e.facts.Error)
	}
	return strings.Join(parts, "\n")
}

func withDetail(f *core.Failure, detail string) *core.Failure {
	const most = 8 << 10
	if len(detail) > most {
		detail = strings.ToValidUTF8(detail[:most], "")
	}
	if detail != "" {
		f.Detail = strings.TrimSpace(f.Detail + "\n" + detail)
	}
	return f
}

// noSession: the CLI itself says that the session to resume does not exist.
func (w *work) noSession() bool {
	r := w.parser.Result()
	return r != nil && r.Failed() && strings.Contains(strings.Join(r.Errors, "\n")+r.Text, "No conversation found with session ID")
}
