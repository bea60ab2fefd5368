package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"loop/backend/core"
	"loop/backend/store/internal/rows"
)

// openQuestion writes the row of a question, which comes as an event. The event's
// own channel and run count, whatever its payload says. The same question again
// changes nothing.
func openQuestion(ctx context.Context, q queries, e core.Event) error {
	var asked core.Question
	if err := json.Unmarshal(e.Data, &asked); err != nil {
		return fmt.Errorf("decode question: %w", err)
	}
	if asked.ID == "" {
		return fmt.Errorf("%w: a question without an id", core.ErrConflict)
	}
	asked.ChannelID, asked.RunID, asked.State, asked.Answer = e.ChannelID, e.RunID, core.QuestionOpen, nil
	asked.Kind = core.QuestionAsk
	if e.Type == core.EventExitPlan {
		asked.Kind = core.QuestionPlan
	}
	asked.CreatedAt = cmp.Or(asked.CreatedAt, fromMillis(e.Timestamp))
	return q.InsertQuestion(ctx, rows.InsertQuestionParams{
		ID: asked.ID, ChannelID: string(asked.ChannelID), RunID: string(asked.RunID), Kind: string(asked.Kind),
		CreatedAt: toMillis(asked.CreatedAt), Data: asJSON(asked),
	})
}

// Question returns one question or core.ErrNotFound.
func (s *Store) Question(ctx context.Context, id string) (core.Question, error) {
	row, err := s.read.GetQuestion(ctx, id)
	if err != nil {
		return core.Question{}, s.wrap("read question", err)
	}
	return questionOf(row)
}

// OpenQuestions returns the questions of a channel that wait for the person (empty:
// of all channels), oldest first.
func (s *Store) OpenQuestions(ctx context.Context, ch core.ChannelID) ([]core.Question, error) {
	list, err := s.read.ListOpenQuestions(ctx, string(ch))
	return decoded(s, "list open questions", list, err, questionOf)
}

// AnswerQuestion resolves an open question and queues cont (nil: nothing)
// before everything else of its channel, with events, in one transaction. It returns
// the question as it is afterwards. A question resolved before is core.ErrConflict,
// an unknown one core.ErrNotFound.
func (s *Store) AnswerQuestion(ctx context.Context, id string, a core.Answer, cont *core.Run, events ...core.Event) (question core.Question,
	queued core.Run, out []core.Event, err error) {
	err = s.inTx(ctx, "answer question", func(q queries) error {
		row, err := q.GetQuestion(ctx, id)
		if err != nil {
			return err
		}
		if row.State != string(core.QuestionOpen) {
			return fmt.Errorf("%w: the question was %s", core.ErrConflict, row.State)
		}
		row.State = string(core.QuestionAnswered)
		if a.Action == core.AnswerCancel {
			row.State = string(core.QuestionCancelled)
		}
		row.ResolvedAt, row.Answer = toMillis(s.now()), asJSON(a)
		resolved := rows.ResolveQuestionParams{State: row.State, ResolvedAt: row.ResolvedAt, Answer: row.Answer, ID: id}
		if err := found(q.ResolveQuestion(ctx, resolved)); err != nil {
			return err
		}
		if question, err = questionOf(row); err != nil {
			return err
		}
		if cont != nil {
			if queued, err = s.insertFirst(ctx, q, row.ChannelID, *cont); err != nil {
				return err
			}
		}
		out, err = insertEvents(ctx, q, events)
		return err
	})
	return question, queued, out, err
}

// insertFirst queues a run before everything else of its channel.
func (s *Store) insertFirst(ctx context.Context, q queries, ch string, run core.Run) (core.Run, error) {
	ends, err := q.QueueEnds(ctx, ch)
	if err != nil {
		return core.Run{}, err
	}
	run.ChannelID, run.Priority = core.ChannelID(ch), max(run.Priority, int(ends.Priority)+1)
	run.CreatedAt = cmp.Or(run.CreatedAt, s.now())
	return insertRun(ctx, q, run, 0)
}

func questionOf(r rows.Question) (core.Question, error) {
	var q core.Question
	if err := json.Unmarshal([]byte(r.Data), &q); err != nil {
		return core.Question{}, fmt.Errorf("decode question %s: %w", r.ID, err)
	}
	q.State, q.ResolvedAt = core.QuestionState(r.State), fromMillis(r.ResolvedAt)
	if r.Answer != "" {
		q.Answer = &core.Answer{}
		if err := json.Unmarshal([]byte(r.Answer), q.Answer); err != nil {
			return core.Question{}, fmt.Errorf("decode answer to %s: %w", r.ID, err)
		}
	}
	return q, nil
}
