package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"loop/backend/core"
	"loop/backend/guestlink"
)

// links opens the host's end into a container; it is the runner's port.
type links struct {
	dialer    guestlink.Dialer
	callbacks guestlink.Callbacks
	tcp       *guestTCP
	demo      http.Handler
	gateway   func(ctx context.Context) (string, error)
	// awake keeps the container from being held still; nil trusts that it is not.
	awake func(ctx context.Context, id core.ContainerID) (done func(), err error)
	log   *slog.Logger
}

func (l links) Open(ctx context.Context, c core.Container) (core.Link, error) {
	// Only a model on “host.docker.internal” may need it, and only when nothing
	// answers on loopback; an engine that cannot say is no reason to fail.
	gateway, err := l.gateway(ctx)
	if err != nil {
		l.log.Debug("gateway address not known", "err", err)
	}
	from := core.Caller{ChannelID: c.ChannelID, ContainerID: c.ID, RunID: c.RunID}
	l.tcp.attend(ctx, from)
	// An engine whose record is late says at first that a container that was woken
	// goes on, and then refuses the link because it is paused.
	for end := time.Now().Add(settleTime); ; {
		link, err := l.openAwake(ctx, c.ID, guestlink.Options{
			Caller:    from,
			Callbacks: l.callbacks, DemoModel: l.demo, GatewayIP: gateway, Log: l.log,
		})
		if err == nil {
			return link, nil
		}
		if l.awake == nil || !errors.Is(err, core.ErrConflict) || !time.Now().Before(end) {
			return nil, err
		}
		if terr := tick(ctx); terr != nil {
			return nil, errors.Join(err, terr)
		}
	}
}

func (l links) openAwake(ctx context.Context, id core.ContainerID, o guestlink.Options) (*guestlink.Link, error) {
	if l.awake != nil {
		done, err := l.awake(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("wait for the container: %w", err)
		}
		defer done()
	}
	return guestlink.Open(ctx, l.dialer, id, o)
}
