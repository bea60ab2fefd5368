package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"

	cerrdefs "github.com/containerd/errdefs"

	"loop/backend/backoff"
	"loop/backend/core"
)

// detachKeys part a terminal from its program. The engine holds the first key back
// until it knows the next, and takes no empty list. So the first is one that hardly
// anybody types (Control-^; the default, Control-P, goes back in every shell's
// history), and the rest never follow it.
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
	// closeWait bounds Close, which ends a program that runs.
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

	drained   chan struct{} // Read has come to the end
	drainOnce sync.Once
	ending    sync.Mutex // held while the program and what it started are ended
	ended     bool       // they are; guarded by ending
	close     func() error
}

// ExecTTY starts a program on a terminal in a running container and connects to
// it. ctx bounds the start, not the program; a program that comes to run after its
// end is ended. It returns once the program runs; one that is not there gives a
// Failure with CodeNotFound, a missing directory one with CodeDir. A container that
// is not running gives a Failure that wraps core.ErrNotRunning, an absent one
// core.ErrNotFound. A terminal cannot be connected to again: when the connection is
// lost, Read says so with CodeEngineLost.
//
// Of all keys, Control-^ alone arrives only with the one after it; that is how
// the engine recognises keys that leave a terminal.
func (d *Docker) ExecTTY(ctx context.Context, id core.ContainerID, spec core.ExecSpec) (core.TTY, error) {
	if len(spec.Argv) == 0 {
		spec.Argv = []string{"/bin/sh"}
	}
	spec.Cols, spec.Rows = cmp.Or(spec.Cols, 80), cmp.Or(spec.Rows, 24)
	spec.ID = cmp.Or(spec.ID, core.TerminalID(core.NewID()))
	t, err := aside(ctx,
		func() (*execTTY, error) { return d.startTTY(context.WithoutCancel(ctx), id, spec) },
		func(late *execTTY) { _ = late.Close() })
	if err != nil {
		return nil, failed("start a terminal", err)
	}
	return t, nil
}

// startTTY is ExecTTY without its ctx. The engine connects first and starts then, and
// what has not begun to run cannot be found and ended.
func (d *Docker) startTTY(ctx context.Context, id core.ContainerID, spec core.ExecSpec) (*execTTY, error) {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	cli, err := d.client(ctx)
	if err != nil {
		return nil, err
	}
	var env []string
	for _, v := range spec.Env {
		env = append(env, v.Name+"="+v.Value)
	}
	env = append(env, terminalMark+"="+string(spec.ID))
	size := &[2]uint{uint(spec.Rows), uint(spec.Cols)}
	ex, err := cli.ContainerExecCreate(ctx, string(id), container.ExecOptions{
		User: spec.User, Cmd: spec.Argv, Env: env, WorkingDir: spec.Dir,
		Tty: true, AttachStdin: true, AttachStdout: true, AttachStderr: true,
		DetachKeys: detachKeys, ConsoleSize: size,
	})
	if err != nil {
		return nil, refused(spec, failed("prepare a terminal", err))
	}
	conn, err := cli.ContainerExecAttach(ctx, ex.ID, container.ExecAttachOptions{Tty: true, ConsoleSize: size})
	if err != nil {
		return nil, refused(spec, failed("start a terminal", err))
	}
	t := &execTTY{
		d: d, cli: cli, box: id, execID: ex.ID, id: spec.ID, user: spec.User, conn: conn,
		drained: make(chan struct{}), close: sync.OnceValue(conn.Conn.Close),
	}
	if err := t.started(ctx, spec); err != nil {
		_ = t.close()
		return nil, err
	}
	if versions.LessThan(cli.ClientVersion(), "1.42") { // older engines take no size with the start
		_ = t.Resize(ctx, spec.Cols, spec.Rows) // a program that has ended needs none
	}
	return t, nil
}

// terminalMark is the variable that everything a terminal's program starts inherits.
const terminalMark = "LOOP_TERMINAL"

// started waits until the program runs, or says why it does not. One that ran
// and has ended already has started.
func (t *execTTY) started(ctx context.Context, spec core.ExecSpec) error {
	for {
		r, err := t.cli.ContainerExecInspect(ctx, t.execID)
		switch {
		case err != nil:
			return failed("look at the terminal", err)
		case r.Pid != 0:
			return nil
		case !r.Running && r.ExitCode != 0:
			// The engine's words are where the program's output would have been.
			_ = t.conn.Conn.SetReadDeadline(time.Now().Add(wordsWait))
			words, _ := io.ReadAll(io.LimitReader(t.conn.Reader, stderrTail)) // as far as they came
			return startFailure(spec, strings.TrimSpace(string(words)))
		case !backoff.Sleep(ctx, execPoll):
			return failed("start a terminal", ctx.Err())
		}
	}
}

func (t *execTTY) Read(p []byte) (int, error) {
	n, err := t.conn.Reader.Read(p)
	if n > 0 || err == nil {
		return n, nil
	}
	t.drainOnce.Do(func() { close(t.drained) })
	if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
		return 0, io.EOF
	}
	return 0, failed("read from the terminal", err)
}

func (t *execTTY) Write(p []byte) (int, error) {
	n, err := t.conn.Conn.Write(p)
	return n, failed("write to the terminal", err)
}

// Resize asks again for a moment when the program is only about to run.
func (t *execTTY) Resize(ctx context.Context, cols, rows uint16) error {
	ctx, cancel := context.WithTimeout(ctx, resizeWait)
	defer cancel()
	for {
		err := t.cli.ContainerExecResize(ctx, t.execID, container.ResizeOptions{Height: uint(rows), Width: uint(cols)})
		if err == nil {
			return nil
		}
		if r, ierr := t.cli.ContainerExecInspect(ctx, t.execID); ierr != nil || !r.Running || !backoff.Sleep(ctx, execPoll) {
			return failed("resize the terminal", err)
		}
	}
}

// Wait asks the engine, which does not announce the end of an exec: often once the
// output is at its end, seldom before.
func (t *execTTY) Wait(ctx context.Context) (core.TerminalExit, error) {
	drained, pause := t.drained, idlePoll
	for {
		r, err := t.cli.ContainerExecInspect(ctx, t.execID)
		switch {
		case cerrdefs.IsNotFound(err): // with its container, or with the engine's memory of it
			return core.TerminalExit{Code: 255, Reason: t.why(ctx, "The engine no longer knows the program.")}, nil
		case err != nil:
			return core.TerminalExit{}, failed("look at the terminal", err)
		case !r.Running && r.ExitCode == 0:
			return core.TerminalExit{}, nil
		case !r.Running:
			return core.TerminalExit{Code: r.ExitCode, Reason: t.why(ctx, "")}, nil
		}
		select {
		case <-drained:
			drained, pause = nil, execPoll
		case <-time.After(pause):
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

// End ends the program and what it started, unless that went well before.
func (t *execTTY) End(ctx context.Context) error {
	t.ending.Lock()
	defer t.ending.Unlock()
	if t.ended {
		return nil
	}
	err := t.d.endTree(ctx, t.box, t.user, t.id)
	t.ended = err == nil
	return err
}

func (t *execTTY) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	defer func() { _ = t.close() }()
	return t.End(ctx)
}

// refused puts in words why the engine makes no terminal; the sentinels stay.
func refused(spec core.ExecSpec, err error) error {
	switch msg := err.Error(); {
	case errors.Is(err, core.ErrNotRunning):
		return core.Fail(core.CodeConflict, err, "The container is not running.", "Start it, then open the terminal again.")
	case strings.Contains(msg, "is paused"):
		return core.Fail(core.CodeConflict, err, "The container is paused.", "Let it go on (“docker unpause”), then try again.")
	case noSuchUser(msg):
		return core.Fail(core.CodeInvalid, err, "The container has no user "+spec.User+".", "Name a user that the container has.")
	case errors.Is(err, core.ErrNotFound):
		return core.Fail(core.CodeNotFound, err, "There is no such container.", "It may have been removed; choose another one.")
	}
	return err
}

// startFailure puts in words what the engine wrote where the program's output
// would have been.
func startFailure(spec core.ExecSpec, words string) error {
	err := fmt.Errorf("start a terminal: %s", words)
	name := spec.Argv[0]
	switch {
	case strings.Contains(words, "chdir to cwd"):
		return core.Fail(core.CodeDir, err, "The container has no directory "+spec.Dir+".", "Choose another directory for the terminal.")
	case noSuchUser(words):
		return core.Fail(core.CodeInvalid, err, "The container has no user "+spec.User+".", "Name a user that the container has.")
	case strings.Contains(words, "executable file not found"), strings.Contains(words, "no such file or directory"):
		return core.Fail(core.CodeNotFound, err, "The container has no program called "+name+".",
			"Name a program that the container has, for example /bin/sh.")
	case strings.Contains(words, "permission denied"), strings.Contains(words, "exec format error"):
		return core.Fail(core.CodeInvalid, err, name+" cannot be executed in the container.", "Name another program, for example /bin/sh.")
	}
	return core.Fail(core.CodeInternal, err, "The container engine could not start "+name+".", "The detail holds the engine's own words.")
}

// noSuchUser: some engines say so in answer to the request, others on the terminal.
func noSuchUser(words string) bool {
	return strings.Contains(words, "unable to find user") || strings.Contains(words, "no matching entries in passwd")
}
