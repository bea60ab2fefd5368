package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"loop/backend/core"
)

// stderrTail is how much of an exec's stderr is kept to explain its end.
const stderrTail = 8 << 10

// ExecStream is a running exec: Read yields its stdout, Write feeds its stdin.
// Reads come from one goroutine, writes from one; Close, CloseWrite, Stderr and
// ExitCode from any. The caller closes it; Close ends both directions at once,
// and the process in the container sees the end of its stdin.
type ExecStream struct {
	conn    types.HijackedResponse
	dm      demux
	started bool
	err     tail
	exit    func(context.Context) (int, error)

	closeOnce sync.Once
}

// errExecStart comes before the engine's words on why an exec did not start.
var errExecStart = errors.New("start exec")

// Read returns stdout bytes. An exec that the engine could not start gives an
// error with the engine's words; a connection that broke inside a piece one of
// CodeEngineLost.
func (s *ExecStream) Read(p []byte) (int, error) {
	n, err := s.dm.Read(p)
	if !s.started && n > 0 {
		s.started = true
		// The engine answers a start it could not make on stdout of the stream
		// itself, after the upgrade; a process cannot be told from that but by
		// these words.
		for _, w := range [][]byte{[]byte("OCI runtime exec failed"), []byte("cannot exec in a ")} {
			if bytes.HasPrefix(p[:n], w) {
				return 0, fmt.Errorf("%w: %s", errExecStart, bytes.TrimSpace(p[:min(n, stderrTail)]))
			}
		}
	}
	if err != nil && !errors.Is(err, io.EOF) && isLost(err) {
		err = mapError("read from the container", err)
	}
	return n, err
}

func (s *ExecStream) Write(p []byte) (int, error) {
	n, err := s.conn.Conn.Write(p)
	if err != nil {
		err = mapError("write to the container", err)
	}
	return n, err
}

// CloseWrite ends the process's stdin and leaves its output open.
func (s *ExecStream) CloseWrite() error { return s.conn.CloseWrite() }

func (s *ExecStream) Close() error {
	var err error
	s.closeOnce.Do(func() { err = s.conn.Conn.Close() })
	return err
}

// Stderr returns the last 8 KiB the process wrote to stderr, as far as Read got.
func (s *ExecStream) Stderr() string { return s.err.String() }

// ExitCode asks the engine how the exec ended; an error while it still runs.
func (s *ExecStream) ExitCode(ctx context.Context) (int, error) { return s.exit(ctx) }

// DialExec starts argv in a running container as user (name or uid:gid) without
// a terminal and connects to it; the result is an *ExecStream. ctx bounds the
// start, not the stream. A container that is not running gives core.ErrNotRunning,
// an absent one core.ErrNotFound. An exec cannot be attached to again: when the
// stream is lost, make a new one.
func (d *Docker) DialExec(ctx context.Context, id core.ContainerID, user string, argv []string) (io.ReadWriteCloser, error) {
	cli, err := d.client(ctx)
	if err != nil {
		return nil, err
	}
	ex, err := cli.ContainerExecCreate(ctx, string(id), container.ExecOptions{
		User: user, Cmd: argv, AttachStdin: true, AttachStdout: true, AttachStderr: true,
	})
	if err != nil {
		return nil, d.fail("prepare an exec", err)
	}
	conn, err := attach(ctx, cli, ex.ID, container.ExecAttachOptions{})
	if err != nil {
		return nil, d.fail("start an exec", err)
	}
	s := &ExecStream{conn: conn, err: tail{max: stderrTail}}
	s.dm = demux{r: conn.Reader, stderr: s.err.add}
	s.exit = func(ctx context.Context) (int, error) {
		r, err := cli.ContainerExecInspect(ctx, ex.ID)
		if err != nil {
			return 0, d.fail("inspect the exec", err)
		}
		if r.Running {
			return 0, errors.New("exec still runs")
		}
		return r.ExitCode, nil
	}
	return s, nil
}

// attached is an exec that has been started, or why it has not.
type attached struct {
	conn types.HijackedResponse
	err  error
}

// attaching starts the exec. The client's upgrade does not heed ctx once the
// request is written, so it runs aside; whoever gets a connection closes it.
func attaching(ctx context.Context, cli *client.Client, execID string, o container.ExecAttachOptions) <-chan attached {
	ch := make(chan attached, 1)
	go func() {
		conn, err := cli.ContainerExecAttach(ctx, execID, o)
		ch <- attached{conn, err}
	}()
	return ch
}

// attach starts the exec; what comes after ctx's end is closed.
func attach(ctx context.Context, cli *client.Client, execID string, o container.ExecAttachOptions) (types.HijackedResponse, error) {
	ch := attaching(ctx, cli, execID, o)
	select {
	case r := <-ch:
		return r.conn, r.err
	case <-ctx.Done():
		go func() {
			if r := <-ch; r.err == nil {
				r.conn.Close()
			}
		}()
		return types.HijackedResponse{}, ctx.Err()
	}
}
