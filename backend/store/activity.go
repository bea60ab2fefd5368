package store

import (
	"context"

	"loop/backend/core"
)

// Activity says how the runs stand, for every channel that has any.
func (s *Store) Activity(ctx context.Context) (map[core.ChannelID]core.ChannelActivity, error) {
	out := map[core.ChannelID]core.ChannelActivity{}
	change := func(id core.ChannelID, set func(*core.ChannelActivity)) {
		a := out[id]
		set(&a)
		out[id] = a
	}
	queued, err := s.QueueLengths(ctx)
	if err != nil {
		return nil, err
	}
	for id, n := range queued {
		change(id, func(a *core.ChannelActivity) { a.Queued = n })
	}
	list, err := s.read.LatestEnded(ctx)
	ended, err := s.runs("list ended runs", list, err)
	if err != nil {
		return nil, err
	}
	for _, r := range ended {
		change(r.ChannelID, func(a *core.ChannelActivity) { a.Last = &r })
	}
	active, err := s.ActiveRuns(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range active {
		change(r.ChannelID, func(a *core.ChannelActivity) { a.Active = &r })
	}
	if err := s.talking(ctx, change); err != nil {
		return nil, err
	}
	last, err := s.read.LastEventIDs(ctx)
	if err != nil {
		return nil, s.wrap("read last events", err)
	}
	for _, r := range last {
		change(core.ChannelID(r.ChannelID), func(a *core.ChannelActivity) { a.LastEventID = r.LastID })
	}
	open, err := s.OpenQuestions(ctx, "")
	for _, q := range open {
		change(q.ChannelID, func(a *core.ChannelActivity) { a.Questions++ })
	}
	return out, err
}
