package provision

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"loop/backend/core"
)

// Output is what a program in a container left: the first bytes of each stream.
type Output struct {
	Stdout, Stderr string
	Code           int
}

// OutputOf spawns one program and gathers what it prints, most bytes of each stream. The
// rest is read and dropped: a program that prints without end is stopped by the caller's
// time limit. An error is of the container; a program that fails is an Output.
func OutputOf(ctx context.Context, link core.Link, req core.SpawnRequest, most int64) (out Output, err error) {
	id := req.ID
	if _, err := link.Spawn(ctx, req); err != nil {
		return out, fmt.Errorf("start %s: %w", req.Argv[0], err)
	}
	defer func() {
		fctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
		defer cancel()
		_ = link.Kill(fctx, id) // with the container gone there is nothing to kill
	}()
	var wg sync.WaitGroup
	var errs [2]error
	wg.Go(func() { out.Stdout, errs[0] = readStream(ctx, link, id, "out", most) })
	wg.Go(func() { out.Stderr, errs[1] = readStream(ctx, link, id, "err", most) })
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return out, err
	}
	exit, err := link.Wait(ctx, id)
	if err != nil {
		return out, fmt.Errorf("wait for %s: %w", req.Argv[0], err)
	}
	out.Code = exit.Code
	return out, nil
}

func readStream(ctx context.Context, link core.Link, id core.SpawnID, stream string, most int64) (string, error) {
	r, err := link.ReadHeld(ctx, id, stream, 0)
	if err != nil {
		return "", fmt.Errorf("read output: %w", err)
	}
	defer r.Close()
	stop := context.AfterFunc(ctx, func() { _ = r.Close() })
	defer stop()
	text, err := io.ReadAll(io.LimitReader(r, most))
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return string(text), fmt.Errorf("read output: %w", err)
	}
	return string(text), nil
}
