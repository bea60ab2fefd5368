package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"loop/backend/core"
)

// Parser turns lines into items and remembers what a run's end needs. Use it
// from one goroutine; it may go on with the lines of a resumed stream.
type Parser struct {
	// Result is the CLI's final word, nil while there is none. The last one counts,
	// unless it only says that the CLI could not go on after it had succeeded.
	Result *Result
	// APIError is the last refusal of the API that the CLI reported, nil if there is none.
	APIError *APIError
	Session  core.SessionID // last seen
	Model    string         // last seen
	Chosen   string         // what the CLI said at its start that it would ask
	Commands []string       // that the CLI offers, core.MaxCommands at most
	Limit    *Limit         // what was last said of the plan's limits, nil if nothing was
	Worked   bool           // the model has said or called anything
	Asked    *Ask           // what the run ended with to ask the person, nil when it did not
	Lines    int            // that were JSON objects with a type
	// KeyRefused is how often the model has refused the key in a row so far, as the CLI
	// says before it tries again; 0 if it has not.
	KeyRefused int
	// Garbage is the end of what was printed besides JSON, for diagnosis: at most
	// 20 lines and 2000 bytes.
	Garbage string

	closed   bool            // a question was the last word; a turn that a background task begins takes nothing back
	pending  map[string]*Ask // calls that are not answered yet
	plan     string          // as written to planPath
	planPath string
	lastText string
	todos    []todo
	tally    tally

	idle  bool                  // the last turn has ended; see backgroundtasks.go
	tasks []core.BackgroundTask // that live
	calls map[string]string     // commands that are not answered yet
	quiet []string              // tasks that are commands in the foreground

	agents map[string]string // sub-agents: the call by the task
	filmed map[string]bool   // calls of the browser's tools that are not answered yet

	// The message being streamed.
	msgID string
	block int
	sent  int // bytes of the block handed out
}

// Usage is what the output so far says of tokens and money.
func (p *Parser) Usage() Usage { return p.tally.sum(p.Model) }

// Parse reads one line. It keeps nothing of the line's memory.
func (p *Parser) Parse(l Line) []Item {
	line := l.Data
	typ := string(peekType(line))
	if typ != "user" || l.Cut > 0 { // what is used of the long lines is repaired when decoded
		line = repaired(line)
	}
	if l.Cut > 0 {
		return p.long(typ, line, l.Cut)
	}
	if typ == "" {
		var head struct {
			Type string `json:"type"`
		}
		_ = decode(line, &head) // what is no object has no type
		typ = head.Type
	}
	if typ == "" {
		p.Garbage = tailWith(p.Garbage, line)
		return nil
	}
	items, err := p.kind(typ, line)
	if err != nil {
		// Half a line, or members of other types than known.
		if line = repaired(line); !json.Valid(line) {
			p.Garbage = tailWith(p.Garbage, line)
			return nil
		}
		items = []Item{raw(line)}
	}
	p.Lines++
	return items
}

func (p *Parser) kind(typ string, line []byte) ([]Item, error) {
	switch typ {
	case "stream_event":
		if isDull(line) {
			return nil, nil
		}
		return p.stream(line)
	case "assistant":
		return p.assistant(line)
	case "user":
		return p.user(line)
	case "system":
		return p.system(line)
	case "result":
		// encoding/json passes over a member of a type that is not known: whatever
		// else a newer CLI says, its final word counts.
		var w wireResult
		if err := json.Unmarshal(line, &w); err != nil {
			if _, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok {
				return nil, err
			}
		}
		r, late := p.take(w)
		p.settle(w, r)
		if late && p.Asked == nil {
			return append(p.turn(false), notice("warning", "The agent could not go on after its answer. "+clipMarked(r.Said(), maxOutput))), nil
		}
		return p.turn(false), nil
	case "rate_limit_event":
		var w wireRateLimit
		if err := decode(line, &w); err != nil || w.Info.Status == "" {
			return []Item{raw(line)}, err
		}
		p.Limit = w.limit()
		return []Item{{Type: core.EventActivity, Data: core.Activity{
			Activity: "rate_limit", Description: clipShort(strings.TrimSpace(w.Info.Status + " " + w.Info.Type)), Model: p.Model,
		}}}, nil
	}
	if !json.Valid(line) {
		return nil, fmt.Errorf("not JSON")
	}
	if items, known, err := p.other(typ, line); known || err != nil {
		return items, err
	}
	return []Item{raw(line)}, nil
}

// long handles a line of which the end is missing. Nothing is made of it: the
// longest result that a model can write is a small part of what is kept.
func (p *Parser) long(typ string, line []byte, cut int64) []Item {
	if typ == "" {
		p.Garbage = tailWith(p.Garbage, line)
	} else {
		p.Lines++
	}
	what := fmt.Sprintf("The agent printed a line of %d bytes (%s). Loop kept the beginning; the rest is not shown.",
		int64(len(line))+cut, cmp.Or(clipShort(typ), "text"))
	return []Item{
		{Type: core.EventNotice, Data: core.Notice{Level: "warning", Text: what}},
		raw(line[:min(len(line), maxRaw+1)]),
	}
}

// take reports whether a success before r still counts.
func (p *Parser) take(w wireResult) (r *Result, late bool) {
	r = w.result()
	p.tally.result(w)
	if p.closed {
		return r, false
	}
	if before := p.Result; before != nil { // each is of its own turn
		late = !before.Failed() && r.Failed()
		r.NumTurns, r.DurationMs = r.NumTurns+before.NumTurns, r.DurationMs+before.DurationMs
	}
	if !late {
		p.Result = r
	}
	if r.SessionID != "" {
		p.Session = r.SessionID
	} else {
		r.SessionID = p.Session
	}
	if p.Model != "" {
		r.Model = p.Model // the session's own; a helper model may have cost more
	}
	return r, late
}

func (p *Parser) saw(session, model string) {
	if session != "" {
		p.Session = core.SessionID(clipShort(session))
	}
	if model != "" && model != "<synthetic>" {
		p.Model = clipShort(model)
	}
}

// repaired replaces broken UTF-8.
func repaired(line []byte) []byte {
	if utf8.Valid(line) {
		return line
	}
	return bytes.ToValidUTF8(line, []byte("\uFFFD"))
}

func clipShort(s string) string {
	s, _ = clip(s, maxShort)
	return s
}
