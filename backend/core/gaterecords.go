package core

import "time"

// GateLogQuery says which records of the gate are wanted, the newest Limit of them; 0 is
// 1000, and no more than 10000 are given. Empty fields leave nothing out. RunID and ID may
// be beginnings.
type GateLogQuery struct {
	ChannelID ChannelID `json:"channel_id,omitempty"`
	RunID     RunID     `json:"run_id,omitempty"`
	ID        string    `json:"id,omitempty"`
	Limit     int       `json:"limit,omitempty"`
}

// GateRecord is one decision as it is written down. A record of kind counted stands for
// calls that are not named, one of kind log is about the log itself.
type GateRecord struct {
	ID        string    `json:"id,omitempty"`
	At        time.Time `json:"at"`
	ChannelID ChannelID `json:"channel_id"`
	RunID     RunID     `json:"run_id,omitempty"`
	SpawnID   SpawnID   `json:"spawn_id"`
	ToolUseID string    `json:"tool_use_id,omitempty"`
	Kind      string    `json:"kind"`
	Operation string    `json:"operation"`
	Target    string    `json:"target"`
	Rule      string    `json:"rule,omitempty"`
	Category  string    `json:"category,omitempty"`
	Decision  string    `json:"decision"`
	By        string    `json:"by"`
	Scope     string    `json:"scope,omitempty"`
	Calls     int       `json:"calls"`
	LatencyMs int64     `json:"latency_ms"`
	Pid       int       `json:"pid,omitempty"`
	Exe       string    `json:"exe,omitempty"`     // the program's file, as the kernel names it
	Command   string    `json:"command,omitempty"` // what the process says of itself
	Policy    string    `json:"policy"`            // version of the spawn's policy
	Digest    string    `json:"digest,omitempty"`
	Hash      string    `json:"hash"`
	Prev      string    `json:"prev"`
}

// GateLogFile is what the verification of one file of records has found.
type GateLogFile struct {
	File      string    `json:"file"`
	ChannelID ChannelID `json:"channel_id"`
	Records   int       `json:"records"`
	Broken    string    `json:"broken,omitempty"` // what is wrong; empty: it is as it was written
}

// GateTestResult is what became of one case of a policy test.
type GateTestResult struct {
	Case    int    `json:"case"` // from 1
	What    string `json:"what"` // “write /home/u/.bashrc”
	Want    string `json:"want"`
	Got     string `json:"got"`
	Rule    string `json:"rule,omitempty"` // that decided; empty: the default
	Message string `json:"message,omitempty"`
}

// Failed says that the policy decides otherwise than the test wants.
func (r GateTestResult) Failed() bool { return r.Got != r.Want }

// GateLogPageQuery says which entries of the record are wanted. Empty fields leave
// nothing out.
type GateLogPageQuery struct {
	ChannelID ChannelID `json:"channel_id"` // required
	RunID     RunID     `json:"run_id,omitempty"`
	NoRun     bool      `json:"no_run,omitempty"` // only entries of programs in terminals
	ToolUseID string    `json:"tool_use_id,omitempty"`
	NoTool    bool      `json:"no_tool,omitempty"`  // only entries that belong to no tool call
	Decision  string    `json:"decision,omitempty"` // as in records; asked: a person was; refused: all but allowed
	Kind      string    `json:"kind,omitempty"`     // file, execve, connect, counted, log
	Text      string    `json:"text,omitempty"`     // in the object, the rule, the program or who decided; the case of letters does not count
	After     string    `json:"after,omitempty"`    // next of the page before
	Limit     int       `json:"limit,omitempty"`    // 0 is 200, and no more than 1000 are given
}

// GateLogPage are entries of a channel's record, newest first. Like ones that follow one
// another in a tool call are one.
type GateLogPage struct {
	Entries []GateLogEntry `json:"entries"`
	Next    string         `json:"next,omitempty"` // empty: there are no older ones
}

// GateLogEntry is one decision, or several that are alike.
type GateLogEntry struct {
	Record GateRecord `json:"record"` // the newest; its calls are those of all
	Day    string     `json:"day"`    // of its file, 2006-01-02 in UTC
	Entry  int        `json:"entry"`  // its number in that file, from 1
	Alike  int        `json:"alike"`  // how many entries it stands for
	First  time.Time  `json:"first"`  // when the oldest of them was decided
	Asked  bool       `json:"asked,omitempty"`
}

// GateLogSummary counts a channel's entries, and those of each tool call. The counts of a
// query leave its decision, kind, text, after and limit out.
type GateLogSummary struct {
	Entries  int            `json:"entries"`
	Calls    int64          `json:"calls"`
	Asked    int            `json:"asked"`
	Denied   int            `json:"denied"` // expired, withdrawn and broken ones among them
	Files    int            `json:"files"`
	Programs int            `json:"programs"`
	Sockets  int            `json:"sockets"`
	Sites    int            `json:"sites"`
	Counted  int            `json:"counted"`         // entries that count calls and name none
	Groups   []GateLogGroup `json:"groups"`          // newest first
	Older    bool           `json:"older,omitempty"` // there are groups before these; only the newest 2000 are listed
	AnswerMs int64          `json:"answer_ms"`       // that answers took on average
}

// GateLogGroup counts the entries of one tool call, or those of a run that belong to none.
type GateLogGroup struct {
	RunID     RunID     `json:"run_id,omitempty"`
	ToolUseID string    `json:"tool_use_id,omitempty"`
	First     time.Time `json:"first"`
	Last      time.Time `json:"last"`
	Entries   int       `json:"entries"`
	Calls     int64     `json:"calls"`
	Asked     int       `json:"asked"`
	Denied    int       `json:"denied"`
}

// GateWhy is all that is known of one entry.
type GateWhy struct {
	Entry  GateLogEntry `json:"entry"`
	Of     int          `json:"of"`               // entries of that day
	Holds  bool         `json:"holds"`            // it is as it was written, and follows the one before it
	Broken string       `json:"broken,omitempty"` // why not
	Rule   *GateRule    `json:"rule,omitempty"`   // as it is now; nil: there is no such rule any more, or the default decided
}

// GateChain is whether a channel's record is as it was written.
type GateChain struct {
	At      time.Time    `json:"at"` // when it was looked at
	Days    int          `json:"days"`
	Entries int          `json:"entries"`
	Breaks  []ChainBreak `json:"breaks"`
}

// ChainBreak is a place where a record is not as it was written.
type ChainBreak struct {
	Day   string `json:"day"`
	Entry int    `json:"entry"`
	Text  string `json:"text"` // “Entry 1,188 does not follow 1,187.”
}
