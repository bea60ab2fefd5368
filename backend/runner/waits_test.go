package runner

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// waitOf returns why a queued run waits; "-" means that it does not wait or is not
// queued.
func (r *rig) waitOf(ch core.ChannelID, id core.RunID) string {
	r.t.Helper()
	queue, err := r.s.Queue(context.Background(), ch)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, run := range queue {
		if run.ID == id && run.WaitsFor.Reason != "" {
			return string(run.WaitsFor.Reason)
		}
	}
	return "-"
}

// TestPromptSaysWhyItWaits: the answer to a prompt gives the reason. The queue shows a
// later reason when it begins, and drops it when it ends.
func TestPromptSaysWhyItWaits(t *testing.T) {
	for name, a := range map[string]core.Answer{"answered": {Action: core.AnswerGiven, Text: "Red"}, "dropped": {Action: core.AnswerCancel}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r, _ := newSpawnRig(t, plays(recording(t, "ask"), 1), fine)
				r.start()
				defer r.quit()
				first := r.prompt("c", "x")
				before := r.prompt("c", "sent before it asks")
				r.ended(first.ID, time.Minute)
				q := r.asked("c")
				if got := r.waitOf("c", before.ID); got != "question" {
					t.Errorf("a prompt from before the question waits for %q", got)
				}
				after := r.prompt("c", "sent after")
				if w := after.WaitsFor; w != (core.Wait{Reason: core.WaitQuestion, QuestionID: q.ID}) {
					t.Errorf("the answer to a prompt: %+v", w)
				}
				later, err := r.s.Prompt(context.Background(), core.Run{ChannelID: "c", Prompt: "later", Delay: time.Hour})
				if w := later.WaitsFor; err != nil || w.Reason != core.WaitQuestion || !w.Until.Equal(later.NotBefore) {
					t.Errorf("to a delayed one: %+v, %v", w, err)
				}
				urgent, err := r.s.Interrupt(context.Background(), core.Run{ChannelID: "c", Prompt: "now"})
				if err != nil || urgent.WaitsFor.Reason != core.WaitQuestion {
					t.Errorf("to one that interrupts: %+v, %v", urgent.WaitsFor, err)
				}
				if other := r.prompt("d", "another channel"); other.WaitsFor.Reason != "" {
					t.Errorf("a question of another channel: %+v", other.WaitsFor)
				}
				if _, err := r.s.Answer(context.Background(), q.ID, a); err != nil {
					t.Fatal(err)
				}
				for _, run := range []core.Run{urgent, before, after} {
					r.ended(run.ID, time.Minute)
				}
				if got := r.waitOf("c", later.ID); got != "delayed" {
					t.Errorf("after the answer the delayed one waits for %q", got)
				}
				r.pass(time.Hour)
				r.ended(later.ID, time.Minute)
			})
		})
	}
}

// TestPromptWaitsForRuns: a prompt waits for the run under way in its channel. It also
// waits for one of another channel, when no more runs may go on at once.
func TestPromptWaitsForRuns(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, _ := newSpawnRig(t, slow)
		r.opts.Parallel = 1
		r.start()
		defer r.quit()
		under := r.prompt("c", "slow")
		synctest.Wait()
		next, third, other := r.prompt("c", "next"), r.prompt("c", "third"), r.prompt("d", "other")
		behind := core.Wait{Reason: core.WaitBehind, Ahead: 1}
		if next.WaitsFor.Reason != core.WaitRun || third.WaitsFor != behind || other.WaitsFor.Reason != core.WaitLimit {
			t.Errorf("%+v, %+v, %+v", next.WaitsFor, third.WaitsFor, other.WaitsFor)
		}
		if err := r.s.Cancel(context.Background(), under.ID); err != nil {
			t.Fatal(err)
		}
		for _, run := range []core.Run{next, third, other} {
			r.ended(run.ID, time.Minute)
		}
	})
}

// claimedBetween is a store whose queue is claimed after the first of two reads.
type claimedBetween struct {
	*memStore
	done bool
}

func (s *claimedBetween) claim(ctx context.Context) {
	if !s.done {
		s.done = true
		_, _, _ = s.memStore.ClaimNext(ctx, "c")
	}
}

func (s *claimedBetween) Queue(ctx context.Context, ch core.ChannelID) ([]core.Run, error) {
	defer s.claim(ctx)
	return s.memStore.Queue(ctx, ch)
}

func (s *claimedBetween) ActiveRuns(ctx context.Context) ([]core.Run, error) {
	defer s.claim(ctx)
	return s.memStore.ActiveRuns(ctx)
}

// TestNoRunWaitsForItself: a prompt is claimed while its answer is made. It must not
// seem to wait for the run that it has become.
func TestNoRunWaitsForItself(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, fine) // not started, so only the store claims
		r.ports.Store = &claimedBetween{memStore: r.store}
		r.s = New(r.ports, r.opts)
		if run := r.prompt("c", "x"); run.WaitsFor.Reason != core.WaitNone {
			t.Errorf("waits for %+v", run.WaitsFor)
		}
	})
}
