package store

import (
	"context"
	"fmt"
	"time"

	"loop/backend/core"
	"loop/backend/store/internal/rows"
)

// MaxHold bounds how long an edited prompt keeps the queue waiting: a hold that
// reaches further into the future was set by a clock that has been put back
// since. The original's lease is five minutes; a second more is for rounding.
const MaxHold = 5*time.Minute + time.Second

func insertRun(ctx context.Context, q *rows.Queries, run core.Run, rank int64) (core.Run, error) {
	delay := run.Delay
	if delay == 0 && !run.NotBefore.IsZero() {
		delay = max(run.NotBefore.Sub(run.CreatedAt), 0)
	}
	if err := q.InsertRun(ctx, rows.InsertRunParams{
		ID: string(run.ID), ChannelID: string(run.ChannelID), Prompt: run.Prompt, AuthorID: run.AuthorID,
		Priority: int64(run.Priority), Demo: flag(run.Demo), Script: run.Script,
		CreatedAt: toMillis(run.CreatedAt), NotBefore: toMillis(run.NotBefore), DelayMs: delay.Milliseconds(),
		Plan: flag(run.Plan), Session: asJSON(run.Session), TriggeredBy: run.Trigger, QueueRank: rank,
	}); err != nil {
		return core.Run{}, err
	}
	return runIn(ctx, q, run.ID)
}

func runIn(ctx context.Context, q *rows.Queries, id core.RunID) (core.Run, error) {
	row, err := q.GetRun(ctx, string(id))
	if err != nil {
		return core.Run{}, err
	}
	return runOf(row)
}

// ClaimNext takes the channel's next due run from queued to starting: highest
// priority first, then rank, then age. ok is false when there is none, when a
// run of the channel is under way, when an agent waits there for an answer, or
// when the run that would be next is being edited. A run that waits longer than
// the delay it was given (the clock was put back) waits for that delay from now.
func (s *Store) ClaimNext(ctx context.Context, ch core.ChannelID) (run core.Run, ok bool, err error) {
	err = s.inTx(ctx, "claim run", func(q *rows.Queries) error {
		active, err := q.CountActive(ctx, string(ch))
		if err != nil || active > 0 {
			return err
		}
		open, err := q.CountOpenQuestions(ctx, string(ch))
		if err != nil || open > 0 {
			return err
		}
		list, err := q.ListQueue(ctx, string(ch))
		if err != nil {
			return err
		}
		now := toMillis(s.now())
		for _, row := range list {
			if held(row, now) {
				return nil
			}
			wait := row.NotBefore - now
			if wait > row.DelayMs {
				if err := found(q.RebaseQueued(ctx, rows.RebaseQueuedParams{NotBefore: now + row.DelayMs, ID: row.ID})); err != nil {
					return err
				}
				wait = row.DelayMs
			}
			if wait > 0 {
				continue
			}
			if err := found(q.MarkStarting(ctx, rows.MarkStartingParams{Now: now, ID: row.ID})); err != nil {
				return err
			}
			if run, err = runIn(ctx, q, core.RunID(row.ID)); err != nil {
				return err
			}
			ok = true
			return takeNext(ctx, q, run)
		}
		return nil
	})
	if err != nil {
		return core.Run{}, false, err
	}
	return run, ok, nil
}

func held(row rows.Run, now int64) bool {
	return row.HoldUntil > now && row.HoldUntil-now <= MaxHold.Milliseconds()
}

// queued does one change of a queued run and returns the run after it. One that
// is not queued any more is core.ErrConflict, an unknown one core.ErrNotFound.
func (s *Store) queued(ctx context.Context, step string, id core.RunID, events []core.Event, change func(q *rows.Queries, row rows.Run) (int64, error)) (run core.Run, out []core.Event, err error) {
	err = s.inTx(ctx, step, func(q *rows.Queries) error {
		row, err := q.GetRun(ctx, string(id))
		if err != nil {
			return err
		}
		if row.State != string(core.RunQueued) {
			return fmt.Errorf("%w: the run is %s", core.ErrConflict, row.State)
		}
		if err := found(change(q, row)); err != nil {
			return err
		}
		if out, err = insertEvents(ctx, q, events); err != nil {
			return err
		}
		run, err = runIn(ctx, q, id)
		return err
	})
	if err != nil {
		return core.Run{}, nil, err
	}
	return run, out, nil
}

// EditQueued replaces a queued run's prompt and ends its hold.
func (s *Store) EditQueued(ctx context.Context, id core.RunID, prompt string, events ...core.Event) (core.Run, []core.Event, error) {
	return s.queued(ctx, "edit queued run", id, events, func(q *rows.Queries, _ rows.Run) (int64, error) {
		return q.EditQueued(ctx, rows.EditQueuedParams{Prompt: prompt, ID: string(id)})
	})
}

// HoldQueued keeps a queued run, and everything behind it, from being claimed
// until a time at most MaxHold away; the zero time lets it go.
func (s *Store) HoldQueued(ctx context.Context, id core.RunID, until time.Time) (core.Run, error) {
	run, _, err := s.queued(ctx, "hold queued run", id, nil, func(q *rows.Queries, _ rows.Run) (int64, error) {
		return q.HoldQueued(ctx, rows.HoldQueuedParams{HoldUntil: toMillis(until), ID: string(id)})
	})
	return run, err
}

// PromoteQueued puts a queued run before everything else of its channel, at once.
func (s *Store) PromoteQueued(ctx context.Context, id core.RunID) (core.Run, error) {
	run, _, err := s.queued(ctx, "promote queued run", id, nil, func(q *rows.Queries, row rows.Run) (int64, error) {
		ends, err := q.QueueEnds(ctx, row.ChannelID)
		if err != nil {
			return 0, err
		}
		return q.PromoteQueued(ctx, rows.PromoteQueuedParams{Priority: ends.Priority + 1, ID: string(id)})
	})
	return run, err
}

// ReorderQueue puts the channel's queue into the order of ids, which must name
// exactly the runs that are queued; otherwise it is core.ErrConflict. All of
// them get the highest priority among them, so that the order is what counts.
func (s *Store) ReorderQueue(ctx context.Context, ch core.ChannelID, ids []core.RunID) ([]core.Run, error) {
	var out []core.Run
	err := s.inTx(ctx, "reorder queue", func(q *rows.Queries) error {
		list, err := q.ListQueue(ctx, string(ch))
		if err != nil {
			return err
		}
		queue := make(map[core.RunID]bool, len(list))
		top := int64(0)
		for i, r := range list {
			queue[core.RunID(r.ID)] = true
			if i == 0 {
				top = r.Priority
			}
		}
		for i, id := range ids {
			if !queue[id] {
				return fmt.Errorf("%w: %s is not queued, or named twice", core.ErrConflict, id)
			}
			delete(queue, id)
			if err := found(q.PlaceQueued(ctx, rows.PlaceQueuedParams{Priority: top, QueueRank: int64(i + 1), ID: string(id)})); err != nil {
				return err
			}
		}
		if len(queue) > 0 {
			return fmt.Errorf("%w: %d queued runs are not named", core.ErrConflict, len(queue))
		}
		if list, err = q.ListQueue(ctx, string(ch)); err != nil {
			return err
		}
		out, err = s.runs("reorder queue", list, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
