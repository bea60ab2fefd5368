package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"loop/backend/core"
)

// maxLine is how much of a tool call or result is shown, in characters.
const maxLine = 100

// human shows a run for reading: text as it is written, tool calls as single
// lines, and what happened around them on standard error.
type human struct {
	out, err *printer
	streamed map[string]string // by message: text shown that no stored message has confirmed
	step     string
	build    string
	behind   string // the background tasks that were named last
}

func (h *human) note(text string) { h.err.styledLine(dim, "%s", text) }

func (h *human) waits(_ core.Run, why waitingData) {
	style := dim
	if why.QuestionID != "" {
		style = amber
	}
	h.err.styledLine(style, "%s", why.Text)
}

func (h *human) event(e core.Event) {
	switch e.Type {
	case core.EventMessageStreaming:
		decode(e, h.delta)
	case core.EventMessageCreated:
		decode(e, h.message)
	case core.EventThinking:
		decode(e, func(t core.Thinking) { h.out.styledLine(dim, "· %s", oneLine(t.Text, maxLine)) })
	case core.EventToolUse:
		decode(e, h.toolUse)
	case core.EventToolResult:
		decode(e, h.toolResult)
	case core.EventNotice:
		decode(e, h.notice)
	case core.EventAttempt:
		decode(e, h.attempt)
	case core.EventAskUser, core.EventExitPlan:
		decode(e, h.question)
	case core.EventGateAsked:
		decode(e, h.held)
	case core.EventGateResolved:
		decode(e, func(a core.Approval) {
			if a.State != core.ApprovalGathered { // it waits with others, in a question of its own
				h.err.styledLine(dim, "%s: %s.", a.Title, a.State)
			}
		})
	case core.EventStatus:
		decode(e, h.status)
	case core.EventImageBuild:
		decode(e, h.image)
	case core.EventBackground:
		decode(e, h.background)
	case core.EventActivity:
		decode(e, func(a core.Activity) {
			switch {
			case a.Description == "":
			case a.Activity == "task_started":
				h.out.styledLine(dim, "· %s", oneLine(a.Description, maxLine))
			case a.Activity == "api_retry": // else nothing would be seen for minutes
				h.err.styledLine(amber, "%s", oneLine(a.Description, 3*maxLine))
			}
		})
	}
}

func decode[T any](e core.Event, use func(T)) {
	var v T
	if json.Unmarshal(e.Data, &v) == nil {
		use(v)
	}
}

func (h *human) delta(d core.MessageStreaming) {
	if d.Kind != "text" {
		return
	}
	shown := h.streamed[d.MsgID]
	if shown == "" {
		h.out.fresh()
	}
	if h.streamed == nil {
		h.streamed = map[string]string{}
	}
	h.streamed[d.MsgID] = shown + d.Delta
	h.out.text(d.Delta)
}

// message completes what was streamed: the stored message is the truth, so a
// piece that was missed is shown now, and nothing is shown twice.
func (h *human) message(m core.MessageCreated) {
	if !m.IsBot {
		return // the prompt itself
	}
	shown := h.streamed[m.MsgID]
	delete(h.streamed, m.MsgID)
	if rest, ok := strings.CutPrefix(m.Content, shown); ok {
		if shown == "" {
			h.out.fresh()
			if m.Author != "" {
				h.out.styled(bold, m.Author+": ")
			}
		}
		h.out.text(rest)
	} else {
		h.out.line("%s", m.Content)
	}
	h.out.fresh()
	if m.Cut {
		h.err.styledLine(dim, "Cut off here.")
	}
}

func (h *human) toolUse(t core.ToolUse) {
	h.out.fresh()
	if t.ParentID != "" {
		h.out.text("  ")
	}
	h.out.styled(bold, "→ "+toolName(t.Name))
	if o := object(t.Input); o != "" {
		h.out.text("  " + o)
	}
	h.out.text("\n")
}

// toolName writes mcp__server__tool as server: tool.
func toolName(name string) string {
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		if server, tool, ok := strings.Cut(rest, "__"); ok {
			name = server + ": " + tool
		}
	}
	return oneLine(name, maxLine)
}

// objects are the inputs that say best what a tool works on, by rank.
var objects = []string{"command", "file_path", "notebook_path", "pattern", "path", "url", "query", "content", "description", "prompt"}

func object(input json.RawMessage) string {
	var fields map[string]any
	if json.Unmarshal(input, &fields) != nil {
		return ""
	}
	for _, name := range objects {
		if s, ok := fields[name].(string); ok && s != "" {
			return oneLine(s, maxLine)
		}
	}
	return ""
}

func (h *human) toolResult(r core.ToolResult) {
	h.out.fresh()
	if r.IsError {
		h.out.styledLine(red, "  failed: %s", oneLine(r.Output, maxLine))
		return
	}
	for _, f := range r.Files {
		h.out.styledLine(green, "  %s %s (+%d −%d)", f.Kind, oneLine(f.Path, maxLine), f.Added, f.Removed)
	}
	if len(r.Files) > 0 {
		return
	}
	out := strings.TrimSpace(r.Output)
	if out == "" {
		return
	}
	first, rest, _ := strings.Cut(out, "\n")
	more := ""
	if n := strings.Count(rest, "\n"); rest != "" {
		more = fmt.Sprintf(" (%d more lines)", n+1)
		if n == 0 {
			more = " (1 more line)"
		}
	}
	h.out.styledLine(dim, "  %s%s", oneLine(first, maxLine), more)
}

func (h *human) notice(n core.Notice) {
	style := dim
	switch n.Level {
	case "warning":
		style = amber
	case "error":
		style = red
	}
	h.err.styledLine(style, "%s", n.Text)
}

// attempts say what the next try of a run is.
var attempts = map[core.AttemptKind]string{
	core.AttemptCompact:   "Compacting the conversation",
	core.AttemptCompacted: "Trying again with the compacted conversation",
	core.AttemptLatest:    "Trying once more",
	core.AttemptTransient: "Trying again",
}

func (h *human) attempt(a core.Attempt) {
	wait := ""
	if a.DelayMs > 0 {
		wait = " in " + duration(time.Duration(a.DelayMs)*time.Millisecond)
	}
	h.err.styledLine(amber, "%s %s%s.", oneLine(a.Reason, 3*maxLine), attempts[a.Kind], wait)
}

// background names, once, the tasks that a run goes on for after the agent's turn.
func (h *human) background(b core.Background) {
	var names []string
	for _, t := range b.Tasks {
		names = append(names, oneLine(t.What, maxLine))
	}
	if !b.Waiting {
		names = nil
	}
	waits := strings.Join(names, " · ")
	if waits != "" && waits != h.behind {
		h.out.fresh()
		h.err.styledLine(amber, "Waiting for what still runs in the background: %s", waits)
	}
	h.behind = waits
}

func (h *human) question(q core.Question) {
	h.out.fresh()
	showQuestion(h.out, q)
	h.err.styledLine(amber, "The agent waits for your answer: loop answer --question %s", oneLine(q.ID, maxLine))
}

// held says what stands still, and how to answer where no window does.
func (h *human) held(a core.Approval) {
	h.out.fresh()
	showApproval(h.err, a)
	h.err.styledLine(amber, "It waits for you. In another shell: loop gate allow %[1]s, or loop gate deny %[1]s", a.ID[:min(8, len(a.ID))])
}

var steps = map[string]string{
	"toolchain": "Waiting for a decision on the project's own image",
	"slot":      "Waiting until a run elsewhere ends",
	"image":     "Getting the agent image ready",
	"container": "Starting the container",
	"link":      "Connecting to the container",
	"agent":     "Starting the agent",
}

func (h *human) status(s core.Status) {
	if s.State.Terminal() || s.Step == "" || s.Step == h.step {
		return
	}
	h.step = s.Step
	h.err.styledLine(dim, "%s", cmp.Or(steps[s.Step], s.Step))
}

func (h *human) image(s core.ImageStatus) {
	if s.State != core.ImageBuilding || s.Step == "" || s.Step == h.build {
		return
	}
	h.build = s.Step
	what := "the agent image"
	if strings.HasPrefix(s.Ref, core.ProjectImagePrefix) {
		what = "the project's own image"
	}
	h.err.styledLine(dim, "Building %s (%d %%): %s", what, int(s.Progress*100), oneLine(s.Step, maxLine))
}

func (h *human) result(run core.Run) {
	h.out.fresh()
	if run.State == core.RunDone {
		if t := strings.TrimSpace(run.Outcome.Text); t != "" && !h.out.wrote {
			h.out.line("%s", t)
		}
		h.err.styledLine(green, "Done%s.", facts(run))
		return
	}
	if run.State == core.RunCancelled {
		h.err.styledLine(amber, "Stopped%s.", facts(run))
	}
}

// facts lists duration, turns, cost, tokens, context and model, as far as they
// are known.
func facts(run core.Run) string {
	var parts []string
	o := run.Outcome
	switch {
	case o.DurationMs > 0:
		parts = append(parts, "in "+duration(time.Duration(o.DurationMs)*time.Millisecond))
	case !run.StartedAt.IsZero() && run.EndedAt.After(run.StartedAt):
		parts = append(parts, "after "+duration(run.EndedAt.Sub(run.StartedAt)))
	}
	if o.NumTurns == 1 {
		parts = append(parts, "1 turn")
	} else if o.NumTurns > 1 {
		parts = append(parts, fmt.Sprintf("%d turns", o.NumTurns))
	}
	switch {
	case run.Demo:
		parts = append(parts, "no cost")
	case o.CostUSD > 0 && o.Estimated:
		parts = append(parts, "≈ "+money(o.CostUSD))
	case o.CostUSD > 0:
		parts = append(parts, money(o.CostUSD))
	}
	if t := o.Tokens(); t.AllInput() > 0 {
		in := tokens(t.AllInput()) + " tokens in"
		if t.CacheRead > 0 {
			in += fmt.Sprintf(" (%d %% from cache)", t.CacheRead*100/t.AllInput())
		}
		parts = append(parts, in, tokens(t.Output)+" out")
	}
	if c := o.Context; c.Used > 0 && c.Window > 0 {
		parts = append(parts, fmt.Sprintf("context %d %% full", min(c.Used*100/c.Window, 100)))
	}
	if o.Model != "" {
		parts = append(parts, oneLine(o.Model, maxLine))
	}
	if len(parts) == 0 {
		return ""
	}
	return " " + strings.Join(parts, ", ")
}

// tokens is a number of them in the words of the page.
func tokens(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 9_950:
		return fmt.Sprintf("%.1f k", float64(n)/1e3)
	case n < 999_500:
		return fmt.Sprintf("%.0f k", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f M", float64(n)/1e6)
}

func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
}

// money has two digits; what is less than the least of these says so.
func money(usd float64) string {
	if usd < 0.01 {
		return "< $0.01"
	}
	return fmt.Sprintf("$%.2f", usd)
}
