package daemon

import (
	"context"
	"errors"

	"loop/backend/bind"
	"loop/backend/core"
	"loop/backend/runner"
	"loop/backend/terminal"
)

// runService gives the page the runner's live message in its own shape.
type runService struct{ *runner.Service }

func (r runService) Live(ch core.ChannelID) *bind.LiveMessage {
	l := r.Service.Live(ch)
	if l == nil {
		return nil
	}
	out := &bind.LiveMessage{RunID: l.RunID, MsgID: l.MsgID, Blocks: []bind.LiveBlock{}}
	for _, b := range l.Blocks {
		out.Blocks = append(out.Blocks, bind.LiveBlock{Kind: b.Kind, Text: b.Text})
	}
	return out
}

// channelWork is what goes on in a channel, as its end sees it.
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

// Feeds implements closing.Models.
func (u upstreams) Feeds(ch core.Channel, r core.Run) bool {
	settings, err := u.read(ch)
	if err != nil {
		return r.Demo
	}
	l, _ := launchOf(settings.Config, r) // a missing key does not matter here
	return l.Upstream != core.ModelUpstream{}
}
