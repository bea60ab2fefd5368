package core

import (
	"cmp"
	"context"
	"net"
	"time"
)

// Caller is whoever sent a request through a link, or with a token. Loop knows the
// caller by the spawn that the request came from, never by the request's content.
type Caller struct {
	ChannelID ChannelID
	SpawnID   SpawnID // empty over TCP
	RunID     RunID   // empty in a terminal
}

// Origin names the source by which requests are counted, and which answers go back
// to: the caller's run, or the terminal where a person works with the agent.
func (c Caller) Origin() RunID {
	return cmp.Or(c.RunID, RunID("terminal-"+string(c.SpawnID)))
}

// Identity is what Loop takes the programs of one spawn for: the channel and run of
// their requests, and the place that their model calls go to. The container never
// sees it.
type Identity struct {
	ChannelID ChannelID
	RunID     RunID // empty in a terminal
	Upstream  ModelUpstream
	// Unattended says that nobody is there to answer what the gate would ask.
	Unattended bool
	// Pending says that a person has not yet asked for what the spawn will do. What it asks
	// of the gate stands still until it is admitted again, and no person sees it.
	Pending bool
	// Rules makes the document of the gate by which the spawn goes as the settings stand,
	// nil for none. Without it the spawn keeps what it was started with. It is called from
	// any goroutine, for as long as the spawn is known.
	Rules func() ([]byte, error)
	// Egress serves one connection of the spawn to its way out of the container, on the
	// goroutine that calls it, until the connection or ctx ends; it closes the connection.
	// nil: the spawn has no way out but the container's own network.
	Egress func(ctx context.Context, conn net.Conn)
	// LinkLost is when the container lost the link before this one, by the calendar of
	// this computer; the link says it. Zero: there was none, or nobody knows.
	LinkLost time.Time
}

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
