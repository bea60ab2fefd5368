//go:build docker

package engine

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"loop/backend/core"
)

// BenchmarkExec measures a bare exec, the upper limit for the link, which goes through
// one. It takes 256 MiB out of a container, and sends one byte there and back.
func BenchmarkExec(b *testing.B) {
	ctx := b.Context()
	d, err := Connect(ctx, Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = d.Close() })
	id, _, err := d.Create(ctx, core.Spec{
		Name: "loop-test-" + core.NewID()[:8], Image: testImage(b, d), Entrypoint: []string{"tail", "-f", "/dev/null"},
		Labels: map[string]string{"loop-test": "engine"}, Network: "none",
		Limits: core.Limits{MemoryBytes: 256 << 20, CPUs: 2, Pids: 32},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		if err := d.Remove(ctx, id, true); err != nil {
			b.Error(err)
		}
	})
	if err := d.Start(ctx, id); err != nil {
		b.Fatal(err)
	}
	b.Run("read", func(b *testing.B) {
		const size = 256 << 20
		b.SetBytes(size)
		for b.Loop() {
			s, err := d.DialExec(ctx, id, "0:0", []string{"head", "-c", fmt.Sprint(size), "/dev/zero"})
			if err != nil {
				b.Fatal(err)
			}
			if n, err := io.Copy(io.Discard, s); err != nil || n != size {
				b.Fatal(n, err)
			}
			_ = s.Close()
		}
	})
	b.Run("round trip", func(b *testing.B) {
		s, err := d.DialExec(ctx, id, "0:0", []string{"cat"})
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		buf := []byte("x")
		for b.Loop() {
			if _, err := s.Write(buf); err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadFull(s, buf); err != nil {
				b.Fatal(err)
			}
		}
	})
}
