package core

import "time"

// SessionMode is how a run takes up the agent's earlier conversation.
type SessionMode string

const (
	SessionContinue SessionMode = ""       // the channel's session, if it has one
	SessionResume   SessionMode = "resume" // the session named
	SessionFork     SessionMode = "fork"   // a copy of the session named, or of the channel's
	SessionFresh    SessionMode = "fresh"  // none
)

// SessionStart says with which conversation a run begins. A run may carry one;
// a channel keeps one for its next run, which is dropped when that run is done.
type SessionStart struct {
	Mode      SessionMode `json:"mode,omitempty"`
	SessionID SessionID   `json:"session_id,omitempty"` // resume, fork; empty with fork: the channel's
	// At is the uuid of the message up to which the copy goes; fork only.
	At string `json:"at,omitempty"`
}

// SessionInfo is one conversation that the agent keeps in a channel's state,
// as its transcript tells. Title is text from a container.
type SessionInfo struct {
	ID        SessionID `json:"session_id"`
	Title     string    `json:"title"` // the first prompt or the CLI's summary, bounded
	Model     string    `json:"model,omitempty"`
	Dir       string    `json:"dir,omitempty"` // working directory it was held in
	Branch    string    `json:"branch,omitempty"`
	Messages  int       `json:"messages"` // prompts and answers, without tool traffic
	SizeBytes int64     `json:"size_bytes"`
	UpdatedAt time.Time `json:"updated_at"`
	Current   bool      `json:"current,omitempty"` // the channel's own
	Demo      bool      `json:"demo,omitempty"`    // held with the scripted model
}

// SessionMessage is one prompt or answer in a transcript: a place where a fork
// may end. Text is from a container, bounded.
type SessionMessage struct {
	UUID string    `json:"uuid"`
	Role string    `json:"role"` // user, assistant
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

// StateOwner is the channel whose Claude folder this one uses: a thread shares
// its parent's. The home is each channel's own.
func (c Channel) StateOwner() ChannelID {
	if c.StateID != "" {
		return c.StateID
	}
	return c.ID
}

// Next is the start that the channel keeps for its next run of that kind.
func (c Channel) Next(demo bool) SessionStart {
	if demo {
		return c.DemoNextSession
	}
	return c.NextSession
}
