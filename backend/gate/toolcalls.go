package gate

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"loop/backend/core"
)

const (
	// maxTools bounds the tool calls of a run that are kept; honest runs have a handful
	// under way, and a few in the background.
	maxTools = 128
	// maxJoined bounds the processes of a run of which the tool call is kept.
	maxJoined = 4096
	// remembered is how long a tool call is known after its end. What rules decide is told
	// some seconds late.
	remembered = 30 * time.Second
	// early is how much sooner than the agent says so a tool call may begin, and late how
	// long after its result something that it did may come.
	early = 2 * time.Second
	late  = time.Second
)

// toolCalls are the tool calls of runs: those under way, those that ended a moment ago, and
// those that went to the background.
type toolCalls map[core.RunID]*runCalls

type runCalls struct {
	list   []toolCall // oldest first
	joined map[pidStart]string
}

// pidStart names one process for good.
type pidStart struct {
	pid     int
	started uint64
}

type toolCall struct {
	id         string
	command    string // of Bash
	path       string // of tools that read or change a file
	group      bool   // of a subagent: what it does is done by calls of its own
	background bool   // its shell goes on after its result
	from, to   time.Time
}

// subagents are the names of the tools that start one.
var subagents = []string{"Task", "Agent"}

func toolCallOf(use core.ToolUse) toolCall {
	var in struct {
		Command    string `json:"command"`
		FilePath   string `json:"file_path"`
		Notebook   string `json:"notebook_path"`
		Background bool   `json:"run_in_background"`
	}
	_ = json.Unmarshal(use.Input, &in) // another tool's input has other fields
	return toolCall{id: use.ToolUseID, command: strings.TrimSpace(in.Command), path: cmp.Or(in.FilePath, in.Notebook),
		group: slices.Contains(subagents, use.Name), background: in.Background}
}

func (t toolCalls) begin(run core.RunID, use core.ToolUse, now time.Time) {
	if run == "" || use.ToolUseID == "" || use.Cut {
		return
	}
	r := t[run]
	if r == nil {
		r = &runCalls{joined: map[pidStart]string{}}
		t[run] = r
	}
	r.list = slices.DeleteFunc(r.list, func(c toolCall) bool { return !c.background && c.over(now.Add(-remembered)) })
	if len(r.list) >= maxTools {
		i := max(slices.IndexFunc(r.list, func(c toolCall) bool { return !c.to.IsZero() }), 0)
		r.list = slices.Delete(r.list, i, i+1)
	}
	c := toolCallOf(use)
	c.from = now
	r.list = append(r.list, c)
	for i := range r.list {
		r.list[i].group = r.list[i].group || r.list[i].id == use.ParentID
	}
}

// over says that a call had its result before a time.
func (c toolCall) over(at time.Time) bool { return !c.to.IsZero() && c.to.Before(at) }

func (t toolCalls) end(run core.RunID, id string, now time.Time) {
	if r := t[run]; r != nil {
		for i, c := range r.list {
			if c.id == id && c.to.IsZero() {
				r.list[i].to = now
			}
		}
	}
}

// inBackground marks the calls whose commands are in the background now, also those that
// the agent CLI has moved there.
func (t toolCalls) inBackground(run core.RunID, tasks []core.BackgroundTask) {
	if t[run] == nil {
		return
	}
	for _, task := range tasks {
		what := plain(strings.TrimSuffix(task.What, "…"))
		for i, c := range t[run].list {
			if task.Kind == "command" && what != "" && strings.HasPrefix(plain(c.command), what) {
				t[run].list[i].background = true
			}
		}
	}
}

// plain is a text on one line.
func plain(s string) string { return strings.Join(strings.Fields(s), " ") }

// ended forgets runs that have ended a while ago; what this one did is still to come.
func (t toolCalls) ended(run core.RunID, now time.Time) {
	if r := t[run]; r != nil {
		for i, c := range r.list {
			if r.list[i].background = false; c.to.IsZero() {
				r.list[i].to = now
			}
		}
	}
	for other, r := range t {
		if other != run && !slices.ContainsFunc(r.list, func(c toolCall) bool { return c.background || !c.over(now.Add(-remembered)) }) {
			delete(t, other)
		}
	}
}

// ofQuestion is the tool call that led to a question.
func (t toolCalls) ofQuestion(q *question) string {
	if q.view.ToolUseID != "" || q.asker.RunID == "" || q.view.Kind == core.ApprovalFlood {
		return q.view.ToolUseID
	}
	return t.cause(q.asker.RunID, &q.act, time.Time{})
}

// underWay is the cause while it has no result. One that went to the background has:
// then an answer once holds for a moment.
func (t toolCalls) underWay(q *question) string {
	id := t.ofQuestion(q)
	r := t[q.asker.RunID]
	if r == nil || !slices.ContainsFunc(r.list, func(c toolCall) bool { return c.id == id && c.to.IsZero() }) {
		return ""
	}
	return id
}

// joinLate gives questions of a run the tool call that has come to be known after
// them: what the agent says takes longer than what its program does.
func (s *Service) joinLate(run core.RunID) {
	for _, q := range s.open {
		if q.asker.RunID != run || q.view.ToolUseID != "" {
			continue
		}
		if id := s.tools.ofQuestion(q); id != "" {
			q.view.ToolUseID = id
			s.changedQuestion(q)
		}
	}
}
