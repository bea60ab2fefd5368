package store

import (
	"context"
	"slices"

	"loop/backend/core"
	"loop/backend/store/internal/rows"
)

// maxCheckpoints bounds what Checkpoints reads: three of each run, for thirty days.
const maxCheckpoints = 10_000

// checkpointData is what a checkpoint has besides its columns.
type checkpointData struct {
	Talk   core.Talk    `json:"talk,omitzero"`
	Rewind *core.Rewind `json:"rewind,omitempty"`
}

// PutCheckpoint stores a checkpoint, whose files are kept already, or replaces the one of its
// id. With a session change, and with events, it is one transaction.
func (s *Store) PutCheckpoint(ctx context.Context, c core.Checkpoint, talk *core.TalkChange, events ...core.Event) ([]core.Event, error) {
	return change(ctx, s, "keep checkpoint", func(q queries) ([]core.Event, error) {
		if err := q.PutCheckpoint(ctx, rows.PutCheckpointParams{
			ID: c.ID, ChannelID: string(c.ChannelID), RunID: string(c.RunID), Kind: string(c.Kind), Tree: c.Tree, At: toMillis(c.At),
			Note: c.Note, Data: asJSON(checkpointData{c.Talk, c.Rewind}),
		}); err != nil {
			return nil, err
		}
		if talk != nil {
			err := changeSessions(ctx, q, string(c.ChannelID), talk.Demo, func(now *string, next *nextSession) bool {
				*now, *next = string(talk.Session), nextSession{SessionStart: talk.Next}
				return true
			})
			if err == nil {
				context := rows.SetChannelContextParams{Context: asJSON(talk.Context), ID: string(c.ChannelID)}
				err = found(q.SetChannelContext(ctx, context))
			}
			if err != nil {
				return nil, err
			}
		}
		return insertEvents(ctx, q, events)
	})
}

// Checkpoints returns those of a channel, oldest first.
func (s *Store) Checkpoints(ctx context.Context, ch core.ChannelID) ([]core.Checkpoint, error) {
	list, err := s.read.CheckpointsOf(ctx, rows.CheckpointsOfParams{ChannelID: string(ch), Limit: maxCheckpoints})
	slices.Reverse(list)
	return decoded(s, "list checkpoints", list, err, checkpointOf)
}

// Checkpoint returns one of them or core.ErrNotFound.
func (s *Store) Checkpoint(ctx context.Context, id string) (core.Checkpoint, error) {
	r, err := s.read.GetCheckpoint(ctx, id)
	if err != nil {
		return core.Checkpoint{}, s.wrap("read checkpoint", err)
	}
	return checkpointOf(r)
}

// DropCheckpoints forgets some.
func (s *Store) DropCheckpoints(ctx context.Context, ids []string) error {
	return s.inTx(ctx, "drop checkpoints", func(q queries) error {
		for _, id := range ids {
			if err := q.DeleteCheckpoint(ctx, id); err != nil {
				return err
			}
		}
		return nil
	})
}

func checkpointOf(r rows.Checkpoint) (core.Checkpoint, error) {
	var d checkpointData
	err := fromJSON(r.Data, &d)
	return core.Checkpoint{
		ID: r.ID, ChannelID: core.ChannelID(r.ChannelID), RunID: core.RunID(r.RunID), Kind: core.CheckpointKind(r.Kind),
		Tree: r.Tree, At: fromMillis(r.At), Note: r.Note, Talk: d.Talk, Rewind: d.Rewind,
	}, err
}
