package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"loop/backend/core"
	"loop/backend/runner/transcript"
)

// maxAnswer bounds an answer, in bytes: it becomes a prompt.
const maxAnswer = 32 << 10

func questionEvent(k core.QuestionKind) core.EventType {
	if k == core.QuestionPlan {
		return core.EventExitPlan
	}
	return core.EventAskUser
}

// question is the event that opens what the agent asked. It goes into the
// transaction that ends the run, so that there is never the one without the other.
func (w *work) question(a *transcript.Ask) core.Event {
	q := core.Question{
		ID: core.NewID(), ChannelID: w.run.ChannelID, RunID: w.run.ID, Kind: a.Kind, State: core.QuestionOpen,
		ToolUseID: a.ToolUseID, Questions: a.Questions, Plan: a.Plan, PlanFilePath: a.PlanFilePath, ReadOnly: w.run.Plan,
		Demo: w.run.Demo, CreatedAt: w.s.o.Now(),
	}
	return w.event(questionEvent(q.Kind), q)
}

// Questions lists the open questions of a channel, or of all when ch is empty.
func (s *Service) Questions(ctx context.Context, ch core.ChannelID) ([]core.Question, error) {
	return s.p.Store.OpenQuestions(ctx, ch)
}

// Answer resolves a question, once, and queues the run that tells the agent; a
// question that is cancelled goes unanswered. The channel goes on with its queue.
func (s *Service) Answer(ctx context.Context, id string, a core.Answer) (core.Question, error) {
	q, err := s.p.Store.Question(ctx, id)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return q, core.Fail(core.CodeNotFound, err, "This question does not exist.", "Reload the timeline.")
	case err != nil:
		return q, err
	case q.State != core.QuestionOpen:
		return q, answered(nil)
	}
	if err := checkAnswer(q, a); err != nil {
		return q, err
	}
	now := s.o.Now()
	q.State, q.ResolvedAt, q.Answer = core.QuestionAnswered, now, &a
	resolved := core.EventAskResolved
	if q.Kind == core.QuestionPlan {
		resolved = core.EventPlanResolved
	}
	var cont *core.Run
	var said []core.Event
	if a.Action == core.AnswerCancel {
		q.State = core.QuestionCancelled
	} else {
		run, err := s.continuation(ctx, q, a)
		if err != nil {
			return q, err
		}
		cont, said = &run, []core.Event{saidEvent(run, now)}
	}
	defer s.inOrder()()
	stored, run, evs, err := s.p.Store.AnswerQuestion(ctx, q.ID, a, cont,
		append([]core.Event{core.NewEvent(resolved, q.ChannelID, q.RunID, now, q)}, said...)...)
	switch {
	case errors.Is(err, core.ErrConflict):
		return q, answered(err)
	case err != nil:
		return q, fmt.Errorf("store answer: %w", err)
	case cont != nil:
		evs = append(evs, s.queueEvent(run))
	}
	s.p.Publish(evs...)
	s.kick(q.ChannelID)
	stored.NextRunID = run.ID
	return stored, nil
}

func answered(err error) error {
	return core.Fail(core.CodeConflict, err, "This question was already answered.", "Look at the timeline for the answer.")
}

// continuation is the run that tells the agent the answer; the store puts it in front.
func (s *Service) continuation(ctx context.Context, q core.Question, a core.Answer) (core.Run, error) {
	asked, err := s.p.Store.Run(ctx, q.RunID)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return core.Run{}, fmt.Errorf("read the run that asked: %w", err)
	}
	run := core.Run{
		ID: core.RunID(core.NewID()), ChannelID: q.ChannelID, Prompt: answerPrompt(q, a), AuthorID: a.AuthorID, State: core.RunQueued,
		Demo: q.Demo, Script: asked.Script, Unattended: asked.Unattended, Trigger: TriggerAnswer, CreatedAt: s.o.Now(),
		Model: asked.Model, Effort: asked.Effort, // the answer goes on with the same work
		Plan: a.Action == core.AnswerRevise || a.Action == core.AnswerGiven && (asked.Plan || q.ReadOnly),
	}
	if asked.ByAgent() { // whoever answers, the work is still what an agent has begun
		run.AuthorID = asked.AuthorID
	}
	if sid := asked.Outcome.SessionID; sid.Valid() {
		run.Session = core.SessionStart{Mode: core.SessionResume, SessionID: sid}
	}
	return run, nil
}

// answerPrompt is what the agent reads.
func answerPrompt(q core.Question, a core.Answer) string {
	var sb strings.Builder
	switch a.Action {
	case core.AnswerApprove:
		sb.WriteString("Your plan is approved. Carry it out now.")
		if a.Text != "" {
			sb.WriteString("\n\n" + a.Text)
		}
		return sb.String()
	case core.AnswerRevise:
		return "Your plan is not approved yet. Change it as follows and present it again:\n\n" + a.Text
	}
	one, own := len(q.Questions) == 1, strings.TrimSpace(a.Text)
	if !one {
		sb.WriteString("These are the answers to your questions.\n")
	}
	for i, ask := range q.Questions {
		parts := slices.Clone(nth(a.Choices, i))
		if words := strings.TrimSpace(nth(a.Texts, i)); words != "" {
			parts = append(parts, words)
		}
		text := strings.Join(parts, ", ")
		switch {
		case text != "":
		case own == "":
			text = "(no answer)"
		case one: // what was written is the answer to this
			text, own = own, ""
		default:
			text = "(see below)"
		}
		if one {
			fmt.Fprintf(&sb, "My answer to “%s”: %s", ask.Question, text)
		} else {
			fmt.Fprintf(&sb, "\n%d. %s\n   %s\n", i+1, ask.Question, text)
		}
	}
	if own != "" {
		sb.WriteString("\n\n" + own)
	}
	return strings.TrimSpace(sb.String())
}

// nth is one entry of a list that may be shorter.
func nth[T any](list []T, i int) (entry T) {
	if i < len(list) {
		entry = list[i]
	}
	return entry
}

// checkAnswer sees that an answer fits its question.
func checkAnswer(q core.Question, a core.Answer) error {
	bad := func(cause, remedy string) error { return core.Fail(core.CodeInvalid, nil, cause, remedy) }
	texts := slices.Concat(slices.Concat(a.Choices...), a.Texts, []string{string(a.Action), a.Text, a.AuthorID})
	if err := core.CheckText("answer", strings.Join(texts, "\n"), maxAnswer); err != nil {
		return err
	}
	switch {
	case a.Action == core.AnswerCancel, q.Kind == core.QuestionPlan && a.Action == core.AnswerApprove:
		return nil
	case q.Kind == core.QuestionPlan && a.Action == core.AnswerRevise:
		if strings.TrimSpace(a.Text) == "" {
			return bad("It is not said what to change in the plan.", "Write what the agent should change.")
		}
		return nil
	case q.Kind == core.QuestionAsk && a.Action == core.AnswerGiven:
		return checkChoices(q, a, bad)
	}
	return bad("This is not a way to resolve this question.", "Answer a question; approve or revise a plan; or cancel either.")
}

func checkChoices(q core.Question, a core.Answer, bad func(cause, remedy string) error) error {
	if len(a.Choices) > len(q.Questions) || len(a.Texts) > len(q.Questions) {
		return bad("There are more answers than questions.", "Give one answer to each question.")
	}
	for i, ask := range q.Questions {
		chosen := nth(a.Choices, i)
		if len(chosen) == 0 && strings.TrimSpace(nth(a.Texts, i)+a.Text) == "" {
			return bad(fmt.Sprintf("Question %d has no answer.", i+1), "Choose an option or write an answer of your own.")
		}
		if len(chosen) > 1 && !ask.MultiSelect {
			return bad(fmt.Sprintf("Question %d allows one option.", i+1), "Choose one of them.")
		}
		for _, label := range chosen {
			if !slices.ContainsFunc(ask.Options, func(o core.AskOption) bool { return o.Label == label }) {
				return bad(fmt.Sprintf("“%s” is not an option of question %d.", label, i+1),
					"Choose one of the options, or write an answer of your own.")
			}
		}
	}
	return nil
}
