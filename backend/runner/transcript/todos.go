package transcript

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"

	"loop/backend/core"
)

// The agent keeps its list of things to do with TodoWrite, which gives the whole
// list each time, or in newer versions with TaskCreate and TaskUpdate, which
// give one entry. Both become one event with the list in TodoWrite's shape.

const maxTodos = 200

type todo struct {
	id         string
	call       string // the TaskCreate that is not answered yet
	Content    string `json:"content"`
	Status     string `json:"status"`
	ActiveForm string `json:"activeForm,omitempty"`
}

type wireTask struct {
	ID         string `json:"taskId"`
	Subject    string `json:"subject"`
	ActiveForm string `json:"activeForm"`
	Status     string `json:"status"`
}

var taskCreated = regexp.MustCompile(`^Task #([A-Za-z0-9_-]{1,40}) created`)

// todoCall takes in a call of one of the tools; it returns an item when the list
// has changed.
func (p *Parser) todoCall(b wireBlock) []Item {
	switch b.Name {
	case "TodoWrite":
		return []Item{{Type: core.EventTodos, Data: boundInput(b.Input)}}
	case "TaskCreate":
		var t wireTask
		if decode(b.Input, &t) == nil && t.Subject != "" && len(p.todos) < maxTodos {
			p.todos = append(p.todos,
				todo{call: clipShort(b.ID), Content: clipShort(t.Subject), Status: "pending", ActiveForm: clipShort(t.ActiveForm)})
		}
	case "TaskUpdate":
		var t wireTask
		if decode(b.Input, &t) != nil || t.ID == "" {
			return nil
		}
		for i := range p.todos {
			d := &p.todos[i]
			if d.id != t.ID {
				continue
			}
			if t.Status == "deleted" {
				p.todos = slices.Delete(p.todos, i, i+1)
				return p.todoList()
			}
			d.Status = cmp.Or(clipShort(t.Status), d.Status)
			d.Content = cmp.Or(clipShort(t.Subject), d.Content)
			d.ActiveForm = cmp.Or(clipShort(t.ActiveForm), d.ActiveForm)
			return p.todoList()
		}
	}
	return nil
}

// todoAnswer learns the number that a new entry was given.
func (p *Parser) todoAnswer(r core.ToolResult) []Item {
	for i := range p.todos {
		if p.todos[i].call == "" || p.todos[i].call != r.ToolUseID {
			continue
		}
		m := taskCreated.FindStringSubmatch(r.Output)
		if m == nil || r.IsError {
			p.todos = slices.Delete(p.todos, i, i+1)
			return nil
		}
		p.todos[i].id, p.todos[i].call = m[1], ""
		return p.todoList()
	}
	return nil
}

func (p *Parser) todoList() []Item {
	list := slices.DeleteFunc(slices.Clone(p.todos), func(t todo) bool { return t.id == "" })
	raw, _ := json.Marshal(map[string]any{"todos": append([]todo{}, list...)}) // strings always encode
	return []Item{{Type: core.EventTodos, Data: json.RawMessage(raw)}}
}
