package runner

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

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
	sid, resumed := w.parser.Session, w.resumedFrom()
	if !sid.Valid() {
		sid = resumed
	}
	next = core.Attempt{
		Number: max(a.Number, 1) + 1, SessionID: sid, Transient: a.Transient, Failure: a.Failure,
		Compacted: a.Compacted, Latest: a.Latest,
	}
	if state == core.RunDone {
		next.Kind, next.Reason = core.AttemptCompacted, "The conversation was compacted."
		return next, a.Kind == core.AttemptCompact && w.parser.Asked == nil
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
		next.Of = limits.MaxAttempts
		next.Delay = delayOf(limits, a.Transient, w.run.ID)
		next.DelayMs, next.NotBefore = next.Delay.Milliseconds(), w.s.o.Now().Add(next.Delay)
		return next, next.Delay < w.timeout()-w.ran()
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
	r := w.parser.Result
	return w.parser.Worked || r != nil && r.NumTurns > 1
}

// delayOf doubles from the base and adds up to a fifth, so that many runs that
// were refused together do not come back together. It is the same each time it
// is worked out for a run.
func delayOf(r Retry, waits int, id core.RunID) time.Duration {
	d := r.Base
	for range waits {
		d = min(2*d, r.Max)
	}
	h := fnv.New32a()
	fmt.Fprintf(h, "%s %d", id, waits)
	return (d + d/5*time.Duration(h.Sum32()%100)/100).Truncate(time.Millisecond)
}

// ran is how long the run has been under way, less what its image took, and less the
// time for which it waited for a person's word on something that it was about to do.
func (w *work) ran() time.Duration {
	if w.run.StartedAt.IsZero() {
		return 0
	}
	held, _ := w.s.p.Gate.HeldFor(w.run.ID)
	now := w.s.o.Now()
	// Held is measured by the calendar, which goes on while the computer sleeps.
	return max(min(now.Sub(w.run.StartedAt), now.Round(0).Sub(w.run.StartedAt.Round(0))-held), 0)
}

// took is how long the CLI says that it worked, where it was not held. Its clock goes on
// while it is; the run's own stands still, but counts other tries as well.
func (w *work) took(said time.Duration) time.Duration {
	if held, _ := w.s.p.Gate.HeldFor(w.run.ID); held > 0 {
		return min(said, w.ran())
	}
	return said
}

// held says that the run waits for a person's word now.
func (w *work) held() bool {
	_, now := w.s.p.Gate.HeldFor(w.run.ID)
	return now
}

// tryAgain stores the coming try and starts it. It reports whether the CLI runs
// again; if not, the run was concluded or Loop is closing.
func (w *work) tryAgain(ctx context.Context, next core.Attempt) bool {
	before := w.run
	next.Usage = w.usage()
	w.run.Attempt, w.run.SpawnID, w.run.SpoolOffset = next, "", 0
	if err := w.update(w.ending, append(w.leftBehind(), w.event(core.EventAttempt, next))...); err != nil {
		w.run = before
		w.broken(ctx, err)
		return false
	}
	w.dropLost(ctx)
	w.unproved = !w.drop(ctx, before.SpawnID) || w.unproved
	return w.startTry(ctx)
}

// goOn starts the try that is stored, with or without its container, and follows
// the run to its end.
func (w *work) goOn(ctx context.Context) {
	if w.startTry(ctx) {
		w.attend(ctx)
	}
}

// startTry starts the stored try after its wait. It reports whether the CLI runs;
// if not, the run was concluded or Loop is closing.
func (w *work) startTry(ctx context.Context) bool {
	w.parser, w.readOff, w.under, w.began = &transcript.Parser{}, 0, under{}, nil
	w.live.clear()
	w.dying.Store(false)
	w.mu.Lock()
	w.detached = nil
	w.mu.Unlock()
	if err := w.takeUp(w.ending); err != nil {
		w.broken(ctx, err)
		return false
	}
	return true
}

// broken ends a run that cannot be taken further.
func (w *work) broken(ctx context.Context, err error) {
	w.closeLink()
	if ctx.Err() != nil && w.cause() == nil {
		return // the next start of Loop goes on with it
	}
	w.setupEnd = err
	w.conclude(ctx, ending{})
}

// takeUp brings the try that is due to the point where the CLI runs.
func (w *work) takeUp(ctx context.Context) error {
	// A clock that was put back cannot make it wait longer than was meant.
	d := min(w.run.Attempt.NotBefore.Sub(w.s.o.Now()), time.Duration(w.run.Attempt.DelayMs)*time.Millisecond)
	if d > 0 && !w.await(ctx, d) {
		return ctx.Err()
	}
	linked, err := w.linked(ctx)
	if err == nil && !linked {
		err = w.provision(ctx)
	}
	if err != nil {
		return err
	}
	defer w.leaveSpare(ctx)
	kept := w.keepFiles(ctx)
	if err := w.reach(ctx, linked); err != nil {
		return err
	}
	if err := kept(); err != nil {
		return err
	}
	if err := w.step(ctx, stepAgent); err != nil {
		return err
	}
	if err := w.spawn(ctx); err != nil {
		return fmt.Errorf("start agent: %w", err)
	}
	w.tellPorts(ctx)
	w.run.State = core.RunRunning
	return w.step(ctx, "")
}

// reach opens the link to the run's container. One that was made for others before may
// have a loop init that does not answer any more: nobody joins it, and the run gets another.
func (w *work) reach(ctx context.Context, linked bool) error {
	for {
		// The spawn's id is stored before the spawn, so that a later launch of Loop
		// can tell a CLI that was started from one that was not.
		w.run.ContainerID, w.run.SpawnID, w.run.SpoolOffset = w.container.ID, w.nextSpawn(ctx), 0
		if err := w.step(ctx, stepLink); err != nil || linked {
			return err
		}
		err := w.openLink(ctx)
		if err == nil || w.fresh || ctx.Err() != nil {
			return err
		}
		w.log.Warn("container that was there does not answer, another is made", "container", w.container.Name, "error", err)
		w.leaveSpare(ctx)
		w.giveUpOn(ctx)
		if err := w.provision(ctx); err != nil {
			return err
		}
	}
}

// giveUpOn gives back a container in which something of the run may be.
func (w *work) giveUpOn(ctx context.Context) {
	was := w.unproved
	w.unproved = true
	w.giveBack(ctx)
	w.unproved = was
}

// linked reports whether the run has a container with a link. One that has ended
// meanwhile is given back.
func (w *work) linked(ctx context.Context) (bool, error) {
	if w.container.ID == "" {
		return false, nil
	}
	if l := w.currentLink(); l != nil && w.spec.WorkDir != "" {
		select {
		case <-l.Done():
		default:
			return true, nil
		}
	}
	dead, err := w.reconnect(ctx)
	switch {
	case err != nil:
		return false, err
	case dead == nil && w.spec.WorkDir != "":
		return true, nil
	case dead != nil && dead.engineLost && !dead.gone:
		return false, core.Fail(core.CodeEngineLost, errEngineLost,
			"The container engine went away during the run.", "Start the engine and send the prompt again.")
	}
	w.closeLink()
	w.giveBack(ctx)
	return false, nil
}
