package runner

import (
	"context"

	"loop/backend/core"
)

// Undecided says whether a run of the channel waits for the person's word on the image that its
// project brings. No row says so: after a restart of Loop such a run asks anew.
func (s *Service) Undecided(ch core.ChannelID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.active {
		if w.run.ChannelID == ch && w.asks.Load() {
			return true
		}
	}
	return false
}

// decided waits until the person has said whether the image that the project brings counts. It
// looks again after each wait for a slot, as the file may be another by then.
func (w *work) decided(ctx context.Context) error {
	for w.s.p.Toolchains != nil {
		if path, _ := w.s.p.Toolchains.Undecided(w.ch, w.run); path == "" {
			return nil
		}
		if err := w.apart(ctx); err != nil {
			return err
		}
	}
	return nil
}

// apart waits without a slot for the decision, which may take days, and then for a slot.
func (w *work) apart(ctx context.Context) error {
	if w.slot {
		<-w.s.slots
		w.slot = false
	}
	w.s.apart.Add(1)
	defer w.s.apart.Add(-1)
	if err := w.word(ctx); err != nil {
		return err
	}
	select {
	case w.s.slots <- struct{}{}:
		w.slot = true
		return nil
	default:
	}
	if err := w.step(ctx, stepSlot); err != nil {
		return err
	}
	select {
	case w.s.slots <- struct{}{}:
		w.slot = true
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// word waits for the person's word. What is said of the run changes before its events are told,
// so that nobody who reads both sees an old state after a new event.
func (w *work) word(ctx context.Context) error {
	w.asks.Store(true)
	defer w.asks.Store(false)
	if err := w.step(ctx, stepToolchain); err != nil {
		return err
	}
	for {
		path, changed := w.s.p.Toolchains.Undecided(w.ch, w.run)
		if path == "" {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
