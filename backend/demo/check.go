package demo

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

type problem struct{ at, msg string }

func (s *Script) check() *problem {
	switch {
	case s.Title == "":
		return &problem{"/title", "title is missing"}
	case len(s.Steps) == 0:
		return &problem{"/steps", "a script needs a step"}
	case len(s.Steps) > maxSteps:
		return &problem{"/steps", fmt.Sprintf("more than %d steps", maxSteps)}
	case s.PaceMs < 0 || s.PaceMs > maxWaitMs:
		return &problem{"/pace_ms", fmt.Sprintf("not within 0 and %d", maxWaitMs)}
	}
	for i, st := range s.Steps {
		if p := st.check(fmt.Sprintf("/steps/%d", i), i == len(s.Steps)-1); p != nil {
			return p
		}
	}
	return nil
}

func (st Step) check(at string, last bool) *problem {
	if st.DelayMs < 0 || st.DelayMs > maxWaitMs {
		return &problem{at + "/delay_ms", fmt.Sprintf("not within 0 and %d", maxWaitMs)}
	}
	if st.PaceMs != nil && (*st.PaceMs < 0 || *st.PaceMs > maxWaitMs) {
		return &problem{at + "/pace_ms", fmt.Sprintf("not within 0 and %d", maxWaitMs)}
	}
	if min(st.Usage.Input, st.Usage.Output, st.Usage.CacheRead, st.Usage.CacheWrite) < 0 {
		return &problem{at + "/usage", "token counts cannot be negative"}
	}
	if len(st.Blocks) > maxBlocks {
		return &problem{at + "/blocks", fmt.Sprintf("more than %d blocks", maxBlocks)}
	}
	if st.Error != nil {
		if p := st.Error.check(at + "/error"); p != nil {
			return p
		}
	}
	answers := st.Error == nil || st.Error.Times > 0
	if len(st.Blocks) == 0 && (answers || st.Error.Kind != FaultStatus) {
		return &problem{at, "a step needs blocks, or an error of kind status on every try"}
	}
	calls := false
	for i, b := range st.Blocks {
		if p := b.check(fmt.Sprintf("%s/blocks/%d", at, i)); p != nil {
			return p
		}
		calls = calls || b.Type == ToolUse
	}
	conditional := st.When != nil
	if !last && answers && !calls && !conditional {
		return &problem{at, "this step calls no tool, so the steps after it are never reached"}
	}
	return nil
}

func (b Block) check(at string) *problem {
	switch b.Type {
	case Text, Thinking:
		if b.Text == "" {
			return &problem{at + "/text", "text is missing"}
		}
		if b.Tool != "" || b.Input != nil {
			return &problem{at, "only a tool_use block has tool and input"}
		}
		if err := checkTemplates(b.Text); err != nil {
			return &problem{at + "/text", err.Error()}
		}
	case ToolUse:
		if b.Tool == "" {
			return &problem{at + "/tool", "tool is missing"}
		}
		if b.Text != "" {
			return &problem{at + "/text", "a tool_use block has no text"}
		}
		if b.Input.Kind() != '{' {
			return &problem{at + "/input", "input must be an object"}
		}
		var in map[string]any
		if err := json.Unmarshal(b.Input, &in); err != nil {
			return &problem{at + "/input", err.Error()}
		}
		return checkInput(at+"/input", b.Tool, in)
	default:
		return &problem{at + "/type", fmt.Sprintf("%q is not one of text, thinking, tool_use", b.Type)}
	}
	return nil
}

// checkInput looks at every string of a tool's input. A shell command may not
// be composed of what a person typed or a tool printed.
func checkInput(at, tool string, v any) *problem {
	switch v := v.(type) {
	case string:
		if err := checkTemplates(v); err != nil {
			return &problem{at, err.Error()}
		}
		if tool == "Bash" && slices.ContainsFunc(templatesIn(v), func(t string) bool { return t != "cwd" }) {
			return &problem{at, "a Bash command may hold no template but {{cwd}}"}
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if p := checkInput(at+"/"+k, tool, v[k]); p != nil {
				return p
			}
		}
	case []any:
		for i, e := range v {
			if p := checkInput(fmt.Sprintf("%s/%d", at, i), tool, e); p != nil {
				return p
			}
		}
	}
	return nil
}

func (f *Fault) check(at string) *problem {
	if f.Times < 0 || f.AfterEvents < 0 {
		return &problem{at, "times and after_events cannot be negative"}
	}
	switch f.Kind {
	case FaultStatus:
		if f.Status < 400 || f.Status > 599 {
			return &problem{at + "/status", "an error's status is within 400 and 599"}
		}
		if strings.ContainsAny(f.RetryAfter, "\r\n") {
			return &problem{at + "/retry_after", "a header's value is one line"}
		}
	case FaultEvent, FaultCut, FaultHang, FaultMalformed:
		if f.Status != 0 || f.Body != "" || f.RetryAfter != "" {
			return &problem{at, "status, body and retry_after belong to kind status"}
		}
	default:
		return &problem{at + "/kind", fmt.Sprintf("%q is not one of status, event, cut, hang, malformed", f.Kind)}
	}
	return nil
}
