package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"loop/backend/core"
	"loop/backend/store/internal/rows"
	"loop/backend/store/internal/said"
)

// Bounds of what is read of talks and runs.
const (
	maxTalks    = 500
	maxRunSpans = 2000
	maxRates    = 200 // as in the query that trims them
)

// PutTalk stores how far a talk was read, what was said by then, and by how much it has become
// more expensive, in one transaction. An offset that goes back is core.ErrConflict: the same
// lines can never be stored twice. A price that the agent named is kept where there is none.
func (s *Store) PutTalk(ctx context.Context, t core.SavedTalk, events ...core.Event) ([]core.Event, error) {
	return change(ctx, s, "keep talk", func(q queries) ([]core.Event, error) {
		of := said.LastTalkParams{ChannelID: string(t.ChannelID), SessionID: string(t.SessionID)}
		last, err := q.LastTalk(ctx, of)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
		if last.ReadTo > t.Offset {
			return nil, fmt.Errorf("%w: the talk was read to %d, not to %d", core.ErrConflict, last.ReadTo, t.Offset)
		}
		if err := q.PutTalk(ctx, said.PutTalkParams{
			ID: string(t.ID), ChannelID: string(t.ChannelID), SessionID: string(t.SessionID), BeginsAt: t.From, ReadTo: t.Offset,
			Working: flag(t.Working), Estimated: flag(t.Estimated), UpdatedAt: toMillis(t.At), Data: asJSON(t),
		}); err != nil {
			return nil, err
		}
		if t.AddedUSD != 0 {
			if err := q.AddTalkCost(ctx, said.AddTalkCostParams{TalkID: string(t.ID), At: toMillis(t.At), Usd: t.AddedUSD}); err != nil {
				return nil, err
			}
		}
		if err := fillRates(ctx, q, core.Rates(core.Usage{Models: t.Stated.Models})); err != nil {
			return nil, err
		}
		return insertEvents(ctx, q, events)
	})
}

// fillRates keeps prices of models of which none is known. They come from a file that the agent
// can write, and hold for all channels: they never take the place of one that a run named, and
// are the first to go where there are too many.
func fillRates(ctx context.Context, q queries, rates map[string]core.ModelRate) error {
	if len(rates) == 0 {
		return nil
	}
	list, err := q.ListModelRates(ctx)
	if err != nil {
		return err
	}
	known := ratesOf(list)
	for _, model := range slices.Sorted(maps.Keys(rates)) {
		r := rates[model]
		if len(known) >= maxRates || core.RateOf(known, model) != (core.ModelRate{}) {
			continue
		}
		known[model] = r
		if err := q.SetModelRate(ctx, rows.SetModelRateParams{Model: model, InputUsd: r.InputUSD, Context: r.Window}); err != nil {
			return err
		}
	}
	return nil
}

// LastTalk returns the newest talk of a conversation in a channel or core.ErrNotFound.
func (s *Store) LastTalk(ctx context.Context, ch core.ChannelID, session core.SessionID) (core.SavedTalk, error) {
	r, err := s.read.LastTalk(ctx, said.LastTalkParams{ChannelID: string(ch), SessionID: string(session)})
	if err != nil {
		return core.SavedTalk{}, s.wrap("read talk", err)
	}
	return talkOf(r)
}

// Talks returns those that were read since a moment or are at a turn, newest first.
func (s *Store) Talks(ctx context.Context, since time.Time) ([]core.SavedTalk, error) {
	list, err := s.read.TalksSince(ctx, said.TalksSinceParams{UpdatedAt: toMillis(since), Limit: maxTalks})
	return decoded(s, "list talks", list, err, talkOf)
}

// RunSpans says when runs of a channel were under way that have not ended before a moment.
func (s *Store) RunSpans(ctx context.Context, ch core.ChannelID, since time.Time) ([]core.RunSpan, error) {
	list, err := s.read.RunSpans(ctx, said.RunSpansParams{ChannelID: string(ch), Since: toMillis(since), Most: maxRunSpans})
	return decoded(s, "list runs of a channel", list, err, func(r said.RunSpansRow) (core.RunSpan, error) {
		span := core.RunSpan{Session: core.SessionID(r.Session), From: fromMillis(r.StartedAt)}
		if core.RunState(r.State).Terminal() {
			span.To = fromMillis(r.EndedAt)
		}
		return span, nil
	})
}

func talkOf(r said.Talk) (t core.SavedTalk, err error) {
	if err = fromJSON(r.Data, &t); err != nil {
		return t, fmt.Errorf("decode talk %s: %w", r.ID, err)
	}
	t.From, t.Offset = r.BeginsAt, r.ReadTo
	return t, nil
}

// talking adds when the agents of channels were last at work in a terminal, and are.
func (s *Store) talking(ctx context.Context, change func(core.ChannelID, func(*core.ChannelActivity))) error {
	list, err := s.read.LastTalks(ctx)
	talks, err := decoded(s, "list talks", list, err, talkOf)
	for _, t := range talks {
		change(t.ChannelID, func(a *core.ChannelActivity) {
			if a.Talked = max(a.Talked, t.Last); t.Working {
				a.Talking = max(t.TurnBegan, 1)
			}
		})
	}
	return err
}
