package programs

import (
	"context"
	"errors"
	"io"
	"path"
	"sync"
	"time"

	"loop/backend/core"
	"loop/backend/terminal"
)

// Engine starts programs in containers.
type Engine interface {
	ExecTTY(ctx context.Context, id core.ContainerID, spec core.ExecSpec) (core.TTY, error)
}

// Exec starts programs in containers that Loop did not make: there is no loop
// init in them, so the engine does, and a program ends with Loop.
type Exec struct {
	Engine     Engine
	Containers terminal.Containers
}

// Start starts a program in the container of s.
func (e Exec) Start(ctx context.Context, s terminal.Start) (terminal.Program, error) {
	spec := core.ExecSpec{ID: s.ID, Argv: s.Spec.Cmd, Env: Env(), Cols: s.Spec.Cols, Rows: s.Spec.Rows}
	if path.IsAbs(s.Spec.Dir) {
		spec.Dir = s.Spec.Dir
	}
	tty, err := e.Engine.ExecTTY(ctx, s.Container.ID, spec)
	if f, ok := errors.AsType[*core.Failure](err); ok && f.Code == core.CodeDir { // it is gone, or another container's
		spec.Dir = ""
		tty, err = e.Engine.ExecTTY(ctx, s.Container.ID, spec)
	}
	if err != nil {
		return nil, err
	}
	return &execProgram{tty: tty, running: func(ctx context.Context) (bool, error) {
		_, _, running, err := e.Containers.Running(ctx, s.Container.ID)
		return running, err
	}}, nil
}

// execProgram is a Program of the engine's.
type execProgram struct {
	tty     core.TTY
	running func(context.Context) (bool, error) // whether its container does
	once    sync.Once
	err     error
}

// execOutput reads the terminal. Closing it early ends the program, because
// nobody can be connected to it again.
type execOutput struct {
	p    *execProgram
	mu   sync.Mutex
	over bool
}

func (o *execOutput) Read(b []byte) (int, error) {
	n, err := o.p.tty.Read(b)
	if err == nil {
		return n, nil
	}
	o.mu.Lock()
	o.over = true
	o.mu.Unlock()
	if !errors.Is(err, io.EOF) {
		// The session must not look for it again.
		err = core.Fail(core.CodeEngineLost, errors.Join(core.ErrNotFound, err), "The connection to the container's terminal was lost.",
			"Open a new terminal.")
	}
	return n, err
}

func (o *execOutput) Close() error {
	o.mu.Lock()
	over := o.over
	o.mu.Unlock()
	if over {
		return nil
	}
	return o.p.Close()
}

func (p *execProgram) Output(_ context.Context, offset int64) (io.ReadCloser, int64, error) {
	return &execOutput{p: p}, offset, nil
}

func (p *execProgram) Write(_ context.Context, b []byte) error {
	_, err := p.tty.Write(b)
	return err
}

func (p *execProgram) Resize(ctx context.Context, cols, rows uint16) error {
	return p.tty.Resize(ctx, cols, rows)
}

// End implements terminal.Program.
func (p *execProgram) End(ctx context.Context) error { return p.tty.End(ctx) }

// killed is what the engine gives for a program that got SIGKILL, as all do when
// their container is stopped or removed.
const killed = 128 + 9

// containerGone is the time that the engine has to notice that a container is
// gone whose programs were killed just now; a busy one has been seen to take
// seconds. It is asked every containerLook.
const (
	containerGone = 5 * time.Second
	containerLook = 250 * time.Millisecond
)

// Wait says of a program that was killed with its container that it was.
func (p *execProgram) Wait(ctx context.Context) (core.TerminalExit, error) {
	exit, err := p.tty.Wait(ctx)
	if err != nil || exit.Code != killed || exit.Reason != "" {
		return exit, err
	}
	late := time.NewTimer(containerGone)
	defer late.Stop()
	look := time.NewTicker(containerLook)
	defer look.Stop()
	for {
		running, err := p.running(ctx)
		if errors.Is(err, core.ErrNotFound) || (err == nil && !running) {
			exit.Reason = "The container it ran in was stopped or removed."
			return exit, nil
		}
		select {
		case <-look.C:
		case <-late.C:
			return exit, nil
		case <-ctx.Done():
			return exit, nil
		}
	}
}

func (p *execProgram) Close() error {
	p.once.Do(func() { p.err = p.tty.Close() })
	return p.err
}
