package transcript

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"loop/backend/core"
)

func (p *Parser) system(line []byte) ([]Item, error) {
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
				items = append(items, Item{Type: core.EventNotice, Data: core.Notice{Level: "warning",
					Text: fmt.Sprintf("The MCP server %s is not available to the agent (%s).", clipShort(m.Name), clipShort(m.Status))}})
			}
		}
		return items, nil
	case "status":
		if w.Status == "" {
			return nil, nil
		}
		it := activity(clipShort(w.Status), "", "")
		it.Passing = w.Status == "requesting"
		return []Item{it}, nil
	case "thinking_tokens":
		it := activity("thinking", fmt.Sprintf("%d tokens", w.Tokens), "")
		it.Passing = true
		return []Item{it}, nil
	case "task_started", "task_progress", "task_notification":
		text := cmp.Or(w.Description, w.Summary)
		if w.Subtype == "task_notification" && w.Status != "" {
			text = strings.TrimSpace(w.Status + ": " + text)
		}
		if w.LastTool != "" {
			text += " (" + w.LastTool + ")"
		}
		if w.Subtype == "task_started" {
			return p.taskStarted(w.TaskID, w.ToolUseID, text), nil
		}
		if p.isQuiet(w.TaskID) {
			return nil, nil
		}
		return []Item{activity(p.taskWord(w.TaskID, w.Subtype), text, "")}, nil
	case "background_tasks_changed":
		return p.tasksChanged(line)
	case "task_updated":
		return nil, nil // said by task_notification, in words
	case "api_retry":
		return []Item{activity("api_retry", retryText(w), "")}, nil
	case "compact_boundary", "microcompact_boundary":
		p.tally.compacted(w.Compact.PostTokens)
		return []Item{{Type: core.EventNotice, Data: core.Notice{Level: "info", Text: "The conversation was long and has been compacted."}}}, nil
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

// retryText says in words what the CLI is waiting for.
func retryText(w wireSystem) string {
	why := "The model could not be reached"
	switch {
	case w.ErrorStatus == 529:
		why = "The model is overloaded (529)"
	case w.ErrorStatus == 429:
		why = "The model limits the rate of requests (429)"
	case w.ErrorStatus > 0:
		why = fmt.Sprintf("The model answered with an error (%d)", w.ErrorStatus)
	}
	wait := min(max(w.DelayMs, 0), 1e9) // a hostile number must not overflow a Duration
	return fmt.Sprintf("%s. Trying again in %s, attempt %d of %d.", why,
		time.Duration(wait*float64(time.Millisecond)).Round(100*time.Millisecond), w.Attempt, w.MaxRetries)
}
