package chrome

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"

	"loop/backend/core"
)

const (
	keptLines = 500     // of each tab
	maxLine   = 2 << 10 // bytes of a line
)

// consoleLog keeps the newest lines of a tab's console. It is guarded by the Browser's mu.
type consoleLog struct{ lines []core.BrowserLine }

func (c *consoleLog) add(l core.BrowserLine) {
	if len(c.lines) >= 2*keptLines {
		c.lines = append(c.lines[:0], c.lines[len(c.lines)-keptLines:]...)
	}
	c.lines = append(c.lines, l)
}

func (c *consoleLog) newest() []core.BrowserLine { return c.lines[max(len(c.lines)-keptLines, 0):] }

// Console returns the kept lines of the active tab's console whose Seq is greater than
// after. Numbers grow through all tabs, so that another tab's lines are newer too.
func (b *Browser) Console(after int64) []core.BrowserLine {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.active == nil {
		return nil
	}
	var out []core.BrowserLine
	for _, l := range b.active.console.newest() {
		if l.Seq > after {
			out = append(out, l)
		}
	}
	return out
}

// logLine adds a line to the console of the tab that an event is of.
func (b *Browser) logLine(e event, level, text, source string, millis float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.sessions[e.session]
	if t == nil {
		return
	}
	b.seq++
	t.console.add(core.BrowserLine{Seq: b.seq, Time: int64(millis), Level: level, Text: clip(text, maxLine), Source: clip(source, 300)})
	if t == b.active {
		b.changed()
	}
}

type callFrames struct {
	CallFrames []struct {
		URL        string `json:"url"`
		LineNumber int
	}
}

func (s *callFrames) source() string {
	if s == nil || len(s.CallFrames) == 0 || s.CallFrames[0].URL == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", clip(s.CallFrames[0].URL, 250), s.CallFrames[0].LineNumber+1)
}

// shown is a value that a page has given to its console.
type shown struct {
	remote
	Preview *struct {
		Properties []struct{ Name, Value, Type string }
		Overflow   bool
	}
}

func (a shown) text() string {
	var s string
	switch {
	case a.Type == "string" && json.Unmarshal(a.Value, &s, loose) == nil:
		return s
	case a.Preview != nil && a.Subtype != "error" && a.Subtype != "node":
		members := make([]string, 0, len(a.Preview.Properties)+1)
		for _, m := range a.Preview.Properties {
			members = append(members, m.Name+": "+m.Value)
		}
		if a.Preview.Overflow {
			members = append(members, "…")
		}
		return a.Description + " {" + strings.Join(members, ", ") + "}"
	case a.UnserializableValue != "":
		return a.UnserializableValue
	case a.Description != "":
		return a.Description
	case len(a.Value) > 0:
		return string(a.Value)
	}
	return a.Type
}

// filledIn puts words in the places that the first of them has for them, such as %s. Those
// that say how text looks are left out.
func filledIn(words []string) []string {
	format, rest := words[0], words[1:]
	var out strings.Builder
	for {
		before, after, found := strings.Cut(format, "%")
		out.WriteString(before)
		if !found {
			break
		}
		switch {
		case after == "":
			out.WriteByte('%')
		case after[0] == '%':
			out.WriteByte('%')
			after = after[1:]
		case strings.IndexByte("sdifoOc", after[0]) >= 0 && len(rest) > 0:
			if after[0] != 'c' {
				out.WriteString(rest[0])
			}
			rest, after = rest[1:], after[1:]
		default:
			out.WriteByte('%')
		}
		format = after
	}
	return append([]string{out.String()}, rest...)
}

func (b *Browser) consoleCalled(e event) {
	var p struct {
		Type       string
		Args       []shown
		Timestamp  float64
		StackTrace *callFrames
	}
	if !b.decode(e, &p) {
		return
	}
	if p.Type == "clear" {
		return // what a page has said stays readable for whoever looks later
	}
	words := make([]string, 0, len(p.Args))
	size := 0
	for _, a := range p.Args {
		if size > maxLine {
			break
		}
		w := a.text()
		size += len(w)
		words = append(words, w)
	}
	if len(p.Args) > 1 && p.Args[0].Type == "string" {
		words = filledIn(words)
	}
	level := p.Type
	switch level {
	case "warning", "error", "debug", "info":
	case "assert":
		level = "error"
	default:
		level = "log"
	}
	b.logLine(e, level, strings.Join(words, " "), p.StackTrace.source(), p.Timestamp)
}

func (b *Browser) exceptionThrown(e event) {
	var p struct {
		Timestamp        float64
		ExceptionDetails struct {
			Text       string
			URL        string `json:"url"`
			LineNumber int
			Exception  *remote
			StackTrace *callFrames
		}
	}
	if !b.decode(e, &p) {
		return
	}
	d := p.ExceptionDetails
	text := d.Text
	if d.Exception != nil && d.Exception.Description != "" {
		text += " " + d.Exception.Description
	} else if d.Exception != nil && len(d.Exception.Value) > 0 {
		text += " " + string(d.Exception.Value)
	}
	source := d.StackTrace.source()
	if source == "" && d.URL != "" {
		source = fmt.Sprintf("%s:%d", clip(d.URL, 250), d.LineNumber+1)
	}
	b.logLine(e, "error", text, source, p.Timestamp)
}

func (b *Browser) logAdded(e event) {
	var p struct {
		Entry struct {
			Level, Text string
			URL         string `json:"url"`
			Timestamp   float64
			LineNumber  *int
		}
	}
	if !b.decode(e, &p) {
		return
	}
	source := p.Entry.URL
	if p.Entry.LineNumber != nil && source != "" {
		source = fmt.Sprintf("%s:%d", clip(source, 250), *p.Entry.LineNumber+1)
	}
	level := p.Entry.Level
	if level == "verbose" {
		level = "debug"
	}
	b.logLine(e, level, p.Entry.Text, source, p.Entry.Timestamp)
}

// pattern is a regular expression that an agent gave; nil if it gave none.
func pattern(s string) (*regexp.Regexp, error) {
	if s == "" {
		return nil, nil //nolint:nilnil // no pattern is no filter
	}
	if len(s) > 1000 {
		return nil, core.Fail(core.CodeInvalid, nil, "The pattern is longer than 1000 bytes.", "Use a shorter one.")
	}
	re, err := regexp.Compile(s)
	if err != nil {
		return nil, core.Fail(core.CodeInvalid, err, "The pattern is not a regular expression that Go reads: "+clip(err.Error(),
			200)+".", `Escape special characters with \, or leave the pattern out.`)
	}
	return re, nil
}

// readConsole is the console of a tab as text, the newest limit lines that fit.
func (b *Browser) readConsole(t *tab, re *regexp.Regexp, errorsOnly, clear bool, limit int) string {
	b.mu.Lock()
	lines := append([]core.BrowserLine(nil), t.console.newest()...)
	if clear {
		t.console.lines = nil
	}
	b.mu.Unlock()
	var out []string
	for _, l := range lines {
		if errorsOnly && l.Level != "error" {
			continue
		}
		s := fmt.Sprintf("[%s] %s", l.Level, l.Text)
		if l.Source != "" {
			s += " (" + l.Source + ")"
		}
		if re == nil || re.MatchString(s) {
			out = append(out, s)
		}
	}
	return newestThatFit(out, limit, "The console has no such messages.")
}

// newestThatFit keeps the newest limit lines, in less than maxValue bytes.
func newestThatFit(lines []string, limit int, none string) string {
	if len(lines) == 0 {
		return none
	}
	all := len(lines)
	lines = lines[max(len(lines)-limit, 0):]
	size := 0
	for i := len(lines) - 1; i >= 0; i-- {
		if size += len(lines[i]) + 1; size > maxValue {
			lines = lines[i+1:]
			break
		}
	}
	s := strings.Join(lines, "\n")
	if len(lines) < all {
		s = fmt.Sprintf("(the newest %d of %d)\n", len(lines), all) + s
	}
	return s
}
