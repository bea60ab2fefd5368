package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"loop/backend/core"
	"loop/backend/store/internal/rows"
)

func insertRun(ctx context.Context, q queries, run core.Run, rank int64) (core.Run, error) {
	delay := run.Delay
	if delay == 0 && !run.NotBefore.IsZero() {
		delay = max(run.NotBefore.Sub(run.CreatedAt), 0)
	}
	if err := q.InsertRun(ctx, rows.InsertRunParams{
		ID: string(run.ID), ChannelID: string(run.ChannelID), Prompt: run.Prompt, AuthorID: run.AuthorID,
		Priority: int64(run.Priority), Demo: flag(run.Demo), Script: run.Script,
		CreatedAt: toMillis(run.CreatedAt), NotBefore: toMillis(run.NotBefore), DelayMs: delay.Milliseconds(),
		Plan: flag(run.Plan), Session: asJSON(run.Session), TriggeredBy: run.Trigger, QueueRank: rank, Unattended: flag(run.Unattended),
		Attachments: asJSON(append([]core.Attachment{}, run.Attachments...)), Model: run.Model, Effort: run.Effort,
	}); err != nil {
		return core.Run{}, err
	}
	return runIn(ctx, q, run.ID)
}

func runIn(ctx context.Context, q queries, id core.RunID) (core.Run, error) {
	row, err := q.GetRun(ctx, string(id))
	if err != nil {
		return core.Run{}, err
	}
	return runOf(row)
}

// ClaimNext takes the channel's next run from queued to starting by the rule of
// core.Waits. The queue is ordered by priority, highest first, then rank, then age. ok
// is false when every run waits for something. A run that would wait longer than its
// delay, because the clock was put back, waits for that delay from now.
func (s *Store) ClaimNext(ctx context.Context, ch core.ChannelID) (run core.Run, ok bool, err error) {
	err = s.inTx(ctx, "claim run", func(q queries) error {
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
		now := s.now()
		queue := mapped(list, func(r rows.Run) core.Run {
			delay := time.Duration(r.DelayMs) * time.Millisecond
			return core.Run{NotBefore: fromMillis(r.NotBefore), Delay: delay, HoldUntil: fromMillis(r.HoldUntil)}
		})
		for i, w := range core.Waits(queue, core.QueueState{Now: now}) {
			id := list[i].ID
			if w.Reason == core.WaitDelayed && w.Until.Before(queue[i].NotBefore) {
				if err := found(q.RebaseQueued(ctx, rows.RebaseQueuedParams{NotBefore: toMillis(w.Until), ID: id})); err != nil {
					return err
				}
			}
			if w.Reason != core.WaitNone {
				continue
			}
			if err := found(q.MarkStarting(ctx, rows.MarkStartingParams{Now: toMillis(now), ID: id})); err != nil {
				return err
			}
			if run, err = runIn(ctx, q, core.RunID(id)); err != nil {
				return err
			}
			ok = true
			return changeSessions(ctx, q, string(ch), run.Demo, func(_ *string, next *nextSession) bool {
				next.Taken = run.ID
				return true
			})
		}
		return nil
	})
	return run, ok, err
}

// queued does one change of a queued run and returns the run after it. A run that
// is not queued any more is core.ErrConflict, an unknown one core.ErrNotFound.
func (s *Store) queued(ctx context.Context, step string, id core.RunID, events []core.Event,
	change func(q queries, row rows.Run) (int64, error)) (run core.Run, out []core.Event, err error) {
	err = s.inTx(ctx, step, func(q queries) error {
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
	return run, out, err
}

// EditQueued replaces a queued run's prompt and ends its hold.
func (s *Store) EditQueued(ctx context.Context, id core.RunID, prompt string, events ...core.Event) (core.Run, []core.Event, error) {
	return s.queued(ctx, "edit queued run", id, events, func(q queries, _ rows.Run) (int64, error) {
		return q.EditQueued(ctx, rows.EditQueuedParams{Prompt: prompt, ID: string(id)})
	})
}

// HoldQueued keeps a queued run, and everything behind it, from being claimed
// until a time at most core.HoldLease away. The zero time ends the hold.
func (s *Store) HoldQueued(ctx context.Context, id core.RunID, until time.Time) (core.Run, error) {
	run, _, err := s.queued(ctx, "hold queued run", id, nil, func(q queries, _ rows.Run) (int64, error) {
		return q.HoldQueued(ctx, rows.HoldQueuedParams{HoldUntil: toMillis(until), ID: string(id)})
	})
	return run, err
}

// PromoteQueued puts a queued run before everything else of its channel, at once.
func (s *Store) PromoteQueued(ctx context.Context, id core.RunID) (core.Run, error) {
	run, _, err := s.queued(ctx, "promote queued run", id, nil, func(q queries, row rows.Run) (int64, error) {
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
	return change(ctx, s, "reorder queue", func(q queries) ([]core.Run, error) {
		list, err := q.ListQueue(ctx, string(ch))
		if err != nil {
			return nil, err
		}
		queue := mapped(list, func(r rows.Run) core.RunID { return core.RunID(r.ID) })
		slices.Sort(queue)
		if !slices.Equal(queue, slices.Sorted(slices.Values(ids))) {
			return nil, fmt.Errorf("%w: the queue has changed, it has %d runs", core.ErrConflict, len(queue))
		}
		for i, id := range ids {
			place := rows.PlaceQueuedParams{Priority: list[0].Priority, QueueRank: int64(i + 1), ID: string(id)}
			if err := found(q.PlaceQueued(ctx, place)); err != nil {
				return nil, err
			}
		}
		list, err = q.ListQueue(ctx, string(ch))
		return s.runs("list queue", list, err)
	})
}
