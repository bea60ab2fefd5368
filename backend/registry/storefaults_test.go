package registry

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
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
)

var errFault = errors.New("database is locked")

// faults is a store and an engine. One call of the store goes wrong, before or after it
// took effect. With crash, this launch of Loop then does nothing more.
type faults struct {
	*rows
	*enginetest.Fake

	mu           sync.Mutex
	calls, at    int
	after, crash bool
	dead         bool
	sites        map[string]bool // places in the source whose call went wrong
}

func (f *faults) do(call func() error) error {
	f.mu.Lock()
	if f.dead {
		f.mu.Unlock()
		return errFault
	}
	f.calls++
	hit := f.calls == f.at
	if hit {
		f.sites[caller()] = true
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
func (f *faults) Create(ctx context.Context, s core.Spec) (core.ContainerID, []string, error) {
	if err := f.gone(); err != nil {
		return "", nil, err
	}
	return f.Fake.Create(ctx, s)
}
func (f *faults) Start(ctx context.Context, id core.ContainerID) error {
	if err := f.gone(); err != nil {
		return err
	}
	return f.Fake.Start(ctx, id)
}
func (f *faults) Stop(ctx context.Context, id core.ContainerID, grace time.Duration) error {
	if err := f.gone(); err != nil {
		return err
	}
	return f.Fake.Stop(ctx, id, grace)
}
func (f *faults) Remove(ctx context.Context, id core.ContainerID, force bool) error {
	if err := f.gone(); err != nil {
		return err
	}
	return f.Fake.Remove(ctx, id, force)
}

// story makes containers, holds them, gives them back and ends, with a restart wherever
// Loop died. In the end only held containers are left.
func story(t *testing.T, f *faults) (calls int) {
	synctest.Test(t, func(t *testing.T) {
		f.rows, f.Fake = newRows(), enginetest.NewFake()
		f.AddImage("img", "sha256:1", nil)
		var r *Registry
		var end func()
		keeps := map[string]bool{"shell": true, "joined": true} // holders whose containers stay
		open := func() {
			r = newRegistry(f, f)
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
		calls = f.calls
		relaunch() // a row that was written before its caller heard of it goes with the next start
		pass(time.Hour)
		does(func() error { return nil })
		for range 2 { // a person tries again after an error
			does(func() error { _, err := r.Recreate(ctx, "session:ch"); return err })
		}
		pass(time.Hour)
		end()
		// Every container that is left is held, and engine, rows and registry agree.
		list, _ := f.List(ctx, nil)
		var left []string
		for _, c := range list {
			left = append(left, c.Name)
		}
		want := []string(nil)
		if joined && len(f.rows.m) == 1 {
			want = []string{"shared"}
		}
		if !slices.Equal(left, want) || len(f.rows.m) != len(left) || len(f.leases) != len(left) || len(r.rows) != len(left) {
			t.Errorf("the engine has %v, want %v; rows %v, leases %v", left, want, f.rows.m, f.leases)
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
	for at := 1; at <= all+8; at++ { // a fault causes more calls
		for _, kind := range []struct{ after, crash bool }{{false, false}, {false, true}, {true, false}, {true, true}} {
			story(t, &faults{sites: sites, at: at, after: kind.after, crash: kind.crash})
			if t.Failed() {
				t.Fatalf("call %d of %d, after it took effect: %v, dies: %v", at, all, kind.after, kind.crash)
			}
		}
	}
	for _, site := range storeCalls(t) {
		if !sites[site] {
			t.Errorf("the call of the store at %s was never tried", site)
		}
	}
}

// storeCalls lists the places in this package's source that call the store.
func storeCalls(t *testing.T) (out []string) {
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
					if port, ok := method.X.(*ast.SelectorExpr); ok && port.Sel.Name == "Store" {
						out = append(out, fmt.Sprintf("%s:%d", name, fset.Position(method.Sel.Pos()).Line))
					}
				}
			}
			return true
		})
	}
	return out
}
