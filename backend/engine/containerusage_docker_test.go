//go:build docker

package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"loop/backend/core"
)

// TestUsageAndSize: what a container uses grows with its work, and its size with its files.
func TestUsageAndSize(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	d := realEngine(t)
	id, _, err := d.Create(ctx, core.Spec{
		Name: "loop-test-" + core.NewID()[:8], Image: testImage(t, d),
		Entrypoint: []string{"sh", "-c", "head -c 3000000 /dev/zero > /file; while :; do :; done"},
		Labels:     map[string]string{"loop-test": "engine"}, Network: "none", User: "0:0",
		Limits: core.Limits{MemoryBytes: 64 << 20, CPUs: 0.2, Pids: 32},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Remove(context.WithoutCancel(ctx), id, true) })
	if _, err := d.Usage(ctx, id); !errors.Is(err, core.ErrNotRunning) {
		t.Errorf("before it runs: %v", err)
	}
	if err := d.Start(ctx, id); err != nil {
		t.Fatal(err)
	}
	first, err := d.Usage(ctx, id)
	if err != nil || first.At.IsZero() || first.MemoryBytes <= 0 || first.MemoryBytes > 64<<20 {
		t.Fatalf("%+v, %v", first, err)
	}
	ticks := time.NewTicker(50 * time.Millisecond)
	defer ticks.Stop()
	for grown, size := false, int64(0); !grown || size < 3_000_000; {
		select {
		case <-ctx.Done():
			t.Fatalf("grown: %v, size: %d", grown, size)
		case <-ticks.C:
		}
		u, err := d.Usage(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		grown = u.CPU > first.CPU && u.At.After(first.At)
		if size, err = d.Size(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.Usage(ctx, "0000000000000000"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("of none: %v", err)
	}
	if _, err := d.Size(ctx, "0000000000000000"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("of none: %v", err)
	}
}
