package rewind

import (
	"context"
	"errors"
	"slices"
	"time"

	"loop/backend/checkpoints"
	"loop/backend/core"
)

// tidyEvery is how often old checkpoints are looked for.
const tidyEvery = 6 * time.Hour

// Run says of goings back that Loop did not live to end, forgets old checkpoints again and
// again, and returns when ctx is done and nothing is under way any more.
func (s *Service) Run(ctx context.Context) error {
	defer s.close()
	s.each(ctx, s.unfinished)
	for ctx.Err() == nil {
		s.each(ctx, s.tidy)
		timer := time.NewTimer(tidyEvery)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	return nil
}

func (s *Service) each(ctx context.Context, do func(context.Context, core.ChannelID) error) {
	all, err := s.o.Rows.Channels(ctx)
	for _, ch := range all {
		if ctx.Err() == nil {
			if err := do(ctx, ch.ID); err != nil && ctx.Err() == nil {
				s.o.Log.Warn("tidy up checkpoints", "channel", ch.ID, "error", err)
			}
		}
	}
	if err != nil && ctx.Err() == nil {
		s.o.Log.Warn("list checkpoints", "error", err)
	}
}

// unfinished tells of a going back that Loop ended in. Files may be of both moments; what was
// there is kept, and the person undoes it or goes back again.
func (s *Service) unfinished(ctx context.Context, ch core.ChannelID) error {
	list, err := s.o.Rows.Checkpoints(ctx, ch)
	if err != nil {
		return err
	}
	for _, c := range list {
		if c.Rewind == nil || c.Rewind.State != core.RewindBegun {
			continue
		}
		p, leave, err := s.enter(ctx, ch)
		if err != nil {
			return err
		}
		err = s.sweep(ctx, p, c)
		leave()
		r := *c.Rewind
		r.State, r.Leaves = core.RewindBroken, []core.RunID{}
		c.Rewind = &r
		if err = errors.Join(err, s.tell(ctx, c, nil, core.EventRewindWent)); err != nil {
			return err
		}
	}
	return nil
}

// sweep removes files that were being written.
func (s *Service) sweep(ctx context.Context, p *place, c core.Checkpoint) error {
	run, err := s.o.Runs.Run(ctx, c.RunID)
	if err != nil {
		return err
	}
	ch, err := s.o.Runs.Channel(ctx, c.ChannelID)
	if err != nil {
		return err
	}
	before, err := s.o.Rows.Checkpoint(ctx, string(c.RunID)+".before")
	if err != nil || c.Tree == "" {
		return err
	}
	now, _, err := s.tree(c.ChannelID, c.Tree)
	if err != nil {
		return err
	}
	then, _, err := s.tree(c.ChannelID, before.Tree)
	if err != nil {
		return err
	}
	f, err := s.folder(ctx, ch, run)
	if err != nil {
		return err
	}
	var paths []string
	for _, x := range checkpoints.Changes(now, then) {
		paths = append(paths, x.Path)
	}
	return errors.Join(checkpoints.Sweep(ctx, f, paths), f.Root.Close())
}

// tidy forgets a channel's old checkpoints, then those over its size, the oldest first. Who waits
// for the channel's turn meanwhile has it soon.
func (s *Service) tidy(ctx context.Context, ch core.ChannelID) error {
	p, leave, err := s.enter(ctx, ch)
	if err != nil {
		return err
	}
	defer func() {
		if leave != nil {
			leave()
		}
	}()
	// The turn goes to who has waited longest, and comes back after them.
	pause := func() (live []checkpoints.Hash, err error) {
		takes := s.takes(p)
		leave()
		if _, leave, err = s.enter(ctx, ch); err != nil || s.takes(p) == takes {
			return nil, err
		}
		list, err := s.o.Rows.Checkpoints(ctx, ch)
		return s.live(p, list), err
	}
	old := s.o.Now().Add(-s.o.Keep)
	for part := 0; ; part = 8 {
		list, err := s.o.Rows.Checkpoints(ctx, ch)
		if err != nil || len(list) == 0 {
			return err
		}
		n := 0
		if part > 0 {
			if len(list) <= 2 {
				return nil
			}
			n = max(len(list)/part, 1)
		}
		for n < len(list) && list[n].At.Before(old) {
			n++
		}
		if err := s.drop(ctx, list[:n]); err != nil {
			return err
		}
		left, err := s.store(ch).Collect(ctx, s.live(p, list[n:]), s.o.Now(), pause)
		if err != nil || left <= s.o.Bytes {
			return err
		}
	}
}

// takes is how many trees were taken of a place.
func (s *Service) takes(p *place) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return p.took
}

func (s *Service) drop(ctx context.Context, list []core.Checkpoint) error {
	if len(list) == 0 {
		return nil
	}
	var ids []string
	for _, c := range list {
		ids = append(ids, c.ID)
	}
	return s.o.Rows.DropCheckpoints(ctx, ids)
}

// live are the trees that are needed: those of checkpoints, and the one that makes the next
// checkpoint quick.
func (s *Service) live(p *place, list []core.Checkpoint) []checkpoints.Hash {
	var out []checkpoints.Hash
	for _, c := range list {
		if h, err := checkpoints.ParseHash(c.Tree); err == nil && !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.tree != nil && !slices.Contains(out, p.hash) {
		out = append(out, p.hash)
	}
	return out
}
