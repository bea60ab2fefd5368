package daemon

import (
	"context"
	"errors"
	"time"

	"loop/backend/bind"
	"loop/backend/core"
	"loop/backend/registry"
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

// containerList is the registry as the runner and the page ask for it.
type containerList struct{ *registry.Registry }

func (c containerList) holder(id core.ContainerID) core.Holder {
	for _, c := range c.Registry.List() {
		if c.ID == id {
			return core.Holder{Kind: core.HolderRun, ID: string(c.RunID)}
		}
	}
	return core.Holder{}
}

func (c containerList) Stop(ctx context.Context, id core.ContainerID, grace time.Duration) error {
	return c.End(ctx, id, c.holder(id), grace)
}

func (c containerList) ScheduleRemoval(ctx context.Context, id core.ContainerID, after time.Duration) error {
	if after == 0 {
		after = -1
	}
	return c.Release(ctx, c.holder(id), core.Ending{Keep: after})
}

func (c containerList) List(context.Context) ([]core.Container, error) { return c.Registry.List(), nil }

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
