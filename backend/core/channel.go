package core

import (
	"cmp"
	"time"
)

// ChannelKind says what a channel is bound to.
type ChannelKind string

const (
	KindProject  ChannelKind = "project"  // a directory the person chose
	KindThread   ChannelKind = "thread"   // same directory as its parent
	KindWorktree ChannelKind = "worktree" // own git worktree of its parent
	KindDemo     ChannelKind = "demo"     // the scripted model, a directory of its own
)

// Channel is a conversation bound to a directory.
type Channel struct {
	ID        ChannelID   `json:"channel_id"`
	ParentID  ChannelID   `json:"parent_id,omitempty"`
	Kind      ChannelKind `json:"kind"`
	Name      string      `json:"name"`
	Dir       string      `json:"dir"` // absolute host path, cleaned
	SessionID SessionID   `json:"session_id,omitempty"`
	// DemoSessionID is the session of runs on the scripted model. It is kept
	// apart: the CLI restores a session's model, and a real model has no use for
	// a script's turns.
	DemoSessionID SessionID `json:"-"`
	// NextSession says how the next run begins, if not with SessionID.
	// DemoNextSession is the same for the scripted model.
	NextSession     SessionStart `json:"next_session,omitzero"`
	DemoNextSession SessionStart `json:"-"`
	// StateID names the channel whose Claude folder this one uses; empty is its
	// own. See StateOwner.
	StateID ChannelID `json:"-"`
	// Choices are what the person chose for the channel alone.
	Choices ChannelChoices `json:"choices,omitzero"`
	// Branch is the branch that a worktree channel was made for.
	Branch string `json:"branch,omitempty"`
	// ParentDir is the main worktree of a worktree channel.
	ParentDir string `json:"parent_dir,omitempty"`
	// Context is how full the conversation was at the end of its latest run that
	// heard from the model.
	Context Context `json:"context,omitzero"`
	// Commands are those that the agent CLI offered when a run last ended here.
	Commands []string `json:"-"`
	// Untitled says that Loop chose the name, until the first prompt.
	Untitled  bool      `json:"-"`
	Origin    Origin    `json:"origin,omitzero"`
	CreatedAt time.Time `json:"created_at"`
}

// Origin is what a thread's conversation continues.
type Origin struct {
	ChannelID ChannelID `json:"channel_id,omitempty"`
	// EventID is the last message that both have, 0 where the timeline does not have it. Words
	// are its beginning, or the title of the conversation.
	EventID int64  `json:"event_id,omitempty"`
	Words   string `json:"words,omitempty"`
	// Open says that what is still said there is continued, too: up to the first prompt here.
	Open bool `json:"open,omitempty"`
}

// ChannelChoices are settings of one channel, over those of files. An empty one leaves the
// choice to them.
type ChannelChoices struct {
	// AgentID is the agent of the settings that the channel belongs to. Threads have their
	// parent's.
	AgentID   string   `json:"agent_id,omitempty"`
	Model     string   `json:"model,omitempty"`
	Effort    string   `json:"effort,omitempty"`
	ExtraDirs []string `json:"extra_dirs,omitempty"` // further folders to work in, absolute
	// ClaudeSetup is read or none: whether agents have copies of the person's own Claude
	// set-up. Threads have their parent's, because they share its Claude folder.
	ClaudeSetup string `json:"claude_setup,omitempty"`
	// Notify says what the desktop tells of the channel: one of Notifies; empty is as the
	// settings have it.
	Notify string `json:"notify,omitempty"`
}

// Notifies are what a person may want to be told of a channel while they do not look: that it
// needs them, that a run failed, that one is done; the first two; the first; nothing.
var Notifies = []string{"all", "problems", "needs_you", "never"}

// MaxChannelDirs bounds the further folders of one channel.
const MaxChannelDirs = 50

// AgentChoice is an agent of the settings, to which channels can belong.
type AgentChoice struct {
	ID   string `json:"id"`
	Name string `json:"name"` // as it is shown; empty is the id
}

// Main reports whether the channel is the main session of its agent: a project's own.
func (c Channel) Main() bool { return c.Kind == KindProject }

// Session returns the session that a run resumes.
func (c Channel) Session(demo bool) SessionID {
	if demo {
		return c.DemoSessionID
	}
	return c.SessionID
}

// Next returns the start that the channel keeps for its next run of that kind.
func (c Channel) Next(demo bool) SessionStart {
	if demo {
		return c.DemoNextSession
	}
	return c.NextSession
}

// StateOwner returns the channel whose Claude folder this one uses: a thread shares
// its parent's. Every channel has a home of its own.
func (c Channel) StateOwner() ChannelID { return cmp.Or(c.StateID, c.ID) }

// ChannelActivity is how a channel's runs stand.
type ChannelActivity struct {
	Queued      int
	Questions   int   // that wait for the person
	Active      *Run  // starting or running
	Undecided   bool  // Active waits for the person's word on the image that the project brings
	Talked      int64 // when something was last said in a terminal, in ms; 0: never
	Talking     int64 // since when the agent is at a turn in a terminal, in ms; 0: it is not
	Last        *Run  // newest run that ended
	LastEventID int64
}

// ChannelState is the word the sidebar shows.
type ChannelState string

const (
	ChannelIdle     ChannelState = "idle"
	ChannelQueued   ChannelState = "queued"
	ChannelWorking  ChannelState = "working"
	ChannelNeedsYou ChannelState = "needs_you"
	ChannelDone     ChannelState = "done"
	ChannelFailed   ChannelState = "failed"
)

// ChannelView is a channel and how it stands.
type ChannelView struct {
	Channel
	State        ChannelState `json:"state"`
	RunningSince time.Time    `json:"running_since,omitzero"`
	Queued       int          `json:"queued"`
	Questions    int          `json:"questions,omitempty"` // open ones; the channel is parked while there are any
	LastEventID  int64        `json:"last_event_id"`
	LastError    *Failure     `json:"last_error,omitempty"`
	Undecided    bool         `json:"undecided,omitempty"`    // its run waits for the person's word on the image that the project brings
	BrowserHeld  bool         `json:"browser_held,omitempty"` // the person drives its browser, and an agent waits for that
	Talking      bool         `json:"talking,omitempty"`      // the agent is at a turn in a terminal
	OnHost       bool         `json:"on_host,omitempty"`      // what a person prompts works on this computer itself, without a container
}

// View is the channel as its runs stand: the rule for the state that the page, the
// command line and agents see. frontend/src/model/frame.ts follows it by events.
func (c Channel) View(a ChannelActivity) ChannelView {
	v := ChannelView{Channel: c, State: ChannelIdle, Queued: a.Queued, Questions: a.Questions, LastEventID: a.LastEventID}
	v.Talking, v.Undecided = a.Talking > 0, a.Undecided && a.Active != nil
	switch {
	case a.Questions > 0:
		v.State = ChannelNeedsYou
	case v.Undecided:
		v.State, v.RunningSince = ChannelNeedsYou, a.Active.StartedAt
	case a.Active != nil:
		v.State, v.RunningSince = ChannelWorking, a.Active.StartedAt
	case a.Talking > 0:
		v.State, v.RunningSince = ChannelWorking, time.UnixMilli(a.Talking)
	case a.Queued > 0:
		v.State = ChannelQueued
	case a.Talked > 0 && (a.Last == nil || a.Last.EndedAt.UnixMilli() < a.Talked):
		v.State = ChannelDone
	case a.Last != nil && a.Last.State == RunDone:
		v.State = ChannelDone
	case a.Last != nil && a.Last.State != RunCancelled:
		v.State, v.LastError = ChannelFailed, a.Last.Outcome.Failure
	}
	return v
}

// ThreadRequest asks for a thread. An empty name is chosen; an empty Session
// forks the parent's conversation with the thread's first message.
type ThreadRequest struct {
	ParentID ChannelID    `json:"parent_id"`
	Name     string       `json:"name,omitempty"`
	Session  SessionStart `json:"session,omitzero"`
}

// WorktreeRequest asks for a channel in a git worktree of its parent's project.
// An absent branch is made from Base, or from what the parent has checked out.
type WorktreeRequest struct {
	ParentID ChannelID `json:"parent_id"`
	Branch   string    `json:"branch"`
	Name     string    `json:"name,omitempty"`
	Base     string    `json:"base,omitempty"`
}

// Branch is a branch of a project's repository.
type Branch struct {
	Name    string `json:"name"`
	Current bool   `json:"current,omitempty"` // it is checked out in the channel's folder
	// Where says in which folder it is checked out, and In in which channel if one is there.
	Where   string `json:"where,omitempty"`
	In      string `json:"in,omitempty"`
	AtMs    int64  `json:"at_ms"` // of its last commit
	Subject string `json:"subject"`
}

// BranchList is what a worktree can begin from, and what it begins without.
type BranchList struct {
	Branches []Branch `json:"branches"` // newest first; never null
	More     bool     `json:"more,omitempty"`
	Changes  int      `json:"changes"` // files of the channel's folder with changes that are not committed
	Changed  []string `json:"changed"` // the first of these; never null
}
