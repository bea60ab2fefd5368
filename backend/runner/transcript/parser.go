package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"loop/backend/core"
)

// Parser turns lines into items and remembers what a run's end needs. Use it
// from one goroutine; it may go on with the lines of a resumed stream.
type Parser struct {
	result   *Result
	apiError *APIError
	session  core.SessionID
	model    string
	lines    int
	garbage  tailKeeper

	limit    *Limit
	worked   bool
	asked    *Ask            // see ask.go
	closed   bool            // a question was the last word; a turn that a background task begins takes nothing back
	pending  map[string]*Ask // calls that are not answered yet
	plan     string          // as written to planPath
	planPath string
	lastText string
	todos    []todo
	tally    tally

	idle  bool                  // the last turn has ended; see background.go
	tasks []core.BackgroundTask // that live
	calls map[string]string     // commands that are not answered yet

	// The message being streamed.
	msgID string
	block int
	sent  int // bytes of the block handed out
}

// Result is the CLI's final word, nil while there is none. The last one counts,
// unless it only says that the CLI could not go on after it had succeeded.
func (p *Parser) Result() *Result { return p.result }

// APIError is the last refusal of the API the CLI told of, nil if there is none.
func (p *Parser) APIError() *APIError { return p.apiError }

// Session is the session id last seen.
func (p *Parser) Session() core.SessionID { return p.session }

// Limit is what the CLI last said of the plan's limits, nil if it did not.
func (p *Parser) Limit() *Limit { return p.limit }

// Worked reports whether the model has said or called anything.
func (p *Parser) Worked() bool { return p.worked }

// Model is the model last seen.
func (p *Parser) Model() string { return p.model }

// Usage is what the output so far says of tokens and money.
func (p *Parser) Usage() Usage { return p.tally.usage(p.model) }

// Lines counts lines that were JSON objects with a type.
func (p *Parser) Lines() int { return p.lines }

// Garbage is the end of what was printed besides JSON, for diagnosis: at most
// 20 lines and 2000 bytes.
func (p *Parser) Garbage() string { return p.garbage.String() }

// Parse reads one line. It keeps nothing of the line's memory.
func (p *Parser) Parse(l Line) []Item {
	line := l.Data
	if len(bytes.TrimSpace(line)) == 0 && len(l.Tail) == 0 {
		return nil
	}
	typ := string(peekType(line))
	if typ != "user" || len(l.Tail) > 0 { // what is used of the long lines is repaired when decoded
		line = repaired(line)
	}
	if len(l.Tail) > 0 {
		return p.long(typ, line, l)
	}
	if typ == "" {
		var head struct {
			Type string `json:"type"`
		}
		line = bytes.TrimSpace(line)
		if line[0] == '{' && decode(line, &head) != nil && p.salvageResult("", line, nil) {
			return p.turn(false)
		}
		if head.Type == "" {
			p.garbage.add(line)
			return nil
		}
		typ = head.Type
	}
	items, err := p.kind(typ, line)
	if err != nil {
		// Half a line, or members of other types than known.
		line = repaired(line)
		if typ == "result" {
			if p.salvageResult(typ, line, nil) {
				return p.turn(false)
			}
		}
		if json.Valid(line) {
			p.lines++
			return []Item{raw(line)}
		}
		p.garbage.add(line)
		return nil
	}
	p.lines++
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
		var w wireResult
		if err := decode(line, &w); err != nil {
			return nil, err
		}
		r, late := p.take(w)
		p.settle(w, r)
		if late && p.asked == nil {
			return append(p.turn(false), Item{Type: core.EventNotice, Data: core.Notice{Level: "warning",
				Text: "The agent could not go on after its answer. " + clipMarked(cmp.Or(r.Text, strings.Join(r.Errors, "\n")), maxOutput)}}), nil
		}
		return p.turn(false), nil
	case "rate_limit_event":
		var w wireRateLimit
		if err := decode(line, &w); err != nil || w.Info.Status == "" {
			return []Item{raw(line)}, err
		}
		p.limit = w.limit()
		return []Item{{Type: core.EventActivity, Data: core.Activity{
			Activity: "rate_limit", Description: clipShort(strings.TrimSpace(w.Info.Status + " " + w.Info.Type)), Model: p.model,
		}}}, nil
	case "keep_alive":
		return nil, nil
	}
	if !json.Valid(line) {
		return nil, fmt.Errorf("not JSON")
	}
	return []Item{raw(line)}, nil
}

// long handles a line of which the middle is missing.
func (p *Parser) long(typ string, line []byte, l Line) []Item {
	size := int64(len(l.Data)) + l.Cut + int64(len(l.Tail))
	p.lines++
	if (typ == "" || typ == "result") && p.salvageResult(typ, line, bytes.ToValidUTF8(l.Tail, []byte("\uFFFD"))) {
		typ = "result"
	}
	if typ == "result" {
		p.turn(false)
	} else if typ == "" {
		p.lines--
		p.garbage.add(line)
		typ = "text"
	}
	what := fmt.Sprintf("The agent printed a line of %d bytes (%s). Loop kept the beginning; the rest is not shown.", size, clipShort(typ))
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
	if before := p.result; before != nil { // each is of its own turn
		late = !before.Failed() && r.Failed()
		r.NumTurns, r.DurationMs = r.NumTurns+before.NumTurns, r.DurationMs+before.DurationMs
	}
	if !late {
		p.result = r
	}
	if r.SessionID != "" {
		p.session = r.SessionID
	} else {
		r.SessionID = p.session
	}
	if p.model != "" {
		r.Model = p.model // the session's own; a helper model may have cost more
	}
	return r, late
}

func (p *Parser) saw(session, model string) {
	if session != "" {
		p.session = core.SessionID(clipShort(session))
	}
	if model != "" && model != "<synthetic>" {
		p.model = clipShort(model)
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
