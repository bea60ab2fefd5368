package store

import (
	"context"
	"encoding/json"
	"testing"

	"loop/backend/core"
)

// TestGateEvents: those of one run, in their order, without what is large.
func TestGateEvents(t *testing.T) {
	s := open(t)
	addChannel(t, s, "c")
	ctx := context.Background()
	say := func(kind core.EventType, run core.RunID, id string) {
		t.Helper()
		a := core.Approval{ID: id, RunID: run, CreatedAt: epoch, Diff: "d", Offers: []core.ApprovalOffer{{}}, Target: "/x"}
		if _, err := s.AddEvents(ctx, core.NewEvent(kind, "c", run, epoch, a)); err != nil {
			t.Fatal(err)
		}
	}
	say(core.EventGateAsked, "r", "1")
	say(core.EventGateAsked, "other", "2")
	say(core.EventGateAsked, "", "of a terminal")
	say(core.EventNotice, "r", "3")
	say(core.EventGateResolved, "r", "1")
	for run, want := range map[core.RunID]int{"r": 2, "other": 1, "": 0, "unknown": 0} {
		list, err := s.GateEvents(ctx, run)
		if err != nil || len(list) != want {
			t.Fatalf("%d events of %q, want %d: %v", len(list), run, want, err)
		}
		for i, e := range list {
			var a core.Approval
			if err := json.Unmarshal(e.Data, &a); err != nil || a.Diff != "" || a.Offers != nil || a.Target != "/x" || !a.CreatedAt.Equal(epoch) {
				t.Errorf("%+v, %v", a, err)
			}
			if want == 2 && (i == 1) != (e.Type == core.EventGateResolved) {
				t.Errorf("event %d is %s", i, e.Type)
			}
		}
	}
}
