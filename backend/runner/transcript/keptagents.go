package transcript

import (
	"encoding/json"
	"regexp"
	"strings"

	"loop/backend/core"
)

// The CLI keeps each sub-agent of a conversation as a transcript of its own, and a note beside
// it of who it is (as of 2.1.332). In a terminal nearly all of them work in the background: their
// call is answered at once, and a notification says when one has ended.

// AgentNote is what the CLI notes of a sub-agent. Call is the call of a tool that began it.
type AgentNote struct{ Call, Kind, What string }

// MaxAgentNote bounds the note of a sub-agent in bytes.
const MaxAgentNote = 64 << 10

// ParseAgentNote reads a note; ok is false for one that names no call.
func ParseAgentNote(raw []byte) (n AgentNote, ok bool) {
	var w struct {
		Kind string `json:"agentType"`
		What string `json:"description"`
		Call string `json:"toolUseId"`
	}
	if len(raw) > MaxAgentNote || decode(repaired(raw), &w) != nil {
		return n, false
	}
	return AgentNote{Call: clipShort(w.Call), Kind: clipShort(w.Kind), What: clipShort(w.What)}, w.Call != ""
}

// spent is what a line of a sub-agent used.
type spent struct {
	id, model string
	usage     wireUsage
}

// Tokens are what the sub-agent's conversation held at its last message.
func (l KeptLine) Tokens() int64 {
	t := l.spent.usage.tokens()
	return min(t.AllInput()+t.Output, maxCount)
}

// Count takes in what a line of a sub-agent used: a message counts once, wherever it is kept.
func (k *Kept) Count(l KeptLine) {
	k.p.tally.heard(l.spent.id, l.spent.model, "sub-agent", l.spent.usage)
}

// ParseAgent reads one line of the transcript of a sub-agent, whose rows are below a call. What
// it used is not counted yet. It keeps nothing of the line's memory.
func (k *Kept) ParseAgent(l Line, call string) (out KeptLine) {
	typ := kindOf(l.Data)
	if typ != "user" && typ != "assistant" {
		return out
	}
	if l.Cut > 0 {
		long := activity("task_message", "A line of this sub-agent is too long to be shown.", "")
		return KeptLine{Spoken: true, Items: []Item{about(long, call, nil)}}
	}
	w, out, line, ok := headOf(typ, l.Data)
	switch {
	case !ok:
	case typ == "assistant":
		k.agentSays(&out, w, line, call)
	case !w.Meta && !w.Compact:
		k.agentHears(&out, line, call)
	}
	return out
}

func (k *Kept) agentSays(out *KeptLine, w wireKept, line []byte, call string) {
	var m wireMessage
	if decode(line, &m) != nil {
		return
	}
	own := w.ownWords()
	if m.Parent = clipShort(call); !own {
		m.Error = ""
		out.spent = spent{id: w.Message.ID, model: w.model(), usage: w.Message.Usage}
	}
	items, err := k.p.message(m, line)
	if err != nil {
		return
	}
	if out.Items = ofAgent(items); !own {
		out.stopped(w.Message.Stop)
		return
	}
	for i, it := range out.Items {
		if a, ok := it.Data.(core.Activity); ok && w.APIError {
			a.Activity = "task_error"
			out.Items[i].Data = a
		}
	}
	out.Rests, out.Broken, out.State = true, w.APIError, "failed"
}

// agentHears reads what tools answer a sub-agent, and what it is told. Its first prompt stands in
// its call.
func (k *Kept) agentHears(out *KeptLine, line []byte, call string) {
	top, text, answers, ok := userOf(line)
	if !ok {
		return
	}
	switch {
	case answers:
		top[1], _ = json.Marshal(clipShort(call)) // a string always encodes
		if items, err := k.p.answers(top); err == nil {
			out.Items, out.Works = ofAgent(items), true
		}
	case strings.HasPrefix(text, "[Request interrupted by user"):
		out.Rests, out.Broken, out.State = true, true, "stopped"
	default:
		out.Ended, out.State = endedIn(text)
		out.Works = out.Ended == "" && strings.TrimSpace(text) != ""
	}
}

// ofAgent leaves out what a sub-agent's rows do not show.
func ofAgent(items []Item) (out []Item) {
	for _, it := range items {
		switch it.Type {
		case core.EventToolUse, core.EventToolResult:
		case core.EventActivity:
			if a, ok := it.Data.(core.Activity); !ok || a.Activity != "task_message" && a.Activity != "task_error" {
				continue
			}
		default:
			continue
		}
		it.Pictures = nil
		out = append(out, it)
	}
	return out
}

// queued reads of what waits for the agent only that a sub-agent has ended.
func queued(l Line) (out KeptLine) {
	v, err := pick(l.Data, "content")
	if l.Cut > 0 || err != nil || v[0] == nil {
		return out
	}
	text, _ := firstOf(v[0], maxOutput)
	out.Ended, out.State = endedIn(text)
	return out
}

var notification = regexp.MustCompile(`^\s*<task-notification>[^<]*<task-id>([0-9A-Za-z-]{1,64})</task-id>` +
	`(?s:.*?)<status>([a-z]{1,20})</status>`)

// endedIn is the task that a notification is about, and how it ended.
func endedIn(text string) (id, state string) {
	text, _ = clip(text, maxOutput)
	m := notification.FindStringSubmatch(text)
	if m == nil {
		return "", ""
	}
	switch m[2] {
	case "completed", "failed", "killed", "stopped":
		return strings.Clone(m[1]), m[2]
	}
	return "", ""
}

// Launched reports whether a call was answered although its sub-agent works on.
func Launched(output string) bool { return strings.HasPrefix(output, "Async agent launched") }

// Counts reports whether a line is the CLI's own count of a conversation.
func Counts(l Line) bool { return kindOf(l.Data) == "cost-state" }
