package config

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSourceKeepsLastGood(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	s := NewSource(path)
	if snap := s.Current(); !snap.Good || snap.Err != nil || snap.Config.ContainerMemoryMB != 2048 {
		t.Fatalf("%+v", snap)
	}
	var got []Snapshot
	s.Subscribe(func(snap Snapshot) { got = append(got, snap) })
	s.Reload() // still missing: nothing to say

	write(t, path, `{"container_memory_mb": 512}`)
	s.Reload()
	write(t, path, `{"container_memory_mb": 600, "container_network": "none`)
	s.Reload()
	if snap := s.Current(); snap.Err == nil || snap.Config.ContainerMemoryMB != 512 || len(snap.Problems) != 1 || !snap.Good {
		t.Errorf("after half an edit: %+v", snap)
	}
	s.Reload() // the same fault is not reported again
	write(t, path, `{"container_memory_mb": 600}`)
	s.Reload()
	if snap := s.Current(); snap.Err != nil || snap.Config.ContainerMemoryMB != 600 {
		t.Errorf("after the correction: %+v", snap)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	s.Reload()
	if snap := s.Current(); snap.Config.ContainerMemoryMB != 2048 {
		t.Errorf("after removal: %+v", snap)
	}
	if len(got) != 4 {
		t.Errorf("%d calls", len(got))
	}
	if err := Set(s.Path(), "theme", "dark"); err != nil || s.Reload().Config.Theme != "dark" || len(got) != 5 {
		t.Errorf("%v, %d calls", err, len(got))
	}
}

// TestSourceSameStamp: a change that leaves time and size as they were, as on a file
// system with coarse times, is found.
func TestSourceSameStamp(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	write(t, path, `{"theme": "dark" }`)
	stamp := time.Now().Truncate(time.Second)
	if err := os.Chtimes(path, stamp, stamp); err != nil {
		t.Fatal(err)
	}
	s := NewSource(path)
	write(t, path, `{"theme": "light"}`)
	if err := os.Chtimes(path, stamp, stamp); err != nil {
		t.Fatal(err)
	}
	s.Reload()
	if got := s.Current().Config.Theme; got != "light" {
		t.Error(got)
	}
}

func TestSourceNeverGood(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	write(t, path, `{"container_memory_mb": 512, "container_network": 1}`)
	snap := NewSource(path).Current()
	if snap.Good || snap.Err == nil || snap.Config.ContainerMemoryMB != 512 {
		t.Errorf("%+v", snap)
	}
}

func TestSourceRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	s := NewSource(path)
	changed := make(chan Snapshot, 1)
	s.Subscribe(func(snap Snapshot) { changed <- snap })
	ctx, cancel := context.WithCancel(t.Context())
	tick := make(chan time.Time)
	var wg sync.WaitGroup
	wg.Go(func() { s.Run(ctx, tick) })
	write(t, path, `{"theme": "dark"}`)
	tick <- time.Time{}
	if snap := <-changed; snap.Config.Theme != "dark" {
		t.Error(snap.Config.Theme)
	}
	cancel()
	wg.Wait()
}

func BenchmarkLoad(b *testing.B) {
	path := filepath.Join(b.TempDir(), FileName)
	if err := os.WriteFile(path, []byte(`{"container_memory_mb": 512, "mounts": ["a-b:/c"], "envs": {"A": 1}}`), 0o600); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Load(path); err != nil {
			b.Fatal(err)
		}
	}
}
