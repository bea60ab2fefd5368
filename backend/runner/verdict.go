package runner

import (
	"errors"
	"fmt"
	"strings"

	"loop/backend/core"
)

// cancelled is what a run ends with that a person has stopped.
func cancelled() *core.Failure {
	return core.Fail(core.CodeCancelled, nil, "The run was stopped.", "Send the prompt again if you want it to be done.")
}

// because says why a try failed, as far as the next step depends on it.
type because int

const (
	becauseEnd     because = iota // a person has to act first
	becauseBusy                   // the same again after a while
	becauseTooLong                // the conversation has to be compacted
	becauseLost                   // the session does not exist any more
	becauseOther                  // once more, in case it was the conversation's fault
)

// verdict says how a run ended and why. When a second try was made for a
// failure and failed too, the first failure counts, with the other's words.
func (w *work) verdict(e ending) (core.RunState, *core.Failure) {
	state, f, why := w.judge(e)
	first := w.run.Attempt.Failure
	if state == core.RunFailed && first != nil && why != becauseEnd {
		told := *first
		return state, withDetail(&told, "The next try: "+f.Cause+"\n"+f.Detail)
	}
	if n := w.run.Attempt.Transient; why == becauseBusy && n > 0 {
		f.Cause += fmt.Sprintf(" Loop tried %d times.", n+1)
	}
	return state, f
}

// judge says how a try ended.
func (w *work) judge(e ending) (core.RunState, *core.Failure, because) {
	r, cause := w.parser.Result, w.cause()
	switch {
	case r != nil && !r.Failed():
		return core.RunDone, nil, becauseEnd // it had succeeded, whatever came after
	case w.stopped() && (e.gone || !e.engineLost): // what was asked for is proven
		return core.RunCancelled, cause, becauseEnd
	case w.parser.Asked != nil:
		return core.RunDone, nil, becauseEnd
	case cause != nil && cause.Code == core.CodeModelAuth:
		told := *cause
		return core.RunFailed, withDetail(&told, w.evidence(e)), becauseEnd
	case cause != nil && !w.stopped():
		return core.RunFailed, cause, becauseEnd
	case w.setupEnd != nil:
		return core.RunFailed, setupFailure(w.setupEnd), becauseEnd
	}
	state, detail := core.RunFailed, w.evidence(e)
	if e.early { // this launch of Loop has not seen it
		state = core.RunInterrupted
	}
	switch {
	case r != nil:
		f, why := resultFailure(r, w.parser.APIError, detail)
		return core.RunFailed, f, why
	case e.noLink != nil:
		return state, withDetail(noLinkFailure(e.noLink), detail), becauseEnd
	case e.early:
		return state, withDetail(core.Fail(core.CodeInterrupted, nil,
			"Loop was not running when this run's container ended, and the agent had given no result.", workStays), detail), becauseEnd
	case e.engineLost:
		return state, withDetail(core.Fail(core.CodeEngineLost, nil, "The container engine went away during the run.",
			"Start the engine and send the prompt again; everything the agent did until then is in the timeline."), detail), becauseEnd
	}
	f, why := noResultFailure(e, w.parser, detail)
	return state, f, why
}

// workStays is the remedy where nothing but the rest of the run is lost.
const workStays = "Send the prompt again; everything the agent did until then is in the timeline and in the folder."

// noLinkFailure explains a container that lived and could not be linked to any
// more, for instance because another version of Loop had made it.
func noLinkFailure(err error) *core.Failure {
	cause := "Loop could not link to the run's container again, so it stopped it."
	if f, ok := errors.AsType[*core.Failure](err); ok {
		cause += " " + f.Cause
	}
	return core.Fail(core.CodeNoLink, err, cause, workStays)
}

// setupFailure explains an error from before the CLI ran.
func setupFailure(err error) *core.Failure {
	if f, ok := errors.AsType[*core.Failure](err); ok {
		return f
	}
	const again = "Try again; if it repeats, run “loop doctor”."
	switch {
	case errors.Is(err, core.ErrNoImage):
		return core.Fail(core.CodeNoImage, err, "The agent image is missing.", "Build it with “loop image build” or in the window.")
	case errors.Is(err, core.ErrLinkDown):
		return core.Fail(core.CodeNoLink, err, "The connection into the container broke before the agent had started.", again)
	case errors.Is(err, core.ErrNotRunning), errors.Is(err, core.ErrNotFound):
		return core.Fail(core.CodeNoLink, err, "The container ended before the agent had started.", again)
	case strings.HasPrefix(err.Error(), "start agent:"):
		return core.Fail(core.CodeNoResult, err, "The agent could not be started in the container.",
			"Check claude_bin_path in the settings, or build the agent image again.")
	}
	return core.AsFailure(err)
}

func diskFull() *core.Failure {
	return core.Fail(core.CodeDiskFull, nil, "The disk is full, so the agent could not go on.",
		"Free some space on the disk of the container engine and of the folder, then send the prompt again.")
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
	if s := strings.TrimSpace(w.parser.Garbage); s != "" {
		parts = append(parts, "stdout:\n"+s)
	}
	if a := w.parser.APIError; a != nil {
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
