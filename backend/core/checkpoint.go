package core

import (
	"os"
	"time"
)

// WorkFolder is the folder of this computer in which a channel's agents work, opened so that
// no link leads out of it. Whoever asked for it closes the root.
type WorkFolder struct {
	Root     *os.Root
	Path     string
	ReadOnly bool                   // for agents
	Covered  func(path string) bool // the agents see something else there; may be nil
}

// CheckpointKind says when the files were kept.
type CheckpointKind string

const (
	CheckpointBefore CheckpointKind = "before" // a run, before its agent began
	CheckpointAfter  CheckpointKind = "after"  // a run
	CheckpointKept   CheckpointKind = "kept"   // going back, which it undoes
)

// Checkpoint is a channel's files at one moment, and how its conversation stood.
type Checkpoint struct {
	ID        string
	ChannelID ChannelID
	RunID     RunID // that it is of; of one kept, the run that was gone back to
	Kind      CheckpointKind
	Tree      string // names the files in the store of checkpoints; empty: there are none
	At        time.Time
	Note      string // why it cannot be gone back to; then Tree only makes the next one quicker
	Talk      Talk
	Rewind    *Rewind // of one kept
}

// Talk is where a channel's conversation stood before a run.
type Talk struct {
	// Start is how the run took the conversation up: fresh, resume or fork, never continue.
	Start SessionStart `json:"start,omitzero"`
	// Bytes is how long the transcript of Start's session was then.
	Bytes int64 `json:"bytes,omitempty"`
	Known bool  `json:"known,omitempty"`
}

// TalkChange is what a channel's conversation becomes.
type TalkChange struct {
	Demo    bool
	Session SessionID
	Next    SessionStart
	Context Context
}

// RewindWhat says what goes back.
type RewindWhat string

const (
	RewindFiles        RewindWhat = "files"
	RewindConversation RewindWhat = "conversation"
	RewindBoth         RewindWhat = "both"
)

// Files reports whether files go back.
func (w RewindWhat) Files() bool { return w == RewindFiles || w == RewindBoth }

// Conversation reports whether the conversation goes back.
func (w RewindWhat) Conversation() bool { return w == RewindConversation || w == RewindBoth }

// RewindState is how far going back came.
type RewindState string

const (
	RewindBegun  RewindState = "begun"  // files are being written
	RewindDone   RewindState = "done"   // it went back
	RewindBroken RewindState = "broken" // Loop ended in the middle: some files may be of then, and some of now
	RewindUndone RewindState = "undone"
)

// Rewind is one going back to before a prompt, and the payload of rewind.went and
// rewind.undone.
type Rewind struct {
	ID       string      `json:"id"`
	RunID    RunID       `json:"run_id"` // whose prompt it went back to before
	Prompt   string      `json:"prompt"` // its beginning
	PromptMs int64       `json:"prompt_ms"`
	What     RewindWhat  `json:"what"`
	State    RewindState `json:"state"`
	Files    int         `json:"files"`  // that changed
	Leaves   []RunID     `json:"leaves"` // runs that left the conversation
	// Demo says of which kind of model the conversation is. WasSession and WasNext are how it
	// stood, and Session and Next what became of it.
	Demo       bool         `json:"demo,omitempty"`
	WasSession SessionID    `json:"was_session,omitempty"`
	WasNext    SessionStart `json:"was_next,omitzero"`
	WasContext Context      `json:"was_context,omitzero"`
	Session    SessionID    `json:"session,omitempty"`
	Next       SessionStart `json:"next,omitzero"`
}

// FileBack says what going back does with a file.
type FileBack string

const (
	BackChanged FileBack = "changed" // becomes what it was
	BackRemoved FileBack = "removed" // was not there then
	BackComes   FileBack = "comes"   // was there then, and is not now
	BackStays   FileBack = "stays"   // is another one than then, and stays so; Why says why
)

// BackFile is a file that is not as it was.
type BackFile struct {
	Path    string   `json:"path"` // below the folder, with slashes
	Back    FileBack `json:"back"`
	Added   int      `json:"added"` // lines; -1 with Removed: they were not counted
	Removed int      `json:"removed"`
	Bytes   int64    `json:"bytes"`            // as it would be
	OwnMs   int64    `json:"own_ms,omitempty"` // when the person changed it last; 0: only agents did
	// Merges says that the person's edit can be kept without what agents did to the file;
	// else keeping it keeps the whole file as it is.
	Merges bool   `json:"merges,omitempty"`
	Why    string `json:"why,omitempty"`
}

// TalkBack is what leaves a conversation.
type TalkBack struct {
	Why     string  `json:"why,omitempty"` // why it cannot go back
	Fresh   bool    `json:"fresh"`         // it begins anew
	Prompts int     `json:"prompts"`
	Turns   int     `json:"turns"`
	TookMs  int64   `json:"took_ms"`
	CostUSD float64 `json:"cost_usd"`
	Leaves  []RunID `json:"leaves"`
	Context Context `json:"context,omitzero"` // how full it is
	Then    Context `json:"then,omitzero"`    // how full it was
}

// RewindPreview is what going back to before a run would do.
type RewindPreview struct {
	RunID    RunID      `json:"run_id"`
	Prompt   string     `json:"prompt"`
	PromptMs int64      `json:"prompt_ms"`
	Mark     string     `json:"mark"`           // of the files as they are; what is done by it is refused once they change
	Files    []BackFile `json:"files"`          // by path
	Total    int        `json:"total"`          // of files, also of those that are too many to be listed
	NoFiles  string     `json:"no_files"`       // why files cannot go back
	Left     []string   `json:"left"`           // what is not kept, and what cannot come back, in sentences
	Head     string     `json:"head,omitempty"` // the commit that stays checked out
	Live     RunID      `json:"live,omitempty"` // the run under way, which has to be stopped first
	KeptFor  int        `json:"kept_for"`       // days
	Folder   string     `json:"folder,omitempty"`
	Talk     TalkBack   `json:"talk"`
}

// BackDiff is what going back does with the text of one file.
type BackDiff struct {
	Patch string `json:"patch"`         // unified hunks from now to then
	Own   []int  `json:"own"`           // lines of now that are the person's, from 1
	Why   string `json:"why,omitempty"` // why there is no patch
}

// BackRequest says what is to go back. Keep names files whose edits stay. Stop ends a run that
// is under way first.
type BackRequest struct {
	What RewindWhat `json:"what"`
	Keep []string   `json:"keep"`
	Mark string     `json:"mark"`
	Stop bool       `json:"stop"`
}

// WentBack is what came of it.
type WentBack struct {
	Rewind
	Text        string       `json:"text"` // the prompt in full, for the box; what follows was chosen for it
	Plan        bool         `json:"plan,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`
	Model       string       `json:"model,omitempty"`
	Effort      string       `json:"effort,omitempty"`
	Notices     []string     `json:"notices"`
}
