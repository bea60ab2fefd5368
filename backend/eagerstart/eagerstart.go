package eagerstart

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"loop/backend/core"
	"loop/backend/provision"
)

const (
	// lapse is how long after the last word of the page a container is held for a prompt.
	// The page says it once a minute while somebody writes.
	lapse = 2 * time.Minute
	// letGo bounds giving the container back, which ends nothing.
	letGo = 15 * time.Second
)

// Provision makes containers.
type Provision interface {
	Ensure(ctx context.Context, w provision.Want) (*provision.Lease, error)
	Scopes(ctx context.Context, ch core.Channel) ([]string, error)
}

// Channels finds channels; one that is gone is core.ErrNotFound.
type Channels interface {
	Channel(ctx context.Context, id core.ChannelID) (core.Channel, error)
}

// Containers is the registry, as far as containers of a scope are made anew.
type Containers interface {
	// Recreate takes the scope's container out of it; whoever holds it keeps it.
	Recreate(ctx context.Context, scope string) (was bool, err error)
	List() []core.Container
	Facts(ctx context.Context, id core.ContainerID) (core.ContainerFacts, error)
}

// Links opens links into containers.
type Links interface {
	Open(ctx context.Context, c core.Container) (core.Link, error)
}

// Agents starts the CLI before its prompt is sent; the runner.
type Agents interface {
	// StartAhead starts it in a container that the caller holds, or sees to it that the one
	// that waits there is still what a prompt would start.
	StartAhead(ctx context.Context, ch core.ChannelID, c core.Container) error
	// EndAhead ends it. The caller still holds the container.
	EndAhead(ctx context.Context, ch core.ChannelID)
}

// Options of a Service; all are required.
type Options struct {
	Provision  Provision
	Channels   Channels
	Containers Containers
	Links      Links
	Agents     Agents
	// Settings are those of what shares a container with a channel's runs.
	Settings provision.Settings
	Log      *slog.Logger
}

// Service starts containers for prompts that are being written. Methods may be called
// from any goroutine. Run waits for what Warm began.
type Service struct {
	o    Options
	work sync.WaitGroup

	mu   sync.Mutex
	ctx  context.Context // of Run; nil before it
	held map[core.ChannelID]chan struct{}
}

// New returns a service that does nothing before Run.
func New(o Options) *Service { return &Service{o: o, held: map[core.ChannelID]chan struct{}{}} }

// Run lets Warm work until ctx ends, and visits containers. It returns when nothing is held
// any more.
func (s *Service) Run(ctx context.Context) error {
	s.mu.Lock()
	s.ctx = ctx
	s.mu.Unlock()
	s.visits(ctx)
	s.mu.Lock()   // what is added after this sees that ctx has ended
	s.mu.Unlock() //nolint:staticcheck // the lock is the point
	s.work.Wait()
	return nil
}

// Warm says that a person writes a prompt for a channel, or is about to. It returns at once;
// the container is held, with the channel's CLI waiting in it, until lapse has passed without another word. What stands in the way is
// not said here: the run says it, to somebody who sent something.
func (s *Service) Warm(id core.ChannelID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx == nil || s.ctx.Err() != nil {
		return
	}
	again := s.held[id]
	if again != nil {
		select {
		case again <- struct{}{}:
		default:
		}
		return
	}
	again = make(chan struct{}, 1)
	s.held[id] = again
	ctx := s.ctx
	s.work.Go(func() {
		if err := s.hold(ctx, id, again); err != nil && ctx.Err() == nil {
			s.o.Log.Debug("start a container for a prompt", "channel", id, "err", err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.held, id)
	})
}

// errNobody says that nobody would share what is made for a prompt.
var errNobody = errors.New("each run has a container of its own")

func (s *Service) hold(ctx context.Context, id core.ChannelID, again <-chan struct{}) error {
	ch, err := s.o.Channels.Channel(ctx, id)
	if err != nil {
		return fmt.Errorf("read channel: %w", err)
	}
	lease, err := s.o.Provision.Ensure(ctx, provision.Want{
		Channel: ch, Shared: true, NoBuild: true, OnHost: true, Settings: s.o.Settings,
		Holder: core.Holder{Kind: core.HolderPrompt, ID: string(id)},
		Ready: func(r provision.Resolved) error {
			if r.Spec.Scope == "" { // or no container, and so nothing to make ready
				return errNobody
			}
			return nil
		},
	})
	if err != nil {
		return err
	}
	late := time.NewTimer(lapse)
	defer late.Stop()
	ahead := func() {
		if err := s.o.Agents.StartAhead(ctx, id, lease.Container); err != nil && ctx.Err() == nil {
			s.o.Log.Debug("start the agent for a prompt", "channel", id, "err", err)
		}
	}
	ahead()
	for held := true; held; {
		select {
		case <-again:
			late.Reset(lapse)
			ahead()
		case <-late.C:
			held = false
		case <-ctx.Done():
			held = false
		}
	}
	rctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), letGo)
	defer cancel()
	s.o.Agents.EndAhead(rctx, id)
	return lease.Release(rctx, core.Ending{})
}

// Recreate has a channel's next work get a new container, made by the settings of now.
// What works in the present one goes on there and ends with it. It reports whether there
// was one.
func (s *Service) Recreate(ctx context.Context, id core.ChannelID) (bool, error) {
	ch, err := s.o.Channels.Channel(ctx, id)
	if errors.Is(err, core.ErrNotFound) {
		return false, core.Fail(core.CodeNotFound, err, "There is no such channel.", "Choose one of the list.")
	} else if err != nil {
		return false, fmt.Errorf("read channel: %w", err)
	}
	scopes, err := s.o.Provision.Scopes(ctx, ch)
	if err != nil {
		return false, err
	}
	was := false
	for _, scope := range scopes {
		there, err := s.o.Containers.Recreate(ctx, scope)
		if err != nil {
			return was, fmt.Errorf("make the container anew: %w", err)
		}
		was = was || there
	}
	return was, nil
}
