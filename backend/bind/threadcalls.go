package bind

import (
	"loop/backend/channels"
	"loop/backend/core"
)

// CreateThread makes a channel in its parent's folder. Without a session of its
// own it forks the parent's with its first message.
func (c *Channels) CreateThread(req channels.ThreadRequest) (channels.View, error) {
	return c.Tree.CreateThread(c.Ctx, req)
}

// CreateWorktree makes a git worktree with a channel in it. Git runs in a
// container, so this takes a second or more.
func (c *Channels) CreateWorktree(req channels.WorktreeRequest) (channels.View, error) {
	return c.Tree.CreateWorktree(c.Ctx, req)
}

// RemoveTree removes a channel with its threads and worktrees; with removeFiles
// the worktrees' folders too, unless one has changes that are not committed.
func (c *Channels) RemoveTree(id string, removeFiles bool) error {
	return c.Tree.RemoveTree(c.Ctx, core.ChannelID(id), removeFiles)
}

// RemoveWorktree removes one worktree's channel and folder; force does so even
// with changes that are not committed.
func (c *Channels) RemoveWorktree(id string, force bool) error {
	return c.Tree.RemoveWorktree(c.Ctx, core.ChannelID(id), force)
}

// Search finds channels by name, branch and folder, the best match first.
func (c *Channels) Search(query string) ([]channels.View, error) {
	list, err := c.Service.Search(c.Ctx, query)
	return orEmpty(list), err
}

// Sessions returns the conversations that the agent keeps for a channel, newest first.
func (c *Channels) Sessions(id string) ([]core.SessionInfo, error) {
	list, err := c.Conversations.ListSessions(c.Ctx, core.ChannelID(id))
	return orEmpty(list), err
}

// Messages returns the messages of a conversation (empty: the channel's own), oldest
// first. Each is a place where a fork may end.
func (c *Channels) Messages(id, sessionID string) ([]core.SessionMessage, error) {
	list, err := c.Conversations.Messages(c.Ctx, core.ChannelID(id), core.SessionID(sessionID))
	return orEmpty(list), err
}

// SetSession says how the channel's next run begins.
func (c *Channels) SetSession(id string, start core.SessionStart) (channels.View, error) {
	return c.Conversations.StartWith(c.Ctx, core.ChannelID(id), start)
}

// ForkAt makes a thread that begins with a copy of a conversation, up to a
// message when start names one.
func (c *Channels) ForkAt(id string, start core.SessionStart, name string) (channels.View, error) {
	return c.Conversations.ForkAt(c.Ctx, core.ChannelID(id), start, name)
}
