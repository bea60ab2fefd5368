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
	SessionID SessionID     `json:"session_id,omitempty"` // to resume, when it is not the channel's
	Transient int           `json:"transient,omitempty"`  // waits so far
	NotBefore time.Time     `json:"not_before,omitzero"`
	Delay     time.Duration `json:"-"`
	DelayMs   int64         `json:"delay_ms,omitempty"`
}
