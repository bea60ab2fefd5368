package runner

import (
	"context"
	"slices"
	"testing"
	"time"

	"loop/backend/core"
)

// modelOf is what a command line says of the model, and of the effort.
func modelOf(argv []string) string {
	out := ""
	for _, flag := range []string{"--model", "--effort"} {
		if i := slices.Index(argv, flag); i >= 0 {
			out += argv[i+1] + " "
		}
	}
	return out
}

// had makes a model the one of a run that has ended.
func (r *rig) had(id core.RunID, model string) {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	r.store.runs[id].Outcome.Chosen = model
}

// TestAModelForOnePrompt: a prompt's own model and effort win over the channel's, for that
// prompt alone. The CLI would go on with the model that a conversation had last, so the next
// prompt names the one before.
func TestAModelForOnePrompt(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, cli := newSpawnRig(t, fine)
		r.start()
		defer r.quit()
		send := func(run core.Run) core.Run {
			run.ChannelID, run.Prompt = "c", "x"
			run, err := r.s.Prompt(context.Background(), run)
			if err != nil {
				t.Fatal(err)
			}
			return r.ended(run.ID, time.Minute)
		}
		const usual = "claude-usual-1"
		r.had(send(core.Run{}).ID, usual)
		own := send(core.Run{Model: "haiku", Effort: "max"})
		if again, err := r.s.Retry(t.Context(), own.ID); err != nil || again.Model != "haiku" || again.Effort != "max" {
			t.Errorf("%+v %v", again, err)
		} else {
			r.ended(again.ID, time.Minute)
		}
		send(core.Run{})
		r.launch.Model, r.launch.Effort = "opus", "low"
		send(core.Run{})
		send(core.Run{Effort: "high"})
		send(core.Run{Demo: true, Model: "haiku", Effort: "max"})
		var got []string
		for _, req := range cli.all() {
			got = append(got, modelOf(req.Argv))
		}
		if want := []string{"", "haiku max ", "haiku max ", usual + " ", "opus low ", "opus high ", "opus low "}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// TestTheModelBeforeIsAName: what an agent's output called its model is no option of the CLI.
func TestTheModelBeforeIsAName(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, cli := newSpawnRig(t, fine)
		r.start()
		defer r.quit()
		own, err := r.s.Prompt(t.Context(), core.Run{ChannelID: "c", Prompt: "x", Model: "haiku"})
		if err != nil {
			t.Fatal(err)
		}
		r.ended(own.ID, time.Minute)
		r.had(r.ended(r.prompt("c", "y").ID, time.Minute).ID, "--settings=x")
		again, err := r.s.Retry(t.Context(), own.ID)
		if err != nil {
			t.Fatal(err)
		}
		r.ended(again.ID, time.Minute)
		r.ended(r.prompt("c", "z").ID, time.Minute)
		if got := modelOf(cli.all()[1].Argv); got != noModel+" " {
			t.Errorf("%q", got)
		}
		if got := modelOf(cli.all()[3].Argv); got != noModel+" " {
			t.Errorf("%q", got)
		}
	})
}
