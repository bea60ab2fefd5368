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

// TestRunEvents: all of one run, page by page.
func TestRunEvents(t *testing.T) {
	s := open(t)
	addChannel(t, s, "c")
	for i := range 3 * pageStep {
		run := core.RunID("r")
		if i%3 == 2 {
			run = "other"
		}
		if _, err := s.AddEvents(t.Context(), core.NewEvent(core.EventNotice, "c", run, epoch, core.Notice{})); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for after := int64(0); ; n++ {
		list, err := s.RunEvents(t.Context(), "r", after)
		if err != nil || len(list) > pageStep {
			t.Fatal(len(list), err)
		}
		if len(list) == 0 {
			break
		}
		for _, e := range list {
			if e.ID <= after || e.RunID != "r" {
				t.Fatalf("%+v after %d", e, after)
			}
			after = e.ID
		}
	}
	if n != 2 {
		t.Errorf("%d pages", n)
	}
	if list, err := s.RunEvents(t.Context(), "", 0); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}
