package transcript

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"loop/backend/core"
)

func (p *Parser) assistant(line []byte) ([]Item, error) {
	var w wireMessage
	if err := decode(line, &w); err != nil {
		return nil, err
	}
	p.tally.heard(w.Message.ID, w.Message.Model, w.Parent, w.Message.Usage)
	return p.message(w, line)
}

// message reads the blocks of a message, which is the agent's own or below a call.
func (p *Parser) message(w wireMessage, line []byte) ([]Item, error) {
	blocks, err := blocksOf(w.Message.Content)
	if err != nil {
		return nil, err
	}
	var items []Item
	if w.Parent == "" {
		items = p.turn(true)
		p.saw(w.SessionID, w.Message.Model)
		if w.Error == "" {
			p.Worked = true
			if !p.closed {
				p.Asked = nil // it goes on after a refused question
			}
		}
	}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			switch {
			case w.Error != "":
				p.APIError = &APIError{Kind: clipShort(w.Error), Text: clipMarked(b.Text, maxOutput)}
				if w.Parent != "" {
					items = append(items, about(activity("task_error", b.Text, ""), w.Parent, nil))
					continue
				}
				items = append(items, notice("warning", p.APIError.Text))
			case w.Parent != "":
				items = append(items, about(activity("task_message", b.Text, w.Message.Model), w.Parent, nil))
			case b.Text != "":
				p.lastText = clipMarked(b.Text, maxPlan)
				items = append(items, Item{Type: core.EventMessageCreated, Data: core.MessageCreated{
					MsgID: clipShort(w.Message.ID), Content: clipMarked(b.Text, maxText), IsBot: true, IsProcessed: true, UUID: clipShort(w.UUID),
				}})
			}
		case "thinking", "redacted_thinking":
			text := b.Thinking
			if b.Type == "redacted_thinking" {
				text = "The model kept this thought to itself."
			}
			if w.Parent != "" || text == "" {
				continue
			}
			items = append(items,
				Item{Type: core.EventThinking, Data: core.Thinking{MsgID: clipShort(w.Message.ID), Text: clipMarked(text, maxText)}})
		case "tool_use", "server_tool_use", "mcp_tool_use":
			items = append(items, Item{Type: core.EventToolUse, Data: core.ToolUse{
				ToolUseID: clipShort(b.ID), ParentID: clipShort(w.Parent), Name: clipShort(b.Name), Input: boundInput(b.Input),
			}})
			p.called(b)
			if w.Parent == "" {
				p.tool(b)
				items = append(items, p.todoCall(b)...)
			}
		default:
			if strings.HasSuffix(b.Type, "tool_result") {
				out := outputOf(b.Content)
				items = append(items, Item{Type: core.EventToolResult, Pictures: out.pictures, Data: core.ToolResult{
					ToolUseID: clipShort(b.ToolUseID), ParentID: clipShort(w.Parent), Output: out.text, IsError: b.IsError, Truncated: out.cut,
				}})
				continue
			}
			items = append(items, raw(line))
		}
	}
	return items, nil
}

// user reads what tools answered. These are the longest lines, so they are
// walked rather than decoded.
func (p *Parser) user(line []byte) ([]Item, error) {
	top, err := pick(line, "message", "parent_tool_use_id", "tool_use_result")
	if err != nil {
		return nil, err
	}
	return p.answers(top)
}

// answers reads a message, the call that it is below, and what the tool itself says.
func (p *Parser) answers(top [][]byte) ([]Item, error) {
	inner := [][]byte{nil}
	var err error
	if top[0] != nil {
		if inner, err = pick(top[0], "content"); err != nil {
			return nil, err
		}
	}
	content := inner[0]
	parent, _ := firstOf(top[1], maxShort) // null gives nothing
	if len(content) == 0 || content[0] != '[' {
		text, _ := firstOf(content, maxOutput)
		return p.userText(text, parent), nil
	}
	var items []Item
	results := 0
	err = elements(content, func(val []byte) error {
		it, isResult, err := p.userBlock(val, parent)
		if isResult {
			results++
		}
		items = append(items, it...)
		return err
	})
	if err != nil {
		return nil, err
	}
	if results == 1 { // tool_use_result does not say which block it belongs to
		for i := range items {
			if r, ok := items[i].Data.(core.ToolResult); ok {
				r.Files = filesOf(top[2])
				items[i].Data = r
			}
		}
	}
	return items, nil
}

func (p *Parser) userBlock(val []byte, parent string) (items []Item, isResult bool, err error) {
	v, err := pick(val, "type", "tool_use_id", "is_error", "content", "text")
	if err != nil {
		return nil, false, err
	}
	switch typ, _ := firstOf(v[0], maxShort); typ {
	case "tool_result":
		out := outputOf(v[3])
		id, _ := firstOf(v[1], maxShort)
		if p.filmed[id] {
			out.pictures = nil
		}
		delete(p.filmed, id)
		delete(p.calls, id)
		r := core.ToolResult{ToolUseID: id, ParentID: parent, Output: out.text, IsError: string(v[2]) == "true", Truncated: out.cut}
		if parent == "" {
			r = p.refused(r)
			items = p.todoAnswer(r)
		}
		return append([]Item{{Type: core.EventToolResult, Data: r, Pictures: out.pictures}}, items...), true, nil
	case "text":
		text, _ := firstOf(v[4], maxOutput)
		return p.userText(text, parent), false, nil
	default:
		return []Item{activity("user_"+typ, "", "")}, false, nil
	}
}

func (p *Parser) userText(text, parent string) []Item {
	if text == "" || p.Asked != nil && strings.HasPrefix(text, "[Request interrupted by user") {
		return nil
	}
	if parent != "" {
		return []Item{about(activity("task_prompt", text, ""), parent, nil)}
	}
	return []Item{activity("user_text", text, "")}
}

// blocksOf reads content that is a string or a list of blocks.
func blocksOf(v jsontext.Value) ([]wireBlock, error) {
	switch v.Kind() {
	case '"':
		var s string
		if err := decode(v, &s); err != nil {
			return nil, err
		}
		return []wireBlock{{Type: "text", Text: s}}, nil
	case '[':
		var list []wireBlock
		err := decode(v, &list)
		return list, err
	}
	return nil, nil
}

// boundInput returns a tool's input as compact JSON of bounded size.
func boundInput(v jsontext.Value) json.RawMessage {
	if len(v) == 0 {
		return json.RawMessage("{}")
	}
	if len(v) <= maxInput && json.Valid(v) {
		return json.RawMessage(bytes.Clone(v))
	}
	var x any
	if json.Unmarshal(v, &x) == nil {
		if b, err := json.Marshal(shortened(x, 0)); err == nil && len(b) <= 4*maxInput {
			return b
		}
	}
	return truncated(v, maxField)
}

func activity(name, text, model string) Item {
	return Item{Type: core.EventActivity,
		Data: core.Activity{Activity: name, Description: clipMarked(text, maxOutput), Model: clipShort(model)}}
}
