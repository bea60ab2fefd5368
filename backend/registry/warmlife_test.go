package registry

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
	"loop/backend/engine/enginetest"
)

// looked is when a look of the reconciler is over that was due.
const looked = judgeEvery + reconcileEvery + time.Second

// TestIdleAndOld: time ends a container that nobody holds, and none that somebody holds. The
// next of its scope says why it is another.
func TestIdleAndOld(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		c := w.warm("a", "f", "r")
		pass(2 * oldAfter)
		if !w.runs(c.ID) {
			t.Fatal("a container ended that is held")
		}
		w.free("a", core.Ending{})
		pass(looked)
		if w.runs(c.ID) {
			t.Error("an old container goes on without holders")
		}
		if got, _ := w.reg.byID(c.ID); got.Why != "was made more than 7 days ago" {
			t.Errorf("it %q", got.Why)
		}
		c = w.warm("b", "f", "r")
		if c.Why != "takes the place of one that was made more than 7 days ago" {
			t.Errorf("it %q", c.Why)
		}
		w.free("b", core.Ending{})
		pass(idleFor - time.Minute)
		if !w.runs(c.ID) {
			t.Error("a container ended before its time")
		}
		pass(looked + time.Minute)
		if w.runs(c.ID) {
			t.Error("an idle container goes on")
		}
		if c = w.warm("c", "f", "r"); c.Why != "takes the place of one that was not used for 24 hours" {
			t.Errorf("it %q", c.Why)
		}
		if again := w.warm("d", "f", "r"); again.ID != c.ID || again.Why != "" {
			t.Errorf("%s, not %s; it %q", again.ID, c.ID, again.Why)
		}
	})
}

// TestOwnPolicy: the times that count are those that the container was made under, for the
// rule of the reconciler and of who wants it next.
func TestOwnPolicy(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		life      core.Life
		age, idle time.Duration
		want      string
	}{
		"for ever":           {core.Life{}, 1000 * time.Hour, 1000 * time.Hour, ""},
		"an hour":            {core.Life{Idle: time.Hour}, time.Hour, time.Hour, "was not used for 1 hour"},
		"an hour, used":      {core.Life{Idle: time.Hour}, 1000 * time.Hour, time.Minute, ""},
		"a day of age":       {core.Life{Age: 24 * time.Hour}, 24 * time.Hour, 0, "was made more than 24 hours ago"},
		"two weeks idle":     {core.Life{Idle: 14 * 24 * time.Hour}, 336 * time.Hour, 336 * time.Hour, "was not used for 14 days"},
		"before the age":     {core.Life{Age: 24 * time.Hour}, 24*time.Hour - 1, 0, ""},
		"made in the future": {core.Life{Idle: time.Hour, Age: time.Hour}, -time.Hour, -time.Hour, ""},
	} {
		if got := expired(core.Container{Life: c.life, CreatedAt: now.Add(-c.age), LastUsedAt: now.Add(-c.idle)}, now); got != c.want {
			t.Errorf("%s: it %q, want %q", name, got, c.want)
		}
	}
	inWorld(t, func(t *testing.T, w *world) {
		s := scoped("box", "session:ch", "f")
		s.Life = core.Life{Idle: time.Hour}
		first, err := w.reg.Acquire(t.Context(), s, "r", run)
		if err != nil {
			t.Fatal(err)
		}
		w.giveBack(0)
		pass(time.Hour - time.Minute)
		if c := w.warm("b", "f", "r"); c.ID != first.ID { // whose own spec says a day
			t.Error("it ended before its time")
		}
		w.free("b", core.Ending{})
		pass(time.Hour + looked)
		if w.runs(first.ID) {
			t.Error("it goes on by a policy that it was not made under")
		}
	})
}

// jumped is the store after the clock was set: what happened before seems to be as much
// later or earlier. Within one launch nothing seems so, because Go counts time beside the
// clock; it does for what a launch finds stored.
func (s *rows) jumped(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, c := range s.m {
		c.CreatedAt, c.LastUsedAt = c.CreatedAt.Round(0).Add(-by), c.LastUsedAt.Round(0).Add(-by)
		if !c.RemoveAt.IsZero() {
			c.RemoveAt = c.RemoveAt.Round(0).Add(-by)
		}
		s.m[key] = c
	}
}

// TestClockJumps: a clock that was set forward ends nothing that is held, and what nobody
// holds as if that time had passed. One that was set back keeps nothing for longer than
// from now on.
func TestClockJumps(t *testing.T) {
	for name, c := range map[string]struct {
		by   time.Duration
		free bool // whether one that nobody holds goes on
	}{
		"forward by a day": {24 * time.Hour, false}, "forward by an hour": {time.Hour, true},
		"back by a day": {-24 * time.Hour, true}, "back by ten years": {-87600 * time.Hour, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			fake := enginetest.NewFake()
			fake.AddImage("img", "sha256:1", nil)
			w := newWorld(t, newRows(), fake)
			free := w.warm("a", "f", "r")
			w.free("a", core.Ending{})
			held, err := w.reg.Acquire(t.Context(), scoped("other", "session:other", "f"), "r", term)
			if err != nil {
				t.Fatal(err)
			}
			kept := w.start("kept-000000")
			w.giveBack(time.Minute)
			w.stop()
			w.store.jumped(c.by)

			w = newWorld(t, w.store, w.fake)
			defer w.end()
			pass(looked)
			if !w.runs(held.ID) {
				t.Errorf("%s: a container ended that is held", name)
			}
			if w.runs(free.ID) != c.free {
				t.Errorf("%s: the free one runs: %v", name, !c.free)
			}
			pass(idleFor + looked)
			if w.runs(free.ID) || !w.runs(held.ID) {
				t.Errorf("%s: a day later the free one runs: %v, the held one: %v", name, w.runs(free.ID), w.runs(held.ID))
			}
			pass(longestKeep)
			if _, err := w.fake.Inspect(t.Context(), kept.ID); !errors.Is(err, core.ErrNotFound) {
				t.Errorf("%s: what was kept for a minute is still there: %v", name, err)
			}
			if err := w.reg.Release(t.Context(), term, core.Ending{}); err != nil {
				t.Error(err)
			}
			pass(looked)
			if w.runs(held.ID) {
				t.Errorf("%s: a container goes on that is a week old", name)
			}
		})
	}
}

// TestLooksAreRare: whose time is over is looked at every five minutes and no more often.
func TestLooksAreRare(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		c := w.warm("a", "f", "r")
		w.free("a", core.Ending{})
		pass(looked)
		w.reg.mu.Lock()
		w.reg.rows[c.Key].LastUsedAt = time.Now().Add(-idleFor)
		since := time.Since(w.reg.judged)
		w.reg.mu.Unlock()
		pass(judgeEvery - since - time.Second)
		if !w.runs(c.ID) {
			t.Error("somebody looked before the five minutes were over")
		}
		pass(reconcileEvery + time.Second)
		if w.runs(c.ID) {
			t.Error("nobody looked after five minutes")
		}
	})
}

// TestStoppedStays: a container of a scope that has ended is kept for the next of the scope,
// by the rule of its life, and says why it stopped.
func TestStoppedStays(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		c := w.warm("a", "f", "r")
		w.free("a", core.Ending{})
		w.fake.EndMain(c.ID, 0, false)
		pass(idleFor - time.Hour)
		if got, _ := w.reg.byID(c.ID); got.Status != core.ContainerStopped || got.Why != "ended by itself" || !got.RemoveAt.IsZero() {
			t.Errorf("%+v", got)
		}
		if again := w.warm("b", "f", "r"); again.ID != c.ID || again.Why != "" || !w.runs(c.ID) {
			t.Errorf("%+v", again)
		}
		w.free("b", core.Ending{})
		w.fake.EndMain(c.ID, 0, false)
		pass(idleFor + looked + keptFor + time.Minute)
		if _, err := w.fake.Inspect(t.Context(), c.ID); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("a stopped container is there for ever: %v", err)
		}
	})
}

// TestClose: what becomes of containers that nobody holds when Loop ends is the person's to
// say. What somebody holds goes on, and what is left serves the next launch.
func TestClose(t *testing.T) {
	for exit, c := range map[string]struct{ runs, there bool }{
		ExitKeep: {true, true}, ExitStop: {false, true}, ExitRemove: {false, false},
	} {
		t.Run(exit, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				free := w.warm("a", "f", "r")
				w.free("a", core.Ending{})
				held, err := w.reg.Acquire(t.Context(), scoped("other", "session:other", "f"), "r", run)
				if err != nil {
					t.Fatal(err)
				}
				w.stop()
				w.reg.Close(exit)
				_, err = w.fake.Inspect(t.Context(), free.ID)
				if w.runs(free.ID) != c.runs || (err == nil) != c.there || !w.runs(held.ID) {
					t.Errorf("free runs: %v, is there: %v; held runs: %v", w.runs(free.ID), err, w.runs(held.ID))
				}
				if got, ok := w.reg.byID(free.ID); ok && (got.Why != "") == c.runs {
					t.Errorf("it %q", got.Why)
				}
				pass(time.Hour)
				next := newWorld(t, w.store, w.fake)
				defer next.stop()
				pass(looked)
				before := len(w.fake.Calls())
				got := next.warm("b", "f", "r")
				if (got.ID == free.ID) != c.there || !next.runs(got.ID) {
					t.Errorf("the next launch has %+v", got)
				}
				if calls := strings.Join(w.fake.Calls()[before:], " "); strings.Contains(calls, "Start") == c.runs {
					t.Errorf("the next launch called %s", calls)
				}
			})
		})
	}
}

// TestCloseWithoutEngine: an engine that refuses holds up nothing, and the next launch
// carries out what the person said.
func TestCloseWithoutEngine(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		free := w.warm("a", "f", "r")
		w.free("a", core.Ending{})
		w.stop()
		w.fake.SetDown(core.Fail(core.CodeNoEngine, nil, "The engine does not answer.", ""))
		w.reg.Close(ExitRemove)
		w.fake.SetDown(nil)
		if !w.runs(free.ID) {
			t.Fatal("the engine did not refuse")
		}
		next := newWorld(t, w.store, w.fake)
		defer next.stop()
		pass(time.Minute)
		if next.runs(free.ID) {
			t.Error("nobody went on with the removal")
		}
	})
}

func TestTooMany(t *testing.T) {
	boxes := func(n int) []core.Container {
		return slices.Repeat([]core.Container{{Memory: 2 << 30}}, n)
	}
	for _, c := range []struct {
		free   []core.Container
		most   int
		memory int64
		want   bool
	}{
		{boxes(5), 0, 0, false}, {boxes(4), 0, 16 << 30, false}, {boxes(5), 0, 16 << 30, true},
		{boxes(2), 0, 1 << 30, false}, {boxes(3), 0, 1 << 30, true}, {boxes(0), 0, 1 << 30, false},
		{boxes(3), 3, 1 << 30, false}, {boxes(4), 3, 64 << 30, true}, {boxes(2), 1, 0, true}, {boxes(1), 1, 0, false},
	} {
		if why := tooMany(c.free, c.most, c.memory); (why != "") != c.want {
			t.Errorf("%d of at most %d in %d bytes: %q", len(c.free), c.most, c.memory, why)
		}
	}
}

// TestWarmBound: of the containers that nobody holds, those that were idle for longest stop as
// soon as another joins them, and start again for the next. None that is held stops.
func TestWarmBound(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var most atomic.Int64
		w.reg.o.Warm = func() int { return int(most.Load()) }
		acquire := func(name string) core.Container {
			t.Helper()
			c, err := w.reg.Acquire(t.Context(), scoped(name, "session:"+name, "f"), "r", core.Holder{Kind: core.HolderRun, ID: name})
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		runs := func(want string, boxes ...core.Container) {
			t.Helper()
			var got []string
			for _, c := range boxes {
				if w.runs(c.ID) {
					got = append(got, c.Name[:1])
				}
			}
			if strings.Join(got, "") != want {
				t.Errorf("%s run, not %s", got, want)
			}
		}
		a, b, c, held := acquire("a"), acquire("b"), acquire("c"), acquire("d")
		for _, name := range []string{"b", "a", "c"} {
			pass(time.Second)
			w.free(name, core.Ending{})
		}
		runs("abcd", a, b, c, held)
		most.Store(2)
		pass(reconcileEvery)
		runs("acd", a, b, c, held)
		if got, _ := w.reg.byID(b.ID); got.Status != core.ContainerStopped || got.Why != "was idle for longer than 2 others (container_warm_max)" {
			t.Errorf("%+v", got)
		}
		if again := acquire("b"); again.ID != b.ID || again.Why != "" {
			t.Errorf("%+v", again)
		}
		runs("abcd", a, b, c, held)
		pass(time.Second)
		w.free("b", core.Ending{})
		runs("bcd", a, b, c, held)
		pass(time.Second)
		most.Store(1)
		w.free("d", core.Ending{})
		runs("d", a, b, c, held)
	})
}

// TestWarmBoundAndANewcomer: who wants a container that is just being stopped, because it was
// idle for longest, gets it.
func TestWarmBoundAndANewcomer(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.reg.o.Warm = func() int { return 1 }
		for n := range 30 {
			first := w.warm("a", "f", "r")
			w.free("a", core.Ending{})
			pass(time.Second)
			if _, err := w.reg.Acquire(t.Context(), scoped("other", "session:other", "f"), "r", run); err != nil {
				t.Fatal(err)
			}
			var both sync.WaitGroup
			both.Go(func() {
				if err := w.reg.Release(t.Context(), run, core.Ending{}); err != nil {
					t.Error(err)
				}
			})
			var again core.Container
			both.Go(func() { again = w.warm("b", "f", "r") })
			both.Wait()
			synctest.Wait()
			if again.ID != first.ID || !w.runs(again.ID) {
				t.Fatalf("time %d: %s, not %s; it runs: %v", n, again.ID, first.ID, w.runs(again.ID))
			}
			w.free("b", core.Ending{})
		}
	})
}

// TestLastTerminal: a container that is the terminals' alone ends with the last of them, unless
// something of theirs goes on there.
func TestLastTerminal(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var asked, busy atomic.Int64
		w.reg.o.Busy = func(context.Context, core.Container) (bool, error) {
			asked.Add(1)
			if busy.Load() < 0 {
				return false, errors.New("the link broke")
			}
			return busy.Load() > 0, nil
		}
		open := func(ids ...string) (c core.Container) {
			t.Helper()
			for _, id := range ids {
				var err error
				h := core.Holder{Kind: core.HolderTerminal, ID: id}
				if c, err = w.reg.Acquire(t.Context(), scoped("box", "shell:ch", "f"), "r", h); err != nil {
					t.Fatal(err)
				}
			}
			return c
		}
		leave := func(id string) {
			t.Helper()
			if err := w.reg.Release(t.Context(), core.Holder{Kind: core.HolderTerminal, ID: id}, core.Ending{}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		c := open("a", "b")
		if leave("a"); !w.runs(c.ID) || asked.Load() != 0 {
			t.Error("it ended under a terminal, or was looked at")
		}
		busy.Store(1)
		if leave("b"); !w.runs(c.ID) || asked.Load() != 1 {
			t.Errorf("it ended under a program, or was asked %d times", asked.Load())
		}
		if again := open("c"); again.ID != c.ID {
			t.Error("a container in which something runs was not used again")
		}
		busy.Store(-1)
		if leave("c"); !w.runs(c.ID) {
			t.Error("it ended though nobody knows what runs there")
		}
		busy.Store(0)
		pass(reconcileEvery + time.Second)
		if got, _ := w.reg.byID(c.ID); w.runs(c.ID) || got.Why != "was left by its last terminal" || got.RemoveAt.IsZero() {
			t.Errorf("it goes on: %+v", got)
		}
		if next := open("d"); next.ID == c.ID || next.Why != "" {
			t.Errorf("%+v", next)
		}
		w.warm("run", "f", "r")
		before := asked.Load()
		if w.free("run", core.Ending{}); asked.Load() != before {
			t.Error("a channel's own container was looked at")
		}
	})
}

// TestStop: a person's word stops a container, also under a terminal, but not under a run.
// The next of its scope starts it again.
func TestStop(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		c := w.warm("a", "f", "r")
		if err := w.reg.Hold(t.Context(), c.ID, term); err != nil {
			t.Fatal(err)
		}
		if err := w.reg.Stop(t.Context(), c.ID); !errors.Is(err, core.ErrConflict) || !w.runs(c.ID) {
			t.Errorf("under a run: %v", err)
		}
		w.free("a", core.Ending{})
		if err := w.reg.Stop(t.Context(), c.ID); err != nil || w.runs(c.ID) {
			t.Errorf("under a terminal: %v", err)
		}
		if got, _ := w.reg.byID(c.ID); got.Why != "was stopped by a person" || got.Status != core.ContainerStopped || !got.RemoveAt.IsZero() {
			t.Errorf("%+v", got)
		}
		if err := w.reg.Stop(t.Context(), c.ID); !errors.Is(err, core.ErrNotRunning) {
			t.Errorf("once more: %v", err)
		}
		if again := w.warm("b", "f", "r"); again.ID != c.ID || again.Why != "" || !w.runs(c.ID) {
			t.Errorf("%+v", again)
		}
		if err := w.reg.Stop(t.Context(), "another"); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("of nobody: %v", err)
		}
		own := w.start("own-000000")
		person := core.Holder{Kind: core.HolderPerson, ID: "p"}
		if err := w.reg.Hold(t.Context(), own.ID, person); err != nil {
			t.Fatal(err)
		}
		w.giveBack(0)
		if err := w.reg.Stop(t.Context(), own.ID); err != nil || w.runs(own.ID) {
			t.Errorf("one that a person holds: %v", err)
		}
		pass(keptFor + time.Minute)
		if _, err := w.fake.Inspect(t.Context(), own.ID); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("it is still there: %v", err)
		}
	})
}
