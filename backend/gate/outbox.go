package gate

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"time"

	"loop/backend/bus"
	"loop/backend/core"
)

// outgoing is one thing that happened in the queue and has to be told.
type outgoing struct {
	event  core.Event
	stored bool // it belongs into the run's timeline
	record Record
}

// publish leaves an event for Run, in the order of what happened.
func (s *Service) publish(e core.Event, stored bool) {
	s.out = append(s.out, outgoing{event: e, stored: stored && e.RunID != ""})
	s.nudge()
}

func (s *Service) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Service) event(t core.EventType, q *question) core.Event {
	return core.NewEvent(t, q.view.ChannelID, q.view.RunID, s.o.Now(), q.view)
}

func (s *Service) changedQuestion(q *question) {
	if s.open[q.view.ID] == q {
		s.publish(s.event(core.EventGateChanged, q), false)
	}
}

func (s *Service) changedOrFlood(q *question) {
	if q.flood != nil && q.flood.card != q {
		s.floodChanged(q.flood)
		return
	}
	s.changedQuestion(q)
}

// storeWait bounds the storing of what is left when Loop ends.
const storeWait = 5 * time.Second

// Run tells what happens in the queue, and follows the tool calls of runs, until ctx
// ends, and then closes the queue. It may be called once.
func (s *Service) Run(ctx context.Context) error {
	sub, _ := s.o.Bus.Resume("", 0)
	defer sub.Close()
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeWait)
		defer cancel()
		s.Close() // what waits is denied while there is somebody to tell it
		s.settleDecided(true)
		s.settleCalls(true)
		s.flush(last)
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.wake:
			s.flush(ctx)
		case <-s.decided.due.C:
			s.settleDecided(false)
		case <-s.settles.due.C:
			s.settleCalls(false)
		case <-sub.Wake():
			events, err := sub.Next(1024)
			if errors.Is(err, bus.ErrClosed) {
				<-ctx.Done()
				return nil
			}
			s.follow(events, err)
		}
	}
}

// flush tells what is there by now.
func (s *Service) flush(ctx context.Context) {
	s.mu.Lock()
	list := s.out
	s.out = nil
	s.mu.Unlock()
	for _, o := range list {
		if o.event.Type == "" {
			if err := s.record(o.record); err != nil {
				s.o.Log.Error("write the record of decisions", "err", err)
			}
			continue
		}
		if o.stored && s.o.Timeline != nil {
			if kept, err := s.o.Timeline.AddEvents(ctx, o.event); err != nil {
				s.o.Log.Error("store event of the gate", "type", string(o.event.Type), "err", err)
			} else {
				o.event = kept[0]
			}
		}
		s.o.Bus.Publish(o.event)
	}
}

// follow takes in what runs do. After a gap it knows of no tool call.
func (s *Service) follow(events []core.Event, gap error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if gap != nil {
		clear(s.tools)
		s.memory.unfollowed()
		return
	}
	begun := map[core.RunID]bool{} // calls of one message come together, and are told apart only then
	for _, e := range events {
		switch e.Type {
		case core.EventToolUse:
			var use core.ToolUse
			if json.Unmarshal(e.Data, &use) == nil {
				s.tools.begin(e.RunID, use, s.o.Now())
				begun[e.RunID] = true
			}
		case core.EventToolResult:
			var res core.ToolResult
			if json.Unmarshal(e.Data, &res) == nil {
				s.tools.end(e.RunID, res.ToolUseID, s.o.Now())
				s.memory.ended(e.RunID, res.ToolUseID)
			}
		case core.EventBackground:
			var b core.Background
			if json.Unmarshal(e.Data, &b) == nil {
				s.tools.inBackground(e.RunID, b.Tasks)
			}
		case core.EventStatus:
			var st core.Status
			if json.Unmarshal(e.Data, &st) == nil && st.State.Terminal() {
				s.endedRun(e.RunID)
			}
		}
	}
	for run := range begun {
		s.joinLate(run)
	}
}

// endedRun forgets all of a run.
func (s *Service) endedRun(run core.RunID) {
	delete(s.clocks, run)
	s.tools.ended(run, s.o.Now())
	s.decided.soon()
	s.memory.endedRun(run)
	of := func(o origin) bool { return o.source == string(run) }
	maps.DeleteFunc(s.buckets, func(o origin, _ *bucket) bool { return of(o) })
	maps.DeleteFunc(s.backs, func(o origin, _ *bucket) bool { return of(o) })
	maps.DeleteFunc(s.refused, func(o origin, _ time.Time) bool { return of(o) })
}
