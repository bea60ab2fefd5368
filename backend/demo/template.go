package demo

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

var template = regexp.MustCompile(`\{\{\s*([a-z_]*)\s*\}\}`)

// Longest text put in for a template, in bytes: a prompt is quoted, not repeated.
const (
	maxQuote  = 600
	maxResult = 4000
)

func templatesIn(s string) []string {
	var names []string
	for _, m := range template.FindAllStringSubmatch(s, -1) {
		names = append(names, m[1])
	}
	return names
}

func checkTemplates(s string) error {
	for _, n := range templatesIn(s) {
		switch n {
		case "prompt", "previous_prompt", "cwd", "tool_result":
		default:
			return fmt.Errorf("{{%s}} is not a template; there are {{prompt}}, {{previous_prompt}}, {{cwd}} and {{tool_result}}", n)
		}
	}
	return nil
}

// fill puts the conversation into a text.
func (c conversation) fill(s string) string {
	return template.ReplaceAllStringFunc(s, func(t string) string {
		switch template.FindStringSubmatch(t)[1] {
		case "prompt":
			return clip(c.prompt, maxQuote)
		case "previous_prompt":
			return clip(c.previous, maxQuote)
		case "cwd":
			return c.cwd
		default:
			return clip(strings.TrimSpace(c.result), maxResult)
		}
	})
}

// fillInput fills every string in a tool's input. The input is decoded first,
// so that what is put in cannot change its shape.
func (c conversation) fillInput(input []byte) (json.RawMessage, error) {
	var v any
	if err := json.Unmarshal(input, &v); err != nil {
		return nil, fmt.Errorf("decode tool input: %w", err)
	}
	var walk func(any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case string:
			return c.fill(v)
		case map[string]any:
			for k := range v {
				v[k] = walk(v[k])
			}
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
		}
		return v
	}
	out, err := json.Marshal(walk(v))
	if err != nil {
		return nil, fmt.Errorf("encode tool input: %w", err)
	}
	return out, nil
}

// clip shortens s to at most limit bytes at a character's border.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}
