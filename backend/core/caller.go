package core

// Caller is who is at the inside end of a link. It is known from the link a
// request arrived on, never from the request.
type Caller struct {
	ChannelID   ChannelID
	ContainerID ContainerID
	RunID       RunID
}
