package sidecar

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"loop/backend/core"
)

// maxSaid bounds what is kept of a program's last words, in bytes.
const maxSaid = 500

// ended is how a program ended.
type ended struct {
	code int
	said string // on its error output, on one line
}

// err is nil where the program has done what it was to do.
func (e ended) err() error {
	if e.code == 0 {
		return nil
	}
	return fmt.Errorf("it ended with %d: %s", e.code, e.said)
}

// shell is a program of the shell, whose parameters no shell reads as anything else.
func shell(script string, args ...string) core.SpawnRequest {
	return core.SpawnRequest{
		ID: core.SpawnID(core.NewID()), Argv: append([]string{"/bin/sh", "-c", script, "loop-files"}, args...), Dir: "/",
	}
}

// run runs one program in a container to its end. It reads in, nil for nothing, and prints
// to out. Errors of in and of out end it and are returned. It returns when in is read to
// its end, or has failed.
func run(ctx context.Context, link core.Link, req core.SpawnRequest, in io.Reader, out io.Writer) (e ended, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req.Stdio, req.Keep, req.OpenStdin = core.StdioPipes, core.KeepPause, in != nil
	if _, err := link.Spawn(ctx, req); err != nil {
		return e, fmt.Errorf("start a program: %w", err)
	}
	defer func() {
		over, stop := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer stop()
		if err != nil {
			_ = link.Kill(over, req.ID) // with the container gone there is nothing to kill
		}
		_ = link.Forget(over, req.ID)
	}()
	var work sync.WaitGroup
	var said strings.Builder
	if in != nil {
		work.Go(func() { feed(ctx, link, req.ID, in, cancel) })
	}
	work.Go(func() { follow(ctx, link, req.ID, "out", out, cancel) })
	work.Go(func() { follow(ctx, link, req.ID, "err", &clipped{&said, maxSaid}, cancel) })
	exit, err := link.Wait(ctx, req.ID)
	if err != nil {
		cancel(fmt.Errorf("wait for a program: %w", err))
	}
	work.Wait()
	if ctx.Err() != nil {
		return e, context.Cause(ctx)
	}
	return ended{exit.Code, core.CleanTitle(strings.Join(strings.Fields(said.String()), " "))}, nil
}

// feed writes in to a program. One that takes no more says why by how it ends.
func feed(ctx context.Context, link core.Link, id core.SpawnID, in io.Reader, fail context.CancelCauseFunc) {
	w, err := link.Stdin(ctx, id)
	if err != nil {
		fail(fmt.Errorf("open the input of a program: %w", err))
		return
	}
	src := &source{r: in}
	if _, _ = io.Copy(w, src); src.err != nil {
		fail(src.err) // before its end, which the program would take for the file's
	}
	_ = w.Close()
}

// source remembers why there is no more to read.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// follow copies what a program prints.
func follow(ctx context.Context, link core.Link, id core.SpawnID, stream string, to io.Writer, fail context.CancelCauseFunc) {
	r, err := link.ReadHeld(ctx, id, stream, 0)
	if err != nil {
		fail(fmt.Errorf("read what a program prints: %w", err))
		return
	}
	defer func() { _ = r.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = r.Close() })
	defer stop()
	if _, err := io.Copy(to, r); err != nil {
		fail(err)
	}
}

// clipped keeps the first bytes and takes all.
type clipped struct {
	to   *strings.Builder
	left int
}

func (c *clipped) Write(p []byte) (int, error) {
	n := min(len(p), c.left)
	c.left -= n
	c.to.Write(p[:n])
	return len(p), nil
}
