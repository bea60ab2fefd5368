package registry

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
	"loop/backend/engine/enginetest"
)

// TestLastHolderDecides: a container's fate depends on who gives it back, and with
// which Ending.
func TestLastHolderDecides(t *testing.T) {
	person := core.Holder{Kind: core.HolderPerson, ID: "ch"}
	git := core.Holder{Kind: core.HolderGit, ID: "g"}
	type step struct {
		h core.Holder
		e core.Ending
	}
	for name, c := range map[string]struct {
		holders []core.Holder // the first one makes the container
		gone    []step
		running bool
		stays   time.Duration // after the last step; 0: removed at once, -1: never
	}{
		"a run":                         {[]core.Holder{run}, []step{{run, core.Ending{Keep: time.Minute}}}, false, time.Minute},
		"a run that says nothing":       {[]core.Holder{run}, []step{{run, core.Ending{}}}, false, keptFor},
		"a run that keeps nothing":      {[]core.Holder{run}, []step{{run, core.Ending{Keep: -1}}}, false, 0},
		"git":                           {[]core.Holder{git}, []step{{git, core.Ending{Now: true}}}, false, 0},
		"a run with a terminal in it":   {[]core.Holder{run, term}, []step{{run, core.Ending{Keep: time.Minute}}}, true, -1},
		"git with a terminal in it":     {[]core.Holder{git, term}, []step{{git, core.Ending{Now: true}}}, true, -1},
		"the terminal after the run":    {[]core.Holder{run, term}, []step{{run, core.Ending{Keep: time.Hour}}, {term, core.Ending{Keep: time.Minute}}}, false, time.Minute},
		"a shell without its terminals": {[]core.Holder{person, term}, []step{{term, core.Ending{}}}, true, -1},
		"twice":                         {[]core.Holder{run, term}, []step{{run, core.Ending{}}, {run, core.Ending{}}}, true, -1},
		"somebody who holds nothing":    {[]core.Holder{run}, []step{{term, core.Ending{Now: true}}}, true, -1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, newRows(), nil)
				defer w.end()
				made, err := w.reg.Acquire(t.Context(), spec("a"), "", c.holders[0])
				if err != nil {
					t.Fatal(err)
				}
				id := made.ID
				for _, h := range c.holders[1:] {
					if err := w.reg.Hold(t.Context(), id, h); err != nil {
						t.Fatal(err)
					}
				}
				for _, s := range c.gone {
					if err := w.reg.Release(t.Context(), s.h, s.e); err != nil {
						t.Fatal(err)
					}
				}
				synctest.Wait()
				if f, err := w.fake.Inspect(t.Context(), id); c.running != (err == nil && f.Running) {
					t.Errorf("runs: %v, %v", f.Running, err)
				}
				if c.stays > 0 {
					pass(c.stays - time.Second)
					w.want("a", core.ContainerPendingRemoval)
				}
				if c.stays < 0 {
					pass(24 * time.Hour)
					w.want("a", core.ContainerRunning)
					return
				}
				pass(2 * time.Second)
				w.want("a", "")
				w.gone(id)
			})
		})
	}
}

// TestEndLeavesOthersAlone: a holder may end a container only while nobody else holds
// it. The ended container stays until the holder gives it back.
func TestEndLeavesOthersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newRows(), nil)
		defer w.end()
		c := w.start("a")
		if err := w.reg.Hold(t.Context(), c.ID, term); err != nil {
			t.Fatal(err)
		}
		if err := w.reg.End(t.Context(), c.ID, run); !errors.Is(err, core.ErrConflict) {
			t.Fatalf("a terminal's container was ended: %v", err)
		}
		w.want("a", core.ContainerRunning)
		w.store.fail["Hold"] = errors.New("disk full")
		if err := w.reg.Hold(t.Context(), c.ID, term); err != nil {
			t.Errorf("joined again, which changes nothing: %v", err)
		}
		if err := w.reg.Release(t.Context(), term, core.Ending{Now: true}); err != nil {
			t.Fatal(err)
		}
		if err := w.reg.End(t.Context(), c.ID, run); err != nil {
			t.Fatal(err)
		}
		if f, err := w.reg.Facts(t.Context(), c.ID); err != nil || f.Running {
			t.Fatalf("%+v, %v", f, err)
		}
		if err := w.reg.Hold(t.Context(), c.ID, term); !errors.Is(err, core.ErrNotRunning) {
			t.Errorf("joined what has ended: %v", err)
		}
		w.giveBack(time.Minute)
		pass(time.Minute + time.Second)
		if err := w.reg.End(t.Context(), c.ID, run); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("ended what is gone: %v", err)
		}
	})
}

// TestNobodyJoinsBetweenLookAndEnd: a Hold that succeeded after the look would join a
// container that is about to be stopped.
func TestNobodyJoinsBetweenLookAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		fl := &flaky{Fake: enginetest.NewFake(), stops: make(chan chan struct{}, 1)}
		fl.AddImage("img", "sha256:1", nil)
		fl.stops <- gate
		w := newWorldOn(t, newRows(), fl.Fake, fl)
		defer w.end()
		c := w.start("a")
		joined := make(chan error, 1)
		go func() {
			err := w.reg.stop(t.Context(), c.Key, func(*row) bool {
				if w.reg.mu.TryLock() {
					w.reg.mu.Unlock()
					t.Error("somebody could join now")
				}
				go func() { joined <- w.reg.Hold(t.Context(), c.ID, term) }()
				return true
			})
			if err != nil {
				t.Error(err)
			}
		}()
		if err := <-joined; !errors.Is(err, core.ErrNotRunning) {
			t.Errorf("joined: %v", err)
		}
		close(gate)
		synctest.Wait()
	})
}

// TestHoldTakesAnEndBack: an engine did not stop a container in time, and somebody
// holds it again.
func TestHoldTakesAnEndBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fl := &flaky{Fake: enginetest.NewFake()}
		fl.AddImage("img", "sha256:1", nil)
		w := newWorldOn(t, newRows(), fl.Fake, fl)
		defer w.end()
		c := w.start("a")
		fl.refuseStop.Store(true) // a missing engine that comes back would be asked again at once
		if err := w.reg.Release(t.Context(), run, core.Ending{Keep: time.Minute}); err == nil {
			t.Fatal("no word that it was not stopped")
		}
		w.want("a", core.ContainerRunning)
		fl.refuseStop.Store(false)
		if err := w.reg.Hold(t.Context(), c.ID, term); err != nil {
			t.Fatal(err)
		}
		pass(time.Hour)
		w.want("a", core.ContainerRunning)
		if err := w.reg.Remove(t.Context(), c.ID); err != nil { // a person removes it
			t.Fatal(err)
		}
		w.want("a", "")
		w.gone(c.ID)
		for _, err := range []error{w.reg.Remove(t.Context(), c.ID), w.reg.Release(t.Context(), term, core.Ending{})} {
			if err != nil && !errors.Is(err, core.ErrNotFound) {
				t.Error(err)
			}
		}
	})
}

// TestHoldersOfAnEarlierProcess: a run and a terminal that live on keep their
// containers. Holders that do not come back lose theirs. A program that Loop waited for
// ended with that Loop.
func TestHoldersOfAnEarlierProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newRows()
		w := newWorld(t, store, nil)
		holders := map[string]core.Holder{
			"alive": run, "ended": {Kind: core.HolderRun, ID: "ended"}, "git": {Kind: core.HolderGit, ID: "g"},
			"trial": {Kind: core.HolderSetUp, ID: "s"}, "shell": {Kind: core.HolderPerson, ID: "ch"}, "stopping": {Kind: core.HolderRun, ID: "s"},
		}
		for name, h := range holders {
			if _, err := w.reg.Acquire(t.Context(), spec(name), "", h); err != nil {
				t.Fatal(err)
			}
		}
		w.fake.SetDown(core.Fail(core.CodeEngineLost, nil, "Gone.", "Wait."))
		_ = w.reg.Release(t.Context(), holders["stopping"], core.Ending{Keep: time.Hour}) // fails, as the container cannot be stopped now
		w.stop()
		w.fake.SetDown(nil)

		w = newWorld(t, store, w.fake)
		defer w.end()
		if _, err := w.reg.Acquire(t.Context(), spec("new"), "", core.Holder{Kind: core.HolderRun, ID: "new"}); err != nil {
			t.Fatal(err)
		}
		alive := func(id string) bool { return id == run.ID }
		if err := w.reg.Recovered(t.Context(), core.HolderRun, alive, core.Ending{Keep: time.Hour}); err != nil {
			t.Fatal(err)
		}
		pass(reconcileEvery + time.Second)
		for name, st := range map[string]core.ContainerStatus{
			"alive": core.ContainerRunning, "ended": core.ContainerPendingRemoval, "git": "", "trial": "",
			"shell": core.ContainerRunning, "stopping": core.ContainerPendingRemoval, "new": core.ContainerRunning,
		} {
			w.want(name, st)
		}
	})
}

// TestScopesOutliveLoop: a container of a scope stays warm, as it would have, when its only
// holder ended with Loop: git, a prompt that was being written. It is still due at its time.
func TestScopesOutliveLoop(t *testing.T) {
	for _, kind := range []core.HolderKind{core.HolderGit, core.HolderPrompt} {
		synctest.Test(t, func(t *testing.T) {
			store, h := newRows(), core.Holder{Kind: kind, ID: "h"}
			w := newWorld(t, store, nil)
			made := map[string]core.Container{}
			for _, s := range []core.Spec{spec("own"), scoped("box", "session:ch", "f")} {
				c, err := w.reg.Acquire(t.Context(), s, "r", h)
				if err != nil {
					t.Fatal(err)
				}
				made[s.Name] = c
			}
			w.stop()

			w = newWorld(t, store, w.fake)
			defer w.end()
			if left := w.reg.Left(kind); len(left) != 0 {
				t.Errorf("%s: %v are said to come back", kind, left)
			}
			pass(reconcileEvery + time.Second)
			w.want("own", "")
			w.want("box-000000", core.ContainerRunning)
			pass(time.Hour)
			if c := w.warm("next", "f", "r"); c.ID != made["box-000000"].ID {
				t.Errorf("%s: the next got %s, not %s", kind, c.ID, made["box-000000"].ID)
			}
			w.free("next", core.Ending{})
			pass(idleFor + judgeEvery + reconcileEvery + time.Minute)
			if w.runs(made["box-000000"].ID) {
				t.Errorf("%s: it has outlived its time", kind)
			}
		})
	}
}

// TestLeft: who held a container in an earlier process is left until it comes back for it, once
// for each container.
func TestLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newRows()
		w := newWorld(t, store, nil)
		c := w.start("a")
		w.start("b")
		if left := w.reg.Left(run.Kind); len(left) != 0 {
			t.Errorf("%v of this process", left)
		}
		w.stop()
		w = newWorld(t, store, w.fake)
		defer w.end()
		if left := w.reg.Left(run.Kind); !slices.Equal(left, []string{run.ID, run.ID}) || len(w.reg.Left(core.HolderTerminal)) > 0 {
			t.Errorf("left %v", left)
		}
		if err := w.reg.Hold(t.Context(), c.ID, run); err != nil {
			t.Fatal(err)
		}
		if left := w.reg.Left(run.Kind); len(left) != 1 {
			t.Errorf("left %v, one of which came back", left)
		}
		if err := w.reg.Release(t.Context(), run, core.Ending{Now: true}); err != nil || len(w.reg.Left(run.Kind)) > 0 {
			t.Error(err)
		}
	})
}

// TestShownOnceTheEngineHasIt: a page hears of a container only after the engine made
// it.
func TestShownOnceTheEngineHasIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newRows(), nil)
		defer w.end()
		w.reg.o.Engine = checking{w.reg.o.Engine, func() {
			if len(w.reg.List()) != 0 || len(w.events) != 0 {
				t.Errorf("shown before it was made: %v, %v", w.reg.List(), w.events)
			}
		}}
		none := spec("none")
		none.Image = "missing"
		if _, err := w.reg.Acquire(t.Context(), none, "", run); !errors.Is(err, core.ErrNoImage) {
			t.Fatal(err)
		}
		w.start("a")
		want := []core.EventType{core.EventContainerAdded, core.EventContainerChanged}
		if list := w.reg.List(); len(list) != 1 || !slices.Equal(w.events, want) {
			t.Errorf("%v, %v", list, w.events)
		}
	})
}

type checking struct {
	Engine
	look func()
}

func (c checking) Create(ctx context.Context, s core.Spec) (core.ContainerID, []string, error) {
	c.look()
	id, warnings, err := c.Engine.Create(ctx, s)
	c.look()
	return id, warnings, err
}
