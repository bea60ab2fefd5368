package demo

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// DefaultScript is what a run without a directive gets.
const DefaultScript = "tour"

// maxSteps of a script: the id of a tool call has three digits for the next one.
const maxSteps = 999

// Script is one file: the answers of a model, in order.
type Script struct {
	Name        string `json:"-"` // the file's name without .json
	Title       string `json:"title"`
	Description string `json:"description"`
	PaceMs      int    `json:"pace_ms"` // wait between two pieces of streamed text, ms
	Steps       []Step `json:"steps"`
}

// Step is one answer of the model. Every step but the last must call a tool:
// the CLI asks again only when it has results to send.
type Step struct {
	When    *When   `json:"when"`     // the step is passed over where this does not hold
	DelayMs int     `json:"delay_ms"` // wait before the first piece, ms
	Blocks  []Block `json:"blocks"`
	Usage   Usage   `json:"usage"`
	Error   *Fault  `json:"error"`
}

// Block is one content block of an answer.
type Block struct {
	When  *When          `json:"when"`
	Type  BlockType      `json:"type"`
	Text  string         `json:"text"`  // text and thinking
	Tool  string         `json:"tool"`  // tool_use: Bash, Write, mcp__loop__send_message …
	Input jsontext.Value `json:"input"` // tool_use: an object; strings in it may hold templates
}

// BlockType names a kind of content block.
type BlockType string

const (
	Text     BlockType = "text"
	Thinking BlockType = "thinking"
	ToolUse  BlockType = "tool_use"
)

// When holds if all that is stated in it holds.
type When struct {
	PromptedBefore *bool  `json:"prompted_before"` // the conversation has an earlier prompt
	Tool           string `json:"tool"`            // the CLI offers a tool of this name
	ResultHas      string `json:"result_has"`      // some tool result since the prompt contains this
	ResultLacks    string `json:"result_lacks"`    // none does
	Answering      *bool  `json:"answering"`       // the prompt answers a question or a plan
	PromptHas      string `json:"prompt_has"`      // the prompt contains this
	Compacted      *bool  `json:"compacted"`       // the person has sent /compact in this conversation
}

// Usage is what the answer claims to have cost, in tokens. Zero output_tokens
// are estimated from the text.
type Usage struct {
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
}

// FaultKind names a way to go wrong.
type FaultKind string

const (
	FaultStatus    FaultKind = "status"    // answer with an HTTP error instead
	FaultEvent     FaultKind = "event"     // an error event in the middle of the stream
	FaultCut       FaultKind = "cut"       // drop the connection in the middle of the stream
	FaultHang      FaultKind = "hang"      // say nothing more until the caller leaves
	FaultMalformed FaultKind = "malformed" // a piece of the stream that is not JSON
)

// Fault makes a step fail.
type Fault struct {
	Kind        FaultKind `json:"kind"`
	Status      int       `json:"status"`       // the HTTP code; event: of an answer that is not streamed
	Message     string    `json:"message"`      // status, event
	RetryAfter  string    `json:"retry_after"`  // status: the header's value
	AfterEvents int       `json:"after_events"` // all but status: events sent before it
	Times       int       `json:"times"`        // how many tries fail before the step is answered; 0: every one
}

// Library is a set of scripts by name. Nobody changes one once it is in use, so
// any goroutine may read it.
type Library map[string]*Script

// Names lists the scripts in alphabetical order.
func (l Library) Names() []string { return slices.Sorted(maps.Keys(l)) }

//go:embed scripts
var embedded embed.FS

// Builtin returns the scripts that ship with Loop.
var Builtin = sync.OnceValue(func() Library {
	sub, err := fs.Sub(embedded, "scripts")
	if err != nil {
		panic(err)
	}
	l, err := LoadDir(sub)
	if err != nil {
		panic(err) // a test reads them
	}
	return l
})

// LoadDir reads every *.json file at the top of dir. The error names each file
// that is wrong.
func LoadDir(dir fs.FS) (Library, error) {
	files, err := fs.Glob(dir, "*.json")
	if err != nil {
		return nil, fmt.Errorf("list demo scripts: %w", err)
	}
	if len(files) == 0 {
		return nil, errors.New("list demo scripts: there is no .json file")
	}
	l := Library{}
	var bad []error
	for _, f := range files {
		name := strings.TrimSuffix(path.Base(f), ".json")
		data, err := fs.ReadFile(dir, f)
		if err == nil {
			l[name], err = ParseScript(name, data)
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("read demo script %s: %w", f, err))
		}
	}
	return l, errors.Join(bad...)
}

var scriptName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

// ParseScript reads one script strictly: unknown and repeated fields, unknown
// templates and steps that could never be reached are errors, which name the place
// by its JSON pointer.
func ParseScript(name string, data []byte) (*Script, error) {
	if !scriptName.MatchString(name) {
		return nil, errors.New("the name of a script is lower-case letters, digits and hyphens, at most 40")
	}
	s := &Script{Name: name}
	if err := json.Unmarshal(data, s, json.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	if len(s.Steps) == 0 || len(s.Steps) > maxSteps {
		return nil, fmt.Errorf("/steps: a script has 1 to %d steps", maxSteps)
	}
	for i, st := range s.Steps {
		if err := st.check(i == len(s.Steps)-1); err != nil {
			return nil, fmt.Errorf("/steps/%d%w", i, err)
		}
	}
	return s, nil
}

// check returns an error whose text goes on behind the step's own place.
func (st Step) check(last bool) error {
	answers := st.Error == nil || st.Error.Times > 0
	switch e := st.Error; {
	case e == nil:
	case e.Kind == FaultStatus || e.Kind == FaultEvent:
		if e.Status < 400 || e.Status > 599 {
			return errors.New("/error/status: an error's status is within 400 and 599")
		}
	case e.Kind != FaultCut && e.Kind != FaultHang && e.Kind != FaultMalformed:
		return fmt.Errorf("/error/kind: %q is not one of status, event, cut, hang, malformed", e.Kind)
	}
	if len(st.Blocks) == 0 && (answers || st.Error.Kind != FaultStatus) {
		return errors.New(": a step needs blocks, or an error of kind status on every try")
	}
	calls := false
	for i, b := range st.Blocks {
		if err := b.check(); err != nil {
			return fmt.Errorf("/blocks/%d: %w", i, err)
		}
		calls = calls || b.Type == ToolUse
	}
	if !last && answers && !calls && st.When == nil {
		return errors.New(": this step calls no tool, so the steps after it are never reached")
	}
	return nil
}

func (b Block) check() error {
	said := b.Text
	switch {
	case b.Type == Text || b.Type == Thinking:
		if b.Text == "" || b.Tool != "" || b.Input != nil {
			return fmt.Errorf("a block of type %s has text, and neither tool nor input", b.Type)
		}
	case b.Type != ToolUse:
		return fmt.Errorf("type %q is not one of text, thinking, tool_use", b.Type)
	case b.Tool == "" || b.Text != "" || b.Input.Kind() != '{':
		return errors.New("a tool_use block has a tool, an object as input, and no text")
	default:
		said = string(b.Input)
	}
	for _, m := range template.FindAllStringSubmatch(said, -1) {
		switch {
		case !slices.Contains(templates, m[0]):
			return fmt.Errorf("%s is not a template; there are %s", m[0], strings.Join(templates, ", "))
		case b.Tool == "Bash" && m[0] != "{{cwd}}":
			// Text from a person or a tool is never part of a command.
			return errors.New("a Bash command may hold no template but {{cwd}}")
		}
	}
	return nil
}
