package demo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// answer is one message of the model, ready to be sent in either form.
type answer struct {
	id          string
	model       string
	blocks      []outBlock
	usage       Usage
	delay, pace time.Duration // before the first piece, and between pieces
	fault       *Fault
	step        int
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
func (s *Script) pick(c conversation, thinking bool) answer {
	for i := c.step; i < len(s.Steps); i++ {
		st := s.Steps[i]
		if !c.holds(st.When) {
			continue
		}
		a := st.fill(c, i, thinking)
		if len(a.blocks) == 0 && st.Error == nil {
			continue
		}
		if names := c.unfetched(a.blocks); len(names) > 0 && st.Error == nil {
			// The id says that this same step is next.
			in := fmt.Sprintf(`{"query":"select:%s","max_results":%d}`, inJSON(strings.Join(names, ",")), len(names))
			a.blocks = []outBlock{{Type: ToolUse, ID: c.toolID(i, 0), Name: toolSearch, Input: json.RawMessage(in)}}
		}
		a.pace = time.Duration(s.PaceMs) * time.Millisecond
		return a
	}
	return answer{step: len(s.Steps), blocks: []outBlock{{Type: Text, Text: "That was the last step of this script."}}}
}

func (st Step) fill(c conversation, index int, thinking bool) answer {
	a := answer{step: index, usage: st.Usage, delay: time.Duration(st.DelayMs) * time.Millisecond, fault: st.Error}
	text, data := c.filler(func(s string) string { return s }), c.filler(inJSON)
	size := 0
	for i, b := range st.Blocks {
		if !c.holds(b.When) || (b.Type == Thinking && !thinking) {
			continue
		}
		out := outBlock{Type: b.Type}
		switch b.Type {
		case Text:
			out.Text = text.Replace(b.Text)
			size += len(out.Text)
			if n := len(a.blocks); n > 0 && a.blocks[n-1].Type == Text {
				// The CLI takes the last text block as the result, so conditional parts must not be blocks of their own.
				a.blocks[n-1].Text += out.Text
				continue
			}
		case Thinking:
			out.Thinking, out.Signature = text.Replace(b.Text), signature
		case ToolUse:
			out.ID, out.Name, out.Input = c.toolID(index+1, i), b.Tool, json.RawMessage(data.Replace(string(b.Input)))
		}
		size += len(out.Thinking) + len(out.Input)
		a.blocks = append(a.blocks, out)
	}
	if a.usage.Output == 0 {
		a.usage.Output = 1 + size/bytesPerToken
	}
	return a
}

// side answers what is no step of a script: titles, compacting, quota probes. The
// answers are short and never wait.
func (r *request) side(c conversation) answer {
	text := "OK."
	switch {
	case c.purpose == purposeSummary:
		text = c.summary()
	case c.purpose == purposeBackground && len(r.OutputConfig.Format.Schema) > 0:
		text = r.titles(c.prompt)
	case c.purpose == purposeBackground:
		text = "This is the demo model; it answers from a script."
	}
	return answer{step: -1, blocks: []outBlock{{Type: Text, Text: text}}, usage: Usage{Input: 1, Output: 1 + len(text)/bytesPerToken}}
}

// summary is the answer to compacting. The prompts stand on lines of their
// own, so that a later prompt can still quote the one before it.
func (c conversation) summary() string {
	var b strings.Builder
	b.WriteString("<analysis>\nA scripted conversation with the demo model.\n</analysis>\n" +
		"<summary>\nThe person talked to Loop's demo model.\n")
	for _, p := range []string{c.previous, c.prompt} {
		if p != "" {
			fmt.Fprintf(&b, "%s%s\n", promptMark, clip(strings.Join(strings.Fields(p), " "), maxQuote))
		}
	}
	b.WriteString("</summary>")
	return b.String()
}

const titleWords = 6

// titles fills every text of the schema that an answer must fit with a heading, made
// of the prompt's first words. The CLI asks for one title so.
func (r *request) titles(prompt string) string {
	prompt, _, _ = strings.Cut(strings.NewReplacer("<session>", " ", "</session>", " ").Replace(prompt), "\n\nWrite the title")
	words := strings.Fields(prompt)
	title := cmp.Or(clip(strings.Join(words[:min(len(words), titleWords)], " "), 80), "A demo conversation")
	var schema struct{ Properties map[string]struct{ Type any } }
	_ = json.Unmarshal(r.OutputConfig.Format.Schema, &schema) // another kind of schema gets an empty object
	out := map[string]any{}
	for name, p := range schema.Properties {
		if out[name] = nil; p.Type == "string" {
			out[name] = title
		}
	}
	text, _ := json.Marshal(out) // strings always encode
	return string(text)
}

// message is how a stream begins the answer; whole is all of it.
func (a answer) message() fields {
	used := a.usage
	used.Output = 1
	return fields{
		"id": a.id, "type": "message", "role": "assistant", "model": a.model, "content": []outBlock{}, "stop_reason": nil,
		"stop_sequence": nil, "usage": used,
	}
}

func (a answer) whole() fields {
	m := a.message()
	m["content"], m["usage"], m["stop_reason"] = a.blocks, a.usage, "end_turn"
	if slices.ContainsFunc(a.blocks, func(b outBlock) bool { return b.Type == ToolUse }) {
		m["stop_reason"] = "tool_use"
	}
	return m
}
