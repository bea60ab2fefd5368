package store

import (
	"context"

	"loop/backend/core"
)

// Activity is how the runs of every channel stand, of those that have any.
func (s *Store) Activity(ctx context.Context) (map[core.ChannelID]core.ChannelActivity, error) {
	out := map[core.ChannelID]core.ChannelActivity{}
	queued, err := s.QueueLengths(ctx)
	if err != nil {
		return nil, err
	}
	for id, n := range queued {
		a := out[id]
		a.Queued = n
		out[id] = a
	}
	latest, err := s.LatestRuns(ctx)
	if err != nil {
		return nil, err
	}
	for id, r := range latest {
		a := out[id]
		a.Last = &r
		out[id] = a
	}
	active, err := s.ActiveRuns(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range active {
		a := out[r.ChannelID]
		a.Active = &r
		out[r.ChannelID] = a
	}
	last, err := s.LastEventIDs(ctx)
	if err != nil {
		return nil, err
	}
	for id, n := range last {
		a := out[id]
		a.LastEventID = n
		out[id] = a
	}
	open, err := s.OpenQuestions(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, q := range open {
		a := out[q.ChannelID]
		a.Questions++
		out[q.ChannelID] = a
	}
	return out, nil
}
