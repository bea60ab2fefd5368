package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"loop/backend/core"
)

// This file is memStore's part for the queue and the questions.

func (s *memStore) queued(ch core.ChannelID) []*core.Run {
	var out []*core.Run
	for _, id := range s.order {
		if r := s.runs[id]; r.ChannelID == ch && r.State == core.RunQueued {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b *core.Run) int {
		return cmp.Or(b.Priority-a.Priority, s.rank[a.ID]-s.rank[b.ID])
	})
	return out
}

// claimable returns the first run that may be claimed now.
func (s *memStore) claimable(ch core.ChannelID) *core.Run {
	for _, q := range s.questions {
		if q.ChannelID == ch && q.State == core.QuestionOpen {
			return nil
		}
	}
	list := s.queued(ch)
	queue := make([]core.Run, len(list))
	for i, r := range list {
		queue[i] = *r
	}
	for i, w := range core.Waits(queue, core.QueueState{Now: s.now()}) {
		if w.Reason == core.WaitNone {
			return list[i]
		}
		if w.Reason == core.WaitDelayed {
			list[i].NotBefore = w.Until
		}
	}
	return nil
}

func (s *memStore) waiting(id core.RunID) (*core.Run, error) {
	r := s.runs[id]
	if r == nil {
		return nil, core.ErrNotFound
	}
	if r.State != core.RunQueued {
		return nil, fmt.Errorf("%w: run is %s", core.ErrConflict, r.State)
	}
	return r, nil
}

func (s *memStore) EditQueued(_ context.Context, id core.RunID, prompt string, evs ...core.Event) (run core.Run, out []core.Event, err error) {
	err = s.write("edit", func() error {
		r, err := s.waiting(id)
		if err != nil {
			return err
		}
		r.Prompt, r.HoldUntil = prompt, time.Time{}
		run, out = *r, s.insert(evs)
		return nil
	})
	return run, out, err
}

func (s *memStore) HoldQueued(_ context.Context, id core.RunID, until time.Time) (run core.Run, err error) {
	err = s.write("hold", func() error {
		r, err := s.waiting(id)
		if err != nil {
			return err
		}
		r.HoldUntil = until
		run = *r
		return nil
	})
	return run, err
}

func (s *memStore) ReorderQueue(_ context.Context, ch core.ChannelID, ids []core.RunID) (out []core.Run, err error) {
	err = s.write("reorder", func() error {
		list := s.queued(ch)
		top := 0
		var have []core.RunID
		for _, r := range list {
			top = max(top, r.Priority)
			have = append(have, r.ID)
		}
		want := slices.Clone(ids)
		slices.Sort(want)
		slices.Sort(have)
		if !slices.Equal(want, have) {
			return core.ErrConflict
		}
		for i, id := range ids {
			s.rank[id] = i + 1
			s.runs[id].Priority = top
			out = append(out, *s.runs[id])
		}
		return nil
	})
	return out, err
}

func (s *memStore) PromoteQueued(_ context.Context, id core.RunID) (run core.Run, err error) {
	err = s.write("promote", func() error {
		r, err := s.waiting(id)
		if err != nil {
			return err
		}
		for _, o := range s.queued(r.ChannelID) {
			r.Priority = max(r.Priority, o.Priority+1)
		}
		r.NotBefore, r.HoldUntil, r.Delay = time.Time{}, time.Time{}, 0
		run = *r
		return nil
	})
	return run, err
}

// openQuestions works in the transaction of the events.
func (s *memStore) openQuestions(evs []core.Event) {
	for _, e := range evs {
		if e.Type != core.EventAskUser && e.Type != core.EventExitPlan {
			continue
		}
		var q core.Question
		if err := json.Unmarshal(e.Data, &q); err != nil {
			panic(err)
		}
		s.questions = append(s.questions, &q)
	}
}

func (s *memStore) AnswerQuestion(_ context.Context, id string, a core.Answer, cont *core.Run, evs ...core.Event) (q core.Question, run core.Run, out []core.Event, err error) {
	err = s.write("answer", func() error {
		i := slices.IndexFunc(s.questions, func(q *core.Question) bool { return q.ID == id })
		if i < 0 {
			return core.ErrNotFound
		}
		open := s.questions[i]
		if open.State != core.QuestionOpen {
			return core.ErrConflict
		}
		open.State, open.Answer, open.ResolvedAt = core.QuestionAnswered, &a, s.now()
		if a.Action == core.AnswerCancel {
			open.State = core.QuestionCancelled
		}
		if cont != nil {
			c := *cont
			c.State = core.RunQueued
			for _, o := range s.queued(c.ChannelID) {
				c.Priority = max(c.Priority, o.Priority+1)
			}
			s.runs[c.ID], run = &c, c
			s.order = append(s.order, c.ID)
		}
		q, out = *open, s.insert(evs)
		return nil
	})
	return q, run, out, err
}

func (s *memStore) Question(_ context.Context, id string) (core.Question, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.questions {
		if q.ID == id {
			return *q, nil
		}
	}
	return core.Question{}, core.ErrNotFound
}

func (s *memStore) OpenQuestions(_ context.Context, ch core.ChannelID) (out []core.Question, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.questions {
		if q.State == core.QuestionOpen && (ch == "" || q.ChannelID == ch) {
			out = append(out, *q)
		}
	}
	return out, nil
}

func (s *memStore) SetChannelNext(_ context.Context, ch core.ChannelID, demo bool, next core.SessionStart, by core.RunID) error {
	return s.write("next", func() error {
		s.setNext(ch, demo, next, by)
		return nil
	})
}

func (s *memStore) setNext(ch core.ChannelID, demo bool, next core.SessionStart, by core.RunID) {
	if by != "" && s.taken[nextOf{ch, demo}] != by {
		return
	}
	s.taken[nextOf{ch, demo}] = by
	if demo {
		s.channels[ch].DemoNextSession = next
		return
	}
	s.channels[ch].NextSession = next
}
