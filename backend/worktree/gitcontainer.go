package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"time"

	"loop/backend/core"
	"loop/backend/policy"
	"loop/backend/provision"
	"loop/backend/sandbox"
)

const (
	maxOutput = 1 << 20 // bytes kept of each stream
	cleanup   = 15 * time.Second
)

// Provision makes containers.
type Provision interface {
	Ensure(ctx context.Context, w provision.Want) (*provision.Lease, error)
}

// Container runs programs as the agent, each in a container that is made for it
// and removed after.
type Container struct {
	Provision Provision
	Policies  Policies // nil: the programs are not supervised
	Log       *slog.Logger
}

// Policies makes the documents that supervisors go by; nil says that a program is not
// supervised.
type Policies interface {
	Policy(name string, ch core.Channel, spec core.Spec, spawn core.SpawnID) ([]byte, error)
}

// Exec implements the type of that name. dir is a host path that the container has.
func (c Container) Exec(ctx context.Context, ch core.Channel, argv []string, dir string) (out Output, err error) {
	// It calls no model, so a network of none is no hindrance.
	lease, err := c.Provision.Ensure(ctx, provision.Want{
		Channel: ch, Holder: core.Holder{Kind: core.HolderGit, ID: core.NewID()}, Link: true,
	})
	if err != nil {
		return out, err
	}
	defer func() {
		cctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanup)
		defer cancel()
		if rerr := lease.Release(cctx, core.Ending{Now: true}); rerr != nil { // the work is done
			c.Log.Warn("release the container of a command", "container", lease.Container.ID, "err", rerr)
		}
	}()
	req := core.SpawnRequest{
		ID: core.SpawnID(core.NewID()), Argv: argv, Dir: sandbox.ContainerPath(runtime.GOOS, dir),
		Stdio: core.StdioPipes, Keep: core.KeepPause, PolicyVersion: 1,
		Env: slices.DeleteFunc(slices.Clone(lease.Env), func(v core.EnvVar) bool { return v.Secret }), // git needs none
	}
	if c.Policies != nil {
		if req.Policy, err = c.Policies.Policy(policy.NameSystem, ch, lease.Spec, req.ID); err != nil {
			return out, err
		}
	}
	return runIn(ctx, lease.Link, req)
}

// runIn spawns one program and gathers what it prints.
func runIn(ctx context.Context, link core.Link, req core.SpawnRequest) (out Output, err error) {
	id := req.ID
	if _, err := link.Spawn(ctx, req); err != nil {
		return out, fmt.Errorf("start %s: %w", req.Argv[0], err)
	}
	defer func() {
		fctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanup)
		defer cancel()
		_ = link.Kill(fctx, id) // with the container gone there is nothing to kill
	}()
	var wg sync.WaitGroup
	var errs [2]error
	wg.Go(func() { out.Stdout, errs[0] = readStream(ctx, link, id, "out") })
	wg.Go(func() { out.Stderr, errs[1] = readStream(ctx, link, id, "err") })
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

// readStream reads to the end and keeps the first maxOutput bytes: a
// program that prints without end is stopped by its caller's time limit.
func readStream(ctx context.Context, link core.Link, id core.SpawnID, stream string) (string, error) {
	r, err := link.ReadHeld(ctx, id, stream, 0)
	if err != nil {
		return "", fmt.Errorf("read output: %w", err)
	}
	defer r.Close()
	stop := context.AfterFunc(ctx, func() { _ = r.Close() })
	defer stop()
	text, err := io.ReadAll(io.LimitReader(r, maxOutput))
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
