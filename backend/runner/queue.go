package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"loop/backend/core"
)

// MaxDelay bounds how far off a delayed prompt may be.
const MaxDelay = 30 * 24 * time.Hour

// changed explains an error of a change to a queued run.
func changed(err error) error {
	switch {
	case errors.Is(err, core.ErrNotFound):
		return core.Fail(core.CodeNotFound, err, "This prompt does not exist.", "Reload the timeline.")
	case errors.Is(err, core.ErrConflict):
		return core.Fail(core.CodeConflict, err, "This prompt has already been started or taken out of the queue.", "Reload the queue.")
	}
	return fmt.Errorf("change queue: %w", err)
}

// Edit replaces the text of a queued prompt and ends its hold.
func (s *Service) Edit(ctx context.Context, id core.RunID, prompt string) (core.Run, error) {
	if err := core.CheckText("prompt", prompt, MaxPrompt); err != nil {
		return core.Run{}, err
	}
	run, err := s.run(ctx, id)
	if err != nil {
		return run, err
	}
	return s.change(func() (core.Run, []core.Event, error) {
		return s.p.Store.EditQueued(ctx, id, prompt, core.NewEvent(core.EventMessageUpdated, run.ChannelID, id, s.o.Now(), core.MessageUpdated{
			MsgID: string(id), Content: prompt,
		}))
	})
}

// Hold keeps a queued prompt, and what is behind it, from being started for
// core.HoldLease.
func (s *Service) Hold(ctx context.Context, id core.RunID) (core.Run, error) {
	return s.holdUntil(ctx, id, s.o.Now().Add(core.HoldLease))
}

// Release ends a hold.
func (s *Service) Release(ctx context.Context, id core.RunID) error {
	_, err := s.holdUntil(ctx, id, time.Time{})
	return err
}

func (s *Service) holdUntil(ctx context.Context, id core.RunID, until time.Time) (core.Run, error) {
	return s.change(func() (core.Run, []core.Event, error) {
		run, err := s.p.Store.HoldQueued(ctx, id, until)
		return run, nil, err
	})
}

// Reorder puts a channel's queue into the order of ids, which are exactly the
// queued prompts.
func (s *Service) Reorder(ctx context.Context, ch core.ChannelID, ids []core.RunID) ([]core.Run, error) {
	defer s.inOrder()()
	runs, err := s.p.Store.ReorderQueue(ctx, ch, ids)
	if errors.Is(err, core.ErrConflict) {
		return nil, core.Fail(core.CodeConflict, err, "The queue has changed meanwhile.", "Look at the queue and order it again.")
	}
	if err != nil {
		return nil, changed(err)
	}
	for _, r := range runs {
		s.p.Publish(s.queueEvent(r))
	}
	s.kick(ch)
	return runs, nil
}

// Interrupt is Prompt for a message that does not wait: it goes in front of the
// queue, and then the channel's run under way is stopped. It returns when that
// one is proven gone. The same ID again goes on where a lost call ended.
func (s *Service) Interrupt(ctx context.Context, req core.Run) (core.Run, error) {
	req.NotBefore, req.Delay = time.Time{}, 0
	run, err := s.enqueue(ctx, req)
	if err != nil || run.State != core.RunQueued {
		return run, err
	}
	err = s.jump(ctx, run.ID)
	return s.whyWaits(ctx, run), err
}

// Steer makes an interrupting message of a queued prompt.
func (s *Service) Steer(ctx context.Context, id core.RunID) error {
	run, err := s.run(ctx, id)
	if err != nil {
		return err
	}
	if run.State != core.RunQueued {
		return changed(core.ErrConflict)
	}
	return s.jump(ctx, id)
}

// jump promotes a queued run before it stops the one under way: a crash between
// the two loses nothing and starts nothing else first.
func (s *Service) jump(ctx context.Context, id core.RunID) error {
	_, err := s.change(func() (core.Run, []core.Event, error) {
		run, err := s.p.Store.PromoteQueued(ctx, id)
		return run, nil, err
	})
	if f, ok := errors.AsType[*core.Failure](err); ok && f.Code == core.CodeConflict {
		return nil // it was started already, which is what was wanted
	}
	if err != nil {
		return err
	}
	active, err := s.p.Store.ActiveRuns(ctx)
	if err != nil {
		return fmt.Errorf("read runs: %w", err)
	}
	// Only what was under way while this one still waited is in its way. Had it
	// started and ended meanwhile, that would be a run that was behind it.
	run, err := s.run(ctx, id)
	if err != nil || run.State != core.RunQueued {
		return err
	}
	return s.cancelAll(ctx, active, func(r core.Run) bool { return r.ChannelID == run.ChannelID && r.ID != id })
}

// change makes one change of the queue and announces it.
func (s *Service) change(fn func() (core.Run, []core.Event, error)) (core.Run, error) {
	defer s.inOrder()()
	run, evs, err := fn()
	if err != nil {
		return core.Run{}, changed(err)
	}
	s.p.Publish(append(evs, s.queueEvent(run))...)
	s.kick(run.ChannelID)
	return run, nil
}

// Queue is what waits in a channel, in order, with why each waits.
func (s *Service) Queue(ctx context.Context, ch core.ChannelID) ([]core.Run, error) {
	// Before the queue: a run that is claimed in between would seem to wait for itself.
	active, err := s.p.Store.ActiveRuns(ctx)
	if err != nil {
		return nil, fmt.Errorf("read runs: %w", err)
	}
	queue, err := s.p.Store.Queue(ctx, ch)
	if err != nil || len(queue) == 0 {
		return queue, err
	}
	open, err := s.p.Store.OpenQuestions(ctx, ch)
	if err != nil {
		return nil, fmt.Errorf("read questions: %w", err)
	}
	state := core.QueueState{Full: len(active)-int(s.apart.Load()) >= s.o.Parallel, Now: s.o.Now()}
	state.Running = slices.ContainsFunc(active, func(r core.Run) bool { return r.ChannelID == ch })
	if len(open) > 0 {
		state.Question = &open[0]
	}
	for i, w := range core.Waits(queue, state) {
		queue[i].WaitsFor = w
	}
	return queue, nil
}

// whyWaits adds what a run that was just put into the queue waits for. It is
// stored already: that this cannot be read is no failure of the prompt.
func (s *Service) whyWaits(ctx context.Context, run core.Run) core.Run {
	if run.State != core.RunQueued {
		return run
	}
	queue, err := s.Queue(ctx, run.ChannelID)
	if err != nil {
		s.p.Log.Warn("read why a prompt waits", "run", run.ID, "error", err)
		return run
	}
	if i := slices.IndexFunc(queue, func(r core.Run) bool { return r.ID == run.ID }); i >= 0 {
		return queue[i]
	}
	return run // claimed meanwhile, which an event tells
}
