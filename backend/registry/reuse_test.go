package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
	"loop/backend/engine/enginetest"
)

// The policy of the tests' containers.
const (
	idleFor  = 24 * time.Hour
	oldAfter = 7 * 24 * time.Hour
)

func TestJudge(t *testing.T) {
	now := time.Now()
	life := core.Life{Idle: idleFor, Age: oldAfter}
	made := core.Container{Life: life, Fixed: "f", Rights: "r", Hash: "h", CreatedAt: now.Add(-time.Hour), LastUsedAt: now.Add(-time.Minute)}
	cold := func(c core.Container) core.Container { c.LastUsedAt = now.Add(-core.HotWindow); return c }
	for name, c := range map[string]struct {
		c       core.Container
		held    bool
		stopped bool
		spec    core.Spec
		rights  string
		want    course
	}{
		"hot, the same":                   {made, false, false, core.Spec{Fixed: "f", Hash: "h"}, "r", courseJoin},
		"hot, changed":                    {made, false, false, core.Spec{Fixed: "f", Hash: "i"}, "r", courseJoin},
		"cold, the same":                  {cold(made), false, false, core.Spec{Fixed: "f", Hash: "h"}, "r", courseJoin},
		"cold, changed":                   {cold(made), false, false, core.Spec{Fixed: "f", Hash: "i"}, "r", courseDrain},
		"cold, changed, held":             {cold(made), true, false, core.Spec{Fixed: "f", Hash: "i"}, "r", courseDrain},
		"hot, reaches something else":     {made, true, false, core.Spec{Fixed: "g", Hash: "h"}, "r", courseDrain},
		"hot, with other credentials":     {made, true, false, core.Spec{Fixed: "f", Hash: "h"}, "s", courseDrain},
		"stopped, the same":               {cold(made), false, true, core.Spec{Fixed: "f", Hash: "h"}, "r", courseStart},
		"stopped, changed":                {made, false, true, core.Spec{Fixed: "f", Hash: "i"}, "r", courseDrain},
		"stopped, reaches something else": {made, false, true, core.Spec{Fixed: "g", Hash: "h"}, "r", courseDrain},
		"idle for a day": {core.Container{Life: life, Fixed: "f", Rights: "r", Hash: "h", CreatedAt: now.Add(-idleFor), LastUsedAt: now.Add(-idleFor)},
			false, false, core.Spec{Fixed: "f", Hash: "h"}, "r", courseDrain},
		"a week old": {core.Container{Life: life, Fixed: "f", Rights: "r", Hash: "h", CreatedAt: now.Add(-oldAfter), LastUsedAt: now},
			false, false, core.Spec{Fixed: "f", Hash: "h"}, "r", courseDrain},
		"a week old, held": {core.Container{Life: life, Fixed: "f", Rights: "r", Hash: "h", CreatedAt: now.Add(-oldAfter), LastUsedAt: now},
			true, false, core.Spec{Fixed: "f", Hash: "h"}, "r", courseJoin},
	} {
		got, why := judge(c.c, c.held, !c.stopped, c.spec, c.rights, now)
		if got != c.want || (why != "") != (got == courseDrain) {
			t.Errorf("%s: %v, because it %q, want %v", name, got, why, c.want)
		}
	}
}

// warm acquires the container of a scope for a run.
func (w *world) warm(h, fixed, rights string) core.Container {
	w.t.Helper()
	c, err := w.reg.Acquire(w.t.Context(), scoped("box", "session:ch", fixed), rights, core.Holder{Kind: core.HolderRun, ID: h})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func (w *world) free(h string, e core.Ending) {
	w.t.Helper()
	if err := w.reg.Release(w.t.Context(), core.Holder{Kind: core.HolderRun, ID: h}, e); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
}

func (w *world) runs(id core.ContainerID) bool {
	f, err := w.fake.Inspect(w.t.Context(), id)
	return err == nil && f.Running
}

func inWorld(t *testing.T, do func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) {
		fake := enginetest.NewFake()
		fake.AddImage("img", "sha256:1", nil)
		w := newWorld(t, newRows(), fake)
		defer w.end()
		do(t, w)
	})
}

// TestOneContainerOfAScope: however many want one at a time, one is made.
func TestOneContainerOfAScope(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var all sync.WaitGroup
		var mu sync.Mutex
		ids := map[core.ContainerID]bool{}
		for i := range 50 {
			all.Go(func() {
				c := w.warm(fmt.Sprint(i), "f", "r")
				mu.Lock()
				defer mu.Unlock()
				ids[c.ID] = true
			})
		}
		all.Wait()
		if len(ids) != 1 || len(w.reg.List()) != 1 {
			t.Fatalf("%d containers, %d of them known", len(ids), len(w.reg.List()))
		}
		for i := range 50 {
			w.free(fmt.Sprint(i), core.Ending{})
		}
		c := w.reg.List()[0]
		if !w.runs(c.ID) || c.Status != core.ContainerRunning || !c.RemoveAt.IsZero() {
			t.Errorf("after the last holder: %+v", c)
		}
		if got := w.warm("next", "f", "r"); got.ID != c.ID {
			t.Errorf("the next got %s, not %s", got.ID, c.ID)
		}
	})
}

// TestDrained: who holds a drained container keeps it, the next gets another of its name,
// and it ends with its last holder.
func TestDrained(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		first := w.warm("a", "f", "r")
		second := w.warm("b", "g", "r")
		third := w.warm("c", "g", "other")
		synctest.Wait()
		if first.ID == second.ID || second.ID == third.ID || third.Name != first.Name {
			t.Fatalf("%s, %s, %s (%s, %s)", first.ID, second.ID, third.ID, first.Name, third.Name)
		}
		var names []string
		for _, c := range w.reg.List() {
			f, err := w.fake.Inspect(t.Context(), c.ID)
			if err != nil || f.Name != c.Name || !strings.HasPrefix(c.Name, "box-") || !f.Running {
				t.Errorf("%+v, %v: the engine says %+v", c, err, f)
			}
			names = append(names, c.Name)
		}
		slices.Sort(names)
		if len(slices.Compact(names)) != 3 {
			t.Errorf("names: %v", names)
		}
		w.free("a", core.Ending{})
		if w.runs(first.ID) {
			t.Error("a drained container goes on without holders")
		}
		pass(keptFor + time.Minute)
		if _, err := w.fake.Inspect(t.Context(), first.ID); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("a drained container is still there: %v", err)
		}
		w.free("c", core.Ending{})
		if !w.runs(second.ID) || !w.runs(third.ID) {
			t.Error("a container ended that is held, or that a scope has")
		}
	})
}

// TestChangedWhileHot: what may wait does, for the hot window.
func TestChangedWhileHot(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		first := w.warm("a", "f", "r")
		w.free("a", core.Ending{})
		changed := scoped("box", "session:ch", "f")
		changed.Hash = "other"
		h := core.Holder{Kind: core.HolderRun, ID: "b"}
		acquire := func() core.Container {
			t.Helper()
			c, err := w.reg.Acquire(t.Context(), changed, "r", h)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		pass(core.HotWindow - time.Minute)
		if c := acquire(); c.ID != first.ID || c.Hash == changed.Hash {
			t.Errorf("hot: %+v", c)
		}
		w.free("b", core.Ending{})
		pass(core.HotWindow - time.Minute)
		w.reg.Used(first.ID) // somebody types into it
		pass(2 * time.Minute)
		if c := acquire(); c.ID != first.ID {
			t.Errorf("kept hot by a key: %+v", c)
		}
		w.free("b", core.Ending{})
		pass(core.HotWindow)
		c := acquire()
		synctest.Wait()
		if c.ID == first.ID || c.Hash != changed.Hash || w.runs(first.ID) {
			t.Errorf("cold: %+v; the first runs: %v", c, w.runs(first.ID))
		}
	})
}

// TestUnprovedEnd: a holder that cannot say that nothing of it is left takes the container
// out of its scope, and leaves those that hold it alone.
func TestUnprovedEnd(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		first := w.warm("a", "f", "r")
		w.warm("b", "f", "r")
		w.free("a", core.Ending{Drain: true})
		if !w.runs(first.ID) {
			t.Fatal("the end of one ended the other's container")
		}
		if c := w.warm("c", "f", "r"); c.ID == first.ID || c.Name != first.Name {
			t.Errorf("somebody joined a drained container: %+v", c)
		}
		w.free("b", core.Ending{})
		if w.runs(first.ID) {
			t.Error("a drained container goes on without holders")
		}
		own := w.start("own-000000") // which nobody would join anyway
		w.free(run.ID, core.Ending{Drain: true})
		if _, there := w.store.named(own.Name); !there {
			t.Error("a container of one run lost its name")
		}
	})
}

// TestStartedAgain: a container that ended, for whatever reason, is started for the next.
func TestStartedAgain(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		first := w.warm("a", "f", "r")
		w.fake.EndMain(first.ID, 137, true)
		synctest.Wait()
		w.free("a", core.Ending{})
		again := w.warm("b", "f", "r")
		if again.ID != first.ID || !w.runs(first.ID) || again.Status != core.ContainerRunning || !again.RemoveAt.IsZero() {
			t.Errorf("%+v", again)
		}
		w.free("b", core.Ending{})
		pass(time.Hour)
		if !w.runs(first.ID) {
			t.Error("it ended by the time that its first end had set")
		}
		w.fake.Vanish(first.ID)
		if c := w.warm("c", "f", "r"); c.ID == first.ID || len(w.reg.List()) != 1 {
			t.Errorf("after it vanished: %+v of %d", c, len(w.reg.List()))
		}
	})
}

// TestForeignName: a name that a container of somebody else has is no obstacle.
func TestForeignName(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		foreign := scoped("box", "session:ch", "f")
		foreign.Labels = map[string]string{core.LabelInstall: "another"}
		if _, _, err := w.fake.Create(t.Context(), foreign); err != nil {
			t.Fatal(err)
		}
		if c := w.warm("a", "f", "r"); c.Name == foreign.Name || !strings.HasPrefix(c.Name, "box-") {
			t.Errorf("%+v", c)
		}
	})
}

// TestRecreate: a person's word drains the container of a scope.
func TestRecreate(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		if there, err := w.reg.Recreate(t.Context(), "session:ch"); there || err != nil {
			t.Errorf("of nothing: %v, %v", there, err)
		}
		first := w.warm("a", "f", "r")
		if there, err := w.reg.Recreate(t.Context(), "session:ch"); !there || err != nil {
			t.Errorf("%v, %v", there, err)
		}
		if !w.runs(first.ID) {
			t.Error("it ended under its holder")
		}
		if c := w.warm("b", "f", "r"); c.ID == first.ID {
			t.Error("the next got the same")
		}
	})
}

// TestTurnGivenUp: who waits for the container of a scope may stop waiting.
func TestTurnGivenUp(t *testing.T) {
	turns := newTurns()
	done, err := turns.take(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := turns.take(ctx, "s"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	done()
	if len(turns.all) != 0 {
		t.Errorf("left: %v", turns.all)
	}
}
