package transcript

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"loop/backend/core"
)

func (p *Parser) system(line []byte) ([]Item, error) {
	sub, err := pick(line, "subtype")
	if err != nil {
		return nil, err
	}
	if name, _ := firstOf(sub[0], maxShort); isQuietKind("system/" + name) {
		return nil, nil
	}
	var w wireSystem
	if err := decode(line, &w); err != nil {
		return nil, err
	}
	p.saw(w.SessionID, w.Model)
	switch w.Subtype {
	case "init":
		p.Commands, p.Chosen = commands(w), clipShort(w.Model)
		items := append(p.turn(true), activity("init", "", w.Model))
		for _, m := range w.MCPServers {
			if m.Status != "connected" && m.Status != "pending" && m.Status != "" {
				items = append(items, notice("warning",
					fmt.Sprintf("The MCP server %s is not available to the agent (%s).", clipShort(m.Name), clipShort(m.Status))))
			}
		}
		return items, nil
	case "status":
		return statusOf(w), nil
	case "thinking_tokens":
		it := activity("thinking", fmt.Sprintf("%d tokens", count(w.Tokens)), "")
		it.Passing = true
		return []Item{it}, nil
	case "task_started", "task_progress", "task_notification":
		return p.taskSaid(w), nil
	case "background_tasks_changed":
		return p.tasksChanged(line)
	case "api_retry":
		if w.ErrorStatus == 401 || w.Error == "authentication_failed" {
			p.KeyRefused = max(p.KeyRefused, int(count(w.Attempt)))
		}
		return []Item{retry(w.wireRetry, "")}, nil
	case "compact_boundary", "microcompact_boundary":
		p.tally.compacted(w.Compact.PostTokens)
		return []Item{notice("info", "The conversation was long and has been compacted.")}, nil
	}
	if items, known := said(w); known {
		return items, nil
	}
	return []Item{raw(line)}, nil
}

// commands are those that a prompt can begin with: all but what only a terminal shows.
func commands(w wireSystem) []string {
	out := []string{}
	for _, name := range w.Commands {
		if core.IsCommandName(name) && !slices.Contains(w.Terminal, name) && len(out) < core.MaxCommands {
			out = append(out, strings.Clone(name))
		}
	}
	return out
}

func statusOf(w wireSystem) []Item {
	if w.CompactResult == "failed" {
		return []Item{notice("warning", strings.TrimSpace("The conversation could not be compacted. "+clipMarked(w.CompactError, maxOutput)))}
	}
	if w.Status == "" {
		return nil
	}
	it := activity(clipShort(w.Status), "", "")
	it.Passing = w.Status == "requesting" || w.Status == "compacting" // compact_boundary follows
	return []Item{it}
}

// taskSaid is what is said of a task: a sub-agent's belongs to its call.
func (p *Parser) taskSaid(w wireSystem) []Item {
	text := cmp.Or(w.Description, w.Summary)
	call := p.agentCall(w.wireTaskLine)
	if w.Subtype == "task_notification" && w.Status != "" && call == "" {
		text = strings.TrimSpace(w.Status + ": " + text)
	}
	if w.LastTool != "" && call == "" {
		text += " (" + w.LastTool + ")"
	}
	switch {
	case w.Subtype == "task_started" && call == "":
		return p.taskStarted(w.TaskID, w.ToolUseID, text)
	case p.isQuiet(w.TaskID):
		return nil
	}
	it := activity(p.taskWord(w.TaskID, w.Subtype), text, "")
	if call == "" {
		return []Item{it}
	}
	work := &core.AgentWork{
		Kind: clipShort(w.AgentKind), Calls: int(count(w.Used.Calls)), Tokens: count(w.Used.Tokens), DurationMs: count(w.Used.DurationMs),
	}
	switch w.Subtype {
	case "task_started":
		work.State = "running"
	case "task_notification":
		work.State = cmp.Or(clipShort(w.Status), "completed")
	}
	it.Passing = w.Subtype == "task_progress" // what it calls is stored, and the sums come at its end
	return []Item{about(it, call, work)}
}

// agentCall is the call that a sub-agent's task stems from; empty for other tasks.
func (p *Parser) agentCall(w wireTaskLine) string {
	id, call := clipShort(w.TaskID), clipShort(w.ToolUseID)
	if known := p.agents[id]; known != "" || call == "" {
		return known
	}
	if w.TaskType != "local_agent" && w.AgentKind == "" {
		return ""
	}
	if p.agents == nil {
		p.agents = map[string]string{}
	}
	if len(p.agents) < maxCalls {
		p.agents[id] = call
	}
	return call
}

// about makes an activity one of a sub-agent.
func about(it Item, call string, work *core.AgentWork) Item {
	if a, ok := it.Data.(core.Activity); ok {
		a.ParentID, a.Agent = clipShort(call), work
		it.Data = a
	}
	return it
}

func notice(level, text string) Item {
	return Item{Type: core.EventNotice, Data: core.Notice{Level: level, Text: text}}
}

// retry is the CLI's wait before it asks the model again; call is empty, or that of the
// sub-agent that waits.
func retry(w wireRetry, call string) Item {
	why := "The model could not be reached"
	switch status := int(count(w.ErrorStatus)); {
	case status == 529:
		why = "The model is overloaded (529)"
	case status == 429:
		why = "The model limits the rate of requests (429)"
	case status == 401:
		why = "The model refused the key (401)"
	case status > 0:
		why = fmt.Sprintf("The model answered with an error (%d)", status)
	}
	wait := &core.RetryWait{
		Attempt: int(count(w.Attempt)), Of: int(count(w.MaxRetries)), DelayMs: int64(bounded(w.DelayMs, 1e9)), Why: why + ".",
	}
	return Item{Type: core.EventActivity, Passing: call != "", Data: core.Activity{
		Activity: "api_retry", ParentID: clipShort(call), Retry: wait,
		Description: fmt.Sprintf("%s Trying again in %s, attempt %d of %d.", wait.Why, seconds(wait.DelayMs), wait.Attempt, wait.Of),
	}}
}
