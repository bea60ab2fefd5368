package daemon

import (
	"context"
	"errors"

	"loop/backend/core"
	"loop/backend/runner"
	"loop/backend/terminal"
)

// channelWork is all that goes on in a channel, which its removal ends.
type channelWork struct {
	*runner.Service
	terminals *terminal.Service
}

// CancelChannel ends terminals too: what is removed must not be in use.
func (w channelWork) CancelChannel(ctx context.Context, ch core.ChannelID) error {
	return errors.Join(w.Service.CancelChannel(ctx, ch), w.terminals.EndChannel(ctx, ch))
}

// upstreams says whose model is behind the link.
type upstreams struct{ settingsReader }

// Feeds is what closing.Survey asks.
func (u upstreams) Feeds(ch core.Channel, r core.Run) bool {
	settings, _ := u.read(ch)            // what can be read of them counts
	l, _ := launchOf(settings.Config, r) // a missing key does not matter here
	return l.Upstream != core.ModelUpstream{}
}
