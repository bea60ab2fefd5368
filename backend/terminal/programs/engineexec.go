package programs

import (
	"context"
	"errors"
	"io"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"loop/backend/backoff"
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
	return &execProgram{TTY: tty, close: sync.OnceValue(tty.Close), running: func(ctx context.Context) (bool, error) {
		_, _, running, err := e.Containers.Running(ctx, s.Container.ID)
		return running, err
	}}, nil
}

// execProgram is a Program of the engine's.
type execProgram struct {
	core.TTY
	running func(context.Context) (bool, error) // whether its container does
	close   func() error
}

// execOutput reads the terminal. Closing it early ends the program, because
// nobody can be connected to it again.
type execOutput struct {
	p    *execProgram
	over atomic.Bool
}

func (o *execOutput) Read(b []byte) (int, error) {
	n, err := o.p.Read(b)
	if err == nil {
		return n, nil
	}
	o.over.Store(true)
	if !errors.Is(err, io.EOF) {
		// The session must not look for it again.
		err = core.Fail(core.CodeEngineLost, errors.Join(core.ErrNotFound, err), "The connection to the container's terminal was lost.",
			"Open a new terminal.")
	}
	return n, err
}

func (o *execOutput) Close() error {
	if o.over.Load() {
		return nil
	}
	return o.p.close()
}

func (p *execProgram) Output(_ context.Context, offset int64) (io.ReadCloser, int64, error) {
	return &execOutput{p: p}, offset, nil
}

func (p *execProgram) Write(_ context.Context, b []byte) error {
	_, err := p.TTY.Write(b)
	return err
}

// killed is what the engine gives for a program that got SIGKILL, as all do when
// their container is stopped or removed.
const killed = 128 + 9

// A container whose programs were killed just now is looked at for five seconds: a busy
// engine has been seen to take as long until it notices that the container is gone.
const (
	containerLooks = 20
	containerLook  = 250 * time.Millisecond
)

// Wait says of a program that was killed with its container that it was.
func (p *execProgram) Wait(ctx context.Context) (core.TerminalExit, error) {
	exit, err := p.TTY.Wait(ctx)
	if err != nil || exit.Code != killed || exit.Reason != "" {
		return exit, err
	}
	for range containerLooks {
		running, err := p.running(ctx)
		if errors.Is(err, core.ErrNotFound) || (err == nil && !running) {
			exit.Reason = "The container it ran in was stopped or removed."
			break
		}
		if !backoff.Sleep(ctx, containerLook) {
			break
		}
	}
	return exit, nil
}

func (p *execProgram) Close() error { return p.close() }
