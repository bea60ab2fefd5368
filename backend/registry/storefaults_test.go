package registry

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
	"loop/backend/engine/enginetest"
	"loop/backend/wire"
)

var errFault = errors.New("database is locked")

// faults is a store and an engine. One call of the store, or with engine one of the engine,
// goes wrong, before or after it took effect. With crash, this launch of Loop then does
// nothing more.
type faults struct {
	*rows
	*enginetest.Fake

	mu           sync.Mutex
	calls, at    int
	after, crash bool
	engine       bool
	site         string // with nth, instead of at: the call from one place, counted
	nth          int
	asked        map[string]int // calls from each place
	dead         bool
	sites        map[string]bool // places in the source whose call went wrong
}

func (f *faults) do(call func() error) error {
	if f.engine {
		if err := f.gone(); err != nil {
			return err
		}
		return call()
	}
	return f.goesWrong(call)
}

// asks is do for calls of the engine.
func (f *faults) asks(call func() error) error {
	if f.engine {
		return f.goesWrong(call)
	}
	if err := f.gone(); err != nil {
		return err
	}
	return call()
}

func (f *faults) goesWrong(call func() error) error {
	f.mu.Lock()
	if f.dead {
		f.mu.Unlock()
		return errFault
	}
	f.calls++
	site := caller()
	f.asked[site]++
	hit := f.calls == f.at || site == f.site && f.asked[site] == f.nth
	if hit {
		f.sites[site] = true
		f.dead = f.crash
	}
	f.mu.Unlock()
	if hit && !f.after {
		return errFault
	}
	err := call()
	if hit {
		return errFault
	}
	return err
}

// caller returns the place in this package's own source that made the call.
func caller() string {
	pc := make([]uintptr, 20)
	frames := runtime.CallersFrames(pc[:runtime.Callers(3, pc)])
	for {
		fr, more := frames.Next()
		if strings.Contains(fr.File, "backend/registry/") && !strings.HasSuffix(fr.File, "_test.go") {
			return fmt.Sprintf("%s:%d", filepath.Base(fr.File), fr.Line)
		}
		if !more {
			return ""
		}
	}
}

func (f *faults) ReserveContainer(ctx context.Context, c core.Container, h core.Holder) error {
	return f.do(func() error { return f.rows.ReserveContainer(ctx, c, h) })
}
func (f *faults) UpdateContainer(ctx context.Context, c core.Container) error {
	return f.do(func() error { return f.rows.UpdateContainer(ctx, c) })
}
func (f *faults) HoldContainer(ctx context.Context, l core.Lease, c core.Container) error {
	return f.do(func() error { return f.rows.HoldContainer(ctx, l, c) })
}
func (f *faults) ReleaseContainer(ctx context.Context, h core.Holder, c core.Container) error {
	return f.do(func() error { return f.rows.ReleaseContainer(ctx, h, c) })
}
func (f *faults) DropContainer(ctx context.Context, key core.ContainerKey) error {
	return f.do(func() error { return f.rows.DropContainer(ctx, key) })
}
func (f *faults) Containers(ctx context.Context) (list []core.Container, leases []core.Lease, err error) {
	err = f.do(func() (err error) { list, leases, err = f.rows.Containers(ctx); return err })
	return list, leases, err
}

// gone fails for a launch that has died, which does nothing to the engine either.
func (f *faults) gone() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return errFault
	}
	return nil
}
func (f *faults) Create(ctx context.Context, s core.Spec) (id core.ContainerID, warnings []string, err error) {
	err = f.asks(func() (err error) { id, warnings, err = f.Fake.Create(ctx, s); return err })
	if err != nil {
		id = "" // nobody heard of it
	}
	return id, warnings, err
}
func (f *faults) Start(ctx context.Context, id core.ContainerID) error {
	return f.asks(func() error { return f.Fake.Start(ctx, id) })
}
func (f *faults) Stop(ctx context.Context, id core.ContainerID, grace time.Duration) error {
	return f.asks(func() error { return f.Fake.Stop(ctx, id, grace) })
}
func (f *faults) Remove(ctx context.Context, id core.ContainerID, force bool) error {
	return f.asks(func() error { return f.Fake.Remove(ctx, id, force) })
}
func (f *faults) Rename(ctx context.Context, id core.ContainerID, name string) error {
	return f.asks(func() error { return f.Fake.Rename(ctx, id, name) })
}
func (f *faults) Update(ctx context.Context, id core.ContainerID, l core.Limits) error {
	return f.asks(func() error { return f.Fake.Update(ctx, id, l) })
}
func (f *faults) Pause(ctx context.Context, id core.ContainerID) error {
	return f.asks(func() error { return f.Fake.Pause(ctx, id) })
}
func (f *faults) Unpause(ctx context.Context, id core.ContainerID) error {
	return f.asks(func() error { return f.Fake.Unpause(ctx, id) })
}
func (f *faults) Inspect(ctx context.Context, id core.ContainerID) (facts core.ContainerFacts, err error) {
	err = f.asks(func() (err error) { facts, err = f.Fake.Inspect(ctx, id); return err })
	return facts, err
}
func (f *faults) SetNetwork(ctx context.Context, id core.ContainerID, network string) error {
	return f.asks(func() error { return f.Fake.SetNetwork(ctx, id, network) })
}
func (f *faults) Wait(ctx context.Context, id core.ContainerID) (code int, err error) {
	err = f.asks(func() (err error) { code, err = f.Fake.Wait(ctx, id); return err })
	return code, err
}
func (f *faults) Logs(ctx context.Context, id core.ContainerID, n int) (said string, err error) {
	err = f.asks(func() (err error) { said, err = f.Fake.Logs(ctx, id, n); return err })
	return said, err
}
func (f *faults) List(ctx context.Context, labels map[string]string) (list []core.ContainerFacts, err error) {
	err = f.asks(func() (err error) { list, err = f.Fake.List(ctx, labels); return err })
	return list, err
}

// story makes containers, holds them, gives them back and ends, with a restart wherever
// Loop died. In the end only held containers are left.
func story(t *testing.T, f *faults) (calls int) {
	synctest.Test(t, func(t *testing.T) {
		f.rows, f.Fake, f.asked = newRows(), enginetest.NewFake(), map[string]int{}
		f.AddImage("img", "sha256:1", nil)
		var r *Registry
		var end func()
		var due sync.Map // commands that are staged, as loop init finds them
		f.Main = func(ctx context.Context, s core.Spec, _ io.Writer) int {
			if _, is := due.Load(s.Setup.Command); is {
				return map[bool]int{true: wire.ExitSetUp, false: wire.ExitSetupFailed}[s.Setup.Command != "fails"]
			}
			<-ctx.Done()
			return 143
		}
		keeps := map[string]bool{"shell": true, "joined": true} // holders whose containers stay
		open := func() {
			r = newRegistry(f, f)
			r.o.Setup = func(s core.ContainerSetup, is bool) error {
				if is && f.gone() == nil {
					due.Store(s.Command, true)
				} else if !is && f.gone() == nil {
					due.Delete(s.Command)
				}
				return f.gone()
			}
			for r.Restore(t.Context()) != nil {
				f.mu.Lock()
				f.dead = false // Loop died again while it started
				f.mu.Unlock()
			}
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan error, 1)
			go func(r *Registry) { done <- r.Run(ctx) }(r)
			end = func() { cancel(); <-done }
		}
		relaunch := func() {
			end()
			r.Close(ExitStop)
			f.mu.Lock()
			f.dead = false
			f.mu.Unlock()
			open()
			alive := func(id string) bool { return keeps[id] }
			for _, kind := range []core.HolderKind{core.HolderRun, core.HolderTerminal} {
				if err := r.Recovered(t.Context(), kind, alive, core.Ending{Keep: time.Minute}); err != nil && !errors.Is(err, errFault) {
					t.Error(err)
				}
			}
		}
		// does is one step of a service. After a death of Loop, a new launch begins.
		does := func(what func() error) bool {
			err := what()
			if f.gone() == nil {
				return err == nil
			}
			relaunch()
			return false
		}
		id := func(name string) core.ContainerID {
			for _, c := range r.List() {
				if c.Name == name {
					return c.ID
				}
			}
			return ""
		}
		ctx := t.Context()
		open()
		hold := func(kind core.HolderKind, h string) core.Holder { return core.Holder{Kind: kind, ID: h} }
		made := map[string]bool{}
		for _, c := range []struct {
			name string
			h    core.Holder
		}{
			{"shell", hold(core.HolderPerson, "shell")}, {"run", hold(core.HolderRun, "r")},
			{"shared", hold(core.HolderRun, "s")}, {"git", hold(core.HolderGit, "g")},
		} {
			made[c.name] = does(func() error { _, err := r.Acquire(ctx, spec(c.name), "", c.h); return err })
		}
		joined := false
		for range 2 { // a person tries again
			joined = joined || made["shared"] && does(func() error { return r.Hold(ctx, id("shared"), hold(core.HolderTerminal, "joined")) })
		}
		warm := func(h, fixed string) { // one container, until what it reaches is changed
			does(func() error {
				_, err := r.Acquire(ctx, scoped("warm", "session:ch", fixed), "", hold(core.HolderRun, h))
				return err
			})
		}
		warm("w1", "a")
		warm("w2", "a")
		warm("w3", "b")
		does(func() error { return r.Release(ctx, hold(core.HolderRun, "w1"), core.Ending{}) })
		does(func() error { return r.Release(ctx, hold(core.HolderRun, "w2"), core.Ending{}) })
		does(func() error { return r.Release(ctx, hold(core.HolderRun, "w3"), core.Ending{}) })
		warm("w4", "b")
		does(func() error { return r.Release(ctx, hold(core.HolderRun, "w4"), core.Ending{Drain: true}) })
		does(func() error { return r.Release(ctx, hold(core.HolderGit, "g"), core.Ending{Now: true}) })
		does(func() error { return r.End(ctx, id("run"), hold(core.HolderRun, "r")) })
		does(func() error { return r.Release(ctx, hold(core.HolderRun, "r"), core.Ending{Keep: time.Minute}) })
		does(func() error { return r.Release(ctx, hold(core.HolderRun, "s"), core.Ending{Keep: time.Minute}) })
		// One ends by itself. Then another that is used again turns out to be of the future.
		for i := range 2 {
			own := hold(core.HolderRun, "own")
			does(func() error { _, err := r.Acquire(ctx, scoped("own", "session:own", "a"), "", own); return err })
			does(func() error { return r.Release(ctx, own, core.Ending{}) })
			if c, ok := r.ofScope("session:own"); ok && i == 0 {
				f.EndMain(c.ID, 0, false)
			}
			pass(time.Second)
			r.mu.Lock()
			for _, w := range r.rows {
				w.LastUsedAt = w.LastUsedAt.Add(time.Hour)
			}
			r.mu.Unlock()
			pass(judgeEvery + reconcileEvery)
		}
		// One ends by itself, and is started again.
		again := hold(core.HolderRun, "again")
		for range 2 {
			does(func() error { _, err := r.Acquire(ctx, scoped("again", "session:again", "a"), "", again); return err })
			does(func() error { return r.Release(ctx, again, core.Ending{}) })
			if c, ok := r.ofScope("session:again"); ok {
				f.EndMain(c.ID, 0, false)
			}
			pass(time.Second)
		}
		// Some are set up first. Whoever gets one gets it set up, and off the network of that.
		for _, command := range []string{"works", "works", "fails", "works"} {
			own, sp := hold(core.HolderRun, "set-up"), scoped("setup", "session:setup", command)
			sp.Network, sp.Setup = "none", core.ContainerSetup{Command: command, Network: "bridge"}
			does(func() error {
				c, err := r.Acquire(ctx, sp, "", own)
				if err != nil {
					return err
				}
				_, open := due.Load(command)
				if facts, err := f.Fake.Inspect(ctx, c.ID); command == "fails" || open || err != nil || !slices.Equal(facts.Networks, []string{"none"}) {
					t.Errorf("got a container that is not set up: %s, open %v, %+v", command, open, facts)
				}
				return nil
			})
			does(func() error { return r.Release(ctx, own, core.Ending{}) })
			if c, ok := r.ofScope("session:setup"); ok && command == "works" {
				f.EndMain(c.ID, 0, false)
			}
			pass(time.Second)
		}
		// Limits are changed; one is removed behind Loop's back; and one has an image that is not there.
		away := hold(core.HolderRun, "away")
		does(func() error { _, err := r.Acquire(ctx, scoped("away", "session:away", "a"), "", away); return err })
		if c, ok := r.ofScope("session:away"); ok {
			does(func() error { return r.Limit(ctx, c.ID, away, core.Limits{CPUs: 0.5}) })
		}
		does(func() error { return r.Release(ctx, away, core.Ending{}) })
		if c, ok := r.ofScope("session:away"); ok {
			f.Vanish(c.ID)
		}
		without := spec("without")
		without.Image = "no-such-image"
		does(func() error { _, err := r.Acquire(ctx, without, "", hold(core.HolderRun, "without")); return err })
		if _, _, err := f.Fake.Create(ctx, spec("lost")); err != nil { // no row knows this container
			t.Fatal(err)
		}
		pass(2 * time.Minute)
		does(func() error { return nil })
		for range 2 { // a person tries again after an error
			does(func() error { return r.Remove(ctx, id("lost")) })
			does(func() error { return r.Remove(ctx, id("shell")) })
		}
		pass(time.Hour)
		relaunch() // a row that was written before its caller heard of it goes with the next start
		pass(time.Hour)
		does(func() error { return nil })
		for range 2 { // a person tries again after an error
			does(func() error { _, err := r.Recreate(ctx, "session:ch"); return err })
			does(func() error { _, err := r.Recreate(ctx, "session:own"); return err })
			does(func() error { _, err := r.Recreate(ctx, "session:away"); return err })
			does(func() error { _, err := r.Recreate(ctx, "session:again"); return err })
			does(func() error { _, err := r.Recreate(ctx, "session:setup"); return err })
		}
		pass(time.Hour)
		does(func() error { return nil })
		pass(time.Hour)
		calls = f.calls
		end()
		// Every container that is left is held, and engine, rows and registry agree.
		list, _ := f.Fake.List(ctx, nil)
		var left []string
		for _, c := range list {
			left = append(left, c.Name)
		}
		want := []string(nil)
		if joined && len(f.rows.m) == 1 {
			want = []string{"shared"}
		}
		if !slices.Equal(left, want) || len(f.rows.m) != len(left) || len(f.leases) != len(left) || len(r.rows) != len(left) {
			t.Errorf("call %d (after it took effect: %v, dies: %v): the engine has %v, want %v; rows %v, leases %v",
				f.at, f.after, f.crash, left, want, f.rows.m, f.leases)
		}
		_ = f.Close()
	})
	return calls
}

// TestFaultAtEveryRegistryCall: at each call of the store, Loop dies and is started
// again, or the call fails and Loop goes on. Each of these happens before and after the
// call took effect. Containers without a holder go, and held ones stay.
func TestFaultAtEveryRegistryCall(t *testing.T) {
	sites := map[string]bool{}
	all := story(t, &faults{sites: sites})
	kinds := []struct{ after, crash bool }{{false, false}, {false, true}, {true, false}, {true, true}}
	for at := 1; at <= all+8; at++ { // a fault causes more calls
		for _, kind := range kinds {
			story(t, &faults{sites: sites, at: at, after: kind.after, crash: kind.crash})
			if t.Failed() {
				t.Fatalf("call %d of %d, after it took effect: %v, dies: %v", at, all, kind.after, kind.crash)
			}
		}
	}
	for _, site := range calls(t, "Store") {
		// By place, where two calls at the same time changed places whenever one of them was due.
		for i := 0; i < len(kinds) && !sites[site]; i++ {
			story(t, &faults{sites: sites, site: site, nth: 1, after: kinds[i].after, crash: kinds[i].crash})
		}
		if !sites[site] {
			t.Errorf("the call of the store at %s was never tried", site)
		}
	}
}

// TestFaultAtEveryEngineCall is the same for calls of the engine: after it Loop may not know
// what the engine has done.
func TestFaultAtEveryEngineCall(t *testing.T) {
	whole := &faults{sites: map[string]bool{}, engine: true}
	story(t, whole)
	for _, site := range calls(t, "Engine") {
		if whole.asked[site] == 0 {
			t.Errorf("the call of the engine at %s was never tried", site)
		}
	}
	for site, n := range whole.asked { // by place: which call of all is its first one differs from time to time
		for nth := 1; nth <= min(n+1, 5); nth++ { // the look of each half minute is the same again and again
			for _, kind := range []struct{ after, crash bool }{{false, false}, {false, true}, {true, false}, {true, true}} {
				story(t, &faults{
					sites: map[string]bool{}, engine: true, site: site, nth: nth, after: kind.after, crash: kind.crash,
				})
				if t.Failed() {
					t.Fatalf("call %d at %s, after it took effect: %v, dies: %v", nth, site, kind.after, kind.crash)
				}
			}
		}
	}
}

// calls lists the places in this package's source that call a port.
func calls(t *testing.T, of string) (out []string) {
	t.Helper()
	fset := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if method, ok := call.Fun.(*ast.SelectorExpr); ok {
					if port, ok := method.X.(*ast.SelectorExpr); ok && port.Sel.Name == of && method.Sel.Name != "Events" {
						out = append(out, fmt.Sprintf("%s:%d", name, fset.Position(method.Sel.Pos()).Line))
					}
				}
			}
			return true
		})
	}
	return out
}
