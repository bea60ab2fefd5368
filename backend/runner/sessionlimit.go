package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"loop/backend/core"
	"loop/backend/runner/transcript"
)

// TriggerContinue and TriggerAnswer are what Run.Trigger says of runs that the
// runner itself queued.
const (
	TriggerContinue = "continue"
	TriggerAnswer   = "answer"
)

const (
	continuePrompt = "Continue from where you left off. You were stopped by a usage limit, which has been reset."
	// resetSlack is for clocks that do not agree.
	resetSlack = time.Minute
	// resetMost is how far off a reset may be: a session limit's window has five
	// hours, and a number from a container must not queue something for next year.
	resetMost = 24 * time.Hour
	// againAfter bounds a run that goes on and meets the limit at once: only a
	// window that is really another one is waited for again.
	againAfter = 10 * time.Minute
)

// sessionReset says when the session limit that ended a try is reset. ok is false
// for another limit, and when the CLI has not said when.
func sessionReset(l *transcript.Limit, now time.Time) (at time.Time, ok bool) {
	if l == nil || l.Status != "rejected" || strings.HasPrefix(l.Type, "seven_day") || l.ResetsAt.IsZero() {
		return at, false
	}
	at = l.ResetsAt
	if at.Before(now) {
		at = now
	}
	return at.Add(resetSlack), at.Sub(now) <= resetMost
}

// goOnLater queues the run that goes on after a session limit, when that was
// asked for. It comes before the run's end is stored: a crash in between finds
// the same run queued already, because its id follows from this one's. It tries
// for as long as Loop is open, as storing the end does; false says that Loop is
// closing first.
func (w *work) goOnLater(ctx context.Context) bool {
	cont, ok := w.later()
	if !ok {
		return true
	}
	err := w.insist(ctx, "queue the run that goes on after the limit", func() error {
		once, cancel := lasting(ctx)
		defer cancel()
		_, err := w.s.enqueueAs(once, cont)
		return err
	})
	if err != nil {
		return refusedForGood(err)
	}
	w.run.Outcome.Failure.Remedy = fmt.Sprintf("Loop goes on by itself at %s, if it is running then; the waiting prompt is in the queue.",
		cont.NotBefore.In(w.s.o.Now().Location()).Format("15:04"))
	return true
}

// later is the run that goes on after a session limit; ok is false when there is none.
func (w *work) later() (cont core.Run, ok bool) {
	if w.run.State != core.RunFailed || w.run.Outcome.Failure.Code != core.CodeModelLimit || !w.launch.Retry.SessionLimitContinue {
		return cont, false
	}
	now := w.s.o.Now()
	at, ok := sessionReset(w.parser.Limit, now)
	if !ok || w.run.Trigger == TriggerContinue && at.Sub(now) < againAfter {
		return cont, false
	}
	cont = core.Run{
		ID: laterID(w.run.ID), ChannelID: w.run.ChannelID, Prompt: w.run.Prompt, AuthorID: w.run.AuthorID,
		Demo: w.run.Demo, Script: w.run.Script, Plan: w.run.Plan, Unattended: w.run.Unattended,
		Session: w.run.Session, Model: w.run.Model, Effort: w.run.Effort, Trigger: TriggerContinue,
		NotBefore: at, Delay: at.Sub(now),
	}
	if sid := w.parser.Session; sid.Valid() {
		cont.Session, cont.Prompt = core.SessionStart{Mode: core.SessionResume, SessionID: sid}, continuePrompt
	}
	return cont, true
}

func laterID(id core.RunID) core.RunID {
	h := sha256.Sum256([]byte("continue " + string(id)))
	return core.RunID(hex.EncodeToString(h[:16]))
}
