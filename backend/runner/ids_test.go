package runner

import (
	"context"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

// TestIDsOfClients: an id that a path cannot carry is refused before anything is
// stored. An accepted id is in the model's address unchanged.
func TestIDsOfClients(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, plays(goodResult, 0))
		r.launch.BaseURL = "http://127.0.0.1:1" // is reached through the relay
		r.start()
		defer r.quit()
		calls := map[string]func(context.Context, core.Run) (core.Run, error){"prompt": r.s.Prompt, "interrupt": r.s.Interrupt}
		long := core.RunID(strings.Repeat("x", 65))
		for _, id := range []core.RunID{"a.b", ".", "..", "a/b", "a%2fb", "a b", "-a", "_a", "a\n", "é", "a\x00", long} {
			for call, prompt := range calls {
				_, err := prompt(context.Background(), core.Run{ID: id, ChannelID: "c", Prompt: "x"})
				if f := core.AsFailure(err); f.Code != core.CodeInvalid || !strings.Contains(f.Remedy, "1 to 64 letters and digits") {
					t.Errorf("%s of %q: %v", call, id, err)
				}
			}
		}
		if n := len(r.store.runs) + len(r.store.events); n != 0 {
			t.Errorf("%d rows of refused prompts", n)
		}
		for _, id := range []core.RunID{"a", "0", "018f3c2e-8d5a-7b1e-9f00-1234567890ab", "01ARZ3NDEKTSV4RRFFQ69G5FAV", long[:64]} {
			if _, err := r.s.Prompt(context.Background(), core.Run{ID: id, ChannelID: "c", Prompt: "x"}); err != nil {
				t.Fatal(err)
			}
			if run := r.ended(id, time.Minute); run.State != core.RunDone {
				t.Errorf("%s: %s %+v", id, run.State, run.Outcome.Failure)
			}
		}
	})
}
