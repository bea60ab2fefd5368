package policy

// Decision is what a rule says.
type Decision string

const (
	Allow   Decision = "allow"   // silently
	Deny    Decision = "deny"    // without asking
	Approve Decision = "approve" // a person decides
)

// What stands before the id of a rule that only says what it would have done: such a rule
// allows, and its calls are written down one by one, as denied ones are.
const (
	WouldAsk  = "would ask: "
	WouldDeny = "would deny: "
)

// Operation is what is done to a file.
type Operation string

const (
	Read   Operation = "read"
	Write  Operation = "write" // changes what is there; also by a rename onto it
	Create Operation = "create"
	Delete Operation = "delete" // also the old name of a rename
	Stat   Operation = "stat"   // never held: the supervisor does not see it
	List   Operation = "list"   // as Stat
	Chmod  Operation = "chmod"  // mode, times and extended attributes
	Chown  Operation = "chown"
	Link   Operation = "link" // a second name for a file, judged by its first
)

// Category says how dangerous the object of a rule is. It decides the words of a
// question, and whether "always" is offered.
type Category string

const (
	Ordinary   Category = ""
	Startup    Category = "startup"    // runs later by itself: shells' files, hooks, settings of agents
	Credential Category = "credential" // never remembered
	Socket     Category = "socket"     // never remembered
	Escape     Category = "escape"     // never remembered
	GateOwn    Category = "gate"       // never remembered
)

// Remembered tells whether an answer about such an object may become a rule.
func (c Category) Remembered() bool { return c == Ordinary || c == Startup }

// PathRule judges the target of a connect to a Unix socket.
type PathRule struct {
	ID       string   `json:"id,omitempty"`
	Pattern  string   `json:"pattern"` // glob on the absolute path; an abstract socket is "@name"
	Decision Decision `json:"decision"`
	Message  string   `json:"message,omitempty"`
	Advice   string   `json:"advice,omitempty"`
	Category Category `json:"category,omitempty"`
	Off      bool     `json:"off,omitzero"` // it counts for nothing until it is turned on again
}

// CommandRule judges a program that is about to be executed. An empty list matches
// everything.
type CommandRule struct {
	ID           string   `json:"id,omitempty"`
	Commands     []string `json:"commands,omitempty"`      // globs on the base name
	ArgsPatterns []string `json:"args_patterns,omitempty"` // RE2 over the arguments, joined by single spaces
	Decision     Decision `json:"decision"`
	Message      string   `json:"message,omitempty"`
	Advice       string   `json:"advice,omitempty"`
	Category     Category `json:"category,omitempty"`
	Off          bool     `json:"off,omitzero"`
}

// FileRule judges operations on files. An empty list matches everything.
type FileRule struct {
	ID         string      `json:"id,omitempty"`
	Paths      []string    `json:"paths,omitempty"` // globs on the resolved absolute path
	Operations []Operation `json:"operations,omitempty"`
	Decision   Decision    `json:"decision"`
	Message    string      `json:"message,omitempty"`
	Advice     string      `json:"advice,omitempty"`
	Category   Category    `json:"category,omitempty"`
	Off        bool        `json:"off,omitzero"`
}

// Policy is the document that goes with a spawn. In each class the first rule that
// matches decides, and DefaultDecision where none does.
type Policy struct {
	Name            string        `json:"name,omitempty"` // agent, person, system, plan
	DefaultDecision Decision      `json:"default_decision"`
	PathRules       []PathRule    `json:"path_rules"`
	CommandRules    []CommandRule `json:"command_rules"`
	FileRules       []FileRule    `json:"file_rules"`
	SiteRules       []SiteRule    `json:"site_rules,omitempty"` // not for supervisors, which see no browser
	// Tighten are policies that can only make this one stricter, e.g. a project's: each
	// is judged by itself, without a Tighten of its own, and the strictest answer holds.
	Tighten []Policy `json:"tighten,omitempty"`
	// Agents are programs that go by a policy of their own as well. Only a whole policy has
	// them.
	Agents *Agents `json:"agents,omitempty"`
	// Debuggers has the programs of the spawn debug each other, but not its Agents. Then
	// command rules are advice for all of them. Only a whole policy has it.
	Debuggers bool `json:"debuggers,omitempty"`
}

// Agents are programs that a person may start under a policy of their own, whatever they
// are called then, and the policy that is stacked for them and for all that they start.
type Agents struct {
	Files  []string `json:"files"` // absolute paths where they are installed
	Policy Policy   `json:"policy"`
}

// Verdict is what a policy says of one call.
type Verdict struct {
	Decision Decision
	Rule     string // id of the rule; empty is the default
	Message  string // of the rule, for a person and for the program: what is guarded, and why
	Advice   string // of the rule, for the program alone: what it can do instead
	Category Category
}

// Told is what a program is told that is denied.
func (v Verdict) Told() string {
	if v.Message == "" || v.Advice == "" {
		return v.Message + v.Advice
	}
	return v.Message + " " + v.Advice
}

// Check tells why the rule cannot be used; nil where it can.
func (r FileRule) Check() error {
	c := compiler{}
	return c.file(&layer{files: newNode()}, r, 0)
}

// Check tells why the rule cannot be used; nil where it can.
func (r PathRule) Check() error {
	c := compiler{}
	return c.socket(&layer{sockets: newNode(), abstract: newNode()}, r, 0)
}

// Check tells why the rule cannot be used; nil where it can.
func (r CommandRule) Check() error {
	_, err := compileCommand(r)
	return err
}
