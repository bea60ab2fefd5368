package core

import "cmp"

// Caller is whoever sent a request through a link, or with a token. Loop knows the
// caller by the spawn that the request came from, never by the request's content.
type Caller struct {
	ChannelID   ChannelID
	ContainerID ContainerID
	SpawnID     SpawnID // empty over TCP
	RunID       RunID   // empty in a terminal
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
}
