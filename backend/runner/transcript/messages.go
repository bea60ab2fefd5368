package transcript

import (
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
	blocks, err := blocksOf(w.Message.Content)
	if err != nil {
		return nil, err
	}
	if w.Parent == "" {
		p.saw(w.SessionID, w.Message.Model)
	}
	var items []Item
	for _, b := range blocks {
		switch b.Type {
		case "text":
			switch {
			case w.Error != "":
				p.apiError = &APIError{Kind: clipShort(w.Error), Text: clipMarked(b.Text, maxOutput)}
				items = append(items, Item{Type: core.EventNotice, Data: core.Notice{Level: "warning", Text: p.apiError.Text}})
			case w.Parent != "":
				items = append(items, activity("task_message", b.Text, w.Message.Model))
			case b.Text != "":
				items = append(items, Item{Type: core.EventMessageCreated, Data: core.MessageCreated{
					MsgID: clipShort(w.Message.ID), Content: clipMarked(b.Text, maxText), IsBot: true,
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
			items = append(items, Item{Type: core.EventThinking, Data: core.Thinking{MsgID: clipShort(w.Message.ID), Text: clipMarked(text, maxText)}})
		case "tool_use", "server_tool_use", "mcp_tool_use":
			items = append(items, Item{Type: core.EventToolUse, Data: core.ToolUse{
				ToolUseID: clipShort(b.ID), ParentID: clipShort(w.Parent), Name: clipShort(b.Name), Input: boundInput(b.Input),
			}})
		default:
			if strings.HasSuffix(b.Type, "tool_result") {
				items = append(items, toolResult(b, w.Parent, nil))
				continue
			}
			items = append(items, raw(line))
		}
	}
	return items, nil
}

func (p *Parser) user(line []byte) ([]Item, error) {
	var w wireMessage
	if err := decode(line, &w); err != nil {
		return nil, err
	}
	blocks, err := blocksOf(w.Message.Content)
	if err != nil {
		return nil, err
	}
	var items []Item
	results := 0
	for _, b := range blocks {
		if b.Type == "tool_result" {
			results++
		}
	}
	for _, b := range blocks {
		switch b.Type {
		case "tool_result":
			var files []core.FileChange
			if results == 1 { // tool_use_result does not say which block it belongs to
				files = filesOf(w.ToolUseResult)
			}
			items = append(items, toolResult(b, w.Parent, files))
		case "text":
			name := "user_text"
			if w.Parent != "" {
				name = "task_prompt"
			}
			items = append(items, activity(name, b.Text, ""))
		default:
			items = append(items, activity("user_"+clipShort(b.Type), "", ""))
		}
	}
	return items, nil
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

func toolResult(b wireBlock, parent string, files []core.FileChange) Item {
	text := textOf(b.Content)
	out, cut := clip(text, maxOutput)
	id := b.ToolUseID
	return Item{Type: core.EventToolResult, Data: core.ToolResult{
		ToolUseID: clipShort(id), ParentID: clipShort(parent), Output: out, IsError: b.IsError, Truncated: cut, Files: files,
	}}
}

// textOf is the readable part of a tool result: its string or its text blocks.
func textOf(v jsontext.Value) string {
	blocks, err := blocksOf(v)
	if err != nil || (blocks == nil && len(v) > 0 && v.Kind() != '[' && v.Kind() != 'n') {
		return string(v)
	}
	var sb strings.Builder
	for _, b := range blocks {
		if sb.Len() > 0 {
			sb.WriteByte('\n')
		}
		if b.Type == "text" {
			sb.WriteString(b.Text)
		} else {
			sb.WriteString("[" + clipShort(b.Type) + "]") // an image, a reference
		}
		if sb.Len() > 2*maxOutput {
			break
		}
	}
	return sb.String()
}

// boundInput returns a tool's input as compact JSON of bounded size.
func boundInput(v jsontext.Value) json.RawMessage {
	if len(v) == 0 {
		return json.RawMessage("{}")
	}
	if len(v) <= maxInput && json.Valid(v) {
		return json.RawMessage(append([]byte(nil), v...))
	}
	var x any
	if json.Unmarshal(v, &x) == nil {
		if b, err := json.Marshal(shortened(x, 0)); err == nil && len(b) <= 4*maxInput {
			return b
		}
	}
	head, _ := clip(strings.ToValidUTF8(string(v[:min(len(v), maxField+8)]), "\uFFFD"), maxField)
	b, _ := json.Marshal(map[string]any{"truncated": true, "bytes": len(v), "text": head})
	return b
}

func activity(name, text, model string) Item {
	return Item{Type: core.EventActivity, Data: core.Activity{Activity: name, Description: clipMarked(text, maxOutput), Model: clipShort(model)}}
}
