package inventory

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// pass lets time pass, and waits for what it has begun.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// TestWatch: containers are looked at while somebody asks, and not a moment longer.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := rig()
		for i := range w.boxes {
			w.boxes[i].Status = core.ContainerRunning
		}
		w.boxes[2].Status = core.ContainerStopped
		var usages, sizes int
		begun := time.Now()
		w.used = func(id core.ContainerID) (core.ContainerUsage, error) {
			usages++
			if id == "abcd2" {
				return core.ContainerUsage{}, core.ErrNotRunning
			}
			return core.ContainerUsage{At: time.Unix(9, 0), CPU: time.Since(begun) / 2, MemoryBytes: 77}, nil
		}
		w.sized = func() (int64, error) { sizes++; return 42, nil }
		ctx, end := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() { over <- s.Run(ctx) }()
		pass(time.Minute)
		if usages != 0 || sizes != 0 {
			t.Error("it looked, though nobody watches")
		}

		first := s.Watch()
		if len(first.Containers) != 3 || first.Containers[0].SizeBytes != -1 || first.Containers[0].Samples == nil ||
			first.Containers[0].Engine != nil || first.CPUs != 0 || first.WarmMost != 3 || first.OnAppExit != "stop" {
			t.Errorf("%+v", first)
		}
		for range 200 { // longer than samples are kept
			pass(5 * time.Second)
			s.Watch()
		}
		got := s.Watch()
		c := got.Containers[0]
		if c.SizeBytes != 42 || c.Engine == nil || c.Drift == nil || got.Failure != nil || got.CPUs != 4 {
			t.Errorf("%+v", got)
		}
		if n := len(c.Samples); n < 100 || n > 121 {
			t.Errorf("%d samples of ten minutes", n)
		}
		for _, x := range c.Samples {
			if x.CPUs < 0.49 || x.CPUs > 0.51 || x.MemoryBytes != 77 {
				t.Fatalf("%+v", x)
			}
		}
		if n := len(got.Containers[1].Samples) + len(got.Containers[2].Samples); n != 0 {
			t.Errorf("%d samples of containers that do not run", n)
		}

		pass(lapse + 2*tick)
		usages, sizes = 0, 0
		pass(time.Hour)
		if usages != 0 || sizes != 0 {
			t.Error("it went on, though nobody watched any more")
		}
		if again := s.Watch(); len(again.Containers[0].Samples) != 0 {
			t.Error("samples of an hour ago are shown")
		}
		pass(3 * time.Second)
		if again := s.Watch(); len(again.Containers[0].Samples) != 1 { // the first look only begins anew
			t.Errorf("%+v", again.Containers[0].Samples)
		}
		w.mu.Lock()
		w.boxes = w.boxes[:1]
		w.mu.Unlock()
		pass(3 * time.Second)
		if s.mu.Lock(); len(s.seen) != 1 {
			t.Error("what is gone is not forgotten")
		}
		s.mu.Unlock()
		end()
		if err := <-over; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// TestWatchOfASickEngine: why something is missing is told, until the engine answers again. A
// size that takes long holds up no sample.
func TestWatchOfASickEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := rig()
		w.boxes = w.boxes[:1]
		w.boxes[0].Status = core.ContainerRunning
		w.used = func(core.ContainerID) (core.ContainerUsage, error) {
			return core.ContainerUsage{}, core.Fail(core.CodeNoEngine, nil, "The engine does not answer.", "Start it.")
		}
		w.sized = func() (int64, error) { return 0, nil }
		ctx, end := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() { over <- s.Run(ctx) }()
		s.Watch()
		pass(3 * time.Second)
		if got := s.Watch(); got.Failure == nil || got.Failure.Code != core.CodeNoEngine || got.Containers[0].SizeBytes != 0 {
			t.Errorf("%+v", got)
		}
		sizes := 0
		w.mu.Lock()
		w.used = func(core.ContainerID) (core.ContainerUsage, error) { return core.ContainerUsage{}, nil }
		w.sized = func() (int64, error) { sizes++; return 0, errors.New("boom") }
		w.mu.Unlock()
		for range 30 {
			pass(5 * time.Second)
			s.Watch()
		}
		if got := s.Watch(); got.Failure == nil || sizes < 2 || sizes > 4 {
			t.Errorf("%d tries of a size, which the engine may look at every file for: %+v", sizes, got)
		}
		w.mu.Lock()
		w.sized = func() (int64, error) { return 0, nil }
		w.mu.Unlock()
		pass(lookEvery + 2*tick)
		if got := s.Watch(); got.Failure != nil || len(got.Containers[0].Samples) == 0 {
			t.Errorf("%+v", got)
		}
		end()
		<-over
	})
}

// TestChanged: only settings by which the container differs are named.
func TestChanged(t *testing.T) {
	f := core.ContainerFacts{Limits: core.Limits{MemoryBytes: 1 << 30, CPUs: 2, Pids: 512}, Mounts: []core.Mount{
		{Source: "/a", Target: "/a"}, {Source: "/b", Target: "/b", ReadOnly: true},
	}}
	origins := []core.FieldOrigin{
		{Field: "limits.memory_bytes", Value: "2147483648", Path: "/x.json", Line: 9}, {Field: "limits.cpus", Value: "2.00001"}, {Field: "limits.pids", Value: "512"},
		{Field: "mounts[/a]", Value: "/a rw"}, {Field: "mounts[/b]", Value: "/b rw"}, {Field: "mounts[/c]", Value: "/c ro"},
		{Field: "image", Value: "mine"}, {Field: "scope", Value: "run"}, {Field: "network", Value: "none"}, {Field: "user", Value: "0:0"},
	}
	for parts, want := range map[string]string{
		"limits":         "limits.memory_bytes",
		"mounts":         "mounts[/b] mounts[/c]",
		"image":          "image",
		"limits,mounts":  "limits.memory_bytes mounts[/b] mounts[/c]",
		"other settings": "",
		"credentials":    "",
		"who shares it: the channel's next is that of one run alone": "scope",
		"what it reaches: its network, the gate, or a folder":        "network",
	} {
		var got []string
		for _, o := range changed(origins, strings.Split(parts, ","), f) {
			got = append(got, o.Field)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v", parts, got)
		}
	}

	w, s := rig()
	w.facts, w.drift, w.why = f, core.ContainerDrift{Changed: true, Parts: []string{"limits"}}, core.Explanation{Origins: origins}
	got, err := s.Inspect(t.Context(), "beef1")
	if err != nil || len(got.Drift.Origins) != 1 || got.Drift.Origins[0].Line != 9 {
		t.Errorf("%+v, %v", got.Drift, err)
	}
}
