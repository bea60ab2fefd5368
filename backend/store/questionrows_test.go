package store

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"loop/backend/core"
)

func asked(ch core.ChannelID, run core.RunID, id string) core.Event {
	return core.NewEvent(core.EventAskUser, ch, run, epoch, core.Question{
		ID: id, ChannelID: "forged", RunID: "forged", Kind: core.QuestionPlan, State: core.QuestionAnswered, ToolUseID: "t", CreatedAt: epoch,
		Questions: []core.AskQuestion{{Question: "Which?", Options: []core.AskOption{{Label: "this"}, {Label: "that"}}}},
		Answer:    &core.Answer{Action: core.AnswerGiven},
	})
}

func TestAQuestionParksItsChannelUntilItIsAnswered(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	addChannel(t, s, "c")
	addChannel(t, s, "other")
	enqueue(t, s, core.Run{ID: "r", ChannelID: "c", Prompt: "x"})
	enqueue(t, s, core.Run{ID: "waits", ChannelID: "c", Prompt: "y"})
	enqueue(t, s, core.Run{ID: "free", ChannelID: "other", Prompt: "z"})
	if got := claim(t, s, "c"); got != "r" {
		t.Fatal(got)
	}
	// The question is stored once, together with the output that it was read from.
	if _, err := s.AppendEvents(ctx, "r", 0, 10, asked("c", "r", "q")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AppendEvents(ctx, "r", 0, 10, asked("c", "r", "q")); !errors.Is(err, core.ErrConflict) {
		t.Fatalf("the same output twice: %v", err)
	}
	if _, err := s.AddEvents(ctx, asked("c", "r", "q")); err != nil {
		t.Fatalf("the same question again: %v", err)
	}
	open, err := s.OpenQuestions(ctx, "")
	if err != nil || len(open) != 1 {
		t.Fatalf("%+v, %v", open, err)
	}
	q := open[0]
	if q.ChannelID != "c" || q.RunID != "r" || q.Kind != core.QuestionAsk || q.State != core.QuestionOpen || q.Answer != nil || len(q.Questions[0].Options) != 2 {
		t.Fatalf("a payload's word counted: %+v", q)
	}
	if none, err := s.OpenQuestions(ctx, "other"); err != nil || none == nil || len(none) != 0 {
		t.Fatalf("%v, %v", none, err)
	}
	finish(t, s, "r")
	if got := claim(t, s, "c"); got != "" {
		t.Fatalf("claimed %q while a question is open", got)
	}
	if got := claim(t, s, "other"); got != "free" {
		t.Fatalf("claimed %q elsewhere", got)
	}
	answer := core.Answer{Action: core.AnswerGiven, Choices: [][]string{{"this"}}, Texts: []string{""}}
	said := core.NewEvent(core.EventAskResolved, "c", "r", epoch, core.Question{ID: "q"})
	got, cont, evs, err := s.AnswerQuestion(ctx, "q", answer, &core.Run{ID: "cont", ChannelID: "forged", Prompt: "this", Trigger: "answer"}, said)
	if err != nil || got.State != core.QuestionAnswered || !reflect.DeepEqual(*got.Answer, answer) || len(evs) != 1 || evs[0].ID == 0 {
		t.Fatalf("%+v %+v, %v", got, evs, err)
	}
	if cont.ChannelID != "c" || cont.Priority != 1 || cont.Trigger != "answer" {
		t.Fatalf("continuation %+v", cont)
	}
	if got := claim(t, s, "c"); got != "cont" {
		t.Fatalf("claimed %q before the answer", got)
	}
	for _, again := range []core.Answer{answer, {Action: core.AnswerCancel}} {
		if _, _, _, err := s.AnswerQuestion(ctx, "q", again, &core.Run{ID: "twice", Prompt: "no"}, said); !errors.Is(err, core.ErrConflict) {
			t.Errorf("answered twice: %v", err)
		}
	}
	if _, err := s.Run(ctx, "twice"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a refused answer left a run: %v", err)
	}
	if _, _, _, err := s.AnswerQuestion(ctx, "none", answer, nil); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("unknown question: %v", err)
	}
	kept, err := s.Question(ctx, "q")
	if err != nil || kept.State != core.QuestionAnswered || kept.ResolvedAt.IsZero() || !reflect.DeepEqual(*kept.Answer, answer) {
		t.Errorf("kept %+v, %v", kept, err)
	}
}

func TestACancelledQuestionLetsTheQueueGoOn(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	addChannel(t, s, "c")
	if _, err := s.AddEvents(ctx, core.NewEvent(core.EventExitPlan, "c", "r", epoch, core.Question{ID: "p", Plan: "do it"})); err != nil {
		t.Fatal(err)
	}
	enqueue(t, s, core.Run{ID: "waits", ChannelID: "c", Prompt: "y"})
	q, cont, _, err := s.AnswerQuestion(ctx, "p", core.Answer{Action: core.AnswerCancel}, nil)
	if err != nil || q.State != core.QuestionCancelled || q.Kind != core.QuestionPlan || q.Plan != "do it" || cont.ID != "" {
		t.Fatalf("%+v %+v, %v", q, cont, err)
	}
	if got := claim(t, s, "c"); got != "waits" {
		t.Fatalf("claimed %q", got)
	}
}

func TestABrokenQuestionIsNotHalfStored(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	addChannel(t, s, "c")
	for name, e := range map[string]core.Event{
		"without an id": core.NewEvent(core.EventAskUser, "c", "r", epoch, core.Question{}),
		"not JSON":      {Type: core.EventAskUser, ChannelID: "c", Data: json.RawMessage(`{`)},
	} {
		if _, err := s.AddEvents(ctx, notice("c", "r", "before"), e); err == nil {
			t.Errorf("%s was stored", name)
		}
	}
	if evs, _, err := s.Timeline(ctx, "c", 0, 10); err != nil || len(evs) != 0 {
		t.Errorf("left %v, %v", evs, err)
	}
}

func TestQuestionsGoWithTheirChannel(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	addChannel(t, s, "c")
	if _, err := s.AddEvents(ctx, asked("c", "r", "q")); err != nil {
		t.Fatal(err)
	}
	if err := s.RemoveChannel(ctx, "c"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Question(ctx, "q"); !errors.Is(err, core.ErrNotFound) {
		t.Fatalf("question of a removed channel: %v", err)
	}
}
