package runner

import "loop/backend/core"

// Steps of a starting run, as core.Status names them.
const (
	stepImage     = "image"
	stepContainer = "container"
	stepLink      = "link"
	stepAgent     = "agent"
)

// statusOf is a run's state as the timeline tells it.
func statusOf(run core.Run, step string) core.Status {
	o := run.Outcome
	st := core.Status{
		Status: "running", State: run.State, Step: step, Failure: o.Failure, Result: o.Text, SessionID: o.SessionID,
		DurationMs: o.DurationMs, NumTurns: o.NumTurns, StopReason: o.StopReason, Model: o.Model, CostUSD: o.CostUSD, ExitCode: o.ExitCode,
	}
	switch run.State {
	case core.RunDone, core.RunCancelled:
		st.Status = "completed"
	case core.RunFailed, core.RunInterrupted:
		st.Status = "error"
	}
	if o.Failure != nil {
		st.Error = o.Failure.Cause
	}
	return st
}

func (w *work) event(t core.EventType, data any) core.Event {
	return core.NewEvent(t, w.run.ChannelID, w.run.ID, w.s.o.Now(), data)
}

func (w *work) notice(level, text string) core.Event {
	return w.event(core.EventNotice, core.Notice{Level: level, Text: text})
}
