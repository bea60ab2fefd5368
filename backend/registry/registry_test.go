package registry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
	"loop/backend/engine/enginetest"
)

const install = "install-1"

// rows is a store in memory. A test can make its calls fail.
type rows struct {
	mu     sync.Mutex
	m      map[core.ContainerKey]core.Container
	leases map[core.Lease]bool
	fail   map[string]error // by method
}

func newRows() *rows {
	return &rows{m: map[core.ContainerKey]core.Container{}, leases: map[core.Lease]bool{}, fail: map[string]error{}}
}

// edit changes one row together with its leases.
func (s *rows) edit(method string, key core.ContainerKey, f func(*core.Container)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fail[method]; err != nil {
		return err
	}
	c, ok := s.m[key]
	if !ok {
		return core.ErrNotFound
	}
	f(&c)
	s.m[key] = c
	return nil
}

func (s *rows) ReserveContainer(_ context.Context, c core.Container, h core.Holder) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fail["Reserve"]; err != nil {
		return err
	}
	if _, ok := s.m[c.Key]; ok {
		return core.ErrConflict
	}
	s.m[c.Key] = c
	if h != (core.Holder{}) {
		s.leases[core.Lease{Container: c.Key, Holder: h}] = true
	}
	return nil
}

func (s *rows) UpdateContainer(_ context.Context, c core.Container) error {
	method := "SetStatus"
	if was, ok := s.row(c.Key); ok && was.ID != c.ID {
		method = "SetID"
	}
	return s.edit(method, c.Key, func(was *core.Container) { *was = c })
}

func (s *rows) row(key core.ContainerKey) (core.Container, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.m[key]
	return c, ok
}

func (s *rows) HoldContainer(_ context.Context, l core.Lease, c core.Container) error {
	return s.edit("Hold", l.Container, func(was *core.Container) {
		*was = c
		s.leases[core.Lease{Container: l.Container, Holder: l.Holder}] = true
	})
}

func (s *rows) ReleaseContainer(_ context.Context, h core.Holder, c core.Container) error {
	return s.edit("Release", c.Key, func(was *core.Container) {
		*was = c
		delete(s.leases, core.Lease{Container: c.Key, Holder: h})
	})
}

func (s *rows) DropContainer(_ context.Context, key core.ContainerKey) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fail["Drop"]; err != nil {
		return err
	}
	delete(s.m, key)
	maps.DeleteFunc(s.leases, func(l core.Lease, _ bool) bool { return l.Container == key })
	return nil
}

func (s *rows) Containers(context.Context) ([]core.Container, []core.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.m)), slices.Collect(maps.Keys(s.leases)), nil
}

// named finds the row with a container's name.
func (s *rows) named(name string) (core.Container, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.m {
		if c.Name == name {
			return c, true
		}
	}
	return core.Container{}, false
}

var (
	run  = core.Holder{Kind: core.HolderRun, ID: "run"}
	term = core.Holder{Kind: core.HolderTerminal, ID: "term"}
)

func unmoved(core.Spec) error { return nil }

const keptFor = 300 * time.Second // how long a container stays when its last holder does not say

func newRegistry(store Store, engine Engine) *Registry {
	return New(Options{
		Install: install, Store: store, Engine: engine, LastLook: unmoved,
		Setup: func(core.ContainerSetup, bool) error { return nil }, Keep: func() time.Duration { return keptFor },
		Warm: func() int { return 0 }, Memory: func(context.Context) int64 { return 0 },
		Busy:    func(context.Context, core.Container) (bool, error) { return false, nil },
		Publish: func(...core.Event) {}, Log: slog.New(slog.DiscardHandler),
	})
}

type world struct {
	t      *testing.T
	fake   *enginetest.Fake
	store  *rows
	reg    *Registry
	mu     sync.Mutex
	events []core.EventType
	stop   func()
}

// newWorld makes a registry on the fake engine and runs it. Call it inside a synctest
// bubble.
func newWorld(t *testing.T, store *rows, fake *enginetest.Fake) *world {
	t.Helper()
	if fake == nil {
		fake = enginetest.NewFake()
		fake.AddImage("img", "sha256:1", nil)
	}
	return newWorldOn(t, store, fake, fake)
}

// newWorldOn is newWorld with an engine in front of the fake one.
func newWorldOn(t *testing.T, store *rows, fake *enginetest.Fake, front Engine) *world {
	t.Helper()
	w := &world{t: t, fake: fake, store: store}
	w.reg = newRegistry(store, front)
	w.reg.o.Publish = func(list ...core.Event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, e := range list {
			w.events = append(w.events, e.Type)
		}
	}
	if err := w.reg.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := w.reg.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	w.stop = func() {
		cancel()
		<-done
	}
	synctest.Wait()
	return w
}

func (w *world) end() {
	w.stop()
	_ = w.fake.Close()
}

// pass lets time of the bubble pass, until everything that is due has happened.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func spec(name string) core.Spec {
	return core.Spec{Name: name, Image: "img", ChannelID: "ch", RunID: "run", Type: core.TypeAgent,
		Labels: map[string]string{core.LabelInstall: install, core.LabelApp: core.LabelAppName, core.LabelChannel: "ch"}}
}

// scoped is the spec of a container that others of its scope share. fixed stands for what
// it reaches.
func scoped(name, scope, fixed string) core.Spec {
	s := spec(name + "-000000")
	s.RunID, s.Scope, s.Fixed, s.Hash, s.Life = "", scope, fixed, fixed, core.Life{Idle: idleFor, Age: oldAfter}
	return s
}

func (w *world) start(name string) core.Container {
	w.t.Helper()
	c, err := w.reg.Acquire(w.t.Context(), spec(name), "", run)
	if err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
	return c
}

// giveBack releases a run's hold of a container and keeps the container for a while.
func (w *world) giveBack(keep time.Duration) {
	w.t.Helper()
	if err := w.reg.Release(w.t.Context(), run, core.Ending{Keep: keep}); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
}

// want checks the row in memory and in the store. With status "" there must be none.
func (w *world) want(name string, st core.ContainerStatus) core.Container {
	w.t.Helper()
	kept, okStore := w.store.named(name)
	got, ok := w.row(name)
	if st == "" {
		if ok || okStore {
			w.t.Fatalf("row of %s is still there: %+v, stored %+v", name, got, kept)
		}
		return core.Container{}
	}
	if !ok || !okStore || got.Status != st || kept.Status != st || !got.RemoveAt.Equal(kept.RemoveAt) || got.ID != kept.ID {
		w.t.Fatalf("row of %s is %+v, stored %+v; want status %s", name, got, kept, st)
	}
	return got
}

func (w *world) row(name string) (core.Container, bool) {
	w.reg.mu.Lock()
	defer w.reg.mu.Unlock()
	if row := w.reg.named(name); row != nil {
		return row.Container, true
	}
	return core.Container{}, false
}

func (w *world) gone(id core.ContainerID) {
	w.t.Helper()
	if _, err := w.fake.Inspect(context.Background(), id); !errors.Is(err, core.ErrNotFound) {
		w.t.Fatalf("the engine still has the container: %v", err)
	}
}

func TestLifeOfAContainer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newRows(), nil)
		defer w.end()
		c := w.start("a")
		if c.Status != core.ContainerRunning || c.ID == "" {
			t.Fatalf("started: %+v", c)
		}
		w.want("a", core.ContainerRunning)
		if err := w.reg.End(t.Context(), c.ID, run); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w.want("a", core.ContainerStopped)
		w.giveBack(100 * time.Second)
		w.want("a", core.ContainerPendingRemoval)
		pass(99 * time.Second)
		w.want("a", core.ContainerPendingRemoval)
		if _, err := w.fake.Inspect(t.Context(), c.ID); err != nil {
			t.Fatalf("removed before its time: %v", err)
		}
		pass(2 * time.Second)
		w.want("a", "")
		w.gone(c.ID)
		w.mu.Lock()
		defer w.mu.Unlock()
		want := []core.EventType{core.EventContainerAdded, core.EventContainerChanged, core.EventContainerChanged, core.EventContainerChanged, core.EventContainerRemoved}
		if !slices.Equal(w.events, want) {
			t.Errorf("events %v, want %v", w.events, want)
		}
	})
}

func TestEndedContainerGoesByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newRows(), nil)
		defer w.end()
		c := w.start("a")
		w.fake.EndMain(c.ID, 137, true)
		synctest.Wait()
		w.want("a", core.ContainerStopped)
		f, err := w.reg.Facts(t.Context(), c.ID)
		if err != nil || !f.OOMKilled || f.ExitCode != 137 {
			t.Fatalf("facts %+v, %v", f, err)
		}
		pass(keptFor + time.Second)
		w.want("a", "")
		w.gone(c.ID)
	})
}

func TestRemovalSurvivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newRows()
		w := newWorld(t, store, nil)
		c := w.start("a")
		w.giveBack(time.Minute)
		w.stop()
		pass(5 * time.Minute) // no Loop runs during this time
		w2 := newWorld(t, store, w.fake)
		defer w2.end()
		pass(time.Second)
		w2.want("a", "")
		w2.gone(c.ID)
	})
}

func TestEngineDownKeepsRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newRows(), nil)
		defer w.end()
		a := w.start("a")
		w.giveBack(time.Minute)
		b := w.start("b")
		w.fake.SetDown(core.Fail(core.CodeEngineLost, nil, "Gone.", "Wait."))
		w.fake.Vanish(b.ID)
		pass(10 * time.Minute)
		if n := len(w.reg.List()); n != 2 {
			t.Fatalf("%d rows while the engine is away, want 2", n)
		}
		w.fake.SetDown(nil)
		pass(retryRemoval + time.Second)
		w.want("a", "")
		w.want("b", "") // removed meanwhile, without an event
		w.gone(a.ID)
	})
}

func TestReconcileWithoutEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newRows(), nil)
		defer w.end()
		a := w.start("a")
		w.fake.Vanish(a.ID)
		pass(reconcileEvery + time.Second)
		w.want("a", "")
	})
}

func TestOnlyThisInstall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newRows(), nil)
		defer w.end()
		other := spec("other")
		other.Labels = map[string]string{core.LabelInstall: "install-2", core.LabelApp: core.LabelAppName}
		id, _, err := w.fake.Create(t.Context(), other)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.reg.Acquire(t.Context(), other, "", run); err == nil {
			t.Fatal("a foreign label was started")
		}
		// A container of this install without a row gets one, and is removed in time.
		lost, _, err := w.fake.Create(t.Context(), spec("lost"))
		if err != nil {
			t.Fatal(err)
		}
		pass(reconcileEvery + time.Second)
		w.want("lost", core.ContainerStopped)
		pass(keptFor + time.Second)
		w.want("lost", "")
		w.gone(lost)
		if _, err := w.fake.Inspect(t.Context(), id); err != nil {
			t.Fatalf("another install's container was touched: %v", err)
		}
	})
}

// TestCrashDuringStart: a crash of Loop at each step of Start leaves rows and
// containers. The next start puts them in order.
func TestCrashDuringStart(t *testing.T) {
	cases := map[string]struct {
		row     core.Container
		created bool
	}{
		"before create":  {core.Container{Key: "k", Name: "a", Status: core.ContainerReserved}, false},
		"before the id":  {core.Container{Key: "k", Name: "a", Status: core.ContainerReserved}, true},
		"before started": {core.Container{Key: "k", Name: "a", Status: core.ContainerReserved, ID: "set"}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, fake := newRows(), enginetest.NewFake()
				fake.AddImage("img", "sha256:1", nil)
				if tc.created {
					id, _, err := fake.Create(t.Context(), spec("a"))
					if err != nil {
						t.Fatal(err)
					}
					if tc.row.ID != "" {
						tc.row.ID = id
					}
				}
				store.m["k"] = tc.row
				w := newWorld(t, store, fake)
				defer w.end()
				pass(keptFor + reconcileEvery + time.Second)
				w.want("a", "")
				if list, _ := fake.List(t.Context(), nil); len(list) != 0 {
					t.Fatalf("left behind: %+v", list)
				}
			})
		})
	}
}

// flaky makes single engine calls fail, before or after they took effect.
type flaky struct {
	*enginetest.Fake
	failCreateAfter, failStart error
	refuseRemove, refuseStop   atomic.Bool
	reg                        *Registry                         // runs on this engine; set by due
	beforeRemove               func(*Registry, core.ContainerID) // called on the goroutine of the removal
	stops                      chan chan struct{}                // each stop receives a channel and waits until it is closed
}

func (f *flaky) Stop(ctx context.Context, id core.ContainerID, grace time.Duration) error {
	if f.refuseStop.Load() {
		return errors.New("busy")
	}
	if f.stops != nil {
		<-<-f.stops
	}
	return f.Fake.Stop(ctx, id, grace)
}

func (f *flaky) Create(ctx context.Context, s core.Spec) (core.ContainerID, []string, error) {
	id, w, err := f.Fake.Create(ctx, s)
	if f.failCreateAfter != nil {
		return "", nil, f.failCreateAfter
	}
	return id, w, err
}

func (f *flaky) Start(ctx context.Context, id core.ContainerID) error {
	if f.failStart != nil {
		return f.failStart
	}
	return f.Fake.Start(ctx, id)
}

func (f *flaky) Remove(ctx context.Context, id core.ContainerID, force bool) error {
	if f.refuseRemove.Load() {
		return errors.New("busy")
	}
	if f.beforeRemove != nil {
		f.beforeRemove(f.reg, id)
	}
	return f.Fake.Remove(ctx, id, force)
}

func TestStartFailures(t *testing.T) {
	boom := errors.New("boom")
	cases := map[string]func(*flaky, *rows){
		"reserve":               func(_ *flaky, s *rows) { s.fail["Reserve"] = boom },
		"create, answer lost":   func(f *flaky, _ *rows) { f.failCreateAfter = boom },
		"id cannot be written":  func(_ *flaky, s *rows) { s.fail["SetID"] = boom },
		"start":                 func(f *flaky, _ *rows) { f.failStart = boom },
		"status cannot be kept": func(_ *flaky, s *rows) { s.fail["SetStatus"] = boom },
	}
	for name, breakIt := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := enginetest.NewFake()
				fake.AddImage("img", "sha256:1", nil)
				fl, store := &flaky{Fake: fake}, newRows()
				r := newRegistry(store, fl)
				breakIt(fl, store)
				if _, err := r.Acquire(t.Context(), spec("a"), "", run); !errors.Is(err, boom) {
					t.Fatalf("start: %v", err)
				}
				if len(r.rows) != 0 || len(store.m)+len(store.leases) != 0 {
					t.Fatalf("rows left: %v, %v", r.rows, store.m)
				}
				if list, _ := fake.List(t.Context(), nil); len(list) != 0 {
					t.Fatalf("containers left: %+v", list)
				}
				_ = fake.Close()
			})
		})
	}
	t.Run("missing image makes no container", func(t *testing.T) {
		fake := enginetest.NewFake()
		r := newRegistry(newRows(), fake)
		if _, err := r.Acquire(t.Context(), spec("a"), "", run); !errors.Is(err, core.ErrNoImage) || len(r.List()) != 0 {
			t.Fatalf("start: %v, rows %v", err, r.List())
		}
	})
}

// due runs a registry on an engine that fails at times. Its one container, a, is to be
// removed in a second. Call it in a bubble. end waits for all of it.
func due(t *testing.T, fl *flaky, store *rows) (r *Registry, end func()) {
	t.Helper()
	fl.Fake = enginetest.NewFake()
	fl.AddImage("img", "sha256:1", nil)
	r = newRegistry(store, fl)
	fl.reg = r
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- r.Run(ctx) }()
	if _, err := r.Acquire(t.Context(), spec("a"), "", run); err != nil {
		t.Fatal(err)
	}
	if err := r.Release(t.Context(), run, core.Ending{Keep: time.Second}); err != nil {
		t.Fatal(err)
	}
	return r, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		_ = fl.Close()
	}
}

func TestRemovalIsRetriedAndConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fl, store := &flaky{}, newRows()
		fl.refuseRemove.Store(true)
		r, end := due(t, fl, store)
		defer end()
		pass(5 * time.Minute)
		if got, ok := store.named("a"); !ok || got.Status != core.ContainerPendingRemoval {
			t.Fatalf("row %+v, %v", got, ok)
		}
		fl.refuseRemove.Store(false)
		pass(retryRemoval + time.Second)
		if len(r.List()) != 0 || len(store.m) != 0 {
			t.Fatalf("rows left: %v", r.List())
		}
	})
}

// TestRemovalThatBegan: a container that is about to be removed is refused to a caller.
// The caller then makes another one.
func TestRemovalThatBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refused error
		fl := &flaky{beforeRemove: func(r *Registry, id core.ContainerID) { refused = r.Hold(t.Context(), id, term) }}
		r, end := due(t, fl, newRows())
		pass(3 * time.Second)
		end()
		if !errors.Is(refused, core.ErrNotRunning) || len(r.rows) != 0 {
			t.Fatalf("kept: %v, rows %v", refused, r.rows)
		}
	})
}

// TestRemovalAfterTwoStops: two stops of one container return one after the other, and
// both count as finished.
func TestRemovalAfterTwoStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fl := &flaky{stops: make(chan chan struct{}, 3)}
		first, second, last := make(chan struct{}), make(chan struct{}), make(chan struct{})
		close(last)
		for _, c := range []chan struct{}{first, second, last} {
			fl.stops <- c
		}
		fl.Fake = enginetest.NewFake()
		fl.AddImage("img", "sha256:1", nil)
		w := newWorldOn(t, newRows(), fl.Fake, fl)
		defer w.end()
		c := w.start("a")
		for range 2 {
			go func() {
				if err := w.reg.End(t.Context(), c.ID, run); err != nil {
					t.Error(err)
				}
			}()
			synctest.Wait()
		}
		for _, c := range []chan struct{}{first, second} {
			close(c)
			synctest.Wait()
		}
		w.giveBack(time.Second)
		pass(3 * time.Second)
		w.want("a", "")
		w.gone(c.ID)
	})
}

func TestOneListCallPerReconcile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newRows(), nil)
		defer w.end()
		for i := range 20 {
			w.start(fmt.Sprint("c", i))
		}
		before := len(w.fake.Calls())
		if err := w.reg.Reconcile(t.Context()); err != nil {
			t.Fatal(err)
		}
		if calls := w.fake.Calls()[before:]; !slices.Equal(calls, []string{"List"}) {
			t.Fatalf("a reconcile of 20 containers called %v", calls)
		}
	})
}

func TestLegalSteps(t *testing.T) {
	if legal(core.ContainerRunning, core.ContainerReserved) || legal(core.ContainerPendingRemoval, core.ContainerReserved) {
		t.Error("nothing goes back to reserved")
	}
	r := newRegistry(newRows(), nil)
	r.rows["a"] = &row{Container: core.Container{Key: "a", Name: "a", Status: core.ContainerRunning}}
	if err := r.move(t.Context(), "a", core.ContainerReserved, time.Time{}); !errors.Is(err, core.ErrConflict) {
		t.Fatalf("illegal step: %v", err)
	}
}

// TestSettleLeavesWhatMoved: the engine's list may be older than the row. A newer row
// is then left alone.
func TestSettleLeavesWhatMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newRows(), nil)
		defer w.end()
		c := w.start("a")
		was := c
		was.Status = core.ContainerReserved // as it was when the list was made
		w.giveBack(time.Minute)
		want, _ := w.row("a")
		for _, running := range []bool{true, false} {
			w.reg.settle(t.Context(), was, core.ContainerFacts{ID: c.ID, Name: "a", Running: running})
			if got, ok := w.row("a"); !ok || got != want {
				t.Fatalf("running %v: %+v, want %+v", running, got, want)
			}
		}
	})
}
