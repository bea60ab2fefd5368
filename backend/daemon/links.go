package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"loop/backend/core"
	"loop/backend/guestlink"
)

// links opens the host's end into a container; it is the runner's port.
type links struct {
	dialer    guestlink.Dialer
	callbacks guestlink.Callbacks
	demo      http.Handler
	gateway   func(ctx context.Context) (string, error)
	log       *slog.Logger
}

func (l links) Open(ctx context.Context, c core.Container) (core.Link, error) {
	// Only a model on “host.docker.internal” may need it, and only when nothing
	// answers on loopback; an engine that cannot say is no reason to fail.
	gateway, err := l.gateway(ctx)
	if err != nil {
		l.log.Debug("gateway address not known", "err", err)
	}
	return guestlink.Open(ctx, l.dialer, c.ID, guestlink.Options{
		Caller:    guestlink.Caller{ChannelID: c.ChannelID, ContainerID: c.ID, RunID: c.RunID},
		Callbacks: l.callbacks, DemoModel: l.demo, GatewayIP: gateway, Log: l.log,
	})
}

// maxMessage bounds one message an agent sends to its channel, in bytes.
const maxMessage = 256 << 10

// callbacks does what a guest asks for, as the channel its link belongs to.
type callbacks struct {
	add     func(ctx context.Context, events ...core.Event) ([]core.Event, error)
	publish func(...core.Event)
	now     func() time.Time
}

func (c callbacks) SendMessage(ctx context.Context, from guestlink.Caller, text string) error {
	if strings.TrimSpace(text) == "" || !utf8.ValidString(text) || len(text) > maxMessage {
		return core.Fail(core.CodeInvalid, nil, fmt.Sprintf("A message is 1 to %d bytes of text.", maxMessage), "Send a shorter one.")
	}
	ev := core.NewEvent(core.EventMessageCreated, from.ChannelID, from.RunID, c.now(), core.MessageCreated{
		MsgID: core.NewID(), AuthorID: "agent", Content: text, IsBot: true,
	})
	stored, err := c.add(ctx, ev)
	if err != nil {
		return fmt.Errorf("store message: %w", err)
	}
	c.publish(stored...)
	return nil
}
