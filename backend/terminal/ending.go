package terminal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"loop/backend/backoff"
	"loop/backend/core"
)

// CloseSession ends the program with its whole process tree and forgets the
// session. The container stays. An error says that the tree may not be gone;
// the session stays then.
func (s *Service) CloseSession(ctx context.Context, id core.TerminalID) error {
	return s.closeWithin(ctx, id, endTime)
}

func (s *Service) closeWithin(ctx context.Context, id core.TerminalID, limit time.Duration) error {
	t, err := s.session(id)
	if err != nil {
		return err
	}
	t.setEnding(true)
	// The kill goes on when whoever asked for it goes away.
	ectx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	if s.paused(ectx, t) {
		t.setEnding(false)
		return core.Fail(core.CodeConflict, nil, "The container is paused, so nothing in it can end.",
			"Let it go on (“docker unpause”), then close the terminal again.")
	}
	if err := t.program.End(ectx); err != nil {
		t.setEnding(false)
		return core.Fail(core.CodeInternal, err, "The terminal's programs could not be ended.",
			"Try again; removing the container ends them too.")
	}
	s.remove(t)
	return nil
}

// setEnding says that the session's program is being ended on purpose, or is not.
func (s *session) setEnding(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending = on
}

// paused says whether the session's container is held up for longer than Loop itself
// ever holds one.
func (s *Service) paused(ctx context.Context, t *session) bool {
	box := t.info.ContainerID
	return box != "" && s.o.Containers.Paused(ctx, box) && backoff.Sleep(ctx, pausedTime) && s.o.Containers.Paused(ctx, box)
}

// Stop ends a session and removes the container it ran in, if that is Loop's and no run
// works in it; the other sessions there end with it. Nothing is removed for a host session,
// or where other channels share the container.
func (s *Service) Stop(ctx context.Context, id core.TerminalID) error {
	t, err := s.session(id)
	if err != nil {
		return err
	}
	box, ch := t.info.ContainerID, t.info.ChannelID
	limit, goes := endTime, false
	if box != "" {
		if c, ours, _, err := s.o.Containers.Running(ctx, box); err == nil && ours && c.Wide() {
			box = "" // other channels work in it
		} else if err == nil && ours {
			limit, goes = politeTime, true // its container's end is its own, too
		}
	}
	if err := s.closeWithin(ctx, id, limit); box == "" || err != nil && !goes {
		return err
	}
	unlock, err := s.lockShell(ctx, ch) // nobody is to be given what is about to go
	if err != nil {
		return err
	}
	defer unlock()
	if rerr := s.o.Containers.Remove(ctx, box); errors.Is(rerr, core.ErrConflict) {
		return err // the run's container goes on, and so does what could not be ended
	} else if rerr != nil {
		return rerr
	}
	t.finish(core.TerminalExit{Code: -1})
	s.remove(t)
	return nil
}

// Kill removes the containers of a channel's terminals with everything in them; in one that
// other channels share, its own terminals end. That there is none is success; one that a
// run works in is core.ErrConflict.
func (s *Service) Kill(ctx context.Context, ch core.ChannelID) error {
	return s.killAll(ctx, ch, false)
}

// killAll is Kill. With own it removes what others share, too, where it has the state of the
// channel, which is about to go with it and with them.
func (s *Service) killAll(ctx context.Context, ch core.ChannelID, own bool) error {
	unlock, err := s.lockShell(ctx, ch)
	if err != nil {
		return err
	}
	defer unlock()
	all, err := s.o.Containers.Shells(ctx, ch)
	errs := []error{err}
	for _, c := range all {
		if c.Wide() && !(own && c.ChannelID == ch) { // others work in it
			errs = append(errs, s.endIn(ctx, c, ch))
			continue
		}
		errs = append(errs, s.kill(ctx, c))
	}
	return errors.Join(errs...)
}

// endIn ends a channel's terminals in a container that goes on.
func (s *Service) endIn(ctx context.Context, c core.Container, ch core.ChannelID) error {
	var errs []error
	for _, t := range s.all() {
		if t.info.ContainerID == c.ID && t.info.ChannelID == ch {
			errs = append(errs, s.CloseSession(ctx, t.info.ID))
		}
	}
	return errors.Join(errs...)
}

// kill removes one container. The caller keeps terminals from being opened in it.
func (s *Service) kill(ctx context.Context, c core.Container) error {
	inside := slices.DeleteFunc(s.all(), func(t *session) bool { return t.info.ContainerID != c.ID })
	for _, t := range inside {
		t.setEnding(true)
	}
	if err := s.o.Containers.Remove(ctx, c.ID); err != nil {
		for _, t := range inside {
			t.setEnding(false)
		}
		return err
	}
	for _, t := range inside {
		t.finish(core.TerminalExit{Code: -1})
		s.remove(t)
	}
	return nil
}

// EndChannel ends all of a channel's sessions and their containers.
func (s *Service) EndChannel(ctx context.Context, ch core.ChannelID) error {
	errs := []error{s.killAll(ctx, ch, true)}
	for _, t := range s.all() {
		if t.info.ChannelID == ch {
			if err := s.CloseSession(ctx, t.info.ID); err != nil && !errors.Is(err, core.ErrNotFound) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// remove forgets a session whose program has ended, once its viewers have its last
// output.
func (s *Service) remove(t *session) {
	s.mu.Lock()
	i := slices.Index(s.sessions, t)
	if i >= 0 {
		s.sessions = slices.Delete(s.sessions, i, i+1)
	}
	s.mu.Unlock()
	if i < 0 {
		return
	}
	select {
	case <-t.ended: // its last output is in the stream
	case <-time.After(lastWords):
		t.finish(core.TerminalExit{Code: -1})
	}
	var left core.Ending
	if f, ok := t.program.(Lasting); ok {
		ctx, cancel := context.WithTimeout(t.ctx, forgetTime)
		if err := f.Forget(ctx); err != nil && !errors.Is(err, core.ErrNotFound) {
			t.log.Debug("forget terminal's program", "session", t.info.ID, "err", err)
			left.Drain = true // nobody knows whether something of it goes on
		}
		cancel()
	}
	t.end()
	t.unkeep()
	s.o.Publish(core.EventTerminalRemoved, t.view())
	s.giveBack(s.ctx, t.info.ID, t.info.ContainerID, left)
}

// lastWords is how long the end of a program's output is waited for once its
// processes are gone.
const lastWords = 2 * time.Second

// end stops the session's goroutines and lets go of its program.
func (t *session) end() {
	t.stop()
	t.work.Wait()
	t.endRecording()
	if err := t.program.Close(); err != nil {
		t.log.Debug("let go of terminal", "session", t.info.ID, "err", err)
	}
}

// Restore takes up the sessions whose programs outlived an earlier launch.
func (s *Service) Restore(context.Context) error {
	rows, err := s.o.Keeper.SavedTerminals()
	if err != nil {
		return fmt.Errorf("read saved terminals: %w", err)
	}
	for _, row := range rows {
		if comesBack(row.Info) {
			if !s.restoreShell(row) {
				return nil
			}
			continue
		}
		row.Info.State, row.Info.Viewers, row.Info.Recording, row.Info.RecordingProblem = core.TerminalAway, 0, "", ""
		t := s.newSession(row.Info, nil, true)
		t.program = s.o.Programs.Resume(row, t.answeredTo)
		t.saved = row
		t.saved.Screen = nil
		t.sizeOwed = true // it may have changed after it was last kept
		t.ring = ring{base: row.Offset, end: row.Offset}
		t.screenAt = row.Offset
		_, _ = t.screen.Write(row.Screen)
		// The screen repeats marks in the order of lines; the row has the last one.
		t.info.Shell, t.info.Command, t.saved.Ran, t.typed = row.Info.Shell, row.Info.Command, row.Ran, ""
		if !s.add(t) {
			return nil
		}
	}
	return nil
}

func (s *Service) isClosing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// answeredTo says that queries before this offset were answered in an earlier launch,
// or are too old.
func (s *session) answeredTo(end int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quietTo = end
}

// Run ends what has been idle for too long and forgets old ended sessions, until
// ctx ends.
func (s *Service) Run(ctx context.Context) error {
	back := func(id string) bool {
		_, err := s.session(core.TerminalID(id))
		return err == nil
	}
	if err := s.o.Leases.Recovered(ctx, core.HolderTerminal, back, core.Ending{}); err != nil {
		s.log.Warn("give back containers of terminals that did not come back", "err", err)
	}
	for {
		every, limit := time.Minute, s.o.IdleTimeout()
		if limit > 0 {
			every = min(every, max(time.Second, limit/4))
		}
		if !backoff.Sleep(ctx, every) {
			return nil
		}
		s.sweep(ctx, time.Now(), limit)
	}
}

// sweep ends what has been idle for limit; 0 is for ever.
func (s *Service) sweep(ctx context.Context, now time.Time, limit time.Duration) {
	ended := 0
	for _, t := range slices.Backward(s.all()) {
		t.mu.Lock()
		watched := false
		for v := range t.viewers {
			watched = watched || !v.hidden
		}
		idle, stopped := now.Sub(t.used), t.stopped
		t.mu.Unlock()
		if stopped && !watched {
			if ended++; ended > keptEnded {
				s.remove(t)
			}
			continue
		}
		if limit > 0 && !watched && idle >= limit {
			s.log.Info("terminal ended: nobody used it", "session", t.info.ID, "idle", idle)
			if err := s.CloseSession(ctx, t.info.ID); err != nil {
				s.log.Warn("end idle terminal", "session", t.info.ID, "err", err)
			}
		}
	}
}

// Close lets go of programs in containers of ours, which go on, ends the others,
// and waits for every goroutine.
func (s *Service) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	all := s.all()
	var wg sync.WaitGroup
	errs := make([]error, len(all))
	for i, t := range all {
		wg.Go(func() {
			if t.save(); !t.keep {
				ctx, cancel := context.WithTimeout(context.Background(), endTime)
				defer cancel()
				errs[i] = t.program.End(ctx)
			}
			t.end()
		})
	}
	wg.Wait()
	s.stop()
	return errors.Join(errs...)
}

// lockShell waits for its turn to find, make or remove the container of a channel's terminals.
func (s *Service) lockShell(ctx context.Context, ch core.ChannelID) (unlock func(), err error) {
	s.mu.Lock()
	turn := s.shells[ch]
	if turn == nil {
		turn = make(chan struct{}, 1)
		s.shells[ch] = turn
	}
	s.mu.Unlock()
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
