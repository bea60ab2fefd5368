//go:build docker

package guestlink_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"loop/backend/core"
	"loop/backend/guestlink"
	"loop/backend/terminal/programtest"
)

// guestProgram is a program on a terminal of loop init, for the suite that every kind
// of terminal passes.
type guestProgram struct {
	io.Reader
	io.Writer
	t    testing.TB
	link *guestlink.Link
	id   core.SpawnID
}

func (p guestProgram) Resize(ctx context.Context, cols, rows uint16) error {
	return p.link.Resize(ctx, p.id, cols, rows)
}

func (p guestProgram) Wait(ctx context.Context) (core.TerminalExit, error) {
	e, err := p.link.Wait(ctx, p.id)
	return core.TerminalExit{Code: e.Code, Signal: e.Signal}, err
}

func (p guestProgram) Close() error { return p.link.Kill(context.WithoutCancel(p.t.Context()), p.id) }

func TestPrograms(t *testing.T) {
	eachAgent(t, func(t *testing.T, agent int) {
		b := newBox(t, boxOptions{agent: agent})
		l, _ := b.link(t, guestlink.Options{})
		programtest.Run(t, programtest.Backend{
			Start: func(t testing.TB, argv []string, cols, rows uint16) programtest.Program {
				id := core.SpawnID(core.NewID())
				ctx := context.WithoutCancel(t.Context()) // the suite closes it after the test's context has ended
				if _, err := l.Spawn(ctx, core.SpawnRequest{ID: id, Argv: argv, Dir: "/tmp", Stdio: core.StdioPTY, Cols: cols, Rows: rows}); err != nil {
					t.Fatal(err)
				}
				r, err := l.ReadHeld(ctx, id, "out", 0)
				if err != nil {
					t.Fatal(err)
				}
				w, err := l.Stdin(ctx, id)
				if err != nil {
					t.Fatal(err)
				}
				return guestProgram{Reader: r, Writer: w, t: t, link: l, id: id}
			},
			Running: func(t testing.TB, text string) (found []string) {
				for line := range strings.Lines(docker(t, "top", string(b.id), "-eo", "pid,args")) {
					if strings.Contains(line, text) && !strings.Contains(line, "loop syscallwrap") {
						found = append(found, line)
					}
				}
				return found
			},
		})
	})
}
