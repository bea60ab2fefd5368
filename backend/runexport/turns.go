package runexport

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"loop/backend/core"
)

// turn is one thing that was said or done, as people read it. Its text has no secrets.
type turn struct {
	At   time.Duration // since the run began
	Head string
	Text string
	Code bool   // Text is output, not prose
	use  string // the call of a tool
	msg  string // of a prompt: what names it

	Pictures []turnPicture
}

// take makes turns of an event, and notes what the agent's commands wrote. Events that
// people do not read are only in turns.json.
func (x *Export) take(e core.Event) {
	at := max(time.UnixMilli(e.Timestamp).Sub(x.began), 0)
	switch e.Type {
	case core.EventMessageCreated:
		var m core.MessageCreated
		if parse(e, &m) {
			t := turn{At: at, Head: "Prompt", Text: m.Content, msg: m.MsgID}
			if m.IsBot {
				t.Head, t.msg = "Claude", ""
			}
			x.show(x.add(t), m.Attachments)
		}
	case core.EventMessageUpdated:
		var m core.MessageUpdated
		if parse(e, &m) {
			x.edit(m)
		}
	case core.EventThinking:
		var m core.Thinking
		if parse(e, &m) {
			x.add(turn{At: at, Head: "Claude thinks", Text: m.Text})
		}
	case core.EventToolUse:
		var m core.ToolUse
		if parse(e, &m) {
			x.add(turn{At: at, Head: "Tool: " + m.Name, Text: x.inputText(m), Code: true, use: m.ToolUseID})
			x.agent.use(at, m)
		}
	case core.EventToolResult:
		var m core.ToolResult
		if parse(e, &m) {
			head := "Result" + map[bool]string{true: ", failed"}[m.IsError] + x.resultOf(m.ToolUseID)
			x.show(x.add(turn{At: at, Head: head, Text: m.Output, Code: true}), m.Pictures)
			x.agent.result(at, m)
		}
	case core.EventNotice:
		var m core.Notice
		if parse(e, &m) {
			x.add(turn{At: at, Head: "Notice", Text: m.Text})
		}
	case core.EventGateResolved:
		var m core.Approval
		if parse(e, &m) {
			x.add(turn{At: at, Head: fmt.Sprintf("Decision: %s", m.State), Text: strings.TrimSpace(fmt.Sprintf("%s %s", m.Operation, m.Target))})
		}
	case core.EventStatus:
		var m core.Status
		if parse(e, &m) && m.State.Terminal() {
			x.add(turn{At: at, Head: "The run ended: " + string(m.State)})
		}
	}
}

// parse reads an event's data. What Loop stored it can read; other data stays in turns.json.
func parse(e core.Event, into any) bool { return json.Unmarshal(e.Data, into) == nil }

// textOf is a turn's text without secrets, and not longer than people read.
func (x *Export) textOf(s string) string {
	s = x.secrets.Text(strings.TrimRight(s, "\n"))
	if len(s) <= maxOneText {
		return s
	}
	n := maxOneText
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "\n… the rest is in turns.json"
}

// edit gives a prompt the words that it was sent with.
func (x *Export) edit(m core.MessageUpdated) {
	i := slices.IndexFunc(x.turns, func(t turn) bool { return t.msg == m.MsgID && m.MsgID != "" })
	if i < 0 {
		return
	}
	t := &x.turns[i]
	x.text -= len(t.Text)
	t.Text = x.textOf(m.Content)
	x.text += len(t.Text)
}

// add returns the turn's place, or -1 where the page has ended.
func (x *Export) add(t turn) int {
	t.Head, t.Text = x.secrets.Text(t.Head), x.textOf(t.Text)
	if x.text > maxPageText {
		return -1
	}
	if x.text += len(t.Head) + len(t.Text); x.text > maxPageText {
		x.note("The page and turns.md end at %s; turns.json goes on.", clock(t.At))
	}
	x.turns = append(x.turns, t)
	return len(x.turns) - 1
}

// resultOf names the tool of a result that does not follow its call.
func (x *Export) resultOf(use string) string {
	for i := len(x.turns) - 1; i >= max(0, len(x.turns)-50); i-- {
		if t := x.turns[i]; t.use == use && use != "" {
			if i == len(x.turns)-1 {
				return ""
			}
			return " of " + strings.TrimPrefix(t.Head, "Tool: ")
		}
	}
	return ""
}

// inputText is what a tool was called with: a command as it is, all else as JSON.
func (x *Export) inputText(m core.ToolUse) string {
	if command := commandOf(m); command != "" {
		return "$ " + command
	}
	raw, err := x.secrets.Value(m.Input)
	if err != nil {
		return "It cannot be read."
	}
	return string(raw)
}

func commandOf(m core.ToolUse) string {
	var in struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(m.Input, &in) != nil {
		return ""
	}
	return in.Command
}

func clock(d time.Duration) string {
	s := int(d / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// writeMarkdown writes the turns as one document.
func (x *Export) writeMarkdown() error {
	var b strings.Builder
	fmt.Fprintf(&b, "# A run of %s\n", x.began.UTC().Format("2 January 2006, 15:04:05 MST"))
	for _, t := range x.turns {
		fmt.Fprintf(&b, "\n## %s %s\n", clock(t.At), oneLine(t.Head))
		switch {
		case t.Text == "":
		case t.Code:
			fence := fenceOf(t.Text)
			fmt.Fprintf(&b, "\n%s\n%s\n%s\n", fence, t.Text, fence)
		default:
			fmt.Fprintf(&b, "\n%s\n", t.Text)
		}
		for _, p := range t.Pictures {
			if p.File != "" {
				fmt.Fprintf(&b, "\n![picture](%s)\n", p.File)
			} else {
				fmt.Fprintf(&b, "\nA picture is left out: %s\n", oneLine(p.Why))
			}
		}
	}
	return x.whole("turns.md", []byte(b.String()), false)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// fenceOf is longer than any row of backquotes in a text, which therefore cannot end it.
func fenceOf(text string) string {
	longest, now := 2, 0
	for _, r := range text {
		if now++; r != '`' {
			now = 0
		}
		longest = max(longest, now)
	}
	return strings.Repeat("`", longest+1)
}
