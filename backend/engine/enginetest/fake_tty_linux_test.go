package enginetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/core"
	"loop/backend/hostpty"
	"loop/backend/terminal/programtest"
)

// playPTY runs the program on this computer.
func playPTY(ctx context.Context, term FakeTTY) core.TerminalExit {
	p, err := hostpty.Start(hostpty.Options{Argv: term.Spec.Argv, Cols: term.Spec.Cols, Rows: term.Spec.Rows})
	if err != nil {
		return core.TerminalExit{Code: 127, Reason: err.Error()}
	}
	defer func() { _ = p.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = p.Close() })
	defer stop()
	typed, out := make(chan []byte), make(chan struct{})
	go func() {
		for b := make([]byte, 4096); ; {
			n, err := term.Read(b)
			if err != nil {
				return
			}
			select {
			case typed <- bytes.Clone(b[:n]):
			case <-out:
				return
			}
		}
	}()
	go func() {
		defer close(out)
		if _, err := io.Copy(term, p); err != nil {
			_, _ = io.Copy(io.Discard, p)
		}
	}()
	for {
		select {
		case size := <-term.Sizes:
			_ = p.Resize(ctx, size[0], size[1])
		case b := <-typed:
			select { // applies a size that was set before this input
			case size := <-term.Sizes:
				_ = p.Resize(ctx, size[0], size[1])
			default:
			}
			_, _ = p.Write(b)
		case <-out:
			exit, err := p.Wait(context.WithoutCancel(ctx))
			if err != nil {
				exit.Reason = err.Error()
			}
			return exit
		}
	}
}

func TestFakeTTYConformance(t *testing.T) {
	f := NewFake()
	defer func() { _ = f.Close() }()
	f.AddImage("test:latest", "sha256:1", nil)
	f.Main = func(ctx context.Context, _ core.Spec, _ io.Writer) int { <-ctx.Done(); return 143 }
	f.TTY = playPTY
	id, _, err := f.Create(t.Context(), core.Spec{Name: "a", Image: "test:latest"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.ExecTTY(t.Context(), id, core.ExecSpec{}); !errors.Is(err, core.ErrNotRunning) {
		t.Fatalf("before the start: %v", err)
	}
	if err := f.Start(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	programtest.Run(t, programtest.Backend{
		Start: func(t testing.TB, argv []string, cols, rows uint16) programtest.Program {
			p, err := f.ExecTTY(t.Context(), id, core.ExecSpec{Argv: argv, Cols: cols, Rows: rows})
			if err != nil {
				t.Fatal(err)
			}
			return p
		},
		Running: func(t testing.TB, text string) []string {
			t.Helper()
			files, err := filepath.Glob("/proc/[0-9]*/cmdline")
			if err != nil {
				t.Fatal(err)
			}
			var out []string
			for _, f := range files {
				if line, err := os.ReadFile(f); err == nil && strings.Contains(string(line), text) {
					out = append(out, string(line))
				}
			}
			return out
		},
	})

	p, err := f.ExecTTY(t.Context(), id, core.ExecSpec{Argv: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Stop(t.Context(), id, 0); err != nil {
		t.Fatal(err)
	}
	if n, err := p.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Fatal(n, err)
	}
	if exit, err := p.Wait(t.Context()); err != nil || exit.Code != 137 || exit.Reason == "" {
		t.Fatal(exit, err)
	}
}
