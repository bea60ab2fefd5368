//go:build docker && linux

package registry

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/engine"
	"loop/backend/soaktest"
)

// loose is a container that waits, as quickly made as the engine makes one.
func loose(owner, scope string) core.Spec {
	return core.Spec{
		Name: "loop-test-" + core.NewID(), Scope: scope, Fixed: "f", Hash: "h", ChannelID: "ch", Type: core.TypeAgent,
		Image: "loop-agent:latest", Entrypoint: []string{"/bin/sh", "-c"}, Cmd: []string{"trap 'exit 0' TERM; sleep 1000 & wait"}, Network: "none", User: "0:0",
		Labels: map[string]string{core.LabelApp: core.LabelAppName, core.LabelInstall: owner, "loop-type": string(core.TypeAgent)},
		Limits: core.Limits{MemoryBytes: 64 << 20, CPUs: 1, Pids: 16},
	}
}

// TestNothingIsLeftOfManyLives: a thousand containers live in five scopes and end in every
// way, also behind the registry's back and half made. Then the engine has none of them, and
// the registry no row and no lease.
func TestNothingIsLeftOfManyLives(t *testing.T) {
	docker := engine.Open(engine.Options{})
	defer func() {
		if err := docker.Close(); err != nil {
			t.Error(err)
		}
	}()
	owner := "test-" + core.NewID()
	store := newRows()
	r := newRegistry(store, docker)
	r.o.Install = owner
	ctx, cancel := context.WithCancel(t.Context())
	var bg sync.WaitGroup
	bg.Go(func() { _ = r.Run(ctx) })
	defer bg.Wait()
	defer cancel()

	var work sync.WaitGroup
	lives := soaktest.Of(1000)
	for lane := range 5 {
		work.Go(func() {
			for i := lane; i < lives; i += 5 {
				live(t, r, docker, loose(owner, fmt.Sprintf("session:%d", lane)), i+i/5) // each lane has each end in turn
			}
		})
	}
	work.Wait()
	for { // a removal that failed is tried again when the registry looks
		if _, err := r.Prune(ctx, false, nil); err != nil {
			t.Log(err)
		}
		r.reconcile(ctx)
		if left := r.List(); len(left) == 0 {
			break
		}
		select {
		case <-time.After(200 * time.Millisecond): // the engine's own work has no event to wait for
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		}
	}
	facts, err := docker.List(ctx, map[string]string{core.LabelInstall: owner})
	if err != nil || len(facts) > 0 {
		t.Errorf("the engine has %+v: %v", facts, err)
	}
	if len(store.m) > 0 || len(store.leases) > 0 {
		t.Errorf("left in the store: %+v %+v", store.m, store.leases)
	}
}

// live has one container made and ended, in a way of its own.
func live(t *testing.T, r *Registry, docker *engine.Docker, spec core.Spec, i int) {
	ctx := t.Context()
	h := core.Holder{Kind: core.HolderRun, ID: core.NewID()}
	if i%5 == 4 { // broken off at some moment of being made
		short, cancel := context.WithTimeout(ctx, time.Duration(i%200)*time.Millisecond)
		defer cancel()
		ctx = short
	}
	c, err := r.Acquire(ctx, spec, "rights", h)
	if err != nil {
		if i%5 != 4 {
			t.Errorf("life %d: %v", i, err)
		}
		return
	}
	ctx = t.Context()
	switch i % 5 {
	case 1:
		err = docker.Remove(ctx, c.ID, true)
	case 2:
		err = docker.Stop(ctx, c.ID, 0)
	case 3:
		_, err = r.Recreate(ctx, spec.Scope)
	}
	if err != nil {
		t.Errorf("life %d: %v", i, err)
	}
	if err := r.Release(ctx, h, core.Ending{Now: i%5 == 0}); err != nil {
		t.Errorf("life %d, at its end: %v", i, err)
	}
}

// BenchmarkReconcile looks at 50 containers of the engine: one call, and their comparison.
func BenchmarkReconcile(b *testing.B) {
	docker := engine.Open(engine.Options{})
	defer func() { _ = docker.Close() }()
	owner := "bench-" + core.NewID()
	r := newRegistry(newRows(), docker)
	r.o.Install = owner
	for i := range 50 {
		if _, err := r.Acquire(b.Context(), loose(owner, fmt.Sprintf("session:%d", i)), "", core.Holder{Kind: core.HolderRun, ID: core.NewID()}); err != nil {
			b.Fatal(err)
		}
	}
	defer func() {
		for _, c := range r.List() {
			_ = docker.Remove(context.WithoutCancel(b.Context()), c.ID, true)
		}
	}()
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			if l, err := docker.List(b.Context(), map[string]string{core.LabelInstall: owner}); err != nil || len(l) != 50 {
				b.Fatal(len(l), err)
			}
		}
	})
	b.Run("reconcile", func(b *testing.B) {
		for b.Loop() {
			r.reconcile(b.Context())
		}
		if n := len(r.List()); n != 50 {
			b.Fatalf("%d containers are left", n)
		}
	})
	b.Run("hot", func(b *testing.B) { // what a prompt waits for in a container that runs
		for b.Loop() {
			h := core.Holder{Kind: core.HolderRun, ID: core.NewID()}
			if _, err := r.Acquire(b.Context(), loose(owner, "session:7"), "", h); err != nil {
				b.Fatal(err)
			}
			if err := r.Release(b.Context(), h, core.Ending{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
