package engine

import (
	cerrdefs "github.com/containerd/errdefs"

	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"

	"loop/backend/core"
)

// detachKeys would part the terminal from its program. The engine holds the
// first key back until it knows the next, and cannot be told to look for none,
// so the first is one that hardly anybody types (Control-^; the default,
// Control-P, goes back in every shell's history), and the rest never follow it.
var detachKeys = "ctrl-^" + strings.Repeat(",ctrl-@,ctrl-^", 32)

const (
	// startWait bounds how long an exec may take from its request until its
	// program runs: a loaded engine has been seen to need four seconds.
	startWait = 30 * time.Second
	// wordsWait is how long the engine may take from the end of an exec that did
	// not start to the words that say why; it closes the connection behind them.
	wordsWait = 10 * time.Second
	// resizeWait: until the program runs there is nothing to resize.
	resizeWait = 5 * time.Second
	// execPoll is the pause between questions about an exec, which the engine
	// answers in a millisecond; idlePoll the one while its output goes on.
	execPoll = 20 * time.Millisecond
	idlePoll = 2 * time.Second
	// closeWait bounds what Close takes to end a program nobody has ended.
	closeWait = time.Minute
)

// execTTY is an exec with a terminal on the real engine.
type execTTY struct {
	d      *Docker
	cli    *client.Client
	box    core.ContainerID
	execID string
	id     core.TerminalID
	user   string
	conn   types.HijackedResponse
	r      *bufio.Reader

	drained   chan struct{} // Read has come to the end
	drainOnce sync.Once
	ended     onceError
	closeOnce sync.Once
}

// onceError is a call that need not be made again once it went well.
type onceError struct {
	mu   sync.Mutex
	done bool
}

func (o *onceError) do(f func() error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done {
		return nil
	}
	err := f()
	o.done = err == nil
	return err
}

// ExecTTY starts a program on a terminal in a running container and connects to
// it. ctx bounds the start, not the program. It returns once the program runs;
// one that is not there gives a Failure with CodeNotFound, a missing directory
// one with CodeDir. A container that is not running gives a Failure that wraps
// core.ErrNotRunning, an absent one core.ErrNotFound. A terminal cannot be connected to again: when the
// connection is lost, Read says so with CodeEngineLost.
//
// Of all keys, Control-^ alone arrives only with the one after it; that is how
// the engine recognises keys that leave a terminal.
func (d *Docker) ExecTTY(ctx context.Context, id core.ContainerID, spec core.ExecSpec) (core.TTY, error) {
	cli, err := d.client(ctx)
	if err != nil {
		return nil, err
	}
	spec = withDefaults(spec)
	size := &[2]uint{uint(spec.Rows), uint(spec.Cols)}
	ex, err := cli.ContainerExecCreate(ctx, string(id), container.ExecOptions{
		User: spec.User, Cmd: spec.Argv, Env: execEnv(spec), WorkingDir: spec.Dir,
		Tty: true, AttachStdin: true, AttachStdout: true, AttachStderr: true,
		DetachKeys: detachKeys, ConsoleSize: size,
	})
	if err != nil {
		return nil, refused(spec, d.fail("prepare a terminal", err))
	}
	t := &execTTY{
		d: d, cli: cli, box: id, execID: ex.ID, id: spec.ID, user: spec.User, drained: make(chan struct{}),
	}
	coming := attaching(ctx, cli, ex.ID, container.ExecAttachOptions{Tty: true, ConsoleSize: size})
	select {
	case r := <-coming:
		if r.err != nil && ctx.Err() != nil {
			return nil, errors.Join(d.fail("start a terminal", ctx.Err()), t.giveUp(spec))
		}
		if r.err != nil {
			return nil, refused(spec, d.fail("start a terminal", r.err))
		}
		t.conn, t.r = r.conn, r.conn.Reader
	case <-ctx.Done():
		return nil, errors.Join(d.fail("start a terminal", ctx.Err()), t.giveUpOn(coming, spec))
	}
	if err := t.started(ctx, spec); err != nil {
		if ctx.Err() != nil {
			return nil, errors.Join(err, t.giveUp(spec))
		}
		_ = t.conn.Conn.Close()
		return nil, err
	}
	// Older engines take no size with the start.
	if versions.LessThan(cli.ClientVersion(), "1.42") {
		if err := t.Resize(ctx, spec.Cols, spec.Rows); err != nil && ctx.Err() != nil {
			return nil, errors.Join(err, t.Close())
		}
	}
	return t, nil
}

func withDefaults(spec core.ExecSpec) core.ExecSpec {
	if len(spec.Argv) == 0 {
		spec.Argv = []string{"/bin/sh"}
	}
	if spec.Cols == 0 || spec.Rows == 0 {
		spec.Cols, spec.Rows = 80, 24
	}
	if spec.ID == "" {
		spec.ID = core.TerminalID(core.NewID())
	}
	return spec
}

// terminalMark is the variable that everything a terminal's program starts inherits.
const terminalMark = "LOOP_TERMINAL"

func execEnv(spec core.ExecSpec) []string {
	env := []string{"TERM=xterm-256color", "COLORTERM=truecolor", "TERM_PROGRAM=Loop"}
	for _, v := range spec.Env {
		env = append(env, v.Name+"="+v.Value)
	}
	return append(env, terminalMark+"="+string(spec.ID))
}

// started waits until the program runs, or says why it does not. One that ran
// and has ended already has started.
func (t *execTTY) started(ctx context.Context, spec core.ExecSpec) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	tick := time.NewTicker(execPoll)
	defer tick.Stop()
	for {
		r, err := t.cli.ContainerExecInspect(ctx, t.execID)
		switch {
		case err != nil:
			return t.d.fail("look at the terminal", err)
		case r.Pid != 0:
			return nil
		case !r.Running && r.ExitCode != 0:
			return t.notStarted(spec)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return t.d.fail("start a terminal", ctx.Err())
		}
	}
}

// notStarted reads the engine's words, which it wrote where the program's output
// would have been.
func (t *execTTY) notStarted(spec core.ExecSpec) error {
	_ = t.conn.Conn.SetReadDeadline(time.Now().Add(wordsWait))
	words, _ := io.ReadAll(io.LimitReader(t.r, stderrTail)) // as far as they came
	return startFailure(spec, strings.TrimSpace(string(words)))
}

func (t *execTTY) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	if n > 0 || err == nil {
		return n, nil
	}
	t.drainOnce.Do(func() { close(t.drained) })
	if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
		return 0, io.EOF
	}
	return 0, mapError("read from the terminal", err)
}

func (t *execTTY) Write(p []byte) (int, error) {
	n, err := t.conn.Conn.Write(p)
	if err != nil {
		err = mapError("write to the terminal", err)
	}
	return n, err
}

// Resize asks again for a moment when the program is only about to run.
func (t *execTTY) Resize(ctx context.Context, cols, rows uint16) error {
	ctx, cancel := context.WithTimeout(ctx, resizeWait)
	defer cancel()
	tick := time.NewTicker(execPoll)
	defer tick.Stop()
	for {
		err := t.cli.ContainerExecResize(ctx, t.execID, container.ResizeOptions{Height: uint(rows), Width: uint(cols)})
		if err == nil {
			return nil
		}
		if r, ierr := t.cli.ContainerExecInspect(ctx, t.execID); ierr != nil || !r.Running {
			return t.d.fail("resize the terminal", err)
		}
		select {
		case <-tick.C:
		case <-t.drained:
			return t.d.fail("resize the terminal", err)
		case <-ctx.Done():
			return t.d.fail("resize the terminal", err)
		}
	}
}

// Wait asks the engine, which does not say of itself that an exec ended: often
// once the output is at its end, seldom before.
func (t *execTTY) Wait(ctx context.Context) (core.TerminalExit, error) {
	slow := time.NewTicker(idlePoll)
	defer slow.Stop()
	quick := time.NewTicker(execPoll)
	defer quick.Stop()
	for {
		r, err := t.cli.ContainerExecInspect(ctx, t.execID)
		switch {
		case cerrdefs.IsNotFound(err): // with its container, or with the engine's memory of it
			return core.TerminalExit{Code: 255, Reason: t.why(ctx, "The engine no longer knows the program.")}, nil
		case err != nil:
			return core.TerminalExit{}, t.d.fail("look at the terminal", err)
		case !r.Running:
			exit := core.TerminalExit{Code: r.ExitCode}
			if exit.Code != 0 {
				exit.Reason = t.why(ctx, "")
			}
			return exit, nil
		}
		select {
		case <-t.drained:
			select {
			case <-quick.C:
			case <-ctx.Done():
				return core.TerminalExit{}, ctx.Err()
			}
		case <-slow.C:
		case <-ctx.Done():
			return core.TerminalExit{}, ctx.Err()
		}
	}
}

// why says whether the program ended with its container.
func (t *execTTY) why(ctx context.Context, otherwise string) string {
	facts, err := t.d.Inspect(ctx, t.box)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return "Its container was removed."
	case err == nil && !facts.Running:
		return "Its container was stopped."
	}
	return otherwise
}

func (t *execTTY) End(ctx context.Context) error {
	return t.ended.do(func() error { return t.d.endTree(ctx, t.box, t.user, t.id) })
}

func (t *execTTY) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	err := t.End(ctx)
	t.closeOnce.Do(func() { _ = t.conn.Conn.Close() })
	return err
}
