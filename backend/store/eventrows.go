package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"loop/backend/core"
	"loop/backend/store/internal/rows"
	"loop/backend/store/internal/said"
)

// AppendEvents stores the events of a run's output between two absolute offsets of
// its spool, in one transaction with the new offset. It returns them with their IDs.
// from must be the offset stored so far; another one is core.ErrConflict, and nothing
// is written: the same bytes can never be stored twice. Events that do not stem from
// the spool go with from == to. The run must be under way.
func (s *Store) AppendEvents(ctx context.Context, run core.RunID, from, to int64, events ...core.Event) ([]core.Event, error) {
	if to < from {
		return nil, fmt.Errorf("append events: %w: offset would go back from %d to %d", core.ErrConflict, from, to)
	}
	return change(ctx, s, "append events", func(q queries) ([]core.Event, error) {
		n, err := q.SetSpoolOffset(ctx, rows.SetSpoolOffsetParams{SpoolOffset: to, ID: string(run), Previous: from})
		if err != nil {
			return nil, err
		}
		if n == 0 {
			r, err := q.GetRun(ctx, string(run))
			if err != nil {
				return nil, err
			}
			return nil, fmt.Errorf("%w: run is %s at offset %d, not under way at %d", core.ErrConflict, r.State, r.SpoolOffset, from)
		}
		return insertEvents(ctx, q, events)
	})
}

// AddEvents stores events that belong to a channel but to no step of a run.
func (s *Store) AddEvents(ctx context.Context, events ...core.Event) ([]core.Event, error) {
	return change(ctx, s, "add events", func(q queries) ([]core.Event, error) { return insertEvents(ctx, q, events) })
}

// maxGateEvents bounds what GateEvents returns; an honest run is asked some dozen times.
const maxGateEvents = 10_000

// GateEvents returns a run's events of questions of the gate and their ends, oldest first,
// without diffs, offers and details.
func (s *Store) GateEvents(ctx context.Context, run core.RunID) ([]core.Event, error) {
	list, err := s.read.GateEvents(ctx, said.GateEventsParams{RunID: string(run), Limit: maxGateEvents})
	if err != nil {
		return nil, s.wrap("read questions of a run", err)
	}
	out := make([]core.Event, len(list))
	for i, r := range list {
		out[i] = core.Event{
			ID: r.ID, Type: core.EventType(r.Type), RunID: run, Time: fromMillis(r.Ts), Timestamp: r.Ts, Data: json.RawMessage(r.Data),
		}
	}
	return out, nil
}

// RunEvents returns some of a run's events, oldest first, that came after the one with an
// id. None: there are no more.
func (s *Store) RunEvents(ctx context.Context, run core.RunID, afterID int64) ([]core.Event, error) {
	list, err := s.read.EventsOfRun(ctx, said.EventsOfRunParams{RunID: string(run), ID: afterID, Limit: pageStep})
	return mapped(list, eventOf), s.wrap("read a run's events", err)
}

// Timeline returns up to limit events of a channel older than beforeID (0 is
// the newest), oldest first, and whether older ones exist. It returns fewer when
// they are large (8 MiB in all), and at least one if there is any.
func (s *Store) Timeline(ctx context.Context, ch core.ChannelID, beforeID int64, limit int) ([]core.Event, bool, error) {
	if beforeID <= 0 {
		beforeID = math.MaxInt64
	}
	limit = min(max(limit, 1), maxPage)
	out := []core.Event{} // newest first until it is returned
	for size := 0; ; {
		ask := min(limit+1-len(out), pageStep)
		list, err := s.read.TimelineBefore(ctx, said.TimelineBeforeParams{ChannelID: string(ch), ID: beforeID, Limit: int64(ask)})
		if err != nil {
			return nil, false, s.wrap("read timeline", err)
		}
		for _, r := range list {
			size += len(r.Data)
			if len(out) == limit || size > maxPageBytes && len(out) > 0 {
				slices.Reverse(out)
				return out, true, nil
			}
			out = append(out, eventOf(r))
			beforeID = r.ID
		}
		if len(list) < ask {
			slices.Reverse(out)
			return out, false, nil
		}
	}
}

const (
	// maxPage bounds one page of a timeline; the window asks for some hundred.
	maxPage = 5000
	// maxPageBytes bounds its payloads. Most are some hundred bytes, but one may
	// have a MiB, and a page is one JSON text in the app and in the window.
	maxPageBytes = 8 << 20
	// pageStep is how many are read at a time, so that a page of large ones costs
	// little more memory than it may have.
	pageStep = 64
)

func insertEvents(ctx context.Context, q queries, events []core.Event) ([]core.Event, error) {
	out := make([]core.Event, len(events))
	for i, e := range events {
		data := cmp.Or(string(e.Data), "null")
		e.Timestamp = cmp.Or(e.Timestamp, toMillis(e.Time))
		id, err := q.InsertEvent(ctx, said.InsertEventParams{
			ChannelID: string(e.ChannelID), RunID: string(e.RunID), Type: string(e.Type), Ts: e.Timestamp, Data: data,
		})
		if err != nil {
			return nil, fmt.Errorf("store %s: %w", e.Type, err)
		}
		e.ID = id
		out[i] = e
		if e.Type == core.EventAskUser || e.Type == core.EventExitPlan {
			if err := openQuestion(ctx, q, e); err != nil {
				return nil, fmt.Errorf("store %s: %w", e.Type, err)
			}
		}
	}
	return out, nil
}

func eventOf(r said.Event) core.Event {
	return core.Event{
		ID: r.ID, Type: core.EventType(r.Type), ChannelID: core.ChannelID(r.ChannelID), RunID: core.RunID(r.RunID),
		Time: fromMillis(r.Ts), Timestamp: r.Ts, Data: json.RawMessage(r.Data),
	}
}
