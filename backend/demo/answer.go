package demo

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// answer is one message of the model, ready to be sent in either form.
type answer struct {
	id     string
	model  string
	blocks []outBlock
	usage  Usage
	delay  time.Duration // before the first piece
	pace   time.Duration // between pieces
	fault  *Fault
	step   int
}

// outBlock is a content block as the API writes it.
type outBlock struct {
	Type      BlockType       `json:"type"`
	Text      string          `json:"text,omitempty"`
	Thinking  string          `json:"thinking,omitempty"`
	Signature string          `json:"signature,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
}

// Real signatures are opaque to the CLI, which only sends them back.
const signature = "bG9vcC1kZW1v"

// Token estimates where a script states none: four bytes are about a token.
const bytesPerToken = 4

// pick chooses the step that answers, beginning at c.step, and fills it.
func (s *Script) pick(c conversation, thinking bool) (answer, error) {
	for i := c.step; i < len(s.Steps); i++ {
		st := s.Steps[i]
		if !c.holds(st.When) {
			continue
		}
		a, err := st.fill(c, i, thinking)
		if err != nil {
			return answer{}, fmt.Errorf("script %s step %d: %w", s.Name, i+1, err)
		}
		if len(a.blocks) == 0 && st.Error == nil {
			continue
		}
		if names := c.unfetched(a.blocks); len(names) > 0 && st.Error == nil {
			// The id says that this same step is next.
			in, err := json.Marshal(map[string]any{"query": "select:" + strings.Join(names, ","), "max_results": len(names)})
			if err != nil {
				return answer{}, fmt.Errorf("encode tool search: %w", err)
			}
			a.blocks = []outBlock{{Type: ToolUse, ID: c.toolID(i, 0), Name: toolSearch, Input: in}}
		}
		pace := s.PaceMs
		if st.PaceMs != nil {
			pace = *st.PaceMs
		}
		a.pace = time.Duration(pace) * time.Millisecond
		return a, nil
	}
	return answer{step: len(s.Steps), blocks: []outBlock{{Type: Text, Text: "That was the last step of this script."}}}, nil
}

func (st Step) fill(c conversation, index int, thinking bool) (answer, error) {
	a := answer{step: index, usage: st.Usage, delay: time.Duration(st.DelayMs) * time.Millisecond, fault: st.Error}
	size := 0
	for i, b := range st.Blocks {
		if !c.holds(b.When) || (b.Type == Thinking && !thinking) {
			continue
		}
		out := outBlock{Type: b.Type}
		switch b.Type {
		case Text:
			out.Text = c.fill(b.Text)
			size += len(out.Text)
			if n := len(a.blocks); n > 0 && a.blocks[n-1].Type == Text {
				// The CLI takes the last text block as the result, so conditional parts must not be blocks of their own.
				a.blocks[n-1].Text += out.Text
				continue
			}
		case Thinking:
			out.Thinking, out.Signature = c.fill(b.Text), signature
		case ToolUse:
			in, err := c.fillInput(b.Input)
			if err != nil {
				return answer{}, err
			}
			out.ID, out.Name, out.Input = c.toolID(index+1, i), b.Tool, in
		}
		size += len(out.Thinking) + len(out.Input)
		a.blocks = append(a.blocks, out)
	}
	if a.usage.Output == 0 {
		a.usage.Output = 1 + size/bytesPerToken
	}
	return a, nil
}

func (a answer) stopReason() string {
	for _, b := range a.blocks {
		if b.Type == ToolUse {
			return "tool_use"
		}
	}
	return "end_turn"
}

type apiUsage struct {
	Input      int `json:"input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	Output     int `json:"output_tokens"`
}

type apiMessage struct {
	ID           string     `json:"id"`
	Type         string     `json:"type"`
	Role         string     `json:"role"`
	Model        string     `json:"model"`
	Content      []outBlock `json:"content"`
	StopReason   *string    `json:"stop_reason"`
	StopSequence *string    `json:"stop_sequence"`
	Usage        apiUsage   `json:"usage"`
}

// message is the answer whole; opened is how a stream begins it.
func (a answer) message() apiMessage {
	stop := a.stopReason()
	m := a.opened()
	m.Content, m.StopReason, m.Usage.Output = a.blocks, &stop, a.usage.Output
	return m
}

func (a answer) opened() apiMessage {
	return apiMessage{
		ID: a.id, Type: "message", Role: "assistant", Model: a.model, Content: []outBlock{},
		Usage: apiUsage{Input: a.usage.Input, CacheWrite: a.usage.CacheWrite, CacheRead: a.usage.CacheRead, Output: 1},
	}
}
