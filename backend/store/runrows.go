package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"loop/backend/core"
	"loop/backend/store/internal/rows"
)

// Enqueue stores a run in state queued together with events (its message) in
// one transaction. A run whose id is already there is returned as it stands
// with created false and nothing is written; if its channel or prompt differ
// that is core.ErrConflict. An unknown channel is core.ErrNotFound.
func (s *Store) Enqueue(ctx context.Context, run core.Run, events ...core.Event) (stored core.Run, out []core.Event, created bool,
	err error) {
	run.CreatedAt = cmp.Or(run.CreatedAt, s.now())
	err = s.inTx(ctx, "enqueue run", func(q queries) error {
		switch old, err := q.GetRun(ctx, string(run.ID)); {
		case err == nil:
			if old.ChannelID != string(run.ChannelID) || old.Prompt != run.Prompt {
				return fmt.Errorf("%w: the run id %s is taken by another prompt", core.ErrConflict, run.ID)
			}
			stored, err = runOf(old)
			return err
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		if _, err := q.GetChannel(ctx, string(run.ChannelID)); err != nil {
			return fmt.Errorf("channel: %w", err)
		}
		ends, err := q.QueueEnds(ctx, string(run.ChannelID))
		if err != nil {
			return err
		}
		if stored, err = insertRun(ctx, q, run, ends.QueueRank); err != nil {
			return err
		}
		created = true
		out, err = insertEvents(ctx, q, events)
		return err
	})
	return stored, out, created, err
}

// steps are the legal changes of state besides staying. Only FinishRun makes the
// terminal ones, and only ClaimNext makes starting. A run whose agent was never
// started may go back from starting to queued.
var steps = map[core.RunState][]core.RunState{
	core.RunQueued:   {core.RunStarting, core.RunCancelled, core.RunFailed},
	core.RunStarting: {core.RunQueued, core.RunRunning, core.RunFailed, core.RunCancelled, core.RunInterrupted, core.RunDone},
	core.RunRunning:  {core.RunDone, core.RunFailed, core.RunCancelled, core.RunInterrupted},
}

func legal(from, to core.RunState) bool { return slices.Contains(steps[from], to) }

// UpdateRun stores a run's state, priority, times, container, spawn and attempt, with
// events, in one transaction. Identity, prompt, spool offset and outcome are
// left alone. An illegal or terminal step is core.ErrConflict.
func (s *Store) UpdateRun(ctx context.Context, run core.Run, events ...core.Event) ([]core.Event, error) {
	return change(ctx, s, "update run", func(q queries) ([]core.Event, error) {
		row, err := q.GetRun(ctx, string(run.ID))
		if err != nil {
			return nil, err
		}
		from := core.RunState(row.State)
		if from.Terminal() || run.State.Terminal() || (from != run.State && !legal(from, run.State)) {
			return nil, fmt.Errorf("%w: a run cannot go from %s to %s", core.ErrConflict, from, run.State)
		}
		offset := row.SpoolOffset
		if run.State == core.RunQueued || row.SpawnID != string(run.SpawnID) {
			offset = 0 // another spawn, another spool
		}
		if err := found(q.UpdateRun(ctx, rows.UpdateRunParams{
			State: string(run.State), Priority: int64(run.Priority), NotBefore: toMillis(run.NotBefore),
			StartedAt: toMillis(run.StartedAt), ContainerID: string(run.ContainerID), SpawnID: string(run.SpawnID),
			SpoolOffset: offset, Attempt: asJSON(run.Attempt), ID: string(run.ID),
		})); err != nil {
			return nil, err
		}
		return insertEvents(ctx, q, events)
	})
}

// FinishRun ends a run: state, outcome, last spool offset and events (the
// final status) in one transaction. A run that is done and names a session replaces
// the channel's session id, and ends the wish that the run began with (see
// SetChannelNext). Prices of models and the fill of the context are kept.
// Finishing a finished run is core.ErrConflict, so a run ends exactly once.
func (s *Store) FinishRun(ctx context.Context, run core.Run, events ...core.Event) ([]core.Event, error) {
	run.EndedAt = cmp.Or(run.EndedAt, s.now())
	return change(ctx, s, "finish run", func(q queries) ([]core.Event, error) {
		row, err := q.GetRun(ctx, string(run.ID))
		if err != nil {
			return nil, err
		}
		from := core.RunState(row.State)
		if !run.State.Terminal() || !legal(from, run.State) {
			return nil, fmt.Errorf("%w: a run cannot end as %s after %s", core.ErrConflict, run.State, from)
		}
		if err := found(q.FinishRun(ctx, rows.FinishRunParams{
			State: string(run.State), EndedAt: toMillis(run.EndedAt), ContainerID: string(run.ContainerID),
			SpawnID: string(run.SpawnID), SpoolOffset: max(run.SpoolOffset, row.SpoolOffset),
			CostUsd: run.Outcome.CostUSD, CostEstimated: flag(run.Outcome.Estimated), Outcome: asJSON(run.Outcome), ID: string(run.ID),
		})); err != nil {
			return nil, err
		}
		if run.State == core.RunDone && run.Outcome.SessionID != "" {
			err := changeSessions(ctx, q, row.ChannelID, run.Demo, func(now *string, next *nextSession) bool {
				if *now = string(run.Outcome.SessionID); next.Taken == run.ID {
					*next = nextSession{}
				}
				return true
			})
			if err != nil {
				return nil, fmt.Errorf("set session: %w", err)
			}
		}
		if err := learn(ctx, q, row.ChannelID, run); err != nil {
			return nil, fmt.Errorf("keep what was used: %w", err)
		}
		return insertEvents(ctx, q, events)
	})
}

// learn keeps the context's fill, the CLI's commands and the models' prices of an ended run.
func learn(ctx context.Context, q queries, ch string, run core.Run) error {
	u := run.Outcome.Usage
	if c := run.Outcome.Commands; len(c) > 0 {
		if err := found(q.SetChannelCommands(ctx, rows.SetChannelCommandsParams{Commands: asJSON(c), ID: ch})); err != nil {
			return err
		}
	}
	if u.Context.Used > 0 {
		if err := found(q.SetChannelContext(ctx, rows.SetChannelContextParams{Context: asJSON(u.Context), ID: ch})); err != nil {
			return err
		}
	}
	return learnRates(ctx, q, u, run.EndedAt)
}

// learnRates keeps the prices that follow from usage.
func learnRates(ctx context.Context, q queries, u core.Usage, at time.Time) error {
	rates := core.Rates(u)
	for model, r := range rates {
		rate := rows.SetModelRateParams{Model: model, InputUsd: r.InputUSD, Context: r.Window, SeenAt: toMillis(at)}
		if err := q.SetModelRate(ctx, rate); err != nil {
			return err
		}
	}
	if len(rates) == 0 {
		return nil
	}
	return q.TrimModelRates(ctx)
}

// ModelRates returns the prices that the latest runs named, or a talk where no run did, by the models' names.
func (s *Store) ModelRates(ctx context.Context) (map[string]core.ModelRate, error) {
	list, err := s.read.ListModelRates(ctx)
	if err != nil {
		return nil, s.wrap("read prices of models", err)
	}
	return ratesOf(list), nil
}

func ratesOf(list []rows.ModelRate) map[string]core.ModelRate {
	out := make(map[string]core.ModelRate, len(list))
	for _, r := range list {
		out[r.Model] = core.ModelRate{InputUSD: r.InputUsd, Window: r.Context}
	}
	return out
}

// SessionCost returns the agent's own count for a conversation, in US dollars, at the
// end of the latest run that named one; core.ErrNotFound if there is none.
func (s *Store) SessionCost(ctx context.Context, session core.SessionID) (float64, error) {
	usd, err := s.read.SessionCost(ctx, string(session))
	return usd, s.wrap("read cost of session", err)
}

// Run returns one run or core.ErrNotFound.
func (s *Store) Run(ctx context.Context, id core.RunID) (core.Run, error) {
	row, err := s.read.GetRun(ctx, string(id))
	if err != nil {
		return core.Run{}, s.wrap("read run", err)
	}
	return runOf(row)
}

// ListRuns returns up to limit runs, newest first, of one channel (empty: all)
// in any of the states (none: all).
func (s *Store) ListRuns(ctx context.Context, ch core.ChannelID, limit int, states ...core.RunState) ([]core.Run, error) {
	var set string
	for _, st := range states {
		set += " " + string(st) + " "
	}
	list, err := s.read.ListRuns(ctx, rows.ListRunsParams{ChannelID: string(ch), States: set, MaxRows: int64(min(max(limit, 1), maxPage))})
	return s.runs("list runs", list, err)
}

// Queue returns the channel's queued runs in the order they will be claimed.
func (s *Store) Queue(ctx context.Context, ch core.ChannelID) ([]core.Run, error) {
	list, err := s.read.ListQueue(ctx, string(ch))
	return s.runs("list queue", list, err)
}

// ActiveRuns returns every run in state starting or running, oldest first.
func (s *Store) ActiveRuns(ctx context.Context) ([]core.Run, error) {
	list, err := s.read.ListActive(ctx)
	return s.runs("list active runs", list, err)
}

// QueueLengths counts the queued runs of every channel that has some.
func (s *Store) QueueLengths(ctx context.Context) (map[core.ChannelID]int, error) {
	list, err := s.read.ChannelsWithQueue(ctx)
	if err != nil {
		return nil, s.wrap("list queues", err)
	}
	out := make(map[core.ChannelID]int, len(list))
	for _, r := range list {
		out[core.ChannelID(r.ChannelID)] = int(r.Queued)
	}
	return out, nil
}

// SessionModel returns the model that the latest run of a conversation was asked for, empty
// for none, and the one that the channel's latest run without such a wish was begun with, empty where
// none is known; core.ErrNotFound if no run was in the conversation.
func (s *Store) SessionModel(ctx context.Context, ch core.ChannelID, session core.SessionID) (asked, usual string, err error) {
	if asked, err = s.read.SessionAsked(ctx, string(session)); err != nil || asked == "" {
		return "", "", s.wrap("read model of session", err)
	}
	if usual, err = s.read.UsualModel(ctx, string(ch)); errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return asked, usual, s.wrap("read model of channel", err)
}

// PromptHistory returns the channel's distinct prompts that have query in them, in small
// letters or large ones of ASCII, newest first.
func (s *Store) PromptHistory(ctx context.Context, ch core.ChannelID, query string, limit int) ([]string, error) {
	list, err := s.read.PromptHistory(ctx, rows.PromptHistoryParams{
		ChannelID: string(ch), Query: query, MaxRows: int64(min(max(limit, 1), maxPage)),
	})
	if err != nil {
		return nil, s.wrap("read prompt history", err)
	}
	return mapped(list, func(p string) string { return p }), nil
}

// CostSince sums the costs of the runs that ended at or after t, and of what was said in
// terminals since. It is one statement, so that the events up to LastEventID are those that
// the sum has.
func (s *Store) CostSince(ctx context.Context, t time.Time) (core.DayCost, error) {
	sum, err := s.read.CostSince(ctx, toMillis(t))
	if err != nil {
		return core.DayCost{}, s.wrap("sum cost", err)
	}
	cost := core.Cost{CostUSD: sum.Usd + max(sum.TalkUsd, 0), Estimated: sum.Estimated != 0 || sum.TalkEstimated != 0}
	return core.DayCost{Cost: cost, LastEventID: sum.LastEventID}, nil
}

func (s *Store) runs(step string, list []rows.Run, err error) ([]core.Run, error) {
	return decoded(s, step, list, err, runOf)
}

func runOf(r rows.Run) (core.Run, error) {
	out := core.Run{
		ID: core.RunID(r.ID), ChannelID: core.ChannelID(r.ChannelID), Prompt: r.Prompt, AuthorID: r.AuthorID,
		State: core.RunState(r.State), Priority: int(r.Priority), Demo: r.Demo != 0, Script: r.Script,
		CreatedAt: fromMillis(r.CreatedAt), NotBefore: fromMillis(r.NotBefore),
		StartedAt: fromMillis(r.StartedAt), EndedAt: fromMillis(r.EndedAt),
		ContainerID: core.ContainerID(r.ContainerID), SpawnID: core.SpawnID(r.SpawnID), SpoolOffset: r.SpoolOffset,
		Rank: r.QueueRank, Delay: time.Duration(r.DelayMs) * time.Millisecond, HoldUntil: fromMillis(r.HoldUntil),
		Plan: r.Plan != 0, Unattended: r.Unattended != 0, Trigger: r.TriggeredBy, Model: r.Model, Effort: r.Effort,
	}
	err := errors.Join(fromJSON(r.Attachments, &out.Attachments),
		fromJSON(r.Session, &out.Session), fromJSON(r.Attempt, &out.Attempt), fromJSON(r.Outcome, &out.Outcome))
	if err != nil {
		return core.Run{}, fmt.Errorf("decode run %s: %w", r.ID, err)
	}
	out.Attempt.Delay = time.Duration(out.Attempt.DelayMs) * time.Millisecond
	out.Outcome.Duration = time.Duration(out.Outcome.DurationMs) * time.Millisecond
	return out, nil
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
