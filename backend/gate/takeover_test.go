package gate

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/bus"
	"loop/backend/core"
)

// TestHeldTimeOverARestart kills Loop while one call is held and after another was
// answered. The next launch counts both, the second until the link was lost, and says in
// the timeline what became of it; the launch after that counts them once more, and once.
func TestHeldTimeOverARestart(t *testing.T) {
	for name, tc := range map[string]struct {
		alone time.Duration // what the container says; 0: nothing
		away  time.Duration // between the kill and the next start
		want  time.Duration
	}{
		"the link knows":                      {20 * time.Minute, 20 * time.Minute, 5 * time.Minute},
		"the link was lost later":             {19 * time.Minute, 20 * time.Minute, 6 * time.Minute},
		"nobody knows, and it is soon":        {0, time.Minute, 6 * time.Minute},
		"nobody knows, and its time was over": {0, time.Hour, 8 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				a, b := r.held("spawn1", rename("one\n")), r.held("spawn1", inPlace("/x", "8:5"))
				r.pass(3 * time.Minute)
				for _, q := range r.Pending() {
					r.answer(q, true, core.ScopeOnce)
				}
				r.now(a)
				r.now(b)
				r.pass(time.Hour) // it works
				r.held("spawn1", rename("two\n"))
				r.pass(2 * time.Minute)
				kept := r.kept.copied()
				r.pass(tc.away)

				second := launch(t, kept)
				defer second.end()
				if d, _ := second.HeldFor("run1"); d != 0 {
					t.Fatalf("held for %s before it was taken over", d)
				}
				id := core.Identity{ChannelID: "chan", RunID: "run1"}
				if tc.alone > 0 {
					id.LinkLost = r.calendar().Add(-tc.alone)
				}
				second.Admit("box", "spawn1", id)
				r.pass(time.Second)
				id.LinkLost = r.calendar() // a later link of the same launch
				second.Admit("box", "spawn1", id)
				second.takeOver(t, "run1", tc.want)
				list, err := kept.GateEvents(t.Context(), "run1")
				if err != nil {
					t.Fatal(err)
				}
				var last core.Approval
				if err := json.Unmarshal(list[len(list)-1].Data, &last); err != nil {
					t.Fatal(err)
				}
				if took := last.ResolvedAt.Sub(last.CreatedAt).Round(time.Minute); last.State != core.ApprovalBroken || last.Reason == "" || took != tc.want-3*time.Minute {
					t.Errorf("what waited ended as %+v", last)
				}
				third := launch(t, kept)
				defer third.end()
				third.takeOver(t, "run1", tc.want)
				if n := len(kept.list); n != len(list) {
					t.Errorf("%d events after the third launch, not %d", n, len(list))
				}
			})
		})
	}
}

// TestTakeOverCountsNothingTwice: what is held in this launch, also before the run was
// taken over, is on its clock already.
func TestTakeOverCountsNothingTwice(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		h := r.held("spawn1", rename("new\n"))
		r.pass(time.Minute)
		if err := r.TakeOver(r.ctx, "run1"); err != nil {
			t.Fatal(err)
		}
		if d, now := r.HeldFor("run1"); d != time.Minute || !now {
			t.Fatalf("held for %s, %v", d, now)
		}
		r.waits(h)
	})
}

// launched is one more launch of Loop on a timeline.
type launched struct {
	*Service
	end func()
}

func launch(t *testing.T, kept *fakeTimeline) launched {
	t.Helper()
	s := New(Options{Bus: bus.New(), Timeline: kept})
	ctx, cancel := context.WithCancel(t.Context())
	var runs sync.WaitGroup
	runs.Go(func() { _ = s.Run(ctx) })
	return launched{s, func() { cancel(); runs.Wait() }}
}

func (l launched) takeOver(t *testing.T, run core.RunID, want time.Duration) {
	t.Helper()
	if err := l.TakeOver(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if d, now := l.HeldFor(run); d.Round(time.Minute) != want || now {
		t.Errorf("held for %s, %v, want %s", d, now, want)
	}
	synctest.Wait()
}

func (f *fakeTimeline) copied() *fakeTimeline {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &fakeTimeline{list: slices.Clone(f.list)}
}
