package transcript

import (
	"slices"
	"strings"

	"loop/backend/core"
)

// After its result the CLI waits for what the agent has started in the background,
// and begins another turn, with a result of its own, whenever some of it ends
// (seen with 2.1.330).

const (
	maxTasks = 50
	maxCalls = 200
)

type wireTasks struct {
	Tasks []struct {
		ID          string `json:"task_id"`
		Type        string `json:"task_type"`
		Description string `json:"description"`
		Ambient     bool   `json:"ambient"`  // a watcher: no work that anybody waits for
		OffHost     bool   `json:"off_host"` // goes on without the CLI
	} `json:"tasks"`
}

// Over reports that nothing more is to come but the CLI's end: there is a result,
// and no turn and no background task after it. A question ends the run whatever
// else goes on.
func (p *Parser) Over() bool {
	return p.Result != nil && (p.closed || p.idle && (len(p.tasks) == 0 || p.Asked != nil))
}

// InTurn reports that a turn is under way that began after a result.
func (p *Parser) InTurn() bool { return p.Result != nil && !p.idle }

// turn notes that a turn has begun, or ended.
func (p *Parser) turn(begun bool) []Item {
	if p.idle == !begun {
		return nil
	}
	p.idle = !begun
	if len(p.tasks) == 0 {
		return nil
	}
	return p.background()
}

func (p *Parser) background() []Item {
	return []Item{{Type: core.EventBackground, Data: core.Background{Tasks: append([]core.BackgroundTask{}, p.tasks...), Waiting: p.idle}}}
}

// tasksChanged takes in the list of all that lives.
func (p *Parser) tasksChanged(line []byte) ([]Item, error) {
	var w wireTasks
	if err := decode(line, &w); err != nil {
		return nil, err
	}
	var now []core.BackgroundTask
	for _, t := range w.Tasks {
		if t.Ambient || t.OffHost || t.ID == "" || len(now) == maxTasks {
			continue
		}
		task := core.BackgroundTask{ID: clipShort(t.ID), Kind: "other", What: oneLine(t.Description)}
		switch t.Type {
		case "local_bash":
			task.Kind = "command"
		case "local_agent":
			task.Kind = "agent"
		}
		if i := p.task(task.ID); i >= 0 {
			task.What = p.tasks[i].What
		}
		now = append(now, task)
	}
	if slices.Equal(now, p.tasks) {
		return nil, nil
	}
	p.tasks = now
	p.quiet = slices.DeleteFunc(p.quiet, func(id string) bool { return p.task(id) >= 0 })
	return p.background(), nil
}

func (p *Parser) task(id string) int {
	return slices.IndexFunc(p.tasks, func(t core.BackgroundTask) bool { return t.ID == id })
}

// taskStarted says which call a task stems from; the list before it gives only the
// agent's own words. A command that is on no list is in the foreground, where its call
// stands already.
func (p *Parser) taskStarted(id, call, text string) []Item {
	started := activity(p.taskWord(id, "task_started"), text, "")
	command, i := p.calls[call], p.task(clipShort(id))
	if i < 0 && command != "" {
		p.quiet = append(p.quiet[max(0, len(p.quiet)-maxCalls):], clipShort(id))
		return nil
	}
	if i < 0 || command == "" || p.tasks[i].What == command {
		return []Item{started}
	}
	p.tasks[i].What = command
	return append(p.background(), started)
}

// isQuiet says that a task is a command of the foreground, and stayed one.
func (p *Parser) isQuiet(id string) bool { return slices.Contains(p.quiet, clipShort(id)) }

// taskWord tells commands from sub-agents.
func (p *Parser) taskWord(id, subtype string) string {
	if i := p.task(clipShort(id)); i >= 0 && p.tasks[i].Kind == "command" {
		switch subtype {
		case "task_started":
			return "background_started"
		case "task_notification":
			return "background_ended"
		}
	}
	return subtype
}

// called remembers commands, and calls of the browser's tools, until they are answered.
func (p *Parser) called(b wireBlock) {
	if strings.HasPrefix(b.Name, browserTools) && len(p.filmed) < maxCalls {
		if p.filmed == nil {
			p.filmed = map[string]bool{}
		}
		p.filmed[clipShort(b.ID)] = true
	}
	if b.Name != "Bash" || len(p.calls) >= maxCalls {
		return
	}
	if p.calls == nil {
		p.calls = map[string]string{}
	}
	if command := CommandOf(b.Input); command != "" {
		p.calls[clipShort(b.ID)] = command
	}
}

// CommandOf is the command of a call of Bash on one line, bounded.
func CommandOf(input []byte) string {
	var in struct {
		Command string `json:"command"`
	}
	if len(input) > maxInput || decode(input, &in) != nil {
		return ""
	}
	return oneLine(in.Command)
}

func oneLine(s string) string {
	s, _ = clip(s, maxShort)
	return strings.Join(strings.Fields(s), " ")
}
