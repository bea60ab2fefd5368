package enginetest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

// update changes the limits of a running container, a few at a time.
func (s *suite) update(t *testing.T, ctx context.Context) {
	id := s.started(t, ctx, forever)
	want := func(l core.Limits) {
		t.Helper()
		f, err := s.e.Inspect(ctx, id)
		must(t, err)
		if f.Limits != l || !f.Running {
			t.Fatalf("running %v with %+v, want %+v", f.Running, f.Limits, l)
		}
	}
	want(core.Limits{})
	l := core.Limits{MemoryBytes: 256 << 20, CPUs: 0.5, Pids: 64}
	must(t, s.e.Update(ctx, id, l))
	want(l)
	l.CPUs = 1 // Loop raises a container's share while somebody watches it
	must(t, s.e.Update(ctx, id, core.Limits{CPUs: l.CPUs}))
	want(l)
	l.MemoryBytes = 512 << 20 // more than the old limit of memory and swap together
	must(t, s.e.Update(ctx, id, core.Limits{MemoryBytes: l.MemoryBytes}))
	want(l)
	wantIs(t, s.e.Update(ctx, core.ContainerID(strings.Repeat("f", 64)), l), core.ErrNotFound)
}

// rename passes one container's name on to another.
func (s *suite) rename(t *testing.T, ctx context.Context) {
	old, heir := s.started(t, ctx, forever), s.create(t, ctx, "true")
	name := func(id core.ContainerID) string {
		t.Helper()
		f, err := s.e.Inspect(ctx, id)
		must(t, err)
		list, err := s.e.List(ctx, map[string]string{"loop-suite": s.mark})
		must(t, err)
		if !slices.ContainsFunc(list, func(l core.ContainerFacts) bool { return l.ID == id && l.Name == f.Name }) {
			t.Fatalf("the list does not know %s as %s", id, f.Name)
		}
		return f.Name
	}
	was := name(old)
	wantIs(t, s.e.Rename(ctx, heir, was), core.ErrConflict)
	must(t, s.e.Rename(ctx, old, was)) // its own name again is no conflict
	must(t, s.e.Rename(ctx, old, was+"-retired"))
	must(t, s.e.Rename(ctx, heir, was))
	if a, b := name(old), name(heir); a != was+"-retired" || b != was {
		t.Fatalf("names %q and %q", a, b)
	}
	wantIs(t, s.e.Rename(ctx, core.ContainerID(strings.Repeat("f", 64)), was+"-x"), core.ErrNotFound)
}

// network has a container run once on another network than its own, and then on its own.
func (s *suite) network(t *testing.T, ctx context.Context) {
	id := s.create(t, ctx, "for i in /sys/class/net/*; do echo ${i##*/}; done")
	for i, want := range []string{"none", "bridge", "none", "none"} {
		if i > 0 {
			must(t, s.e.SetNetwork(ctx, id, want))
		}
		f, err := s.e.Inspect(ctx, id)
		must(t, err)
		if !slices.Equal(f.Networks, []string{want}) {
			t.Fatalf("on %q, want %s", f.Networks, want)
		}
		must(t, s.e.Start(ctx, id))
		if _, err := s.e.Wait(ctx, id); err != nil {
			t.Fatal(err)
		}
		f, err = s.e.Inspect(ctx, id)
		must(t, err)
		if !slices.Equal(f.Networks, []string{want}) {
			t.Fatalf("after it ran on %q, want %s", f.Networks, want)
		}
	}
	log, err := s.e.Logs(ctx, id, 20)
	must(t, err)
	if n := strings.Count(log, "eth0"); s.e.Status(ctx).Host != "fake://" && (n != 1 || strings.Count(log, "lo") != 4) {
		t.Fatalf("its interfaces were %q", log)
	}
	wantIs(t, s.e.SetNetwork(ctx, core.ContainerID(strings.Repeat("f", 64)), "none"), core.ErrNotFound)
}
