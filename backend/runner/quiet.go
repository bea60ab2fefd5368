package runner

import (
	"context"

	"loop/backend/core"
)

// Checkpoints keep the files of channels at the beginning and the end of runs.
type Checkpoints interface {
	// Before returns within seconds; why is what the person is told where there is none.
	Before(ctx context.Context, run core.Run, ch core.Channel, start core.SessionStart) (why string)
	After(ctx context.Context, run core.Run, ch core.Channel)
}

// keepFiles begins to keep the files before the run's agent starts. wait returns when they
// are kept, or cannot be.
func (w *work) keepFiles(ctx context.Context) (wait func() error) {
	if w.s.p.Checkpoints == nil || w.run.Attempt.Number > 1 {
		return func() error { return nil }
	}
	st, _ := w.resumes()
	start := core.SessionStart{Mode: core.SessionFresh}
	switch {
	case st.resume != "" && st.fork:
		start = core.SessionStart{Mode: core.SessionFork, SessionID: st.resume, At: st.at}
	case st.resume != "":
		start = core.SessionStart{Mode: core.SessionResume, SessionID: st.resume}
	}
	run, ch := w.run, w.ch
	run.ContainerID = w.container.ID
	over := make(chan string, 1)
	w.s.wg.Go(func() { over <- w.s.p.Checkpoints.Before(ctx, run, ch, start) })
	return func() error {
		if why := <-over; why != "" {
			return w.say(ctx, "info", "The files were not kept before this run. "+why)
		}
		return nil
	}
}

// keepFilesAfter keeps the files as the run has left them.
func (w *work) keepFilesAfter(ctx context.Context) {
	if w.s.p.Checkpoints != nil && w.run.SpawnID != "" {
		ctx, cancel := lasting(ctx)
		defer cancel()
		w.s.p.Checkpoints.After(ctx, w.run, w.ch)
	}
}

// Quiet keeps runs of a channel from beginning until release is called. One that is under way
// is ended first with stop; else it is a conflict, as is a channel that is quiet already.
func (s *Service) Quiet(ctx context.Context, ch core.ChannelID, stop bool) (release func(), err error) {
	busy, err := s.quieten(ch)
	if err != nil {
		return nil, err
	}
	release = func() {
		s.mu.Lock()
		delete(s.quiet, ch)
		s.mu.Unlock()
		s.kick(ch)
	}
	if busy != nil {
		if err := s.through(ctx, busy, stop); err != nil {
			release()
			return nil, err
		}
	}
	return release, nil
}

// through returns when nothing of a run is under way any more. One that has ended is waited
// for, because its files are kept after its end was told.
func (s *Service) through(ctx context.Context, w *work, stop bool) error {
	run, err := s.run(ctx, w.run.ID)
	switch {
	case err != nil:
		return err
	case run.State.Terminal():
		return w.gone(ctx)
	case stop:
		return s.Cancel(ctx, run.ID)
	}
	return core.Fail(core.CodeConflict, core.ErrConflict, "A run is under way.", "Stop it first, or wait for its end.")
}

func (s *Service) quieten(ch core.ChannelID) (busy *work, err error) {
	defer s.inOrder()() // nothing is being claimed
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quiet[ch] {
		return nil, core.Fail(core.CodeConflict, core.ErrConflict, "The channel is going back already.", "Wait a moment.")
	}
	for _, w := range s.active {
		if w.run.ChannelID == ch {
			busy = w
		}
	}
	s.quiet[ch] = true
	return busy, nil
}

func (s *Service) isQuiet(ch core.ChannelID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.quiet[ch]
}
