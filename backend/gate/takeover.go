package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"loop/backend/core"
)

// span is a time in which a call was held, by the calendar.
type span struct{ from, to time.Time }

// TakeOver takes up the clock of a run that an earlier launch of Loop had: for how long its
// calls were held stands in its timeline. What waited when that launch ended was denied in
// the container as soon as the link was lost, which Admit has said; the timeline hears of it
// now. It is called once for each run, after Admit where the run's container lives, and
// only counts when it returns nil.
func (s *Service) TakeOver(ctx context.Context, run core.RunID) error {
	events, err := s.o.Timeline.GateEvents(ctx, run)
	if err != nil {
		return fmt.Errorf("read what the run was asked: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	spans, open := s.earlier(events)
	lost := s.linkLost(run)
	for _, a := range open {
		a.ResolvedAt = s.brokenAt(a, lost)
		spans = append(spans, span{a.CreatedAt, a.ResolvedAt})
		a.State, a.Scope, a.By, a.Reason = core.ApprovalBroken, core.ScopeOnce, "Loop", "Loop ended before it was answered"
		a.Deadline = time.Time{}
		s.publish(core.NewEvent(core.EventGateResolved, a.ChannelID, a.RunID, s.o.Now(), a), true)
	}
	c := s.clocks[run]
	if c == nil {
		c = &clock{}
		s.clocks[run] = c
	}
	c.total += together(spans)
	return nil
}

// earlier returns when questions of earlier launches were held, and which of them have no
// end. This launch counts its own by itself.
func (s *Service) earlier(events []core.Event) (spans []span, open []core.Approval) {
	for _, e := range events {
		var a core.Approval
		if json.Unmarshal(e.Data, &a) != nil || !a.CreatedAt.Before(s.began) {
			continue
		}
		open = slices.DeleteFunc(open, func(o core.Approval) bool { return o.ID == a.ID })
		if e.Type == core.EventGateAsked {
			open = append(open, a)
		} else {
			spans = append(spans, span{a.CreatedAt, a.ResolvedAt})
		}
	}
	return spans, open
}

// linkLost is when the link was lost through which an earlier launch answered a run. Zero:
// nobody knows.
func (s *Service) linkLost(run core.RunID) (lost time.Time) {
	for _, a := range s.askers {
		if a.RunID == run && !a.linkLost.IsZero() && (lost.IsZero() || a.linkLost.Before(lost)) {
			lost = a.linkLost
		}
	}
	return lost
}

// brokenAt is when a question of an earlier launch came to its end: with the link, or else
// at its deadline or now, whatever is sooner.
func (s *Service) brokenAt(a core.Approval, lost time.Time) time.Time {
	end := s.o.Now().Round(0)
	switch {
	case !lost.IsZero() && lost.Before(end):
		end = lost
	case !a.Deadline.IsZero() && a.Deadline.Before(end):
		end = a.Deadline
	}
	if end.Before(a.CreatedAt) {
		return a.CreatedAt
	}
	return end
}

// together is how long at least one of the spans goes on.
func together(spans []span) (total time.Duration) {
	slices.SortFunc(spans, func(a, b span) int { return a.from.Compare(b.from) })
	var until time.Time
	for _, s := range spans {
		if s.from.Before(until) {
			s.from = until
		}
		if s.to.After(s.from) {
			total += s.to.Sub(s.from)
			until = s.to
		}
	}
	return total
}
