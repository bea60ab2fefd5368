package gate

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
	"loop/backend/wire"
)

func isFlood(a core.Approval) bool { return a.Kind == core.ApprovalFlood }

func (r *rig) flood(n int) (all []ask) {
	for i := range n {
		all = append(all, r.held("spawn1", inPlace(fmt.Sprintf("/home/ana/.npm/%d/%d", i/50, i), "8:5")))
	}
	return all
}

// floodCard is the flood's question that waits.
func (r *rig) floodCard() core.Approval {
	r.t.Helper()
	list := r.Pending()
	i := slices.IndexFunc(list, isFlood)
	if i < 0 {
		r.t.Fatalf("no flood among %d questions", len(list))
	}
	return list[i]
}

func TestARunThatAsksTooMuch(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		all := r.flood(maxPerRun + 5)
		f := r.one() // for all of them: those that were asked before, too
		if !isFlood(f) || f.Calls != maxPerRun+5 || len(f.Groups) != 1 || f.RunID != "run1" {
			t.Fatalf("flood %+v", f)
		}
		if g := f.Groups[0]; g.Target != "/home/ana/.npm/0" || g.Wide != "/**" || g.Calls != f.Calls || len(g.Items) != g.Calls {
			t.Fatalf("group %+v", g)
		}
		var gathered int
		for _, a := range r.heard(core.EventGateResolved) {
			if a.State == core.ApprovalGathered && a.Kind == core.ApprovalFile {
				gathered++
			}
		}
		if gathered != maxPerRun {
			t.Fatalf("%d questions went over into the flood's", gathered)
		}
		other := r.held("spawn2", rename("new\n")) // other runs go on
		if len(r.Pending()) != 2 {
			t.Fatal("another run is held behind the flood")
		}
		r.waits(all[len(all)-1])

		same := r.held("spawn1", inPlace("/home/ana/.npm/0/24", "8:5"))
		for _, scope := range []core.ApprovalScope{core.ScopeRun, core.ScopeAlways} {
			if _, err := r.Answer(r.ctx, f.ID, core.ApprovalAnswer{Allow: true, Scope: scope, Digest: f.Digest}); err == nil {
				t.Fatal("a flood was allowed for longer")
			}
		}
		r.answer(f, false, core.ScopeOnce)
		for _, h := range append(all, same) {
			if r.now(h).Allow {
				t.Fatal("allowed")
			}
		}
		r.waits(other)
		if s := r.parked; s != 0 {
			t.Fatalf("%d are still parked", s)
		}
	})
}

func TestAFloodIsAskedOneByOne(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		all := r.flood(maxPerRun + 5)
		r.answer(r.floodCard(), true, core.ScopeOnce)
		list := r.Pending()
		if len(list) != maxPerRun+5 || slices.ContainsFunc(list, isFlood) {
			t.Fatalf("%d questions", len(list))
		}
		for _, h := range all {
			r.waits(h) // to let it ask is not to allow it
		}
		for _, q := range list {
			r.answer(q, true, core.ScopeOnce)
		}
		for _, h := range all {
			if !r.now(h).Allow {
				t.Fatal("not allowed")
			}
		}
	})
}

func TestAFloodEnds(t *testing.T) {
	t.Run("with its time", func(t *testing.T) {
		bubble(t, func(t *testing.T, r *rig) {
			all := r.flood(maxPerRun + 5)
			r.pass(defaultTime)
			for _, h := range all {
				if r.now(h).Allow {
					t.Fatal("allowed")
				}
			}
			if len(r.Pending()) != 0 || len(r.floods) != 0 {
				t.Fatal("something is left")
			}
		})
	})
	t.Run("but not for what came late", func(t *testing.T) {
		bubble(t, func(t *testing.T, r *rig) {
			all := r.flood(maxPerRun + 1)
			r.pass(defaultTime - time.Second)
			late := r.held("spawn1", inPlace("/late", "8:5"))
			r.pass(time.Second)
			if r.now(all[maxPerRun]).Allow {
				t.Fatal("allowed")
			}
			r.waits(late)
			if q := r.one(); !isFlood(q) || q.Calls != 1 || time.Until(q.Deadline) != defaultTime {
				t.Fatalf("question %+v", q)
			}
			r.pass(defaultTime)
			if v := r.now(late); v.Allow || v.By != wire.ByTime || r.parked != 0 {
				t.Fatalf("verdict %+v", v)
			}
		})
	})
	t.Run("with its callers", func(t *testing.T) {
		bubble(t, func(t *testing.T, r *rig) {
			all := r.flood(maxPerRun + 2)
			all[maxPerRun].leave(core.ErrWithdrawn)
			synctest.Wait()
			if f := r.one(); f.Calls != maxPerRun+1 {
				t.Fatalf("calls %d", f.Calls)
			}
			for _, h := range all {
				h.leave(core.ErrWithdrawn)
			}
			r.pass(emptyStays - time.Millisecond)
			// Who asks and gives up again and again makes no question of each.
			for range 50 {
				again := r.held("spawn1", inPlace("/again", "8:5"))
				again.leave(core.ErrWithdrawn)
				r.pass(time.Second)
			}
			if n := len(r.heard(core.EventGateAsked)); n != maxPerRun+1 {
				t.Fatalf("%d questions", n)
			}
			r.pass(emptyStays)
			if slices.ContainsFunc(r.Pending(), isFlood) {
				t.Fatal("the flood has no object")
			}
		})
	})
	t.Run("with the run", func(t *testing.T) {
		bubble(t, func(t *testing.T, r *rig) {
			all := r.flood(maxPerRun + 2)
			r.Stop("run1", "Stopped")
			for _, h := range all {
				r.now(h)
			}
			if len(r.Pending()) != 0 {
				t.Fatal("something is left")
			}
		})
	})
}

// Quick questions are bounded in number, too, where each is answered at once.
func TestQuestionsInAMoment(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		for i := range burst {
			r.held("spawn1", inPlace(fmt.Sprintf("/f%d", i), "8:5"))
			r.answer(r.one(), true, core.ScopeOnce)
		}
		r.held("spawn1", inPlace("/more", "8:5"))
		if !isFlood(r.one()) {
			t.Fatal("asked by itself")
		}
		r.answer(r.one(), false, core.ScopeOnce)
		// Denied is also what it asks instead.
		if v := r.now(r.held("spawn1", inPlace("/instead", "8:5"))); v.Allow || v.By != wire.ByPerson {
			t.Fatalf("verdict %+v", v)
		}
		r.waits(r.held("spawn2", inPlace("/instead", "8:5")))
		r.answer(r.one(), false, core.ScopeOnce)
		r.pass(refusing)
		r.held("spawn1", inPlace("/later", "8:5"))
		if isFlood(r.one()) {
			t.Fatal("not asked by itself")
		}
	})
}

// J6.
func TestAThousandAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		all := r.thousand()
		if n := len(r.Pending()); n != 1000 {
			t.Fatalf("%d questions", n)
		}
		for _, q := range r.Pending() {
			r.answer(q, false, core.ScopeOnce)
		}
		for _, h := range all {
			if r.now(h).Allow {
				t.Fatal("allowed")
			}
		}
	})
}

func (r *rig) thousand() (all []ask) {
	for run := range 50 {
		id := core.SpawnID(fmt.Sprintf("spawn-%d", run))
		r.Admit("box", id, core.Identity{ChannelID: core.ChannelID(fmt.Sprint("chan", run%10)), RunID: core.RunID(fmt.Sprint("run-", run))})
		for i := range 20 {
			all = append(all, r.held(id, inPlace(fmt.Sprintf("/home/ana/f%d", i), "8:5")))
		}
	}
	return all
}

func TestTheQueueIsBounded(t *testing.T) {
	s := New(Options{})
	who := &asker{who: who{Container: "box", RunID: "run"}, spawn: "spawn"}
	s.parked = maxWaiting
	if w, d := s.take(who, wire.Approval{Kind: "file", Operation: "write", Target: "/x"}); w != nil || d.state != core.ApprovalDenied {
		t.Fatal("one more was taken")
	}
}
