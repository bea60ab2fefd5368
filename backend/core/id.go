package core

import (
	"crypto/rand"
	"encoding/hex"
)

// Typed identifiers. ContainerID is the engine's own full id; the others are
// made by NewID and carry no meaning.
type (
	ChannelID   string
	RunID       string
	ContainerID string
	SpawnID     string
	SessionID   string // the agent CLI's session (Claude's session_id)
)

// NewID returns 128 random bits in lower-case hex: unguessable, so an id seen
// by one party cannot be used to name another's.
func NewID() string {
	var b [16]byte
	// crypto/rand.Read never fails on the supported systems (Go 1.24 aborts the program instead).
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
