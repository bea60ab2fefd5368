package runner

import (
	"context"
	"time"

	"loop/backend/backoff"
	"loop/backend/core"
)

// drain is the one goroutine that works a channel's queue while there is
// something in it.
type drain struct {
	wake chan struct{} // capacity 1
}

// kick makes sure somebody looks at the channel's queue. Until the runs of the
// launch before are taken over it does nothing: such a run needs the channel's
// drain for itself first, and recover looks at every queue afterwards.
func (s *Service) kick(ch core.ChannelID) {
	s.mu.Lock()
	ready := s.ready
	s.mu.Unlock()
	if ready {
		s.drainWith(ch, nil)
	}
}

func (s *Service) drainWith(ch core.ChannelID, resume *core.Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx := s.ctx
	if ctx == nil || s.closing || ctx.Err() != nil {
		return
	}
	d := s.drains[ch]
	if d != nil {
		select {
		case d.wake <- struct{}{}:
		default:
		}
		return
	}
	d = &drain{wake: make(chan struct{}, 1)}
	s.drains[ch] = d
	s.wg.Go(func() { s.drain(ctx, ch, d, resume) })
}

func (s *Service) drain(ctx context.Context, ch core.ChannelID, d *drain, resume *core.Run) {
	defer s.leave(ch, d)
	if resume != nil {
		s.process(ctx, *resume, true)
	}
	pause := backoff.Backoff{First: 200 * time.Millisecond, Most: 30 * time.Second}
	for ctx.Err() == nil {
		select {
		case s.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		run, ok, err := s.claim(ctx, ch)
		if err == nil && ok {
			pause.Reset()
			s.process(ctx, run, false)
			<-s.slots
			continue
		}
		<-s.slots
		if err != nil {
			if ctx.Err() == nil {
				s.p.Log.Error("claim next run", "channel", ch, "error", err)
			}
			if pause.Wait(ctx) {
				s.adopt(ctx, ch)
			}
			continue
		}
		wait, queued := s.untilDue(ctx, ch)
		if !queued && s.retire(ch, d) {
			return
		}
		if queued {
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
			case <-d.wake:
			case <-ctx.Done():
			}
			timer.Stop()
		}
	}
}

// claim takes the next run and tells it; see Service.order.
func (s *Service) claim(ctx context.Context, ch core.ChannelID) (core.Run, bool, error) {
	s.order <- struct{}{}
	defer func() { <-s.order }()
	run, ok, err := s.p.Store.ClaimNext(ctx, ch)
	if err == nil && ok {
		s.p.Publish(s.queueEvent(run), core.NewEvent(core.EventMessagesDone, run.ChannelID, run.ID, s.o.Now(), core.MessagesProcessed{MsgIDs: []string{string(run.ID)}}))
	}
	return run, ok, err
}

// adopt looks after a run that was claimed although claiming it failed: the
// answer of the database was lost. Nobody else would, for each channel has one
// drain.
func (s *Service) adopt(ctx context.Context, ch core.ChannelID) {
	pause := backoff.Backoff{First: 200 * time.Millisecond, Most: 30 * time.Second}
	for {
		active, err := s.p.Store.ActiveRuns(ctx)
		for _, r := range active {
			if r.ChannelID == ch {
				s.process(ctx, r, true)
			}
		}
		if err == nil {
			return
		}
		s.p.Log.Error("read runs under way", "channel", ch, "error", err)
		if !pause.Wait(ctx) {
			return
		}
	}
}

// leave takes a drain off the list, unless another has taken its place.
func (s *Service) leave(ch core.ChannelID, d *drain) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drains[ch] == d {
		delete(s.drains, ch)
	}
}

// parkedFor is how long a drain waits for an answer or for another's run at most
// before it looks again; both wake it.
const parkedFor = time.Minute

// untilDue says how long the first queued run has to wait.
func (s *Service) untilDue(ctx context.Context, ch core.ChannelID) (time.Duration, bool) {
	list, err := s.p.Store.Queue(ctx, ch)
	if err != nil {
		return time.Second, ctx.Err() == nil
	}
	now := s.o.Now()
	first, queued := due(list, now)
	wait := first.Sub(now)
	if queued && wait <= 0 {
		if open, err := s.p.Store.OpenQuestions(ctx, ch); err == nil && len(open) > 0 {
			return parkedFor, true
		}
	}
	// Never zero: a run that is due and still not claimed waits for another. Never
	// longer than a minute, so that a clock that is put forward is noticed.
	return min(max(wait, 20*time.Millisecond), time.Minute), queued
}

// retire ends a drain unless it was woken meanwhile.
func (s *Service) retire(ch core.ChannelID, d *drain) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-d.wake:
		return false
	default:
		delete(s.drains, ch)
		return true
	}
}

func (s *Service) process(ctx context.Context, run core.Run, resumed bool) {
	s.mu.Lock()
	w := newWork(ctx, s, run)
	s.active[run.ID] = w
	s.mu.Unlock()
	s.p.Publish(s.agentEvent(core.EventAgentAdded, run, "running"))
	defer func() {
		s.p.Publish(s.agentEvent(core.EventAgentRemoved, run, "completed"))
		s.mu.Lock()
		delete(s.active, run.ID)
		s.mu.Unlock()
		w.cancel(nil)
		close(w.done)
	}()
	if resumed {
		s.p.Publish(s.queueEvent(run))
		w.resume(ctx)
		return
	}
	w.begin(ctx)
}

// agentEvent says that an agent works in a channel, or has ended. Its id is the
// channel's, as for agents that ask who else there is.
func (s *Service) agentEvent(t core.EventType, run core.Run, status string) core.Event {
	return core.NewEvent(t, run.ChannelID, run.ID, s.o.Now(), core.AgentInfo{ID: run.ChannelID, Channel: run.ChannelID, Status: status, Summary: beginning(run.Prompt)})
}
