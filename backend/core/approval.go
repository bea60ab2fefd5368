package core

import "time"

// ApprovalKind says what kind of act waits.
type ApprovalKind string

const (
	ApprovalFile     ApprovalKind = "file"
	ApprovalExec     ApprovalKind = "execve"
	ApprovalConnect  ApprovalKind = "connect"
	ApprovalNavigate ApprovalKind = "navigate" // of a page in the channel's browser, held there
	ApprovalFlood    ApprovalKind = "flood"    // one question about a run that asks too much
)

// ApprovalState is how an approval stands; only a waiting one can be answered.
type ApprovalState string

const (
	ApprovalWaiting   ApprovalState = "waiting"
	ApprovalAllowed   ApprovalState = "allowed"
	ApprovalDenied    ApprovalState = "denied"
	ApprovalExpired   ApprovalState = "expired"   // nobody answered in time: denied once
	ApprovalWithdrawn ApprovalState = "withdrawn" // nothing waits for it any more: the process died
	ApprovalBroken    ApprovalState = "broken"    // the link broke or Loop ended: denied once
	ApprovalGathered  ApprovalState = "gathered"  // it is asked about with others, in a flood's question
)

// ApprovalScope is how far an answer reaches.
type ApprovalScope string

const (
	ScopeOnce    ApprovalScope = "once"
	ScopeRun     ApprovalScope = "run" // until the run, or the terminal's program, ends
	ScopeProject ApprovalScope = "project"
	ScopeAlways  ApprovalScope = "always"
)

// Approval is an act of an agent that is held until a person answers: by the kernel, or a page by its browser. It is
// also the payload of gate.asked, gate.changed and gate.resolved. What comes from the
// container (Target, AskedAs, From, Details,
// Processes, Diff) is hostile text.
type Approval struct {
	ID        string        `json:"approval_id"`
	ChannelID ChannelID     `json:"channel_id"`
	RunID     RunID         `json:"run_id,omitempty"` // empty for a terminal
	SpawnID   SpawnID       `json:"spawn_id"`
	ToolUseID string        `json:"tool_use_id,omitempty"` // the tool call that caused it, where it is known
	Kind      ApprovalKind  `json:"kind"`
	State     ApprovalState `json:"state"`

	Operation string `json:"operation,omitempty"` // file: write, create, delete, …; exec: run; connect: connect; navigate: navigate
	Target    string `json:"target"`
	AskedAs   string `json:"asked_as,omitempty"`
	Site      string `json:"site,omitempty"` // navigate: the part of the host that the answer is about
	From      string `json:"from,omitempty"`
	Call      string `json:"call,omitempty"` // of the kernel, e.g. renameat2
	Calls     int    `json:"calls"`          // how many held calls this one question stands for
	Append    bool   `json:"append,omitempty"`
	InPlace   bool   `json:"in_place,omitempty"`
	Title     string `json:"title"`                 // “Write to a start-up file”
	Why       string `json:"why"`                   // the rule's message, or what the default is
	Risk      string `json:"consequence,omitempty"` // what happens if it is allowed, in a clause
	Rule      string `json:"rule,omitempty"`
	Category  string `json:"category,omitempty"` // package policy's

	// Details are facts that no other field says, e.g. where a link leads to.
	Details []ApprovalDetail `json:"details,omitempty"`

	Processes []ApprovalProcess `json:"processes"` // the one that asks first
	// Diff is unified, bounded, and present only where the act makes exactly this
	// change. DiffNote says why there is none, or what it leaves out.
	Diff     string `json:"diff,omitempty"`
	DiffNote string `json:"diff_note,omitempty"`
	Digest   string `json:"digest"` // what an answer is bound to
	// Groups are, of a flood, the calls behind it, each of which can have an answer of its
	// own; Calls may be more than theirs. Allowed as a whole, all are asked about one by
	// one; denied, all that the run holds is denied.
	Groups []ApprovalGroup `json:"groups,omitempty"`
	// OtherProcesses is, of a flood, how many more processes ask than the first.
	OtherProcesses int `json:"other_processes,omitempty"`

	// Offers are the answers that can be remembered, narrowest first.
	Offers []ApprovalOffer `json:"offers,omitempty"`

	CreatedAt  time.Time     `json:"created_at"`
	Deadline   time.Time     `json:"deadline,omitzero"` // denied once at this time; zero: it waits for the person
	ResolvedAt time.Time     `json:"resolved_at,omitzero"`
	Scope      ApprovalScope `json:"scope,omitempty"` // of the answer
	By         string        `json:"by,omitempty"`    // window, dialog, command line, a rule, time, …
	Reason     string        `json:"reason,omitempty"`
}

// ApprovalDetail is one more fact of an act. Text is hostile, Label is a few words.
type ApprovalDetail struct {
	Label string `json:"label"`
	Text  string `json:"text"`
}

// ApprovalProcess is one process of those that led to an approval.
type ApprovalProcess struct {
	Pid     int    `json:"pid"`
	Exe     string `json:"exe,omitempty"`
	Command string `json:"command"`
	// Short is what a person calls it, where Command is more than that.
	Short string `json:"short,omitempty"`
}

// ApprovalGroup are held calls of a flood that do the same, below one folder. Target is
// hostile text.
type ApprovalGroup struct {
	ID        string       `json:"id"`
	Kind      ApprovalKind `json:"kind"`
	Operation string       `json:"operation"`
	Target    string       `json:"target"`         // what all of them have in common
	Wide      string       `json:"wide,omitempty"` // pattern after it that matches more than them: "/**", " *"
	Calls     int          `json:"calls"`
	Category  string       `json:"category,omitempty"`
	Why       string       `json:"why,omitempty"` // as of an approval
	First     time.Time    `json:"first"`
	Last      time.Time    `json:"last"`
	// OnceOnly says that it is allowed once or not at all, and else for this run.
	OnceOnly bool                `json:"once_only,omitempty"`
	Items    []ApprovalGroupItem `json:"items"` // the oldest first, bounded
}

// ApprovalGroupItem is one act of a group.
type ApprovalGroupItem struct {
	Operation string    `json:"operation"`
	Target    string    `json:"target"`
	At        time.Time `json:"at"`
	Calls     int       `json:"calls"`
}

// GroupVerdict is what a person says to a group of a flood.
type GroupVerdict string

const (
	GroupDeny      GroupVerdict = "deny"
	GroupAllowOnce GroupVerdict = "once"
	GroupAllowRun  GroupVerdict = "run" // also what the run does later within the group's pattern
	GroupAsk       GroupVerdict = "ask" // each by itself
)

// GroupAnswer is the answer to one group. ID names its pattern, too.
type GroupAnswer struct {
	ID      string       `json:"id"`
	Verdict GroupVerdict `json:"verdict"`
}

// ApprovalOffer is a rule that an answer would store.
type ApprovalOffer struct {
	Scope   ApprovalScope `json:"scope"`
	Pattern string        `json:"pattern"`
	Rule    string        `json:"rule"` // as JSON, as it would stand in the settings file
	Matches []RuleMatch   `json:"matches,omitempty"`
	Of      int           `json:"of,omitempty"` // how many recent decisions Matches were looked for in
}

// RuleMatch is a decision of before that a rule would have covered.
type RuleMatch struct {
	At       time.Time     `json:"at"`
	What     string        `json:"what"`
	Decision ApprovalState `json:"decision"`
	Own      bool          `json:"own,omitempty"` // this very question
}

// ApprovalAnswer is what a person says to an approval.
type ApprovalAnswer struct {
	Allow bool          `json:"allow"`
	Scope ApprovalScope `json:"scope"`
	// Digest is the approval's as it was shown: an answer to another one is refused.
	Digest   string `json:"digest"`
	AuthorID string `json:"author_id,omitempty"`
	By       string `json:"by,omitempty"`
	// Groups are answers to groups of a flood. With them Allow counts for nothing, and what
	// is in no group that is named goes on waiting.
	Groups []GroupAnswer `json:"groups,omitempty"`
}

// GateStatus is whether the gate holds, as it was probed and never as configured.
type GateStatus struct {
	State  string    `json:"state"` // on, off, unknown, broken; record or shadow: it only writes down
	Text   string    `json:"text"`  // for the status bar
	Probed time.Time `json:"probed,omitzero"`
	Why    string    `json:"why,omitempty"` // what is missing, and the remedy
	// Modes are the folders of channels in which the gate works in another mode than the
	// settings' one: record, shadow or enforce. They hold for threads in the folder as well,
	// and for its worktrees that have none of their own.
	Modes map[string]string `json:"modes,omitempty"`
}

// GateDecisions is what the gate has decided without asking, of one run and, where it is
// known, one of its tool calls. It is the payload of gate.decided; several of a tool call
// add up. What comes from the container (Target, Process) is hostile text.
type GateDecisions struct {
	ChannelID ChannelID      `json:"channel_id"`
	RunID     RunID          `json:"run_id"`
	SpawnID   SpawnID        `json:"spawn_id"`
	ToolUseID string         `json:"tool_use_id,omitempty"`
	Allowed   int64          `json:"allowed,omitempty"` // calls that a rule allowed
	Unruled   int64          `json:"unruled,omitempty"` // calls that no rule covers
	Rules     []GateCount    `json:"rules,omitempty"`   // of Allowed, the most first
	Decisions []GateDecision `json:"decisions,omitempty"`
	More      int64          `json:"more,omitempty"`   // denied calls that are not listed
	Missed    int64          `json:"missed,omitempty"` // reports that did not come through
}

// GateCount counts the calls that one rule allowed.
type GateCount struct {
	Rule      string `json:"rule"`
	Operation string `json:"operation"`
	Calls     int64  `json:"calls"`
}

// GateDecision is what a rule, or an answer of before, has decided of one or more equal
// calls.
type GateDecision struct {
	ID        string        `json:"id"` // names its record
	At        time.Time     `json:"at"`
	State     ApprovalState `json:"state"` // allowed or denied
	By        string        `json:"by"`    // “a rule”, “an answer for this run”, …
	Kind      ApprovalKind  `json:"kind"`
	Operation string        `json:"operation"`
	Target    string        `json:"target"`
	Rule      string        `json:"rule,omitempty"`
	Category  string        `json:"category,omitempty"`
	Message   string        `json:"message,omitempty"`
	Process   string        `json:"process,omitempty"` // command line, shortened
	Calls     int64         `json:"calls"`
}
