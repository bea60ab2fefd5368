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
// Reads come from one goroutine, writes from one; Close and Stderr from any. The
// caller closes it; Close ends both directions at once, and the process in the
// container sees the end of its stdin.
type ExecStream struct {
	conn    types.HijackedResponse
	dm      demux
	started bool
	err     tail
	close   func() error
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
		// itself, after the upgrade: with one piece of text that ends in CR LF.
		if p[0] >= ' ' && bytes.HasSuffix(p[:n], []byte("\r\n")) {
			_, _ = s.err.Write(p[:n]) // never fails
			return 0, fmt.Errorf("%w: %s", errExecStart, bytes.TrimSpace(p[:min(n, stderrTail)]))
		}
	}
	if err != nil && !errors.Is(err, io.EOF) && isLost(err) {
		err = failed("read from the container", err)
	}
	return n, err
}

func (s *ExecStream) Write(p []byte) (int, error) {
	n, err := s.conn.Conn.Write(p)
	return n, failed("write to the container", err)
}

// Close may be called more than once.
func (s *ExecStream) Close() error { return s.close() }

// Stderr returns the last 8 KiB the process wrote to stderr, as far as Read got, or the
// engine's words on why it did not start.
func (s *ExecStream) Stderr() string { return s.err.String() }

// DialExec starts argv in a running container as user (name or uid:gid) without
// a terminal and connects to it; the result is an *ExecStream. ctx bounds the
// start, not the stream. A container that is not running gives core.ErrNotRunning,
// an absent one core.ErrNotFound. An exec cannot be attached to again: when the
// stream is lost, make a new one. The first output of argv must not be text that ends
// in CR LF, which is what the engine's refusal looks like.
func (d *Docker) DialExec(ctx context.Context, id core.ContainerID, user string, argv []string) (io.ReadWriteCloser, error) {
	var conn types.HijackedResponse
	err := d.do(ctx, "start an exec", func(ctx context.Context, cli *client.Client) error {
		ex, err := cli.ContainerExecCreate(ctx, string(id), container.ExecOptions{
			User: user, Cmd: argv, AttachStdin: true, AttachStdout: true, AttachStderr: true,
		})
		if err != nil {
			return err
		}
		conn, err = aside(ctx,
			func() (types.HijackedResponse, error) {
				return cli.ContainerExecAttach(ctx, ex.ID, container.ExecAttachOptions{})
			},
			func(late types.HijackedResponse) { late.Close() })
		return err
	})
	if err != nil {
		return nil, err
	}
	s := &ExecStream{conn: conn, err: tail{max: stderrTail}, close: sync.OnceValue(conn.Conn.Close)}
	s.dm = demux{r: conn.Reader, stderr: &s.err}
	return s, nil
}

// aside runs f and returns with ctx at the latest: the client's upgrade of a
// connection does not heed a ctx once its request is written. What f gives after
// that goes to late.
func aside[T any](ctx context.Context, f func() (T, error), late func(T)) (v T, err error) {
	type result struct {
		v   T
		err error
	}
	ch := make(chan result, 1)
	go func() {
		v, err := f()
		ch <- result{v, err}
	}()
	select {
	case r := <-ch:
		return r.v, r.err
	case <-ctx.Done():
		go func() {
			if r := <-ch; r.err == nil {
				late(r.v)
			}
		}()
		return v, ctx.Err()
	}
}
