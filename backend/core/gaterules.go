package core

import "time"

// GateRuleOrigin says whose a rule of the gate is.
type GateRuleOrigin string

const (
	RuleFirst      GateRuleOrigin = "first"      // the gate's own, which nothing precedes
	RuleProject    GateRuleOrigin = "project"    // of a project's file; counts only where it is stricter than all others
	RuleRemembered GateRuleOrigin = "remembered" // of the person's answers for the project
	RuleYours      GateRuleOrigin = "yours"      // of the person's settings
	RuleBuiltIn    GateRuleOrigin = "built_in"   // of the baseline that Loop ships
	RuleDefault    GateRuleOrigin = "default"    // what becomes of the rest
)

// GateRuleClass is which list a rule stands in.
type GateRuleClass string

const (
	RuleOfFiles    GateRuleClass = "file_rules"
	RuleOfCommands GateRuleClass = "command_rules"
	RuleOfSockets  GateRuleClass = "path_rules"
	RuleOfSites    GateRuleClass = "site_rules"
	RuleOfAll      GateRuleClass = "default" // the last row alone
)

// GateRule is one rule that is in force, in the order in which rules are tried. Only
// rules of one class stand in each other's way. Where several of the baseline's have one
// id they are one row.
type GateRule struct {
	Number   int            `json:"number"` // from 1
	ID       string         `json:"id"`     // as decisions name it; made of its content where it has none. Empty: the default
	Origin   GateRuleOrigin `json:"origin"`
	Class    GateRuleClass  `json:"class"`
	Index    int            `json:"index"`          // in its list, from 0; with origin and class it names the rule for a change
	Path     string         `json:"path,omitempty"` // the file that has it
	Line     int            `json:"line,omitempty"`
	Decision string         `json:"decision"` // allow, deny or approve
	Calls    []string       `json:"calls"`    // read, write, …; run; connect; navigate
	Patterns []string       `json:"patterns"` // as a person reads them: ~ is any home, <project> a folder of the project
	Args     []string       `json:"args,omitempty"`
	Text     string         `json:"text"` // what it says, in plain words
	Message  string         `json:"message,omitempty"`
	Advice   string         `json:"advice,omitempty"`
	Category string         `json:"category,omitempty"`
	Scope    ApprovalScope  `json:"scope,omitempty"` // project or always; empty: Loop's own
	Rule     string         `json:"rule,omitempty"`  // as JSON, as it stands in its file; empty where it cannot be changed
	Editable bool           `json:"editable,omitempty"`
	Off      bool           `json:"off,omitempty"` // the person's, and turned off: it counts for nothing

	Hits       int64     `json:"hits"` // calls of the last 30 days for which it was the rule that decided or asked
	LastUsed   time.Time `json:"last_used,omitzero"`
	Stale      bool      `json:"stale,omitempty"`       // the person's or project's, and without a hit in 90 days
	ShadowedBy int       `json:"shadowed_by,omitempty"` // number of an earlier rule that matches all that this one does
	Recent     int       `json:"recent"`                // recent decisions on calls that it matches by itself
}

// GateRuleFile is a settings file that may have rules.
type GateRuleFile struct {
	Origin   GateRuleOrigin    `json:"origin"`
	Path     string            `json:"path"`
	Approved bool              `json:"approved,omitempty"`   // a project's file that the person trusts as it is
	Waiting  []string          `json:"waiting,omitempty"`    // its settings that are not in force until it is approved
	Problems []SettingsProblem `json:"problems,omitempty"`   // the first that is no warning says why the file is not used
	LastGood bool              `json:"last_good,omitempty"`  // with a problem: its last good version holds
	Stopped  string            `json:"stopped,omitempty"`    // why nothing starts in the channel until it is corrected
	SHA256   string            `json:"sha256,omitempty"`     // of a file that waits, for its approval
	Project  ChannelID         `json:"channel_id,omitempty"` // of remembered rules: the channel at the top
}

// GateRuleList is every rule in force for programs that a channel starts from now on.
type GateRuleList struct {
	ChannelID ChannelID      `json:"channel_id"` // empty: the person's rules alone
	Policy    string         `json:"policy"`     // agent, person, system or plan
	Mode      string         `json:"mode"`       // record, shadow or enforce
	ModeFrom  string         `json:"mode_from"`  // settings, or the folder that has a mode of its own
	Enabled   bool           `json:"enabled"`
	Rules     []GateRule     `json:"rules"`
	Files     []GateRuleFile `json:"files"`
	Version   string         `json:"version"`        // changes with any rule
	Recent    int            `json:"recent"`         // how many recent decisions the rules were tried on
	Since     time.Time      `json:"since,omitzero"` // hits are counted from here on
	Uncounted string         `json:"uncounted"`      // what hits leave out, a sentence
	Guessed   bool           `json:"guessed,omitempty"`
	Undo      *GateRuleUndo  `json:"undo,omitempty"` // the last change that can be taken back
}

// GateRuleUndo is one change of rules that can be taken back.
type GateRuleUndo struct {
	ID    string        `json:"id"`
	At    time.Time     `json:"at"`
	Text  string        `json:"text"` // “Removed: allow write of ~/x”
	Scope ApprovalScope `json:"scope"`
}

// GateCall is a call to try. It has a Path with an Operation, Connect, Exec, or Site.
type GateCall struct {
	Operation string   `json:"operation,omitempty"`
	Path      string   `json:"path,omitempty"`    // absolute, or below ~/ or <project>/
	Connect   string   `json:"connect,omitempty"` // a socket's path, or @ and its name
	Exec      []string `json:"exec,omitempty"`    // the arguments, with the program first
	Line      string   `json:"line,omitempty"`    // in place of exec: words with spaces between them
	Site      string   `json:"site,omitempty"`    // a host, or an address of which its host counts
}

// GateTryRequest is a call to judge by the rules in force, as they are or with a
// candidate.
type GateTryRequest struct {
	ChannelID ChannelID      `json:"channel_id,omitempty"`
	Policy    string         `json:"policy,omitempty"` // empty: agent
	Call      GateCall       `json:"call"`
	Candidate *GateCandidate `json:"candidate,omitempty"`
}

// GateCandidate is a rule that a person thinks of.
type GateCandidate struct {
	Class GateRuleClass `json:"class"`
	Rule  string        `json:"rule"`            // JSON
	Scope ApprovalScope `json:"scope,omitempty"` // always (the default) or project
	Index int           `json:"index,omitempty"` // where in its list it would stand
	// Replaces says that it would stand in the place of the rule at Index.
	Replaces bool `json:"replaces,omitempty"`
}

// GateTry is what would become of a call.
type GateTry struct {
	What     string        `json:"what"`     // “write /home/ana/.bashrc”
	Decision string        `json:"decision"` // allow, deny or approve, as the rules say
	Now      string        `json:"now"`      // the same in the channel's mode
	Mode     string        `json:"mode"`
	Number   int           `json:"number"` // of the row that decides
	Rule     string        `json:"rule,omitempty"`
	Reason   string        `json:"reason"` // a sentence
	Advice   string        `json:"advice,omitempty"`
	Category string        `json:"category,omitempty"`
	Steps    []GateTryStep `json:"steps"`          // rows of the call's class, in order
	Note     string        `json:"note,omitempty"` // what the rules alone do not say
	Case     string        `json:"case"`           // the call as a case of loop gate test, JSON
}

// GateTryStep says of one row, or of several that follow one another, what it says of a call.
type GateTryStep struct {
	From    int    `json:"from"`
	To      int    `json:"to"`
	Outcome string `json:"outcome"` // none, decides, weaker (it matches, and another is stricter), late (it is never reached)
	Text    string `json:"text"`
}

// GateRuleMatches are the recent decisions on calls that a candidate matches by itself.
type GateRuleMatches struct {
	Text       string      `json:"text"` // the rule in plain words
	Matches    []RuleMatch `json:"matches"`
	Total      int         `json:"total"`  // all that it matches, of which Matches are the newest
	Of         int         `json:"of"`     // how many decisions were looked at
	Denied     int         `json:"denied"` // of Total: those that were denied
	ShadowedBy string      `json:"shadowed_by,omitempty"`
	Shadows    []string    `json:"shadows,omitempty"` // ids of rules that it would leave nothing
	Refused    *Failure    `json:"refused,omitempty"` // why it cannot be stored
}

// GateRuleAction is a kind of change.
type GateRuleAction string

const (
	RuleAdd    GateRuleAction = "add"
	RuleChange GateRuleAction = "change"
	RuleMove   GateRuleAction = "move"
	RuleRemove GateRuleAction = "remove"
	RuleOff    GateRuleAction = "off" // it stays in its list and counts for nothing
	RuleOn     GateRuleAction = "on"
)

// GateRuleEdit is one change of the person's own rules: those of the settings with the
// scope always, those of a project with the scope project.
type GateRuleEdit struct {
	ChannelID ChannelID      `json:"channel_id,omitempty"`
	Action    GateRuleAction `json:"action"`
	Scope     ApprovalScope  `json:"scope"`
	Class     GateRuleClass  `json:"class"`
	Index     int            `json:"index"`          // of the rule; with add, where it comes to stand
	To        int            `json:"to,omitempty"`   // move: its new index
	Was       string         `json:"was,omitempty"`  // the rule as it was listed; another one is a conflict
	Rule      string         `json:"rule,omitempty"` // add, change: JSON
	By        string         `json:"by,omitempty"`
}

// GateSuggestion is a rule that would have answered what a person was asked and has
// always allowed.
type GateSuggestion struct {
	Class    GateRuleClass `json:"class"`
	Rule     string        `json:"rule"` // JSON
	Text     string        `json:"text"`
	From     string        `json:"from"` // answers, or shadow: seen while only watching
	Asked    int           `json:"asked"`
	Runs     int           `json:"runs"`
	Channels int           `json:"channels"`
	Denied   int           `json:"denied"` // recent decisions that it matches and that were denied
}
