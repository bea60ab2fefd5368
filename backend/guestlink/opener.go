package guestlink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"loop/backend/backoff"
	"loop/backend/core"
)

// An engine's record of who runs and who is paused is late: by milliseconds
// mostly, on busy computers by tenths of a second. Whoever waits in vain loses the
// run, so the bound is ample.
const (
	settleTime = 10 * time.Second
	settleTick = 25 * time.Millisecond
)

// Network is where this machine is on the engine's network.
type Network interface {
	// GatewayIP is this machine's address on the default bridge.
	GatewayIP(ctx context.Context) (string, error)
}

// Waker ends pauses of containers.
type Waker interface {
	// Awake lets a container go on that is held still.
	Awake(ctx context.Context, id core.ContainerID) error
}

// Opener opens the host's end of links. Its fields are set before its first use.
type Opener struct {
	Dialer    Dialer
	Callbacks Callbacks
	Browsers  Browsers // nil: none
	DemoModel http.Handler
	Gate      Gate  // asked for the life of each link; nil: nobody is
	Talks     Talks // nil: nobody hears
	Network   Network
	Waker     Waker
	Log       *slog.Logger
}

// Open opens a link of its own into a container that runs. The caller closes it.
func (o *Opener) Open(ctx context.Context, c core.Container) (core.Link, error) {
	// Only a model on “host.docker.internal” may need it, and only when nothing
	// answers on loopback; an engine that cannot say is no reason to fail.
	gateway, err := o.Network.GatewayIP(ctx)
	if err != nil {
		o.Log.Debug("gateway address not known", "err", err)
	}
	// The container may be held still once more between the waking and the link, and
	// an engine whose record is late takes one that was woken for paused.
	for end := time.Now().Add(settleTime); ; {
		if err := o.Waker.Awake(ctx, c.ID); err != nil {
			return nil, fmt.Errorf("wait for the container: %w", err)
		}
		link, err := Open(ctx, o.Dialer, c.ID, Options{
			Callbacks: o.Callbacks, Browsers: o.Browsers, DemoModel: o.DemoModel, Gate: o.Gate, Talks: o.Talks, GatewayIP: gateway, Log: o.Log,
		})
		if err == nil {
			return link, nil
		}
		if !errors.Is(err, core.ErrConflict) || !time.Now().Before(end) {
			return nil, err
		}
		if !backoff.Sleep(ctx, settleTick) {
			return nil, errors.Join(err, ctx.Err())
		}
	}
}
