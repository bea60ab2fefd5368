package rewind

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"loop/backend/checkpoints"
	"loop/backend/core"
)

const (
	// lateWait is how long a run waits where the checkpoint before it is being taken still.
	lateWait = 200 * time.Millisecond
	// mostTime bounds a checkpoint for which nobody waits any more.
	mostTime = 10 * time.Minute
	// askAgain is when a folder of which there can be no checkpoint is looked at again.
	askAgain = 30 * time.Minute
)

// Before keeps a channel's files before a run's agent begins, and how the conversation stands
// that the agent takes up. It returns within some seconds. why says why there is no
// checkpoint, the first time that this is the reason.
func (s *Service) Before(ctx context.Context, run core.Run, ch core.Channel, start core.SessionStart) (why string) {
	c := core.Checkpoint{ID: string(run.ID) + ".before", ChannelID: ch.ID, RunID: run.ID, Kind: core.CheckpointBefore}
	c.Talk = core.Talk{Start: start, Known: start.Mode == core.SessionFresh}
	if !c.Talk.Known {
		c.Talk.Bytes, c.Talk.Known = s.o.Sessions.Length(ch, start.SessionID)
	}
	why = s.keep(ctx, run, ch, c)
	p := s.place(ch.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	if why == p.told {
		return ""
	}
	p.told = why
	return why
}

// After keeps a channel's files after a run, so that what the person changes from then on is
// known from what the agent did.
func (s *Service) After(ctx context.Context, run core.Run, ch core.Channel) {
	c := core.Checkpoint{ID: string(run.ID) + ".after", ChannelID: ch.ID, RunID: run.ID, Kind: core.CheckpointAfter}
	if why := s.keep(ctx, run, ch, c); why != "" {
		s.o.Log.Debug("no checkpoint after a run", "run", run.ID, "why", why)
	}
}

// How a checkpoint stands that somebody waits for.
const (
	waited = iota
	stored // in time
	late
)

// keep takes a checkpoint in the background and waits for it for a while. One that comes late
// is no checkpoint, but makes the next one quick.
func (s *Service) keep(ctx context.Context, run core.Run, ch core.Channel, c core.Checkpoint) (why string) {
	p := s.place(ch.ID)
	wait := s.o.Wait
	s.mu.Lock()
	if p.late > 0 {
		wait = min(wait, lateWait)
	}
	if p.why != "" && s.o.Now().Sub(p.since) < askAgain {
		c.Note = p.why
	}
	s.mu.Unlock()
	var state atomic.Int32
	done := make(chan string, 1)
	if !s.begin(func(life context.Context) {
		life, cancel := context.WithTimeout(life, mostTime)
		defer cancel()
		done <- s.keepNow(life, run, ch, c, &state)
		s.mu.Lock()
		defer s.mu.Unlock()
		if state.Load() == late {
			p.late--
		}
	}) {
		return "Loop is closing, so the files were not kept."
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case why := <-done:
		return why
	case <-timer.C:
	case <-ctx.Done():
	}
	s.mu.Lock()
	isLate := state.CompareAndSwap(waited, late)
	if isLate {
		p.late++
	}
	s.mu.Unlock()
	if !isLate {
		return <-done // it is being written down
	}
	return tooLate
}

// errStill is what a look at the files gets while a checkpoint that takes long is under way: the
// first one of a large folder takes minutes, for which nobody waits.
var errStill = core.Fail(core.CodeConflict, core.ErrConflict,
	"The files of this folder are still being kept, which can take some minutes.", "Look again in a while.")

// enterNow is enter for what a person waits for. It waits no longer than a run does for its
// checkpoint.
func (s *Service) enterNow(ctx context.Context, ch core.ChannelID) (p *place, leave func(), err error) {
	if s.stillKeeping(ch) {
		return nil, nil, errStill
	}
	patience, cancel := context.WithTimeoutCause(ctx, s.o.Wait, errStill)
	defer cancel()
	p, leave, err = s.enter(patience, ch)
	if errors.Is(err, errStill) {
		err = errStill
	}
	return p, leave, err
}

// stillKeeping reports whether a checkpoint is under way for which its run has not waited.
func (s *Service) stillKeeping(ch core.ChannelID) bool {
	at := s.place(ch)
	s.mu.Lock()
	defer s.mu.Unlock()
	return at.late > 0
}

// enterFor is enter for a going back in a channel that is quiet. One that leaves the files alone
// has nothing to wait for. One that stopped a run waits for the run's last checkpoint.
func (s *Service) enterFor(ctx context.Context, ch core.ChannelID, files, stopped bool) (p *place, leave func(), err error) {
	switch {
	case !files:
		return s.place(ch), func() {}, nil
	case stopped:
		return s.enter(ctx, ch)
	}
	return s.enterNow(ctx, ch)
}

const tooLate = "Keeping the files took too long, so the agent began without a checkpoint. The next one will be quicker."

func (s *Service) keepNow(ctx context.Context, run core.Run, ch core.Channel, c core.Checkpoint, state *atomic.Int32) (why string) {
	p, leave, err := s.enter(ctx, ch.ID)
	if err != nil {
		return reason(err)
	}
	defer leave()
	quiet := false
	if c.Note == "" {
		t, err := s.take(ctx, p, ch, run)
		if err == nil {
			c.Tree, err = t.hash.String(), t.Root.Close()
		}
		quiet = errors.Is(err, errReadOnly) // nobody misses what no agent can change
		if err != nil {
			c.Note = reason(err)
			s.o.Log.Debug("take a checkpoint", "run", run.ID, "error", err)
		}
		s.mu.Lock()
		p.why = ""
		if errors.Is(err, checkpoints.ErrTooMany) || errors.Is(err, checkpoints.ErrTooMuch) {
			p.why, p.since = c.Note, s.o.Now()
		}
		s.mu.Unlock()
	}
	if !state.CompareAndSwap(waited, stored) && c.Note == "" {
		c.Note = tooLate
	}
	c.At = s.o.Now()
	if _, err := s.o.Rows.PutCheckpoint(ctx, c, nil); err != nil {
		s.o.Log.Warn("store a checkpoint", "run", run.ID, "error", err)
		return "The checkpoint could not be stored."
	}
	if quiet {
		return ""
	}
	return c.Note
}

// reason says why there is no checkpoint.
func reason(err error) string {
	switch {
	case errors.Is(err, checkpoints.ErrTooMany):
		return fmt.Sprintf("The folder has more than %d files besides those that git ignores, so they are not kept.", checkpoints.MaxFiles)
	case errors.Is(err, checkpoints.ErrTooMuch):
		return fmt.Sprintf("The folder's files are larger than %d GB together besides those that git ignores, so they are not kept.",
			checkpoints.MaxBytes>>30)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return tooLate
	}
	if f, ok := errors.AsType[*core.Failure](err); ok {
		return f.Cause
	}
	return "The folder could not be read."
}
