package cli

import (
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

// TestHumanSaysWhatIsWaitedFor: the background work is named once, and a cut message is
// marked.
func TestHumanSaysWhatIsWaitedFor(t *testing.T) {
	var out, errs strings.Builder
	h := &human{out: &printer{w: &out}, err: &printer{w: &errs}}
	tell := func(typ core.EventType, data any) { h.event(core.NewEvent(typ, "c", "r", time.Time{}, data)) }
	tasks := []core.BackgroundTask{{ID: "a", What: "npm run dev"}, {ID: "b", What: "make all"}}
	tell(core.EventBackground, core.Background{Tasks: tasks})
	for range 2 {
		tell(core.EventBackground, core.Background{Tasks: tasks, Waiting: true})
	}
	tell(core.EventMessageStreaming, core.MessageStreaming{MsgID: "m", Kind: "tool", Delta: "Write"})
	tell(core.EventMessageCreated, core.MessageCreated{MsgID: "m", Content: "Half a", IsBot: true, Cut: true})
	want := "Waiting for what still runs in the background: npm run dev · make all\nCut off here.\n"
	if errs.String() != want || out.String() != "Half a\n" {
		t.Errorf("said %q and %q", out.String(), errs.String())
	}
}
