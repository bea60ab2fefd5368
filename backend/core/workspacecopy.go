package core

import "time"

// How a file of an agent's copy differs from the original, since the two were last the same.
const (
	DiffNew             = "new"              // in the copy alone: the agent made it
	DiffChanged         = "changed"          // the agent changed it
	DiffRemoved         = "removed"          // the agent removed it
	DiffOriginalNew     = "original-new"     // made in the original since
	DiffOriginalChanged = "original-changed" // changed in the original
	DiffOriginalRemoved = "original-removed" // removed in the original
	DiffBoth            = "both"             // changed in both, each in its own way
)

// CopyDifference is one file that is not the same in both. A size of -1 is no file.
type CopyDifference struct {
	Path          string `json:"path"` // below both folders, with slashes
	State         string `json:"state"`
	CopyBytes     int64  `json:"copy_bytes"`
	OriginalBytes int64  `json:"original_bytes"`
	CopyMs        int64  `json:"copy_ms,omitempty"` // when it changed; 0 is not known, or no file
	OriginalMs    int64  `json:"original_ms,omitempty"`
	// Mark names the content of both. What is done by it is refused once either has changed.
	Mark string `json:"mark"`
}

// CopyComparison is an agent's copy beside its original.
type CopyComparison struct {
	WorkspaceSeed
	Differences []CopyDifference `json:"differences"` // by path
	// Left are files that cannot be compared, and why.
	Left []SkippedMount `json:"left"`
}

// TrashedCopy is something that was replaced or taken away, and can come back.
type TrashedCopy struct {
	ID    string    `json:"id"`
	What  string    `json:"what"`  // copy, promote or pull
	Place string    `json:"place"` // the folder that it comes back to
	Files int       `json:"files"`
	Bytes int64     `json:"bytes"`
	At    time.Time `json:"at"`
}

// LeftCopy is a copy, with the channel that it was made for.
type LeftCopy struct {
	ChannelID ChannelID `json:"channel_id"`
	Copy      string    `json:"copy"`
	Bytes     int64     `json:"bytes"`
	// InUse says that the channel's settings have its agents work in it.
	InUse bool `json:"in_use"`
}
