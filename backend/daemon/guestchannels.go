package daemon

import (
	"context"

	"loop/backend/callbacks"
	"loop/backend/channels"
	"loop/backend/core"
	"loop/backend/guestlink"
)

// lateCallbacks stands for the callbacks before they exist: links need them, the
// runner opens links, and callbacks queue runs.
type lateCallbacks struct{ *callbacks.Service }

var _ guestlink.Callbacks = (*lateCallbacks)(nil)

// guestChannels is the list of channels as callbacks need it.
type guestChannels struct{ *channels.Service }

func (g guestChannels) Members(ctx context.Context, id core.ChannelID) ([]callbacks.Member, error) {
	views, err := g.Service.Members(ctx, id)
	if err != nil {
		return nil, err
	}
	out := make([]callbacks.Member, len(views))
	for i, v := range views {
		out[i] = callbacks.Member{
			Channel: v.Channel, Status: string(v.State), Queued: v.Queued,
			Live: v.Queued > 0 || v.State == channels.StateWorking || v.State == channels.StateNeedsYou,
		}
	}
	return out, nil
}

func (g guestChannels) CreateThread(ctx context.Context, parent core.ChannelID, t core.GuestThread) (core.ChannelInfo, error) {
	v, err := g.Service.CreateThread(ctx, channels.ThreadRequest{ParentID: parent, Name: t.Name, Session: t.Session})
	return callbacks.Info(v.Channel, string(v.State), false), err
}

func (g guestChannels) CreateWorktree(ctx context.Context, parent core.ChannelID, w core.GuestWorktree) (core.ChannelInfo, error) {
	v, err := g.Service.CreateWorktree(ctx, channels.WorktreeRequest{ParentID: parent, Branch: w.Branch, Name: w.Name, Base: w.Base})
	return callbacks.Info(v.Channel, string(v.State), false), err
}

func (g guestChannels) Sessions(ctx context.Context, id core.ChannelID) ([]core.SessionInfo, error) {
	return g.ListSessions(ctx, id)
}

func (g guestChannels) StartWith(ctx context.Context, id core.ChannelID, start core.SessionStart) error {
	_, err := g.Service.StartWith(ctx, id, start)
	return err
}
