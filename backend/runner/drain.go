package runner

import (
	"context"
	"time"

	"loop/backend/backoff"
	"loop/backend/core"
)

// kick makes sure somebody looks at the channel's queue. Until the runs of the
// launch before are taken over it does nothing: such a run needs the channel's
// drain for itself first, and recover looks at every queue afterwards.
func (s *Service) kick(ch core.ChannelID) {
	s.mu.Lock()
	ready := s.ready
	s.mu.Unlock()
	if ready {
		s.drainWith(ch)
	}
}

// drainWith wakes the channel's drain, the one goroutine that works its queue, or
// starts it, with what is to be done first about runs of an earlier launch.
func (s *Service) drainWith(ch core.ChannelID, first ...func(context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx := s.ctx
	if ctx == nil || s.closing || ctx.Err() != nil {
		return
	}
	if wake := s.drains[ch]; wake != nil {
		select {
		case wake <- struct{}{}:
		default:
		}
		return
	}
	wake := make(chan struct{}, 1)
	s.drains[ch] = wake
	s.wg.Go(func() { s.drain(ctx, ch, wake, first) })
}

func (s *Service) drain(ctx context.Context, ch core.ChannelID, wake <-chan struct{}, first []func(context.Context)) {
	for _, do := range first {
		do(ctx)
	}
	pause := backoff.Backoff{First: 200 * time.Millisecond, Most: 30 * time.Second}
	for ctx.Err() == nil {
		select {
		case s.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		w, err := s.claim(ctx, ch)
		if w != nil {
			pause.Reset()
			w.slot = true
			s.process(ctx, w)
		}
		if w == nil || w.slot {
			<-s.slots
		}
		switch {
		case w != nil || ctx.Err() != nil:
			continue
		case err != nil:
			s.p.Log.Error("claim next run", "channel", ch, "error", err)
			if pause.Wait(ctx) {
				s.adopt(ctx, ch)
			}
			continue
		}
		select {
		case <-time.After(s.untilDue(ctx, ch)):
		case <-wake:
		case <-ctx.Done():
		}
	}
}

// claim takes the next run and announces it; nil when none can be started. A claimed
// run is registered before inOrder lets anybody else in.
func (s *Service) claim(ctx context.Context, ch core.ChannelID) (*work, error) {
	defer s.inOrder()()
	if s.isQuiet(ch) {
		return nil, nil
	}
	run, ok, err := s.p.Store.ClaimNext(ctx, ch)
	if err != nil || !ok {
		return nil, err
	}
	w := s.register(newWork(ctx, s, run))
	s.p.Publish(s.queueEvent(run), core.NewEvent(core.EventMessagesDone, run.ChannelID, run.ID, s.o.Now(),
		core.MessagesProcessed{MsgIDs: []string{string(run.ID)}}))
	return w, nil
}

// takeOver makes the work of a run that was under way before.
func (s *Service) takeOver(ctx context.Context, run core.Run) *work {
	w := newWork(ctx, s, run)
	w.resumed = true
	select { // it is under way in any case
	case s.slots <- struct{}{}:
		w.slot = true
	default:
	}
	return s.register(w)
}

func (s *Service) register(w *work) *work {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active[w.run.ID] = w
	return w
}

// adopt looks after a run that was claimed although claiming it failed: the
// answer of the database was lost. Nobody else would, for each channel has one
// drain.
func (s *Service) adopt(ctx context.Context, ch core.ChannelID) {
	var active []core.Run
	err := s.insist(ctx, "read runs under way", func() (err error) {
		active, err = s.p.Store.ActiveRuns(ctx)
		return err
	})
	for _, r := range active {
		if err == nil && r.ChannelID == ch {
			s.process(ctx, s.takeOver(ctx, r))
		}
	}
}

// untilDue says when a channel's queue is worth another look. An answer, another
// prompt and each change of the queue wake its drain besides.
func (s *Service) untilDue(ctx context.Context, ch core.ChannelID) time.Duration {
	queue, err := s.Queue(ctx, ch)
	switch {
	case err != nil:
		return time.Second
	case len(queue) == 0:
		return time.Hour
	}
	wait := time.Minute // never longer, so that a clock that is put forward is noticed
	for _, r := range queue {
		switch w := r.WaitsFor; w.Reason {
		case core.WaitHeld, core.WaitDelayed:
			wait = min(wait, w.Until.Sub(s.o.Now()))
		case core.WaitNone, core.WaitRun, core.WaitLimit:
			wait = 0 // it is due, and was not claimed because of another one
		}
	}
	return max(wait, 20*time.Millisecond)
}

// process takes a run that is registered to its end, or until Loop closes.
func (s *Service) process(ctx context.Context, w *work) {
	run := w.run
	s.p.Publish(s.agentEvent(core.EventAgentAdded, run, "running"))
	defer func() {
		s.p.Publish(s.agentEvent(core.EventAgentRemoved, run, "completed"))
		s.mu.Lock()
		delete(s.active, run.ID)
		s.mu.Unlock()
		if w.resumed && w.slot { // else its drain does it
			<-s.slots
		}
		w.cancel(nil)
		close(w.done)
		s.startAfter(ctx, w)
	}()
	if w.resumed {
		s.p.Publish(s.queueEvent(run))
		w.resume(ctx)
		return
	}
	w.begin(ctx)
}

// agentEvent says that an agent works in a channel, or has ended. Its id is the
// channel's, as for agents that ask who else there is.
func (s *Service) agentEvent(t core.EventType, run core.Run, status string) core.Event {
	return core.NewEvent(t, run.ChannelID, run.ID, s.o.Now(), core.AgentInfo{
		ID: run.ChannelID, Channel: run.ChannelID, Status: status, Summary: core.Shortened(run.Prompt, maxBeginning),
	})
}
