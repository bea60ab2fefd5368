package core

import "time"

// ChannelKind says what a channel is bound to.
type ChannelKind string

const (
	KindProject  ChannelKind = "project"  // a directory the person chose
	KindThread   ChannelKind = "thread"   // same directory as its parent
	KindWorktree ChannelKind = "worktree" // own git worktree of its parent
	KindDemo     ChannelKind = "demo"     // the scripted model, a directory of its own
)

// Channel is a conversation bound to a directory.
type Channel struct {
	ID        ChannelID   `json:"channel_id"`
	ParentID  ChannelID   `json:"parent_id,omitempty"`
	Kind      ChannelKind `json:"kind"`
	Name      string      `json:"name"`
	Dir       string      `json:"dir"` // absolute host path, cleaned
	SessionID SessionID   `json:"session_id,omitempty"`
	CreatedAt time.Time   `json:"created_at"`
}
