package review

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"loop/backend/core"
	"loop/backend/policy"
	"loop/backend/provision"
)

const (
	// keepLease is how long a container is held after its last use: a person goes on reading
	// for longer than a container takes to start.
	keepLease = 20 * time.Second
	sweep     = 5 * time.Second
	cleanup   = 15 * time.Second
)

// Provision makes containers, and says in which scopes a channel's are.
type Provision interface {
	Ensure(ctx context.Context, w provision.Want) (*provision.Lease, error)
	Scopes(ctx context.Context, ch core.Channel) ([]string, error)
}

// Running are the containers of scopes that take new work.
type Running interface {
	InScopes(scopes ...string) []core.Container
}

// Policies makes the documents that supervisors go by; nil says that a program is not supervised.
type Policies interface {
	Policy(name string, ch core.Channel, spec core.Spec, spawn core.SpawnID) ([]byte, error)
}

// Containers is Git in containers: the channel's own where one runs, else one that is made for it.
// Each is held for some seconds, so that not every click starts one. Run gives them back.
type Containers struct {
	Provision Provision
	Settings  provision.Settings // those of runs, with whose containers git shares
	Running   Running
	Policies  Policies
	Log       *slog.Logger

	mu   sync.Mutex
	kept map[core.ChannelID]*kept
	over bool
	make func(ctx context.Context, ch core.Channel) (place, error) // ensure; tests replace it
}

// place is a container that git may run in.
type place struct {
	*provision.Lease
	release func(context.Context) error
}

// kept is a container that is held for a channel.
type kept struct {
	making sync.Mutex
	place  place // empty until it is made
	users  int
	last   time.Time
}

var errOver = errors.New("Loop is ending")

// unbegun is an error from before the program did anything.
type unbegun struct{ error }

func (u unbegun) Unwrap() error { return u.error }

func notBegun(err error) bool {
	_, ok := errors.AsType[unbegun](err)
	return ok
}

// noting is a link that notes whether a program may have begun.
type noting struct {
	core.Link
	begun bool
}

func (n *noting) Spawn(ctx context.Context, req core.SpawnRequest) (core.SpawnInfo, error) {
	info, err := n.Link.Spawn(ctx, req)
	_, refused := errors.AsType[*core.Failure](err)
	n.begun = !refused && !errors.Is(err, core.ErrNotRunning) && !errors.Is(err, core.ErrNotFound)
	return info, err
}

// Exec implements Git. A container that went away meanwhile is replaced once, unless an act may
// have begun in it.
func (c *Containers) Exec(ctx context.Context, ch core.Channel, p Program) (Output, error) {
	for again := true; ; again = false {
		k, fresh, err := c.take(ctx, ch)
		if err != nil {
			return Output{}, unbegun{err}
		}
		out, err := c.spawn(ctx, ch, k.place, p)
		c.putBack(ch.ID, k, err)
		gone := errors.Is(err, core.ErrLinkDown) || errors.Is(err, core.ErrNotRunning) || errors.Is(err, core.ErrNotFound)
		if !gone || fresh || !again || ctx.Err() != nil || p.Once && !notBegun(err) {
			return out, err
		}
	}
}

func (c *Containers) take(ctx context.Context, ch core.Channel) (k *kept, fresh bool, err error) {
	c.mu.Lock()
	if c.over {
		c.mu.Unlock()
		return nil, false, errOver
	}
	if k = c.kept[ch.ID]; k == nil {
		if c.kept == nil {
			c.kept = map[core.ChannelID]*kept{}
		}
		k = &kept{}
		c.kept[ch.ID] = k
	}
	k.users++
	c.mu.Unlock()
	k.making.Lock()
	defer k.making.Unlock()
	if k.place.Lease != nil {
		return k, false, nil
	}
	ensure := c.ensure
	if c.make != nil {
		ensure = c.make
	}
	if k.place, err = ensure(ctx, ch); err != nil {
		k.place = place{}
		c.putBack(ch.ID, k, err)
		return nil, false, err
	}
	return k, true, nil
}

func (c *Containers) ensure(ctx context.Context, ch core.Channel) (at place, err error) {
	scopes, err := c.Provision.Scopes(ctx, ch)
	if err != nil {
		return at, fmt.Errorf("find the channel's containers: %w", err)
	}
	want := provision.Want{Channel: ch, Holder: core.Holder{Kind: core.HolderGit, ID: core.NewID()}, Link: true, Settings: c.Settings}
	for _, one := range c.Running.InScopes(scopes...) {
		if one.Status == core.ContainerRunning && one.Type != core.TypeChrome && want.Type != core.TypeAgent {
			want.Type, want.Shared, want.Begun = one.Type, true, true
		}
	}
	shared := want.Shared
	at.Lease, err = c.Provision.Ensure(ctx, want)
	at.release = func(ctx context.Context) error { return at.Release(ctx, core.Ending{Now: !shared}) }
	return at, err
}

// putBack ends one use. After an error that may be the container's nobody else gets it.
func (c *Containers) putBack(id core.ChannelID, k *kept, err error) {
	c.mu.Lock()
	k.users--
	k.last = time.Now()
	if err != nil && c.kept[id] == k {
		delete(c.kept, id)
	}
	last := k.users == 0 && c.kept[id] != k
	c.mu.Unlock()
	if last {
		c.release(k)
	}
}

func (c *Containers) release(k *kept) {
	if k.place.Lease == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), cleanup)
	defer cancel()
	if err := k.place.release(ctx); err != nil {
		c.Log.Warn("release the container of a review", "container", k.place.Container.ID, "err", err)
	}
}

func (c *Containers) spawn(ctx context.Context, ch core.Channel, l place, p Program) (out Output, err error) {
	req := core.SpawnRequest{
		ID: core.SpawnID(core.NewID()), Argv: append([]string{"/bin/sh", "-c", p.Script, "sh"}, p.Args...), Dir: l.Spec.WorkDir,
		Stdio: core.StdioPipes, Keep: core.KeepPause, Stdin: p.Stdin, PolicyVersion: 1,
	}
	for _, v := range l.Env {
		if !v.Secret { // git needs none
			req.Env = append(req.Env, v)
		}
	}
	if c.Policies != nil {
		if req.Policy, err = c.Policies.Policy(policy.NameSystem, ch, l.Spec, req.ID); err != nil {
			return out, unbegun{err}
		}
	}
	if p.Once { // of a link that was down already it is certain that nothing began
		if _, err := l.Link.Ping(ctx); err != nil {
			return out, unbegun{fmt.Errorf("reach the container: %w", err)}
		}
	}
	link := &noting{Link: l.Link}
	if out, err = provision.OutputOf(ctx, link, req, maxOutput); err != nil && !link.begun {
		err = unbegun{err}
	}
	return out, err
}

// Run gives containers back that nobody has used for a while, and all of them when ctx ends.
func (c *Containers) Run(ctx context.Context) error {
	tick := time.NewTicker(sweep)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			for _, k := range c.idle(time.Time{}, true) {
				c.release(k)
			}
			return nil
		case now := <-tick.C:
			for _, k := range c.idle(now.Add(-keepLease), false) {
				c.release(k)
			}
		}
	}
}

// idle takes those that nobody has used since. Those in use are given back by their last user.
func (c *Containers) idle(since time.Time, over bool) (list []*kept) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = c.over || over
	for id, k := range c.kept {
		if k.users == 0 && (over || k.last.Before(since)) {
			list = append(list, k)
			delete(c.kept, id)
		}
	}
	if over {
		c.kept = nil
	}
	return list
}

// GiveBack gives a container back that is kept without being used, and returns then.
func (c *Containers) GiveBack(id core.ContainerID) {
	c.mu.Lock()
	var found []*kept // one for each channel that shares it
	for ch, k := range c.kept {
		if k.users == 0 && k.place.Lease != nil && k.place.Container.ID == id {
			found = append(found, k)
			delete(c.kept, ch)
		}
	}
	c.mu.Unlock()
	for _, k := range found {
		c.release(k)
	}
}
