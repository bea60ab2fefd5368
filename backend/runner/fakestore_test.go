package runner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"loop/backend/core"
)

// memStore keeps the same data as the real store, by the same rules, which the store's
// own tests prove. It calls fault before and after each writing call.
type memStore struct {
	now func() time.Time

	mu        sync.Mutex
	channels  map[core.ChannelID]*core.Channel
	runs      map[core.RunID]*core.Run
	order     []core.RunID
	events    []core.Event
	taken     map[nextOf]core.RunID // the run that was claimed with what the channel's next start was
	claims    int
	rank      map[core.RunID]int
	questions []*core.Question
	fault     func(call string, after bool) error
}

// nextOf names the next start of a channel's runs of one kind.
type nextOf struct {
	ch   core.ChannelID
	demo bool
}

func newMemStore(channels ...core.Channel) *memStore {
	s := &memStore{now: time.Now, channels: map[core.ChannelID]*core.Channel{}, runs: map[core.RunID]*core.Run{}, rank: map[core.RunID]int{}, taken: map[nextOf]core.RunID{}}
	for _, c := range channels {
		s.channels[c.ID] = &c
	}
	return s
}

// write runs fn as one transaction. A fault may come before or after it.
func (s *memStore) write(call string, fn func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault != nil {
		if err := s.fault(call, false); err != nil {
			return err
		}
	}
	if err := fn(); err != nil {
		return err
	}
	if s.fault != nil {
		return s.fault(call, true)
	}
	return nil
}

func (s *memStore) insert(evs []core.Event) []core.Event {
	out := make([]core.Event, len(evs))
	for i, e := range evs {
		e.ID = int64(len(s.events) + 1)
		s.events = append(s.events, e)
		out[i] = e
	}
	s.openQuestions(evs)
	return out
}

func (s *memStore) Channel(_ context.Context, id core.ChannelID) (core.Channel, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.channels[id]; c != nil {
		return *c, nil
	}
	return core.Channel{}, core.ErrNotFound
}

func (s *memStore) Run(_ context.Context, id core.RunID) (core.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.runs[id]; r != nil {
		return *r, nil
	}
	return core.Run{}, core.ErrNotFound
}

func (s *memStore) list(keep func(*core.Run) bool) (out []core.Run) {
	for _, id := range s.order {
		if r := s.runs[id]; keep(r) {
			out = append(out, *r)
		}
	}
	return out
}

func (s *memStore) Queue(_ context.Context, ch core.ChannelID) ([]core.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []core.Run
	for _, r := range s.queued(ch) {
		out = append(out, *r)
	}
	return out, nil
}

func (s *memStore) QueueLengths(context.Context) (map[core.ChannelID]int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[core.ChannelID]int{}
	for _, r := range s.list(func(r *core.Run) bool { return r.State == core.RunQueued }) {
		out[r.ChannelID]++
	}
	return out, nil
}

func (s *memStore) ActiveRuns(context.Context) ([]core.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list(func(r *core.Run) bool { return r.State == core.RunStarting || r.State == core.RunRunning }), nil
}

func (s *memStore) Enqueue(_ context.Context, run core.Run, evs ...core.Event) (stored core.Run, out []core.Event, created bool, err error) {
	err = s.write("enqueue", func() error {
		if r := s.runs[run.ID]; r != nil {
			if r.Prompt != run.Prompt {
				return core.ErrConflict
			}
			stored = *r
			return nil
		}
		run.State = core.RunQueued
		s.runs[run.ID] = &run
		s.order = append(s.order, run.ID)
		stored, out, created = run, s.insert(evs), true
		return nil
	})
	return stored, out, created, err
}

func (s *memStore) ClaimNext(_ context.Context, ch core.ChannelID) (run core.Run, ok bool, err error) {
	err = s.write("claim", func() error {
		for _, r := range s.runs {
			if r.ChannelID == ch && (r.State == core.RunStarting || r.State == core.RunRunning) {
				return nil
			}
		}
		best := s.claimable(ch)
		if best != nil {
			best.State, best.StartedAt = core.RunStarting, s.now()
			run, ok = *best, true
			s.taken[nextOf{ch, run.Demo}] = run.ID
			s.claims++
		}
		return nil
	})
	return run, ok && err == nil, err
}

func (s *memStore) UpdateRun(_ context.Context, run core.Run, evs ...core.Event) (out []core.Event, err error) {
	err = s.write("update", func() error {
		r := s.runs[run.ID]
		if r == nil {
			return core.ErrNotFound
		}
		if r.State.Terminal() || run.State.Terminal() || r.State == core.RunRunning && run.State != core.RunRunning {
			return fmt.Errorf("%w: %s to %s", core.ErrConflict, r.State, run.State)
		}
		off := r.SpoolOffset
		if r.SpawnID != run.SpawnID || run.State == core.RunQueued {
			off = 0
		}
		*r = run
		r.SpoolOffset = off
		out = s.insert(evs)
		return nil
	})
	return out, err
}

func (s *memStore) AppendEvents(_ context.Context, id core.RunID, from, to int64, evs ...core.Event) (out []core.Event, err error) {
	err = s.write("append", func() error {
		r := s.runs[id]
		if r == nil || r.State.Terminal() || r.State == core.RunQueued || r.SpoolOffset != from || to < from {
			return fmt.Errorf("%w: append %d to %d at %+v", core.ErrConflict, from, to, r)
		}
		r.SpoolOffset = to
		out = s.insert(evs)
		return nil
	})
	return out, err
}

func (s *memStore) FinishRun(_ context.Context, run core.Run, evs ...core.Event) (out []core.Event, err error) {
	err = s.write("finish", func() error {
		r := s.runs[run.ID]
		if r == nil || r.State.Terminal() || !run.State.Terminal() {
			return fmt.Errorf("%w: finish %+v", core.ErrConflict, r)
		}
		*r = run
		if run.State == core.RunDone && run.Outcome.SessionID != "" {
			s.setSession(run.ChannelID, run.Demo, run.Outcome.SessionID)
			s.setNext(run.ChannelID, run.Demo, core.SessionStart{}, run.ID)
		}
		out = s.insert(evs)
		return nil
	})
	return out, err
}

func (s *memStore) SessionModel(_ context.Context, ch core.ChannelID, id core.SessionID) (asked, usual string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err = core.ErrNotFound
	for _, r := range slices.Backward(s.order) {
		run := s.runs[r]
		if run.Outcome.SessionID == id && err != nil {
			asked, err = run.Model, nil
		}
		if run.ChannelID == ch && run.Model == "" && usual == "" {
			usual = run.Outcome.Chosen
		}
	}
	return asked, usual, err
}

func (s *memStore) SessionCost(_ context.Context, id core.SessionID) (float64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range slices.Backward(s.order) {
		if o := s.runs[r].Outcome; o.SessionID == id && o.SessionUSD > 0 {
			return o.SessionUSD, nil
		}
	}
	return 0, core.ErrNotFound
}

func (s *memStore) ModelRates(context.Context) (map[string]core.ModelRate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]core.ModelRate{}
	for _, id := range s.order {
		maps.Copy(out, core.Rates(s.runs[id].Outcome.Usage))
	}
	return out, nil
}

func (s *memStore) SetChannelSession(_ context.Context, ch core.ChannelID, demo bool, id core.SessionID) error {
	return s.write("session", func() error {
		s.setSession(ch, demo, id)
		return nil
	})
}

func (s *memStore) setSession(ch core.ChannelID, demo bool, id core.SessionID) {
	if demo {
		s.channels[ch].DemoSessionID = id
		return
	}
	s.channels[ch].SessionID = id
}

// timeline returns the stored events of a run.
func (s *memStore) timeline(id core.RunID) (out []core.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events {
		if e.RunID == id {
			out = append(out, e)
		}
	}
	return out
}
