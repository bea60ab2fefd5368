package review

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
	"loop/backend/provision"
)

// guest is a link into a container that answers every program the same, until it is down.
type guest struct {
	core.Link
	spawned []core.SpawnRequest
	down    bool  // since before it is asked
	refuses error // of Spawn
	lost    bool  // it goes away once a program has begun
}

func (g *guest) Ping(context.Context) (time.Duration, error) {
	if g.down {
		return 0, core.ErrLinkDown
	}
	return 0, nil
}

func (g *guest) Spawn(_ context.Context, r core.SpawnRequest) (core.SpawnInfo, error) {
	if g.down {
		return core.SpawnInfo{}, core.ErrLinkDown
	}
	g.spawned = append(g.spawned, r)
	return core.SpawnInfo{}, g.refuses
}

func (g *guest) ReadHeld(_ context.Context, _ core.SpawnID, stream string, _ int64) (io.ReadCloser, error) {
	if g.lost {
		return nil, core.ErrLinkDown
	}
	return io.NopCloser(strings.NewReader(stream)), nil
}
func (g *guest) Wait(context.Context, core.SpawnID) (core.ExitStatus, error) {
	return core.ExitStatus{}, nil
}
func (g *guest) Kill(context.Context, core.SpawnID) error { return nil }

// TestAContainerIsHeldForAWhile: clicks share one, it is given back some seconds after the last,
// and another takes the place of one that went away.
func TestAContainerIsHeldForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made []*guest
		var released atomic.Int32
		after := func(d time.Duration) { // by the test's own clock
			<-time.NewTimer(d).C
			synctest.Wait()
		}
		c := &Containers{Log: slog.New(slog.DiscardHandler)}
		c.make = func(context.Context, core.Channel) (place, error) {
			g := &guest{}
			made = append(made, g)
			lease := &provision.Lease{Link: g}
			lease.Spec.WorkDir, lease.Container.ID = "/work", "box"
			lease.Env = []core.EnvVar{{Name: "KEY", Value: "s", Secret: true}, {Name: "A", Value: "b"}}
			return place{lease, func(context.Context) error { released.Add(1); return nil }}, nil
		}
		ctx, end := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() { over <- c.Run(ctx) }()
		run := func() {
			t.Helper()
			if out, err := c.Exec(t.Context(), core.Channel{ID: "c"}, Program{Script: "x", Args: []string{"-y"}}); err != nil || out.Stdout != "out" {
				t.Fatalf("%+v, %v", out, err)
			}
		}
		for range 5 {
			run()
			after(10 * time.Second)
		}
		if len(made) != 1 || released.Load() != 0 || len(made[0].spawned) != 5 {
			t.Fatalf("%d containers, %d released", len(made), released.Load())
		}
		if r := made[0].spawned[0]; r.Dir != "/work" || len(r.Env) != 1 || r.Argv[len(r.Argv)-1] != "-y" {
			t.Errorf("%+v", r)
		}
		after(keepLease + sweep)
		if released.Load() != 1 {
			t.Errorf("%d released", released.Load())
		}
		run()
		made[1].down = true
		run()
		if len(made) != 3 || released.Load() != 2 {
			t.Errorf("%d containers, %d released", len(made), released.Load())
		}
		c.GiveBack("other")
		c.kept["c"].users++ // somebody reads
		if c.GiveBack("box"); released.Load() != 2 {
			t.Errorf("given back: %d released", released.Load())
		}
		c.kept["c"].users--
		if c.GiveBack("box"); released.Load() != 3 {
			t.Errorf("what is unused stays: %d released", released.Load())
		}
		run()
		end()
		if err := <-over; err != nil || released.Load() != 4 {
			t.Errorf("%v, %d released", err, released.Load())
		}
		if _, err := c.Exec(t.Context(), core.Channel{ID: "c"}, Program{}); err == nil {
			t.Error("a container was made after the end")
		}
	})
}

// TestAnActIsBegunOnce: a container that goes away is replaced for what only reads, and for an act
// that surely did not begin. An act that may have begun is not repeated.
func TestAnActIsBegunOnce(t *testing.T) {
	for name, c := range map[string]struct {
		breaks func(*guest)
		once   bool
		again  bool // in another container
	}{
		"a read that is lost":        {func(g *guest) { g.lost = true }, false, true},
		"an act that is lost":        {func(g *guest) { g.lost = true }, true, false},
		"an act without an answer":   {func(g *guest) { g.refuses = core.ErrLinkDown }, true, false},
		"an act that is cut off":     {func(g *guest) { g.refuses = context.DeadlineExceeded }, true, false},
		"an act in one that is gone": {func(g *guest) { g.down = true }, true, true},
		"an act that is refused":     {func(g *guest) { g.refuses = core.ErrNotRunning }, true, true},
	} {
		var made []*guest
		k := &Containers{Log: slog.New(slog.DiscardHandler)}
		k.make = func(context.Context, core.Channel) (place, error) {
			g := &guest{}
			made = append(made, g)
			return place{&provision.Lease{Link: g}, func(context.Context) error { return nil }}, nil
		}
		if _, err := k.Exec(t.Context(), core.Channel{ID: "c"}, Program{}); err != nil {
			t.Fatal(err)
		}
		c.breaks(made[0])
		_, err := k.Exec(t.Context(), core.Channel{ID: "c"}, Program{Once: c.once})
		if (err == nil) != c.again || len(made) == 2 != c.again || err != nil && notBegun(err) {
			t.Errorf("%s: %v in %d containers", name, err, len(made))
		}
	}
	// Without any container nothing began.
	k := &Containers{make: func(context.Context, core.Channel) (place, error) { return place{}, core.ErrNotFound }}
	if _, err := k.Exec(t.Context(), core.Channel{ID: "c"}, Program{Once: true}); !notBegun(err) {
		t.Errorf("no container: %v", err)
	}
}
