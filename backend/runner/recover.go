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
	first := map[core.ChannelID][]func(context.Context){} // before anything of the queue
	for _, l := range s.leftovers(ctx, active) {
		first[l.run.ChannelID] = append(first[l.run.ChannelID], func(ctx context.Context) { s.cleanUp(ctx, l) })
	}
	for _, r := range active { // each has its slot before a drain takes one for more
		w := s.takeOver(ctx, r)
		first[r.ChannelID] = append(first[r.ChannelID], func(ctx context.Context) { s.process(ctx, w) })
	}
	for ch, do := range first {
		s.drainWith(ch, do...)
	}
	s.mu.Lock()
	s.ready = true
	s.mu.Unlock()
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

// cleanUpTime bounds cleaning up after one run, most of which is the wait for a loop init
// that may not answer.
const cleanUpTime = 20 * time.Second

// leftover is a run that holds a container although it is over: Loop died between storing
// the end and giving the container back.
type leftover struct {
	run   core.Run
	known bool // what became of all that the run had started can be found out
}

// leftovers are those of an earlier launch. What the store does not know any more is given
// back at once.
func (s *Service) leftovers(ctx context.Context, active []core.Run) (out []leftover) {
	held := map[core.RunID]int{}
	for _, id := range s.p.Containers.Left(core.HolderRun) {
		held[core.RunID(id)]++
	}
	for id, n := range held {
		if slices.ContainsFunc(active, func(r core.Run) bool { return r.ID == id }) {
			continue
		}
		l := leftover{run: core.Run{ID: id}}
		err := s.insist(ctx, "read a run that holds a container", func() (err error) {
			l.run, err = s.p.Store.Run(ctx, id)
			return err
		})
		switch {
		case err == nil:
			// A run of several containers has given up on all but one. Nothing is stored of how
			// the programs of earlier tries ended.
			l.known = n == 1 && l.run.Attempt.Number <= 1
			out = append(out, l)
		case errors.Is(err, core.ErrNotFound):
			l.run.ID = id
			s.wg.Go(func() { s.cleanUp(ctx, l) })
		}
	}
	return out
}

// cleanUp does what the launch before had not done after the run's end was stored: it ends
// what runs on, deletes the output and gives the container back. Others go on with that only
// if loop init or the engine says that nothing of the run is left.
func (s *Service) cleanUp(ctx context.Context, l leftover) {
	w := newWork(ctx, s, l.run)
	defer w.cancel(nil)
	w.unproved = !w.nothingRuns(ctx) || !l.known
	if ctx.Err() != nil {
		return // Loop closes; the next start goes on
	}
	w.log.Info("clean up after a run that had ended when Loop did", "proved", !w.unproved)
	w.giveBack(ctx)
}

// nothingRuns ends what the run's CLI has left in its container, and deletes its output. It
// reports whether nothing of that runs any more.
func (w *work) nothingRuns(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, cleanUpTime)
	defer cancel()
	defer w.closeLink()
	if w.run.ContainerID == "" || w.run.SpawnID == "" {
		return w.drop(ctx, w.run.SpawnID)
	}
	w.container = core.Container{ID: w.run.ContainerID, ChannelID: w.run.ChannelID, RunID: w.run.ID, Type: core.TypeAgent}
	facts, err := w.s.p.Containers.Facts(ctx, w.container.ID)
	if errors.Is(err, core.ErrNotFound) || err == nil && !facts.Running {
		w.drop(ctx, w.run.SpawnID)
		return true
	}
	var l core.Link // that admits nothing of the run, which is over
	if err == nil {
		l, err = w.s.p.Links.Open(ctx, w.container)
	}
	if err == nil {
		w.mu.Lock()
		w.link = l
		w.mu.Unlock()
		err = w.killInside(ctx)
	}
	if err != nil {
		w.log.Warn("end what a run has left", "error", err)
	}
	return w.drop(ctx, w.run.SpawnID)
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
