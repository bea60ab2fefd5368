package core

import "time"

// AttemptKind says why a run tries again.
type AttemptKind string

const (
	AttemptFirst     AttemptKind = ""          // as the person sent it
	AttemptCompact   AttemptKind = "compact"   // “/compact”, because the conversation became too long
	AttemptCompacted AttemptKind = "compacted" // the prompt again, with the compacted conversation
	AttemptLatest    AttemptKind = "latest"    // the latest message only, after a failure with a session
	AttemptTransient AttemptKind = "transient" // after a wait, because the model was busy
)

// Attempt is where a run stands between its tries. It is stored with the run,
// so that a restart goes on with the same one, and is the payload of
// run.attempt, which shows each step in the timeline.
type Attempt struct {
	Number    int           `json:"number"` // from 1
	Kind      AttemptKind   `json:"kind,omitempty"`
	Reason    string        `json:"reason,omitempty"`     // what went wrong before, in a sentence
	SessionID SessionID     `json:"session_id,omitempty"` // to resume, from the second try on; empty is none
	Transient int           `json:"transient,omitempty"`  // waits so far
	NotBefore time.Time     `json:"not_before,omitzero"`
	Delay     time.Duration `json:"-"`
	DelayMs   int64         `json:"delay_ms,omitempty"`
	// Failure is what a try before this one ended with, when the run is to end
	// with it if this one fails too.
	Failure *Failure `json:"failure,omitempty"`
	// Compacted and Latest say that these ways were taken already: each is tried
	// once in a run.
	Compacted bool `json:"compacted,omitempty"`
	Latest    bool `json:"latest,omitempty"`
	// Usage is that of the tries before this one.
	Usage Usage `json:"usage,omitzero"`
}
