package core

import "time"

// ChannelState is the word the sidebar shows.
type ChannelState string

const (
	ChannelIdle     ChannelState = "idle"
	ChannelQueued   ChannelState = "queued"
	ChannelWorking  ChannelState = "working"
	ChannelNeedsYou ChannelState = "needs_you"
	ChannelDone     ChannelState = "done"
	ChannelFailed   ChannelState = "failed"
)

// ChannelView is a channel and how it stands.
type ChannelView struct {
	Channel
	State        ChannelState `json:"state"`
	RunningSince time.Time    `json:"running_since,omitzero"`
	Queued       int          `json:"queued"`
	Questions    int          `json:"questions,omitempty"` // open ones; the channel is parked while there are any
	LastEventID  int64        `json:"last_event_id"`
	LastError    *Failure     `json:"last_error,omitempty"`
}

// View is the channel as its runs stand: the rule for the state that the page, the
// command line and agents see. frontend/src/model/frame.ts follows it by events.
func (c Channel) View(a ChannelActivity) ChannelView {
	v := ChannelView{Channel: c, State: ChannelIdle, Queued: a.Queued, Questions: a.Questions, LastEventID: a.LastEventID}
	switch {
	case a.Questions > 0:
		v.State = ChannelNeedsYou
	case a.Active != nil:
		v.State, v.RunningSince = ChannelWorking, a.Active.StartedAt
	case a.Queued > 0:
		v.State = ChannelQueued
	case a.Last != nil && a.Last.State == RunDone:
		v.State = ChannelDone
	case a.Last != nil && a.Last.State != RunCancelled:
		v.State, v.LastError = ChannelFailed, a.Last.Outcome.Failure
	}
	return v
}

// ThreadRequest asks for a thread. An empty name is chosen; an empty Session
// forks the parent's conversation with the thread's first message.
type ThreadRequest struct {
	ParentID ChannelID    `json:"parent_id"`
	Name     string       `json:"name,omitempty"`
	Session  SessionStart `json:"session,omitzero"`
}

// WorktreeRequest asks for a channel in a git worktree of its parent's project.
// An absent branch is made from Base, or from what the parent has checked out.
type WorktreeRequest struct {
	ParentID ChannelID `json:"parent_id"`
	Branch   string    `json:"branch"`
	Name     string    `json:"name,omitempty"`
	Base     string    `json:"base,omitempty"`
}
