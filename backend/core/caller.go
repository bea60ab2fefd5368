package core

import "cmp"

// Caller is who is at the inside end of a link, or shows a token. It is known from
// the spawn that a request came from, never from the request.
type Caller struct {
	ChannelID   ChannelID
	ContainerID ContainerID
	SpawnID     SpawnID // empty over TCP
	RunID       RunID   // empty in a terminal
}

// Origin names what a caller's requests are counted for and go back to: its run,
// or the terminal where a person works with the agent.
func (c Caller) Origin() RunID {
	return cmp.Or(c.RunID, RunID("terminal-"+string(c.SpawnID)))
}

// Identity is who the programs of one spawn are when they ask something of Loop,
// and where their model calls go. The container hears nothing of it.
type Identity struct {
	ChannelID ChannelID
	RunID     RunID // empty in a terminal
	Upstream  ModelUpstream
}
