package core

import (
	"strings"
	"time"
)

// TalkPrefix begins the ids of conversations in terminals. Their events carry the id in the
// place of a run's, and no run has one of these.
const TalkPrefix = "talk-"

// NewTalkID names a conversation that begins.
func NewTalkID() RunID { return RunID(TalkPrefix + NewID()) }

// IsTalk reports whether an id is that of a conversation in a terminal.
func IsTalk(id RunID) bool { return strings.HasPrefix(string(id), TalkPrefix) }

// TerminalTalk is a stretch of one conversation with the agent's CLI in a terminal: prompts
// that follow one another without a long pause, and without a run of Loop's in between.
// Everything in it is from a transcript that the agent could write, and bounded.
type TerminalTalk struct {
	ID         RunID      `json:"talk_id"`
	ChannelID  ChannelID  `json:"channel_id"`
	SessionID  SessionID  `json:"session_id"`
	TerminalID TerminalID `json:"terminal_id,omitempty"` // where it was last held
	Title      string     `json:"title"`                 // the first prompt in one line; empty where there was none
	Prompts    int        `json:"prompts"`
	Working    bool       `json:"working,omitempty"` // the agent is at a turn
	Broken     bool       `json:"broken,omitempty"`  // the last turn ended with its program, or nobody knows how
	Demo       bool       `json:"demo,omitempty"`
	Began      int64      `json:"began_ms"`
	TurnBegan  int64      `json:"turn_began_ms,omitempty"` // while it is working
	Last       int64      `json:"last_ms"`                 // of what was last said or done
	// Usage is what it used so far. The agent's own count takes the place of Loop's estimate
	// when the program in the terminal ends.
	Usage
	// Unpriced are models of which no price is known: what they cost is not in CostUSD.
	Unpriced []string `json:"unpriced,omitempty"`
	// AddedUSD is by how much the cost has changed since the event before of the same talk.
	AddedUSD float64 `json:"added_usd,omitempty"`
}

// SavedTalk is a talk and how far its transcript was read.
type SavedTalk struct {
	TerminalTalk
	From   int64     // where in the transcript it begins
	Offset int64     // behind the last line that is stored
	Prior  SpentOn   // the agent's own count before it
	Stated SpentOn   // …and its latest one
	At     time.Time // of the change
	// Rested says of one that is working that the agent itself has ended its turn: its
	// sub-agents go on.
	Rested bool         `json:"rested,omitempty"`
	Agents []*TalkAgent `json:"agents,omitempty"`
}

// TalkAgent is a sub-agent of a talk, and how far its transcript was read.
type TalkAgent struct {
	ID      string `json:"id"`
	Talk    RunID  `json:"talk"` // that its call is in
	Call    string `json:"call"`
	Kind    string `json:"kind,omitempty"`
	From    int64  `json:"from,omitempty"`    // where the present talk begins in its transcript
	Offset  int64  `json:"offset,omitempty"`  // behind the last line that is stored
	Counted int64  `json:"counted,omitempty"` // up to which the agent's own count covers it
	Began   int64  `json:"began,omitempty"`   // in ms, like Last
	Last    int64  `json:"last,omitempty"`
	Calls   int    `json:"calls,omitempty"`
	Tokens  int64  `json:"tokens,omitempty"`
	Working bool   `json:"working,omitempty"`
	Told    bool   `json:"told,omitempty"` // how it has ended
}

// SpentOn is the agent's own count for a whole conversation. Unknown says that there is none;
// Part that it knew no price of some model.
type SpentOn struct {
	Unknown bool         `json:"unknown,omitempty"`
	Part    bool         `json:"part,omitempty"`
	USD     float64      `json:"usd,omitempty"`
	Models  []ModelUsage `json:"models,omitempty"`
	Offset  int64        `json:"offset,omitempty"` // behind its line in the transcript
}

// RunSpan is when a run of a channel was under way.
type RunSpan struct {
	Session SessionID
	From    time.Time
	To      time.Time // zero while it goes on
}
