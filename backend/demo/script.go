package demo

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of a script, so that a mistake in a file shows at load.
const (
	maxScriptBytes = 1 << 20
	maxSteps       = 200
	maxBlocks      = 50
	maxWaitMs      = 60_000 // one wait; longer ones are what "hang" is for
)

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
	PaceMs  *int    `json:"pace_ms"`  // instead of the script's
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
	Status      int       `json:"status"`       // status: the HTTP code
	Type        string    `json:"type"`         // status, event: e.g. rate_limit_error; derived from the code when empty
	Message     string    `json:"message"`      // status, event
	Body        string    `json:"body"`         // status: sent as it is instead of the JSON error
	RetryAfter  string    `json:"retry_after"`  // status: the header's value
	AfterEvents int       `json:"after_events"` // the others: events sent before it
	Times       int       `json:"times"`        // how many tries fail before the step is answered; 0: every one
}

// ScriptError says where a script is wrong. Line and Col count from 1; they
// are 0 where a whole file is meant.
type ScriptError struct {
	File      string
	Line, Col int
	Field     string // JSON pointer, e.g. /steps/2/blocks/0/tool
	Err       error
}

func (e *ScriptError) Error() string {
	at := e.File
	if e.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Col)
	}
	if e.Field != "" {
		at += " (" + e.Field + ")"
	}
	return fmt.Sprintf("read demo script %s: %v", at, e.Err)
}

func (e *ScriptError) Unwrap() error { return e.Err }

var scriptName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

// ParseScript reads one script strictly: unknown and repeated fields, unknown
// templates and steps that could never be reached are errors of type
// *ScriptError that name the place.
func ParseScript(name string, data []byte) (*Script, error) {
	file := name + ".json"
	if !scriptName.MatchString(name) {
		return nil, &ScriptError{File: file, Err: errors.New("a script's file name is lower-case letters, digits and hyphens, at most 40")}
	}
	if len(data) > maxScriptBytes {
		return nil, &ScriptError{File: file, Err: fmt.Errorf("larger than %d bytes", maxScriptBytes)}
	}
	s := &Script{Name: name}
	if err := json.Unmarshal(data, s, json.RejectUnknownMembers(true)); err != nil {
		return nil, locate(file, data, err)
	}
	if p := s.check(); p != nil {
		line, col := position(data, offsetOf(data, p.at))
		return nil, &ScriptError{File: file, Line: line, Col: col, Field: p.at, Err: errors.New(p.msg)}
	}
	return s, nil
}

// locate turns an error of the JSON decoder into one with line and column.
func locate(file string, data []byte, err error) *ScriptError {
	out := &ScriptError{File: file, Err: err}
	var off int64 = -1
	if e, ok := errors.AsType[*json.SemanticError](err); ok {
		off, out.Field = e.ByteOffset, string(e.JSONPointer)
		if e.Err != nil {
			out.Err = e.Err
		}
	}
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		off, out.Field, out.Err = e.ByteOffset, string(e.JSONPointer), e.Err
	}
	if off >= 0 {
		out.Line, out.Col = position(data, off)
	}
	return out
}

// offsetOf finds where the value at a JSON pointer starts, or the nearest
// value around it that exists; 0 is the start of the file.
func offsetOf(data []byte, pointer string) int64 {
	found := map[string]int64{}
	dec := jsontext.NewDecoder(bytes.NewReader(data))
	for {
		if _, err := dec.ReadToken(); err != nil {
			break
		}
		at := string(dec.StackPointer())
		if _, seen := found[at]; !seen {
			found[at] = dec.InputOffset() - 1
		}
	}
	for p := pointer; ; p = p[:strings.LastIndexByte(p, '/')] {
		if off, ok := found[p]; ok {
			return off
		}
		if p == "" {
			return 0
		}
	}
}

func position(data []byte, off int64) (line, col int) {
	before := data[:max(0, min(off, int64(len(data))))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}
