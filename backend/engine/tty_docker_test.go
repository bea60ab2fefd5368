//go:build docker

package engine

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/terminal/programtest"
)

// foreignBox starts a container without loop init.
func foreignBox(t testing.TB, d *Docker, more func(*core.Spec)) core.ContainerID {
	t.Helper()
	spec := core.Spec{
		Name: "loop-test-" + core.NewID()[:8], Image: testImage(t, d), Entrypoint: []string{"tail", "-f", "/dev/null"},
		Labels: map[string]string{"loop-test": "engine"}, Network: "none",
		Limits: core.Limits{MemoryBytes: 256 << 20, CPUs: 2, Pids: 128},
	}
	if more != nil {
		more(&spec)
	}
	id, _, err := d.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := d.Remove(ctx, id, true); err != nil && !errors.Is(err, core.ErrNotFound) {
			t.Error(err)
		}
	})
	if err := d.Start(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	return id
}

// inBox runs a script in the container and returns its output.
func inBox(t testing.TB, d *Docker, id core.ContainerID, script string) string {
	t.Helper()
	s, err := d.DialExec(t.Context(), id, "0:0", []string{"/bin/sh", "-c", script})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	out, err := io.ReadAll(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

var term = []core.EnvVar{{Name: "TERM", Value: "xterm-256color"}}

func TestExecTTYConformance(t *testing.T) {
	d := realEngine(t)
	id := foreignBox(t, d, nil)
	for _, user := range []string{"0:0", "1000:1000"} {
		t.Run(user, func(t *testing.T) {
			programtest.Run(t, programtest.Backend{
				Start: func(t testing.TB, argv []string, cols, rows uint16) programtest.Program {
					p, err := d.ExecTTY(t.Context(), id, core.ExecSpec{Argv: argv, User: user, Env: term, Cols: cols, Rows: rows})
					if err != nil {
						t.Fatal(err)
					}
					return p
				},
				Running: func(t testing.TB, text string) []string {
					out := inBox(t, d, id, `for f in /proc/[0-9]*; do [ $f = /proc/$$ ] || tr '\0' ' ' <$f/cmdline 2>/dev/null; echo; done`)
					var left []string
					for line := range strings.Lines(out) {
						if strings.Contains(line, text) {
							left = append(left, strings.TrimSpace(line))
						}
					}
					return left
				},
			})
		})
	}
}

func TestExecTTYThatCannotStart(t *testing.T) {
	d := realEngine(t)
	id := foreignBox(t, d, nil)
	for name, c := range map[string]struct {
		spec core.ExecSpec
		want core.Code
	}{
		"no such program":   {core.ExecSpec{Argv: []string{"nosh"}}, core.CodeNotFound},
		"no such path":      {core.ExecSpec{Argv: []string{"/bin/nosh"}}, core.CodeNotFound},
		"not executable":    {core.ExecSpec{Argv: []string{"/etc/passwd"}}, core.CodeInvalid},
		"no such directory": {core.ExecSpec{Dir: "/nope"}, core.CodeDir},
		"no such user":      {core.ExecSpec{User: "nobody-of-this-name"}, core.CodeInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := d.ExecTTY(t.Context(), id, c.spec)
			if err == nil {
				t.Fatal("it started", p.Close())
			}
			if f := core.AsFailure(err); f.Code != c.want {
				t.Fatalf("%s %s: %s", f.Code, f.Cause, f.Detail)
			}
		})
	}
	if _, err := d.ExecTTY(t.Context(), core.ContainerID(strings.Repeat("0", 64)), core.ExecSpec{}); !errors.Is(err, core.ErrNotFound) || core.AsFailure(err).Code != core.CodeNotFound {
		t.Fatal(err)
	}
}

func TestExecTTYInAContainerThatWaits(t *testing.T) {
	d := realEngine(t)
	id := foreignBox(t, d, nil)
	p, err := d.ExecTTY(t.Context(), id, core.ExecSpec{Argv: []string{"sleep", "1000"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Pause(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, err := d.ExecTTY(t.Context(), id, core.ExecSpec{}); core.AsFailure(err).Code != core.CodeConflict || !strings.Contains(core.AsFailure(err).Cause, "paused") {
		t.Fatal(err)
	}
	if err := p.End(t.Context()); core.AsFailure(err).Code != core.CodeConflict {
		t.Fatal(err)
	}
	if err := d.Unpause(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	// The end that failed before works now. The engine may hear late of the pause and
	// then of its end. Until then it takes the container for paused.
	deadline := time.Now().Add(time.Minute)
	for err = p.End(t.Context()); core.AsFailure(err).Code == core.CodeConflict && time.Now().Before(deadline); err = p.End(t.Context()) {
		<-time.After(50 * time.Millisecond)
	}
	if err := errors.Join(err, p.Close()); err != nil {
		t.Fatal(err)
	}
	if err := d.Stop(t.Context(), id, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := d.ExecTTY(t.Context(), id, core.ExecSpec{}); !errors.Is(err, core.ErrNotRunning) || core.AsFailure(err).Code != core.CodeConflict {
		t.Fatal(err)
	}
}

// TestExecTTYGivenUp: a start that is given up leaves nothing running, whenever that
// happens.
func TestExecTTYGivenUp(t *testing.T) {
	d := realEngine(t)
	id := foreignBox(t, d, nil)
	for i := range 12 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*5*time.Millisecond)
		p, err := d.ExecTTY(ctx, id, core.ExecSpec{Argv: []string{"sleep", "424242"}})
		cancel()
		if err == nil {
			err = p.Close()
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	deadline := time.Now().Add(time.Minute)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		left := inBox(t, d, id, `for f in /proc/[0-9]*; do tr '\0' ' ' <$f/cmdline 2>/dev/null; echo; done | grep "^sleep 42424[2]"`)
		if left == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("left: %s", left)
		}
		<-tick.C
	}
}

// TestExecTTYThatEndsDuringAttach: a program ends before anybody could attach. Its
// output and its exit come all the same, and once.
func TestExecTTYThatEndsDuringAttach(t *testing.T) {
	d := realEngine(t)
	id := foreignBox(t, d, nil)
	for range 20 {
		p, err := d.ExecTTY(t.Context(), id, core.ExecSpec{Argv: []string{"sh", "-c", "echo x; exit 4"}})
		if err != nil {
			t.Fatal(err)
		}
		out, err := io.ReadAll(p)
		if err != nil || string(out) != "x\r\n" {
			t.Fatalf("%q %v", out, err)
		}
		exit, err := p.Wait(t.Context())
		if err != nil || exit.Code != 4 || exit.Reason != "" {
			t.Fatalf("%+v %v", exit, err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestExecTTYEndsWithItsContainer(t *testing.T) {
	d := realEngine(t)
	for name, end := range map[string]func(core.ContainerID) error{
		"stopped": func(id core.ContainerID) error { return d.Stop(t.Context(), id, 0) },
		"removed": func(id core.ContainerID) error { return d.Remove(t.Context(), id, true) },
	} {
		t.Run(name, func(t *testing.T) {
			id := foreignBox(t, d, nil)
			p, err := d.ExecTTY(t.Context(), id, core.ExecSpec{Argv: []string{"sh", "-c", "echo ready; exec sleep 1000"}})
			if err != nil {
				t.Fatal(err)
			}
			buf := make([]byte, 7)
			if _, err := io.ReadFull(p, buf); err != nil {
				t.Fatal(err)
			}
			if err := end(id); err != nil {
				t.Fatal(err)
			}
			if n, err := p.Read(buf); n != 0 || !errors.Is(err, io.EOF) {
				t.Fatal(n, err)
			}
			exit, err := p.Wait(t.Context())
			if err != nil || exit.Code == 0 || exit.Reason == "" {
				t.Fatalf("%+v %v", exit, err)
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestExecTTYWithoutAShellSaysSo(t *testing.T) {
	d := realEngine(t)
	id := foreignBox(t, d, func(s *core.Spec) {
		s.Mounts = []core.Mount{{Kind: core.MountExtra, Source: "/dev/null", Target: "/usr/bin/dash", ReadOnly: true}}
	})
	p, err := d.ExecTTY(t.Context(), id, core.ExecSpec{Argv: []string{"sleep", "1000"}})
	if err != nil {
		t.Fatal(err)
	}
	if f := core.AsFailure(p.Close()); f.Code != core.CodeConflict || !strings.Contains(f.Cause, "/bin/sh") {
		t.Fatalf("%+v", f)
	}
}

func TestExecTTYEnvironment(t *testing.T) {
	d := realEngine(t)
	id := foreignBox(t, d, nil)
	p, err := d.ExecTTY(t.Context(), id, core.ExecSpec{ID: "abc", Dir: "/tmp", Argv: []string{"sh", "-c", `echo "$TERM $LOOP_TERMINAL $X $PWD"; stty -a | head -1`},
		Env: append([]core.EnvVar{{Name: "X", Value: "y"}}, term...), Cols: 77, Rows: 33})
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(p)
	if err != nil || !strings.HasPrefix(string(out), "xterm-256color abc y /tmp\r\n") {
		t.Fatalf("%q %v", out, err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}
