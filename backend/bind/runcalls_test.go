package bind_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"loop/backend/bind"
	"loop/backend/core"
)

func (f fakeRuns) Interrupt(_ context.Context, r core.Run) (core.Run, error) {
	f.run = r
	return r, f.ask("interrupt")
}
func (f fakeRuns) Questions(context.Context, core.ChannelID) ([]core.Question, error) {
	return nil, f.ask("questions")
}
func (f fakeRuns) Reorder(context.Context, core.ChannelID, []core.RunID) ([]core.Run, error) {
	return nil, f.ask("reorder")
}

func TestPromptWishes(t *testing.T) {
	f := &fake{}
	runs := &bind.Runs{Ctx: t.Context(), Service: fakeRuns{fake: f}}
	fork := core.SessionStart{Mode: core.SessionFork, SessionID: "s", At: "m"}
	if _, err := runs.Prompt(bind.PromptRequest{ClientID: "1", ChannelID: "c", Prompt: "x", DelaySeconds: 90, Plan: true, Session: fork}); err != nil {
		t.Fatal(err)
	}
	if f.did() != "prompt" || f.run.Delay != 90*time.Second || !f.run.Plan || f.run.Session != fork {
		t.Errorf("%s %+v", f.did(), f.run)
	}
	if _, err := runs.Prompt(bind.PromptRequest{ChannelID: "c", Prompt: "x", Interrupt: true, DelaySeconds: 1 << 62}); err != nil {
		t.Fatal(err)
	}
	if f.did() != "prompt interrupt" || f.run.Delay <= 0 {
		t.Errorf("%s %+v", f.did(), f.run)
	}
}

func TestEmptyRunListsAreLists(t *testing.T) {
	all := fakeRuns{fake: &fake{}}
	runs := &bind.Runs{Ctx: t.Context(), Service: all}
	questions, err := runs.Questions()
	if b, _ := json.Marshal(questions); err != nil || string(b) != "[]" {
		t.Errorf("%s %v", b, err)
	}
	queue, err := runs.Reorder("c", nil)
	if b, _ := json.Marshal(queue); err != nil || string(b) != "[]" {
		t.Errorf("%s %v", b, err)
	}
}
