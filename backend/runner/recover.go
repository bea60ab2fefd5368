package runner

import (
	"context"
	"errors"
	"slices"
	"time"

	"loop/backend/core"
)

// recover looks after what an earlier launch of Loop left: runs under way,
// containers of runs that had ended, and the queue.
func (s *Service) recover(ctx context.Context) {
	var active []core.Run
	err := s.insist(ctx, "read runs under way", func() (err error) {
		active, err = s.p.Store.ActiveRuns(ctx)
		return err
	})
	if err != nil {
		return // Loop closes
	}
	over := make([]*work, len(active)) // each has its slot before a drain takes one for more
	for i, r := range active {
		over[i] = s.takeOver(ctx, r)
	}
	for _, w := range over {
		s.drainWith(w.run.ChannelID, w)
	}
	s.mu.Lock()
	s.ready = true
	s.mu.Unlock()
	s.wg.Go(func() { s.giveBackLeftovers(ctx, active) })
	_ = s.insist(ctx, "read queues", func() error { // an error says that Loop closes
		queued, err := s.p.Store.QueueLengths(ctx)
		for ch := range queued {
			s.kick(ch)
		}
		return err
	})
}

// insist is insist for what concerns no run.
func (s *Service) insist(ctx context.Context, step string, do func() error) error {
	return insist(ctx, do, func(err error, _ bool) { s.p.Log.Error(step, "error", err) })
}

// giveBackLeftovers gives back containers whose run has ended, because Loop died
// between storing the end and giving them back, and deletes the output that the
// run's end made superfluous.
func (s *Service) giveBackLeftovers(ctx context.Context, active []core.Run) {
	var left []core.RunID
	alive := func(id string) bool {
		is := slices.ContainsFunc(active, func(r core.Run) bool { return string(r.ID) == id })
		if !is && !slices.Contains(left, core.RunID(id)) {
			left = append(left, core.RunID(id))
		}
		return is
	}
	// Nobody saw the end of their programs, so that nobody joins what is left of them.
	if err := s.p.Containers.Recovered(ctx, core.HolderRun, alive, core.Ending{Keep: s.o.KeepAlive, Drain: true}); err != nil {
		s.p.Log.Warn("give back containers of ended runs", "error", err) // the registry goes on
	}
	for _, id := range left {
		run, err := s.p.Store.Run(ctx, id)
		if err != nil || !run.State.Terminal() || run.SpawnID == "" {
			continue
		}
		if err := s.p.Spools.Drop(ctx, run.ChannelID, run.SpawnID); err != nil {
			s.p.Log.Warn("delete output of an ended run", "run", run.ID, "error", err)
		}
	}
}

// resume takes over a run of an earlier launch. Its output is read from the
// beginning, for what it had used and asked; follow tells only what is not stored.
func (w *work) resume(ctx context.Context) {
	if err := w.readChannel(ctx); err != nil {
		w.broken(ctx, err)
		return
	}
	if w.run.ContainerID == "" { // nothing ran, though a container may have been made
		w.requeue(ctx)
		return
	}
	w.container = core.Container{ID: w.run.ContainerID, ChannelID: w.run.ChannelID, RunID: w.run.ID, Type: core.TypeAgent}
	for _, c := range w.s.p.Containers.List() {
		if c.ID == w.run.ContainerID {
			w.container = c
		}
	}
	if w.run.SpawnID == "" { // between two tries
		w.recallHeld(ctx)
		w.goOn(ctx)
		return
	}
	dead, err := w.reconnect(ctx)
	if err != nil {
		w.closeLink()
		return
	}
	w.recallHeld(ctx)
	if dead == nil {
		fed, err := w.unfed(ctx)
		switch {
		case err != nil:
			w.broken(ctx, err)
		case fed:
			w.reattach(ctx)
		default:
			w.startAgain(ctx)
		}
		return
	}
	if (w.run.Attempt.Number > 1 || w.run.State == core.RunStarting) && w.neverSpawned(ctx) {
		w.startAgain(ctx)
		return
	}
	dead.early = true
	e, err := w.salvage(ctx, *dead)
	if err != nil {
		return
	}
	if w.follows(ctx, e) {
		w.attend(ctx)
	}
}

// startAgain takes up a try whose CLI has not begun.
func (w *work) startAgain(ctx context.Context) {
	if w.run.SpawnID = ""; w.run.Attempt.Number > 1 {
		w.goOn(ctx)
	} else {
		w.requeue(ctx)
	}
}

// recallHeld has the gate's clock count what an earlier launch of Loop counted. A database
// that refuses is asked again: without it a run that stood still is out of time.
func (w *work) recallHeld(ctx context.Context) {
	err := w.insist(ctx, "read how long the run was held", func() error { return w.s.p.Gate.TakeOver(ctx, w.run.ID) })
	if err != nil && ctx.Err() == nil {
		w.log.Error("read how long the run was held", "error", err)
	}
}

func (w *work) reattach(ctx context.Context) {
	if w.run.State == core.RunStarting {
		w.run.State = core.RunRunning
		if err := w.step(ctx, ""); err != nil {
			w.broken(ctx, err) // somebody else ended it: nothing may be left
			return
		}
	}
	if err := w.say(ctx, "info", "Loop was restarted while this run was under way, and has re-attached to it."); err != nil {
		w.log.Warn("store notice", "error", err)
	}
	w.attend(ctx)
}

// neverSpawned is true only when it is known that the CLI was not started.
func (w *work) neverSpawned(ctx context.Context) bool {
	rc, err := w.s.p.Spools.Open(ctx, w.run.ChannelID, w.run.SpawnID, 0)
	if err == nil {
		rc.Close()
		return false
	}
	return errors.Is(err, core.ErrNotFound)
}

// requeue puts a run back whose agent was never started; the drain that called
// goes on with it.
func (w *work) requeue(ctx context.Context) {
	w.closeLink()
	w.giveBack(ctx)
	if w.stopped() {
		w.conclude(ctx, ending{gone: true})
		return
	}
	w.run.State, w.run.ContainerID, w.run.SpawnID, w.run.SpoolOffset = core.RunQueued, "", "", 0
	w.run.StartedAt, w.run.Attempt = time.Time{}, core.Attempt{}
	if err := w.update(ctx, w.notice("info", "Loop was closed before the agent had started; the prompt is queued again.")); err != nil {
		w.log.Error("queue the run again", "error", err)
		return
	}
	w.s.p.Publish(w.s.queueEvent(w.run))
}
