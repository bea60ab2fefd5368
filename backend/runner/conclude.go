package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"loop/backend/backoff"
	"loop/backend/core"
)

var errEngineLost = errors.New("engine does not answer")

// concludeWait bounds what a closing Loop still does to end a run properly.
const concludeWait = 30 * time.Second

// lasting is for what is still done while Loop closes.
func lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), concludeWait)
}

// conclude ends the run: verdict, stored end, clean-up, announcement, in an
// order in which a crash at any point leaves a state the next start can finish.
func (w *work) conclude(ctx context.Context, e ending) {
	defer w.closeLink()
	if err := w.prove(ctx, &e); err != nil {
		return // Loop closes; the next start goes on
	}
	w.decide(e)
	w.keepSession(ctx)
	if !w.goOnLater(ctx) {
		return // Loop closes; the next start goes on
	}
	evs, err := w.store(ctx)
	if err != nil && !refusedForGood(err) {
		return // Loop closes; the next start goes on
	}
	w.sweep(ctx)
	if err != nil {
		w.tellAsStored(ctx)
		return
	}
	w.s.p.Publish(append(evs, w.s.queueEvent(w.run))...)
	defer w.keepFilesAfter(ctx)
	if w.nextSet || w.run.State == core.RunDone && w.run.Outcome.SessionID != w.ch.Session(w.run.Demo) {
		if ch, err := w.s.p.Store.Channel(context.WithoutCancel(ctx), w.run.ChannelID); err == nil {
			w.s.p.Publish(w.event(core.EventChannelUpdated, ch))
		}
	}
}

// prove makes sure nothing of the run is left when its CLI was not seen to end,
// and fetches the facts that explain a kill.
func (w *work) prove(ctx context.Context, e *ending) error {
	killed := e.exit != nil && e.exit.Code == 137 && w.parser.Result == nil && w.cause() == nil
	if e.gone || e.engineLost || e.exit != nil && !killed || w.container.ID == "" {
		return nil
	}
	facts, err := w.stopContainer(ctx)
	switch {
	case errors.Is(err, errEngineLost):
		e.engineLost = true
		return nil
	case err != nil:
		return err
	}
	e.gone, e.facts = true, facts
	if killed {
		e.facts = w.outOfMemory(ctx, facts)
	}
	return nil
}

// oomWait is how long an engine may take to say why a program was killed: it
// hears of that and of the program's end in either order.
const oomWait = 3 * time.Second

// outOfMemory are the facts of a container in which the CLI was killed, as soon as
// they say that memory was why, or when that is not to be expected any more.
func (w *work) outOfMemory(ctx context.Context, facts *core.ContainerFacts) *core.ContainerFacts {
	pause := backoff.Backoff{First: 50 * time.Millisecond, Most: 500 * time.Millisecond}
	for began := time.Now(); facts != nil && !facts.OOMKilled && time.Since(began) < oomWait && pause.Wait(ctx); {
		now, err := w.s.p.Containers.Facts(ctx, w.container.ID)
		if err != nil {
			break
		}
		facts = &now
	}
	return facts
}

// stopContainer stops the container and returns once the engine says it does not run:
// its facts, nil when it is gone altogether. In a container that others use too it
// is the run's programs that are ended, which leaves no facts either. It returns
// errEngineLost after EngineGrace and errQuit when Loop closes.
func (w *work) stopContainer(ctx context.Context) (*core.ContainerFacts, error) {
	pause := backoff.Backoff{First: 100 * time.Millisecond, Most: 5 * time.Second}
	began := time.Now()
	for {
		err := w.s.p.Containers.End(ctx, w.container.ID, w.holder())
		if errors.Is(err, core.ErrConflict) {
			if err = w.killInside(ctx); err == nil {
				return nil, nil
			}
		}
		if errors.Is(err, core.ErrNotFound) {
			return nil, nil
		}
		facts, ferr := w.s.p.Containers.Facts(ctx, w.container.ID)
		switch {
		case errors.Is(ferr, core.ErrNotFound):
			return nil, nil
		case ferr == nil && !facts.Running:
			return &facts, nil
		case ctx.Err() != nil:
			return nil, errQuit
		}
		w.log.Warn("container not stopped yet", "stop", err, "facts", ferr)
		if time.Since(began) >= w.s.o.EngineGrace {
			return nil, errEngineLost
		}
		if !pause.Wait(ctx) {
			return nil, errQuit
		}
	}
}

// killInside ends the run's process tree through the link, for a container that
// goes on.
func (w *work) killInside(ctx context.Context) error {
	if w.currentLink() == nil {
		if err := w.openLink(ctx); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, killWait)
	defer cancel()
	if err := w.currentLink().Kill(ctx, w.run.SpawnID); err != nil && !errors.Is(err, core.ErrNotFound) {
		return fmt.Errorf("end process tree: %w", err)
	}
	return nil
}

// holder is the run, as the registry knows it.
func (w *work) holder() core.Holder {
	return core.Holder{Kind: core.HolderRun, ID: string(w.run.ID)}
}

// giveBack gives back every container of the run, also after Loop began to close.
func (w *work) giveBack(ctx context.Context) {
	ctx, cancel := lasting(ctx)
	defer cancel()
	err := w.s.p.Containers.Release(ctx, w.holder(), core.Ending{Keep: w.keepAlive(), Drain: w.unproved})
	if err != nil {
		w.log.Warn("give the container back", "error", err) // the registry goes on
	}
}

// decide sets state and outcome.
func (w *work) decide(e ending) {
	o := &w.run.Outcome
	if e.exit != nil {
		o.ExitCode = e.exit.Code
	} else if e.facts != nil {
		o.ExitCode = e.facts.ExitCode
	}
	o.Model, o.SessionID, o.Usage = w.parser.Model, w.parser.Session, w.usage()
	o.Commands, o.Chosen = w.parser.Commands, w.parser.Chosen
	if r := w.parser.Result; r != nil {
		o.Text, o.NumTurns, o.StopReason = r.Text, r.NumTurns, r.StopReason
		o.Duration = w.took(time.Duration(r.DurationMs) * time.Millisecond)
		o.DurationMs = o.Duration.Milliseconds()
		o.Model = cmp.Or(o.Model, r.Model)
	}
	if a := w.parser.Asked; a != nil {
		o.StopReason = string(a.Kind)
	}
	if w.run.Demo {
		o.Model = "scripted"
	}
	w.run.State, o.Failure = w.verdict(e)
	if o.Failure == nil && o.SessionID == "" {
		o.SessionID = w.resumedFrom()
	}
	w.run.EndedAt = cmp.Or(w.run.EndedAt, w.s.o.Now())
	w.run.SpoolOffset = max(w.run.SpoolOffset, w.readOff)
}

// store writes the end down. It tries for as long as Loop is open: a run whose
// end is not stored is read again by the next start. core.ErrConflict and
// core.ErrNotFound mean that it has an end already, or is gone.
func (w *work) store(ctx context.Context) (out []core.Event, err error) {
	evs := w.leftBehind()
	if a := w.parser.Asked; a != nil && w.run.State == core.RunDone {
		evs = append(evs, w.question(a))
	}
	evs = append(evs, w.event(core.EventStatus, statusOf(w.run, "")))
	err = w.insist(ctx, "store the run's end", func() (err error) {
		once, cancel := lasting(ctx)
		defer cancel()
		out, err = w.s.p.Store.FinishRun(once, w.run, evs...)
		return err
	})
	return out, err
}

// tellAsStored announces the end that the database has: somebody else's, or this one
// when the answer to storing it was lost.
func (w *work) tellAsStored(ctx context.Context) {
	ctx, cancel := lasting(ctx)
	defer cancel()
	run, err := w.s.p.Store.Run(ctx, w.run.ID)
	if err != nil || !run.State.Terminal() {
		return
	}
	if open, err := w.s.p.Store.OpenQuestions(ctx, run.ChannelID); err == nil {
		for _, q := range open {
			if q.RunID == run.ID {
				w.s.p.Publish(w.event(questionEvent(q.Kind), q))
			}
		}
	}
	w.s.p.Publish(w.event(core.EventStatus, statusOf(run, "")), w.s.queueEvent(run))
}

// sweep removes what the run used, now that its end is stored.
func (w *work) sweep(ctx context.Context) {
	ctx, cancel := lasting(ctx)
	defer cancel()
	w.unproved = !w.drop(ctx, w.run.SpawnID) || w.unproved
	w.closeLink()
	w.dropLost(ctx)
	w.giveBack(ctx)
}

// drop deletes what is kept of a spawn. It reports whether nothing that the spawn has
// started runs any more: its container says so, or there was no spawn.
func (w *work) drop(ctx context.Context, spawn core.SpawnID) (gone bool) {
	if spawn == "" {
		return true
	}
	w.s.p.Gate.Dismiss(spawn)
	if l := w.currentLink(); l != nil {
		err := l.Forget(ctx, spawn)
		if err == nil {
			return true
		}
		w.log.Debug("forget spawn", "error", err)
		gone = errors.Is(err, core.ErrNotFound) // it was forgotten before
	}
	if err := w.s.p.Spools.Drop(ctx, w.run.ChannelID, spawn); err != nil {
		w.log.Warn("delete output of the run", "error", err)
	}
	return gone
}
