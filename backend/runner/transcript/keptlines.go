package transcript

import (
	"cmp"
	"regexp"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"loop/backend/core"
)

// Kept reads the lines that the CLI keeps of a conversation in its own folder (as of 2.1.332).
// They differ from those that it prints: each says when it was written and by which kind of
// program, and most are notes of the CLI to itself. Use it from one goroutine.
type Kept struct {
	p Parser
	// Stated is the CLI's own count for the whole conversation, nil while it has written none.
	Stated *Counted
}

// Counted is a count of the CLI's. Whole is false where it knew no price of a model.
type Counted struct {
	USD    float64
	Models []core.ModelUsage
	Whole  bool
}

// KeptLine is what one line says. Of a note without a time of its own nothing is said.
type KeptLine struct {
	Items  []Item
	At     time.Time // zero where the line does not say it
	Person string    // a prompt that a person wrote; Items has it as well
	Screen bool      // by a CLI with a screen, which no run of Loop's has
	Copied bool      // from the conversation that this one continues
	Spoken bool      // it is of the conversation
	Works  bool      // the agent is at a turn after it
	Rests  bool      // …or has ended it
	Broken bool      // …because a person or an error ended it
	Cost   bool      // Stated is another
	// Ended is a sub-agent of which the CLI says that it has ended, and State how.
	Ended, State string

	spent spent
}

// Used is what messages used of which Stated says nothing yet.
func (k *Kept) Used() []core.ModelUsage { return k.p.Usage().Open }

// Forget drops what was used so far: another talk begins.
func (k *Kept) Forget() { k.p.tally.open = nil }

// Context is how full the conversation is.
func (k *Kept) Context() core.Context { return k.p.Usage().Context }

type wireKept struct {
	Sidechain bool            `json:"isSidechain"`
	Meta      bool            `json:"isMeta"`
	Compact   bool            `json:"isCompactSummary"`
	APIError  bool            `json:"isApiErrorMessage"`
	UUID      string          `json:"uuid"`
	At        jsontext.Value  `json:"timestamp"`
	Entry     string          `json:"entrypoint"`
	Source    string          `json:"promptSource"`
	Requested string          `json:"requestedModel"`
	ForkedOff jsontext.Value  `json:"forkedFrom"`
	Subtype   string          `json:"subtype"`
	Message   wireKeptMessage `json:"message"`
}

type wireKeptMessage struct {
	ID    string    `json:"id"`
	Model string    `json:"model"`
	Stop  string    `json:"stop_reason"`
	Usage wireUsage `json:"usage"`
}

// wireCounted is the CLI's count of a conversation, which it writes at its end.
type wireCounted struct {
	USD     float64        `json:"totalCostUSD"`
	Models  jsontext.Value `json:"modelUsage"`
	Unknown bool           `json:"hasUnknownModelCost"`
}

// Parse reads one line. It keeps nothing of the line's memory.
func (k *Kept) Parse(l Line) (out KeptLine) {
	line := l.Data
	typ := kindOf(line)
	switch typ {
	case "user", "assistant", "system":
	case "cost-state":
		return k.counted(l)
	case "queue-operation":
		return queued(l)
	default:
		return out
	}
	if l.Cut > 0 {
		return KeptLine{Spoken: true, Items: []Item{notice("warning", "A line of this conversation is too long to be shown.")}}
	}
	w, out, line, ok := headOf(typ, line)
	if !ok {
		return out
	}
	if w.Sidechain { // of a sub-agent of a CLI that kept it here: its call says what it did
		if typ == "assistant" {
			k.used(w, "sub-agent")
		}
		return out
	}
	switch typ {
	case "user":
		k.user(&out, w, line)
	case "assistant":
		k.assistant(&out, w, line)
	default:
		k.note(&out, w, line)
	}
	return out
}

// headOf reads what a line says of itself; ok is false for one of another shape than is known:
// a note.
func headOf(typ string, line []byte) (w wireKept, out KeptLine, _ []byte, ok bool) {
	if typ != "user" {
		line = repaired(line)
	}
	if decode(line, &w) != nil {
		return w, out, line, false
	}
	out.At = timeOf(w.At)
	out.Screen, out.Copied = w.Entry == "cli", len(w.ForkedOff) > 0 && w.ForkedOff.Kind() == '{'
	out.Spoken = true
	return w, out, line, true
}

// model is what the CLI counts by: another name may have answered.
func (w wireKept) model() string { return cmp.Or(w.Requested, w.Message.Model) }

func (k *Kept) used(w wireKept, parent string) {
	k.p.tally.heard(w.Message.ID, w.model(), parent, w.Message.Usage)
}

// ownWords reports whether a line has the CLI's words in the model's place.
func (w wireKept) ownWords() bool { return w.APIError || strings.HasPrefix(w.Message.Model, "<") }

func (k *Kept) assistant(out *KeptLine, w wireKept, line []byte) {
	var m wireMessage
	if decode(line, &m) != nil {
		return
	}
	m.Parent = ""
	items, err := k.p.message(m, line)
	if err != nil {
		return
	}
	if w.ownWords() {
		out.Rests, out.Broken = true, w.APIError
		for _, it := range items {
			if m, ok := it.Data.(core.MessageCreated); ok {
				out.Items = append(out.Items, notice("warning", m.Content))
			} else if _, ok := it.Data.(core.Notice); ok {
				out.Items = append(out.Items, it)
			}
		}
		return
	}
	k.used(w, "")
	out.Items = shown(items)
	out.stopped(w.Message.Stop)
}

func (out *KeptLine) stopped(why string) {
	switch why {
	case "", "tool_use", "pause_turn":
		out.Works = true
	default:
		out.Rests = true
	}
}

func (k *Kept) user(out *KeptLine, w wireKept, line []byte) {
	if w.Meta || w.Compact {
		return
	}
	top, text, answers, ok := userOf(line)
	if !ok {
		return
	}
	if w.Source != "typed" {
		out.Ended, out.State = endedIn(text)
	}
	switch {
	case w.Source == "system":
	case answers:
		if items, err := k.p.answers(top); err == nil {
			out.Items, out.Works = shown(items), true
		}
	case strings.HasPrefix(text, "[Request interrupted by user"):
		out.Rests, out.Broken = true, true
		out.Items = []Item{notice("info", "The person interrupted the agent.")}
	default:
		if text = personal(text, w.Source); text == "" {
			return
		}
		out.Person, out.Works = text, true
		out.Items = []Item{{Type: core.EventMessageCreated, Data: core.MessageCreated{
			MsgID: clipShort(w.UUID), Content: text, IsProcessed: true, UUID: clipShort(w.UUID),
		}}}
	}
}

// userOf reads a user's message: its parts for the parser, its text, and whether tools answer.
func userOf(line []byte) (top [][]byte, text string, answers, ok bool) {
	top, err := pick(line, "message", "parent_tool_use_id", "toolUseResult")
	if err != nil || top[0] == nil {
		return nil, "", false, false
	}
	inner, err := pick(top[0], "content")
	if err != nil {
		return nil, "", false, false
	}
	text, answers = saidIn(inner[0])
	return top, text, answers, true
}

// note reads the CLI's own lines that a person is shown, too.
func (k *Kept) note(out *KeptLine, w wireKept, line []byte) {
	switch {
	case w.Subtype == "turn_duration":
		out.Rests = true
	case w.Subtype == "compact_boundary" || w.Subtype == "microcompact_boundary" || !isQuietKind("system/"+w.Subtype):
		items, err := k.p.system(line)
		if err == nil {
			out.Items = shown(items)
		}
	}
}

// counted takes the CLI's count in; what it covers is no estimate any more.
func (k *Kept) counted(l Line) (out KeptLine) {
	var w wireCounted
	if l.Cut > 0 || decode(repaired(l.Data), &w) != nil {
		return out
	}
	models, _ := modelUsage(w.Models)
	k.Stated = &Counted{USD: bounded(w.USD, maxUSD), Models: sane(models), Whole: !w.Unknown}
	k.p.tally.open = nil
	return KeptLine{Cost: true}
}

// shown leaves out what only a run has, and whatever Loop has no words for: a timeline has no
// JSON of a terminal. Pictures stay where they are.
func shown(items []Item) (out []Item) {
	for _, it := range items {
		switch it.Type {
		case core.EventMessageCreated, core.EventThinking, core.EventToolUse, core.EventToolResult, core.EventNotice, core.EventTodos:
			it.Pictures = nil
			out = append(out, it)
		case core.EventActivity:
			if a, ok := it.Data.(core.Activity); ok && a.ParentID == "" && !it.Passing && strings.HasPrefix(a.Activity, "rate_limit") {
				out = append(out, it)
			}
		}
	}
	return out
}

// saidIn is the text of a user's message, and whether tools answer in it.
func saidIn(content []byte) (text string, answers bool) {
	if len(content) == 0 {
		return "", false
	}
	if content[0] != '[' {
		text, _ = firstOf(content, maxText)
		return text, false
	}
	var parts []string
	size := 0
	_ = elements(content, func(val []byte) error {
		v, err := pick(val, "type", "text")
		if err != nil {
			return err
		}
		switch typ, _ := firstOf(v[0], maxShort); typ {
		case "tool_result":
			answers = true
			return errShape // enough
		case "text":
			one, _ := firstOf(v[1], maxText)
			if size += len(one); size <= maxText && strings.TrimSpace(one) != "" && !ownTag.MatchString(one) {
				parts = append(parts, one)
			}
		}
		return nil
	})
	return strings.Join(parts, "\n"), answers
}

var (
	// ownTag begins what the CLI says in the person's place.
	ownTag  = regexp.MustCompile(`^\s*<(system-reminder|task-notification|local-command|bash-|command-|user-memory|teammate-|ide_)`)
	command = regexp.MustCompile(`^\s*<command-message>[^<]*</command-message>\s*<command-name>([^<]{1,200})</command-name>` +
		`\s*(?:<command-args>([^<]*)</command-args>)?`)
)

// personal is what a person wrote of a user's text: all of it, a command with what follows it,
// or nothing. A command that only the CLI itself answers has another form.
func personal(text, source string) string {
	if m := command.FindStringSubmatch(text); m != nil {
		name := "/" + strings.TrimPrefix(strings.TrimSpace(m[1]), "/")
		return clipMarked(strings.TrimSpace(name+" "+m[2]), maxText)
	}
	if ownTag.MatchString(text) && source != "typed" || strings.HasPrefix(text, "Caveat: The messages below were generated") {
		return ""
	}
	return clipMarked(strings.TrimSpace(text), maxText)
}

// kindOf is the type of a line, whatever stands before it.
func kindOf(line []byte) string {
	if typ := peekType(line); len(typ) > 0 {
		return string(typ)
	}
	v, err := pick(line, "type")
	if err != nil {
		return ""
	}
	typ, _ := firstOf(v[0], maxShort)
	return typ
}

func timeOf(v jsontext.Value) time.Time {
	text, _ := firstOf(v, 64)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Year() < 2000 || at.Year() > 2200 {
		return time.Time{}
	}
	return at
}
