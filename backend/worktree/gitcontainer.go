package worktree

import (
	"context"
	"log/slog"
	"runtime"
	"slices"
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
	return provision.OutputOf(ctx, lease.Link, req, maxOutput)
}
