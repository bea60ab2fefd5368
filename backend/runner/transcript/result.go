package transcript

import (
	"time"

	"loop/backend/core"
)

func (w wireResult) result() *Result {
	r := &Result{
		Subtype: clipShort(w.Subtype), IsError: w.IsError, APIErrorStatus: w.APIErrorStatus, Text: clipMarked(w.Result, maxText),
		SessionID: core.SessionID(clipShort(w.SessionID)), DurationMs: int64(min(max(w.DurationMs, 0), 1e15)), NumTurns: w.NumTurns,
		StopReason: clipShort(w.StopReason), TerminalReason: clipShort(w.TerminalReason),
	}
	for _, e := range w.Errors[:min(len(w.Errors), 20)] {
		r.Errors = append(r.Errors, clipMarked(e, maxOutput))
	}
	if models, _ := modelUsage(w.ModelUsage); len(models) > 0 {
		r.Model = models[0].Model
	}
	return r
}

func (w wireRateLimit) limit() *Limit {
	l := &Limit{Status: clipShort(w.Info.Status), Type: clipShort(w.Info.Type)}
	if at := w.Info.ResetsAt; at > 0 && at < 1e11 { // seconds; a hostile number must not overflow
		l.ResetsAt = time.Unix(int64(at), 0)
	}
	return l
}
