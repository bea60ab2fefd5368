package core

import "time"

// A guest's requests to the app, in the words of both ends. The Caller says who
// asks, never one of these fields. An empty ChannelID is the caller's own.

// GuestMessage is a prompt that an agent queues.
type GuestMessage struct {
	ChannelID ChannelID
	Content   string
	Interrupt bool          // before everything that waits; the run under way is stopped
	Delay     time.Duration // at least this long from now
}

// GuestThread is a thread that an agent opens beside itself.
type GuestThread struct {
	Name    string       `json:"name"`
	Message string       `json:"message"` // its first prompt, if any
	Session SessionStart `json:"session"`
}

// GuestWorktree is a worktree that an agent opens beside itself.
type GuestWorktree struct {
	Branch  string `json:"branch"`
	Base    string `json:"base"`
	Name    string `json:"name"`
	Message string `json:"message"`
}

// ChannelInfo is a channel as an agent of its project may see it.
type ChannelInfo struct {
	ID       ChannelID   `json:"channel_id"`
	ParentID ChannelID   `json:"parent_id,omitempty"`
	Kind     ChannelKind `json:"kind"`
	Name     string      `json:"name"`
	Dir      string      `json:"dir"`
	Branch   string      `json:"branch,omitempty"`
	Status   string      `json:"status"` // the word of the sidebar
	Own      bool        `json:"own,omitempty"`
}

// AgentInfo is an agent of the caller's project; its id is its channel's.
type AgentInfo struct {
	ID      ChannelID `json:"agent_id"`
	Channel ChannelID `json:"channel_id"`
	Name    string    `json:"name"`
	Status  string    `json:"status"`
	Summary string    `json:"work_summary,omitempty"` // its last prompt, bounded
	Own     bool      `json:"own,omitempty"`
}
