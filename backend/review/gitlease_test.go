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
	down    bool
}

func (g *guest) Spawn(_ context.Context, r core.SpawnRequest) (core.SpawnInfo, error) {
	if g.down {
		return core.SpawnInfo{}, core.ErrLinkDown
	}
	g.spawned = append(g.spawned, r)
	return core.SpawnInfo{}, nil
}

func (g *guest) ReadHeld(_ context.Context, _ core.SpawnID, stream string, _ int64) (io.ReadCloser, error) {
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
