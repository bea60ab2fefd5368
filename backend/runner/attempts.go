package runner

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"loop/backend/backoff"
	"loop/backend/core"
	"loop/backend/runner/transcript"
)

// compactPrompt makes the CLI replace a conversation by its summary.
const compactPrompt = "/compact"

// nextTry says how the run goes on after a try that ended like this. ok is false
// when it does not. Between two tries the store knows the coming one (its number
// and kind, no spawn), so that a restart goes on with exactly that one.
func (w *work) nextTry(e ending) (next core.Attempt, ok bool) {
	a := w.run.Attempt
	state, f, why := w.judge(e)
	sid, resumed := w.parser.Session(), w.resumedFrom()
	if !validSession(sid) {
		sid = resumed
	}
	next = core.Attempt{
		Number: max(a.Number, 1) + 1, SessionID: sid, Transient: a.Transient, Failure: a.Failure,
		Compacted: a.Compacted, Latest: a.Latest,
	}
	if state == core.RunDone {
		next.Kind, next.Reason = core.AttemptCompacted, "The conversation was compacted."
		return next, a.Kind == core.AttemptCompact && w.parser.Asked() == nil
	}
	if state != core.RunFailed || w.cause() != nil {
		return next, false
	}
	next.Reason = f.Cause
	switch why {
	case becauseBusy:
		limits := w.launch.Retry.withDefaults(w.run.Demo)
		if a.Transient+1 >= limits.MaxAttempts {
			return next, false
		}
		next.Kind = core.AttemptTransient
		if a.Kind == core.AttemptCompact {
			next.Kind = a.Kind // what was refused is tried again
		}
		if resumed == "" && !w.worked() {
			next.SessionID = "" // nothing to go on with: a conversation that holds the prompt alone
		}
		next.Transient++
		w.delay(&next, delayOf(limits, a.Transient, w.run.ID))
		return next, w.s.o.Now().Add(next.Delay).Before(w.endsAt())
	case becauseTooLong:
		next.Kind, next.Compacted, next.Failure = core.AttemptCompact, true, f
		return next, !a.Compacted && sid != "" && (resumed != "" || w.worked())
	case becauseLost:
		next.SessionID = ""
		fallthrough
	case becauseOther:
		next.Kind, next.Latest = core.AttemptLatest, true
		if next.Failure == nil {
			next.Failure = f
		}
		return next, !a.Latest && resumed != "" && a.Kind != core.AttemptCompact
	}
	return next, false
}

// resumedFrom is the session that the present try took up, empty if it began a
// new one.
func (w *work) resumedFrom() core.SessionID {
	if w.began != nil {
		return w.began.resume
	}
	if w.run.Attempt.Number > 1 { // taken over from an earlier launch
		return w.run.Attempt.SessionID
	}
	return wanted(w.run, w.ch).resume
}

// worked reports whether the model has done anything in this try.
func (w *work) worked() bool {
	r := w.parser.Result()
	return w.parser.Worked() || r != nil && r.NumTurns > 1
}

// delayOf doubles from the base and adds up to a fifth, so that many runs that
// were refused together do not come back together. It is the same each time it
// is worked out for a run.
func delayOf(r Retry, waits int, id core.RunID) time.Duration {
	d := r.Base
	for range waits {
		if d >= r.Max {
			break
		}
		d *= 2
	}
	d = min(d, r.Max)
	h := fnv.New32a()
	fmt.Fprintf(h, "%s %d", id, waits)
	return (d + d/5*time.Duration(h.Sum32()%100)/100).Truncate(time.Millisecond)
}

func (w *work) delay(a *core.Attempt, d time.Duration) {
	a.Delay, a.DelayMs, a.NotBefore = d, d.Milliseconds(), w.s.o.Now().Add(d)
}

// endsAt is the run's time limit on the clock of Options.Now.
func (w *work) endsAt() time.Time {
	if w.run.StartedAt.IsZero() {
		return w.s.o.Now().Add(w.timeout())
	}
	return w.run.StartedAt.Add(w.timeout())
}

// tryAgain stores the coming try and starts it. It reports whether the CLI runs
// again; if not, the run was concluded or Loop is closing.
func (w *work) tryAgain(ctx context.Context, next core.Attempt) bool {
	before := w.run
	next.Usage = w.usage()
	w.run.Attempt = next
	w.run.SpawnID, w.run.SpoolOffset = "", 0
	if err := w.update(w.ending, append(w.leftBehind(), w.event(core.EventAttempt, next))...); err != nil {
		w.run = before
		return w.broken(ctx, err)
	}
	w.dropLost(ctx)
	w.drop(ctx, before.SpawnID)
	return w.startTry(ctx)
}

// startTry waits as long as the stored try says and starts it.
func (w *work) startTry(ctx context.Context) bool {
	w.parser, w.readOff, w.under, w.began = &transcript.Parser{}, 0, under{}, nil
	w.live.clear()
	w.dying.Store(false)
	w.mu.Lock()
	w.detached = nil
	w.mu.Unlock()
	if err := w.takeUp(w.ending); err != nil {
		return w.broken(ctx, err)
	}
	return true
}

// broken ends a run that cannot be taken further; false is what its callers return.
func (w *work) broken(ctx context.Context, err error) bool {
	w.closeLink()
	if ctx.Err() != nil && w.cause() == nil {
		return false // the next start goes on with it
	}
	w.setupEnd = err
	w.conclude(ctx, ending{})
	return false
}

// takeUp brings the stored try to the point where the CLI runs.
func (w *work) takeUp(ctx context.Context) error {
	// A clock that was put back cannot make it wait longer than was meant.
	d := min(w.run.Attempt.NotBefore.Sub(w.s.o.Now()), time.Duration(w.run.Attempt.DelayMs)*time.Millisecond)
	if d > 0 && !backoff.Sleep(ctx, d) {
		return ctx.Err()
	}
	if err := w.ready(ctx); err != nil {
		return err
	}
	w.run.SpawnID = core.SpawnID(core.NewID())
	if err := w.update(ctx); err != nil {
		return err
	}
	if err := w.spawn(ctx); err != nil {
		return fmt.Errorf("start agent: %w", err)
	}
	return w.step(ctx, "")
}

// ready makes sure that the run has a container with a link: the one it had, or
// another when that one has ended meanwhile.
func (w *work) ready(ctx context.Context) error {
	if l := w.currentLink(); l != nil && w.spec.WorkDir != "" {
		select {
		case <-l.Done():
		default:
			return nil
		}
	}
	if w.container.ID != "" {
		dead, err := w.relink(ctx, false)
		switch {
		case err != nil:
			return err
		case dead == nil && w.spec.WorkDir != "":
			return nil
		case dead != nil && dead.engineLost && !dead.gone:
			return core.Fail(core.CodeEngineLost, errEngineLost, "The container engine went away during the run.", "Start the engine and send the prompt again.")
		}
		w.sweepContainer(ctx)
	}
	if err := w.provision(ctx, func() error { return nil }); err != nil {
		return err
	}
	w.run.ContainerID = w.container.ID
	if err := w.update(ctx); err != nil {
		return err
	}
	if err := w.openLink(ctx); err != nil {
		return fmt.Errorf("open link: %w", err)
	}
	return nil
}

// goOn takes a run over that an earlier launch of Loop left between two tries,
// or in front of one.
func (w *work) goOn(ctx context.Context) {
	if errors.Is(w.cause(), errCancelled) {
		w.conclude(ctx, ending{})
		return
	}
	if w.startTry(ctx) {
		w.attend(ctx)
	}
}
