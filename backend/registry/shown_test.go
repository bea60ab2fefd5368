package registry

import (
	"errors"
	"testing"
	"time"

	"loop/backend/core"
)

func (w *world) view(id core.ContainerID) (v core.ContainerView) {
	w.t.Helper()
	for _, v := range w.reg.Views() {
		if v.ID == id {
			return v
		}
	}
	w.t.Fatalf("no container %s", id)
	return v
}

// TestViews: a container says who holds it, when it ends and by which rule.
func TestViews(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		c := w.warm("a", "f", "r")
		v := w.view(c.ID)
		if len(v.Holders) != 1 || v.Holders[0].String() != "run a" || v.Warm || !v.EndsAt.IsZero() || v.EndsWhy != "stays while it is held" {
			t.Errorf("held: %+v", v)
		}
		if v.SessionKey != "session:ch" || v.ConfigHash != "f" || v.CreatedAtMs != c.CreatedAt.UnixMilli() || v.LastUsedAtMs != c.LastUsedAt.UnixMilli() ||
			v.Policy != (core.ContainerPolicy{IdleSec: 24 * 3600, MaxAgeSec: 7 * 24 * 3600}) {
			t.Errorf("the original's names: %+v", v)
		}
		w.free("a", core.Ending{})
		v = w.view(c.ID)
		if v.Holders == nil || !v.Warm || !v.EndsAt.Equal(v.LastUsedAt.Add(idleFor)) || v.EndsWhy != "ends once it was not used for 24 hours" {
			t.Errorf("free: %+v", v)
		}
		w.warm("b", "f", "r")
		w.warm("c", "g", "r")
		if v = w.view(c.ID); v.SessionKey != "" || v.EndsWhy != "ends with the last who holds it" {
			t.Errorf("drained: %+v", v)
		}
		w.free("b", core.Ending{})
		if v = w.view(c.ID); v.EndsAt.IsZero() || v.EndsWhy != "is kept for a look until it is removed" {
			t.Errorf("ended: %+v", v)
		}
	})
}

// TestEnd: whichever rule comes first is said.
func TestEnd(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		row  row
		at   time.Time
		rule string
	}{
		"old first": {row{Container: core.Container{Scope: "s", CreatedAt: now.Add(time.Hour - oldAfter), LastUsedAt: now,
			Life: core.Life{Idle: idleFor, Age: oldAfter}}}, now.Add(time.Hour), "ends 7 days after it was made"},
		"no policy": {row{Container: core.Container{Scope: "s", CreatedAt: now, LastUsedAt: now}}, time.Time{}, "has no time to end at"},
		"over": {row{Container: core.Container{Scope: "s", CreatedAt: now, LastUsedAt: now.Add(-idleFor), Life: core.Life{Idle: idleFor}}},
			now, "ends, because it was not used for 24 hours"},
		"by hand": {row{holders: []core.Holder{{Kind: core.HolderPerson}}}, time.Time{}, "stays until it is removed by hand"},
		"ending": {row{Container: core.Container{Status: core.ContainerRunning, RemoveAt: now.Add(time.Minute)}}, now.Add(time.Minute),
			"is ending, because nobody holds it"},
		"unheld": {row{}, time.Time{}, "ends soon, because nobody holds it"},
	} {
		if at, rule := c.row.end(now); !at.Equal(c.at) || rule != c.rule {
			t.Errorf("%s: %v, it %s", name, at, rule)
		}
	}
}

// TestRemoveUnheld: what somebody holds stays, until nobody does.
func TestRemoveUnheld(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		c := w.warm("a", "f", "r")
		if err := w.reg.RemoveUnheld(t.Context(), c.ID); !errors.Is(err, core.ErrConflict) || !w.runs(c.ID) {
			t.Fatalf("%v; it runs: %v", err, w.runs(c.ID))
		}
		w.free("a", core.Ending{})
		done, _ := w.reg.turns.try("session:ch")
		if err := w.reg.RemoveUnheld(t.Context(), c.ID); !errors.Is(err, core.ErrConflict) {
			t.Errorf("somebody is about to join: %v", err)
		}
		done()
		if err := w.reg.RemoveUnheld(t.Context(), c.ID); err != nil {
			t.Error(err)
		}
		w.gone(c.ID)
		if err := w.reg.RemoveUnheld(t.Context(), c.ID); !errors.Is(err, core.ErrNotFound) {
			t.Error(err)
		}
		if len(w.reg.List()) != 0 {
			t.Error(w.reg.List())
		}
		if again := w.warm("b", "f", "r"); again.ID == c.ID || !w.runs(again.ID) {
			t.Errorf("%+v", again)
		}
	})
}

// TestPrune: what is kept for a look and what has stopped goes; what is warm or held stays, and
// so does everything of another install.
func TestPrune(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		acquire := func(scope, h string) core.Container {
			t.Helper()
			c, err := w.reg.Acquire(t.Context(), scoped("box", scope, "f"), "", core.Holder{Kind: core.HolderRun, ID: h})
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		held, warm, stopped := acquire("session:held", "h"), acquire("session:warm", "w"), acquire("session:stopped", "s")
		w.free("w", core.Ending{})
		w.free("s", core.Ending{})
		if err := w.reg.Stop(t.Context(), stopped.ID); err != nil {
			t.Fatal(err)
		}
		kept := w.start("kept")
		w.giveBack(time.Hour)
		foreign := spec("foreign")
		foreign.Labels = map[string]string{core.LabelInstall: "another"}
		other, _, err := w.fake.Create(t.Context(), foreign)
		if err != nil {
			t.Fatal(err)
		}
		want := map[core.ContainerID]string{
			stopped.ID: "has stopped: it was stopped by a person", kept.ID: "has stopped, and was kept for a look",
		}
		if got, err := w.reg.Prune(t.Context(), false, []core.ContainerID{"another", warm.ID}); err != nil || len(got) != 0 {
			t.Errorf("what was not asked for went: %+v, %v", got, err)
		}
		if got, err := w.reg.Prune(t.Context(), true, []core.ContainerID{warm.ID, kept.ID}); err != nil || len(got) != 1 || got[0].ID != kept.ID {
			t.Errorf("of two: %+v, %v", got, err)
		}
		for _, dry := range []bool{true, true, false} {
			got, err := w.reg.Prune(t.Context(), dry, nil)
			if err != nil || len(got) != len(want) {
				t.Fatalf("dry %v: %+v, %v", dry, got, err)
			}
			for _, p := range got {
				if want[p.ID] != p.Why {
					t.Errorf("%s: it %s", p.Name, p.Why)
				}
			}
		}
		w.gone(stopped.ID)
		w.gone(kept.ID)
		if !w.runs(held.ID) || !w.runs(warm.ID) {
			t.Error("a container that serves was pruned")
		}
		if _, err := w.fake.Inspect(t.Context(), other); err != nil {
			t.Error("another install's:", err)
		}
		if got, err := w.reg.Prune(t.Context(), false, nil); err != nil || len(got) != 0 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
