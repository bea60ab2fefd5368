package core

import (
	"strings"
	"time"
)

// RunState is where a run stands. Steps only go down this list; Terminal says
// which of them end it.
type RunState string

const (
	RunQueued      RunState = "queued"
	RunStarting    RunState = "starting" // claimed: image, container, link
	RunRunning     RunState = "running"  // the CLI was spawned
	RunDone        RunState = "done"
	RunFailed      RunState = "failed"
	RunCancelled   RunState = "cancelled"
	RunInterrupted RunState = "interrupted" // Loop stopped and the run did not survive it
)

// Terminal reports whether no further step can follow.
func (s RunState) Terminal() bool {
	switch s {
	case RunDone, RunFailed, RunCancelled, RunInterrupted:
		return true
	}
	return false
}

// Run is one prompt and what became of it.
type Run struct {
	ID        RunID     `json:"run_id"`
	ChannelID ChannelID `json:"channel_id"`
	Prompt    string    `json:"prompt"`
	AuthorID  string    `json:"author_id,omitempty"`
	State     RunState  `json:"state"`
	Priority  int       `json:"priority"`
	Rank      int64     `json:"rank,omitempty"` // queued: place among those of one priority, lowest first
	Demo      bool      `json:"demo"`
	Script    string    `json:"script,omitempty"` // demo script by name; empty is the default one
	CreatedAt time.Time `json:"created_at"`
	NotBefore time.Time `json:"not_before,omitzero"` // queued: not claimed earlier
	// Delay is the wait that NotBefore stood for when it was set: a clock that is
	// put back cannot make a run wait longer.
	Delay       time.Duration `json:"-"`
	HoldUntil   time.Time     `json:"hold_until,omitzero"`   // queued: being edited; nothing behind it is claimed either
	Plan        bool          `json:"plan,omitempty"`        // plan first, and ask for approval
	Unattended  bool          `json:"unattended,omitempty"`  // nobody answers what the gate would ask: it is denied
	Attachments []Attachment  `json:"attachments,omitempty"` // at most MaxAttachments
	Session     SessionStart  `json:"session,omitzero"`
	Model       string        `json:"model,omitempty"`  // for this run alone; empty: what counts in the channel
	Effort      string        `json:"effort,omitempty"` // likewise
	Attempt     Attempt       `json:"attempt,omitzero"`
	Trigger     string        `json:"trigger,omitempty"` // person (empty), agent, answer, continue
	StartedAt   time.Time     `json:"started_at,omitzero"`
	EndedAt     time.Time     `json:"ended_at,omitzero"`
	ContainerID ContainerID   `json:"container_id,omitempty"`
	SpawnID     SpawnID       `json:"spawn_id,omitempty"`
	SpoolOffset int64         `json:"-"` // bytes of stdout already turned into stored events
	Outcome     Outcome       `json:"outcome,omitzero"`
	// WaitsFor is set only in answers about a queued run, and true at that moment.
	// It is neither stored nor in an event.
	WaitsFor Wait `json:"waits_for,omitzero"`
}

// AuthorAgent begins the AuthorID of a run that an agent started; the id of the run or the
// terminal that did follows.
const AuthorAgent = "agent:"

// ByAgent reports whether an agent started the run, or one that it continues.
func (r Run) ByAgent() bool {
	return r.Trigger == "agent" || strings.HasPrefix(r.AuthorID, AuthorAgent)
}

// OnHost says whether the run works on this computer itself, where the settings want that. A
// run that an agent started never does, and one that has begun stays where it is.
func (r Run) OnHost(wanted bool) bool {
	if r.ContainerID != "" {
		return r.ContainerID.OnHost()
	}
	return wanted && !r.ByAgent()
}

// Outcome is the agent's result, and the failure if there was one.
type Outcome struct {
	Text      string    `json:"text,omitempty"`
	SessionID SessionID `json:"session_id,omitempty"`
	Model     string    `json:"model,omitempty"`
	// Chosen is the model that the CLI said at its start. Model is what the answers were from,
	// which a proxy may call by a name that it does not take.
	Chosen     string        `json:"chosen_model,omitempty"`
	NumTurns   int           `json:"num_turns,omitempty"`
	StopReason string        `json:"stop_reason,omitempty"`
	Duration   time.Duration `json:"-"`
	DurationMs int64         `json:"duration_ms,omitempty"`
	ExitCode   int           `json:"exit_code,omitempty"`
	Failure    *Failure      `json:"failure,omitempty"`
	// Commands are those that the CLI offered, as it named them; nil where it said nothing.
	Commands []string `json:"-"`
	Usage
}

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
	Of        int           `json:"of,omitempty"`         // tries at most, with waits between them
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
