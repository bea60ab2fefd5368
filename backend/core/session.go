package core

import (
	"regexp"
	"slices"
	"time"
)

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

// Both ids end up on the CLI's command line, where a leading hyphen would make
// another option of them; session ids come out of containers.
var commandLineID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// Valid reports whether the CLI can be given the id.
func (id SessionID) Valid() bool { return commandLineID.MatchString(string(id)) }

// Check says whether a start can be asked for: it is invalid where it names too
// much, too little, or what no id looks like.
func (st SessionStart) Check() error {
	var cause string
	switch named := st.SessionID != "" || st.At != ""; {
	case (st.Mode == SessionContinue || st.Mode == SessionFresh) && named:
		cause = "A conversation is named, but not whether to resume or to copy it."
	case st.Mode == SessionResume && (st.SessionID == "" || st.At != ""):
		cause = "To resume a conversation, name its session and nothing else: only a copy can end at one of its messages."
	case !slices.Contains([]SessionMode{SessionContinue, SessionFresh, SessionResume, SessionFork}, st.Mode):
		cause = "Loop does not know this way to begin a conversation."
	case st.SessionID != "" && !st.SessionID.Valid():
		cause = "This is not the id of a session."
	case st.At != "" && !commandLineID.MatchString(st.At):
		cause = "This is not the id of a message."
	default:
		return nil
	}
	return Fail(CodeInvalid, nil, cause, "Choose a conversation from the list of sessions, or start a new one.")
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
