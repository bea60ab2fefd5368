package gate

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"loop/backend/core"
	"loop/backend/wire"
)

// maxTools bounds the tool calls of a run that are kept; honest runs have a handful
// under way.
const maxTools = 64

// toolCalls are the tool calls under way, by run, oldest first.
type toolCalls map[core.RunID][]toolCall

type toolCall struct {
	id      string
	command string // of Bash
	path    string // of tools that change a file
}

func (t toolCalls) begin(run core.RunID, use core.ToolUse) {
	if run == "" || use.ToolUseID == "" || use.Cut {
		return
	}
	list := t[run]
	if len(list) >= maxTools {
		list = slices.Delete(list, 0, 1)
	}
	t[run] = append(list, toolCallOf(use))
}

func toolCallOf(use core.ToolUse) toolCall {
	var in struct {
		Command  string `json:"command"`
		FilePath string `json:"file_path"`
		Notebook string `json:"notebook_path"`
	}
	_ = json.Unmarshal(use.Input, &in) // another tool's input has other fields
	return toolCall{use.ToolUseID, in.Command, cmp.Or(in.FilePath, in.Notebook)}
}

func (t toolCalls) end(run core.RunID, id string) {
	t[run] = slices.DeleteFunc(t[run], func(c toolCall) bool { return c.id == id })
	if len(t[run]) == 0 {
		delete(t, run)
	}
}

// cause is the tool call that led to a question: the only one under way, or the only
// one whose command or file the question names. It is empty where that is not clear.
func (t toolCalls) cause(q *question) string {
	if q.view.ToolUseID != "" {
		return q.view.ToolUseID
	}
	list := t[q.asker.RunID]
	if q.asker.RunID == "" || len(list) == 0 || q.view.Kind == core.ApprovalFlood {
		return ""
	}
	if len(list) == 1 {
		return list[0].id
	}
	fits := slices.DeleteFunc(slices.Clone(list), func(c toolCall) bool { return !c.explains(q.act) })
	if len(fits) == 1 {
		return fits[0].id
	}
	return ""
}

// underWay is the cause while it has no result. One that went to the background has:
// then an answer once holds for a moment.
func (t toolCalls) underWay(q *question) string {
	id := t.cause(q)
	if !slices.ContainsFunc(t[q.asker.RunID], func(c toolCall) bool { return c.id == id }) {
		return ""
	}
	return id
}

// explains says that a call may have led to an act: a process of its chain runs the
// command, or the file is the one it changes.
func (c toolCall) explains(a wire.Approval) bool {
	if c.command != "" {
		return slices.ContainsFunc(a.Processes, func(p wire.Process) bool { return within(p.Command, c.command) })
	}
	return c.path != "" && (a.Target == c.path || a.AskedAs == c.path)
}

// within finds a command in a process's command line, which is cut, and in which a
// shell's quoting may stand around it.
func within(line, command string) bool {
	const enough = 40
	command = strings.TrimSpace(command)
	if len(command) > enough {
		command = command[:enough]
	}
	return strings.Contains(line, command)
}

// joinLate gives questions of a run the tool call that has come to be known after
// them: what the agent says takes longer than what its program does.
func (s *Service) joinLate(run core.RunID) {
	for _, q := range s.open {
		if q.asker.RunID != run || q.view.ToolUseID != "" {
			continue
		}
		if id := s.tools.cause(q); id != "" {
			q.view.ToolUseID = id
			s.changedQuestion(q)
		}
	}
}
