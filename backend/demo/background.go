package demo

import (
	"encoding/json"
	"fmt"
	"strings"
)

// side answers what is no step of a script: titles, topics, compacting, quota
// probes. The answers are short and never wait.
func (r *request) side(c conversation) answer {
	text := "OK."
	switch c.purpose {
	case purposeSummary:
		text = c.summary()
	case purposeBackground:
		system := r.System.text()
		switch {
		case len(r.OutputConfig.Format.Schema) > 0:
			text = instance(r.OutputConfig.Format.Schema, title(c.prompt))
		case strings.Contains(system, "isNewTopic"):
			text = `{"isNewTopic":false,"title":null}`
		case strings.Contains(system, "title"):
			text = title(c.prompt)
		default:
			text = "This is the demo model; it answers from a script."
		}
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

// title makes a heading of a prompt's first words.
func title(prompt string) string {
	prompt = strings.NewReplacer("<session>", " ", "</session>", " ").Replace(prompt)
	if i := strings.Index(prompt, "\n\nWrite the title"); i >= 0 {
		prompt = prompt[:i]
	}
	words := strings.Fields(prompt)
	if len(words) == 0 {
		return "A demo conversation"
	}
	return clip(strings.Join(words[:min(len(words), titleWords)], " "), 80)
}

const maxSchemaDepth = 8

// instance makes the smallest value that fits a JSON schema, with text for
// every string.
func instance(schema json.RawMessage, text string) string {
	var s any
	if json.Unmarshal(schema, &s) != nil {
		return "{}"
	}
	out, err := json.Marshal(fit(s, text, maxSchemaDepth))
	if err != nil {
		return "{}"
	}
	return string(out)
}

func fit(schema any, text string, depth int) any {
	s, ok := schema.(map[string]any)
	if !ok || depth == 0 {
		return nil
	}
	if e, ok := s["enum"].([]any); ok && len(e) > 0 {
		return e[0]
	}
	if v, ok := s["const"]; ok {
		return v
	}
	kind := s["type"]
	if many, ok := kind.([]any); ok && len(many) > 0 {
		kind = many[0]
	}
	switch kind {
	case "string":
		return text
	case "boolean":
		return false
	case "integer", "number":
		return 0
	case "array":
		return []any{}
	case "object":
		out := map[string]any{}
		if props, ok := s["properties"].(map[string]any); ok {
			for name, p := range props {
				out[name] = fit(p, text, depth-1)
			}
		}
		return out
	}
	return nil
}
