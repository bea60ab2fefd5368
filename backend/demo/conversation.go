package demo

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// request is what the handler reads of a Messages API request; everything else
// in it is ignored, because newer CLIs add fields.
type request struct {
	Model        string                  `json:"model"`
	MaxTokens    int                     `json:"max_tokens"`
	Stream       bool                    `json:"stream"`
	System       content                 `json:"system"`
	Messages     []message               `json:"messages"`
	Tools        []struct{ Name string } `json:"tools"`
	Thinking     struct{ Type string }   `json:"thinking"`
	OutputConfig struct {
		Format struct {
			Schema json.RawMessage
		}
	} `json:"output_config"`
}

type message struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

// content is a string or a list of blocks on the wire.
type content []block

type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	ID      string          `json:"id"`      // tool_use
	Name    string          `json:"name"`    // tool_use
	Input   json.RawMessage `json:"input"`   // tool_use
	Content content         `json:"content"` // tool_result
}

func (c *content) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*c = content{{Type: "text"}}
		return json.Unmarshal(data, &(*c)[0].Text)
	}
	return json.Unmarshal(data, (*[]block)(c))
}

// text joins the text blocks.
func (c content) text() string {
	var parts []string
	for _, b := range c {
		if b.Type == "text" && b.Text != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// Purposes of a request.
const (
	purposeTurn       = "turn"       // the conversation: a step of the script
	purposeBackground = "background" // titles, page summaries
	purposeSummary    = "summary"    // compacting the conversation
	purposeQuota      = "quota"      // a probe for one token
	purposeCount      = "count"      // count_tokens
	purposeOther      = "other"      // no Messages request
)

// conversation is what a script's conditions and templates depend on.
type conversation struct {
	purpose   string
	prompt    string // the last real prompt, without directives
	previous  string // the one before it
	script    string // named by a directive in the last prompt
	step      int    // the first step that may answer
	results   []string
	result    string // the results of the last turn
	cwd       string
	tools     map[string]bool // offered; false: only by name, to be fetched with ToolSearch first
	messages  int
	lastTexts string // the last user message, reminders and all
	answering bool   // the last prompt came after a call that asks the person
	compacted bool   // the person has sent /compact
}

var (
	directive  = regexp.MustCompile(`(?m)^[ \t]*demo:([a-z0-9-]+)[ \t]*\r?$\n?`)
	reminder   = regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>`)
	workingDir = regexp.MustCompile(`(?m)^[ \t-]*(?:Primary w|W)orking directory: (.+)$`)
	toolName   = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)
	stepID     = regexp.MustCompile(`^toolu_demo_(\d{1,3})_`)
)

// Openings of user messages that the CLI writes itself. They are no prompts.
var notPrompts = []string{"[Image: source: ", "<command-", "<local-command-", "<bash-",
	"[Request interrupted by user", "Caveat: The messages below"}

const (
	continuedMark = "This session is being continued from a previous conversation"
	compactMark   = "Your task is to create a detailed summary of the conversation"
	promptMark    = "Prompt: " // one line each in the summaries this package writes
	taskEnded     = "<task-notification>"
	deferredMark  = "deferred tools are now available"
	toolSearch    = "ToolSearch"
	compactSent   = "<command-name>/compact</command-name>"
)

// asking are the tools that stand for a question to the person.
var asking = []string{"AskUserQuestion", "ExitPlanMode"}

// read makes out where a conversation stands. The step follows from the id of the
// last tool call since the prompt, which this package has made.
func (r *request) read() conversation {
	c := conversation{tools: make(map[string]bool, len(r.Tools)), messages: len(r.Messages)}
	for _, t := range r.Tools {
		c.tools[t.Name] = true
	}
	c.heed(r.System.text())
	asked := false
	for _, m := range r.Messages {
		switch m.Role {
		case "system":
			c.heed(m.Content.text()) // where newer versions of the CLI describe the environment
		case "assistant":
			for _, b := range m.Content {
				if s := stepID.FindStringSubmatch(b.ID); s != nil {
					c.step, _ = strconv.Atoi(s[1])
				}
				asked = asked || slices.Contains(asking, b.Name)
				if b.Name == toolSearch {
					c.fetch(b.Input)
				}
			}
		case "user":
			c.lastTexts = m.Content.text()
			c.compacted = c.compacted || strings.Contains(c.lastTexts, compactSent)
			if got, any := m.Content.results(); any {
				c.results = append(c.results, got)
				c.result = got
				continue // text beside results was typed during the turn and belongs to it
			}
			if c.hear(m.Content) {
				c.step, c.answering, asked = 0, asked, false
			}
		}
	}
	c.purpose = r.purpose(c)
	return c
}

// heed takes in what the CLI says of itself, in the system prompt or between
// messages: where it works, and which tools it offers by name only.
func (c *conversation) heed(text string) {
	if all := workingDir.FindAllStringSubmatch(text, -1); all != nil {
		c.cwd = strings.TrimSpace(all[len(all)-1][1])
	}
	_, list, found := strings.Cut(text, deferredMark)
	if !found {
		return
	}
	_, list, _ = strings.Cut(list, "\n")
	for line := range strings.Lines(list) {
		name := strings.TrimSpace(line)
		if !toolName.MatchString(name) {
			break
		}
		if _, offered := c.tools[name]; !offered {
			c.tools[name] = false
		}
	}
}

// fetch marks the tools of a search for exact names as usable.
func (c *conversation) fetch(search json.RawMessage) {
	var input struct{ Query string }
	_ = json.Unmarshal(search, &input) // what is no such search fetches nothing
	names, exact := strings.CutPrefix(input.Query, "select:")
	if !exact {
		return
	}
	for name := range strings.SplitSeq(names, ",") {
		if _, known := c.tools[name]; known {
			c.tools[name] = true
		}
	}
}

// unfetched lists the tools of an answer that must be searched for first.
func (c *conversation) unfetched(blocks []outBlock) (names []string) {
	if !c.tools[toolSearch] {
		return nil
	}
	for _, b := range blocks {
		if usable, known := c.tools[b.Name]; b.Type == ToolUse && known && !usable && !slices.Contains(names, b.Name) {
			names = append(names, b.Name)
		}
	}
	return names
}

func (r *request) purpose(c conversation) string {
	switch {
	case r.MaxTokens == 1:
		return purposeQuota
	case strings.Contains(c.lastTexts, compactMark):
		return purposeSummary
	case len(r.Tools) == 0 && c.cwd == "":
		// A conversation states the working directory even with its tools switched off; side requests do neither.
		return purposeBackground
	}
	return purposeTurn
}

// hear takes one user message in; it reports whether a new turn begins there.
// The CLI puts texts of its own beside what was typed, each in its own block.
func (c *conversation) hear(blocks content) bool {
	begins := false
	for _, b := range blocks {
		text := strings.TrimSpace(reminder.ReplaceAllString(b.Text, ""))
		switch {
		case strings.Contains(b.Text, taskEnded): // a late result, told in words
			c.results = append(c.results, b.Text)
			c.result = b.Text
		case b.Type != "text" || text == "" || strings.Contains(text, compactMark):
		case slices.ContainsFunc(notPrompts, func(p string) bool { return strings.HasPrefix(text, p) }):
		case strings.HasPrefix(text, continuedMark):
			for line := range strings.Lines(text) {
				if p, ok := strings.CutPrefix(strings.TrimSpace(line), promptMark); ok {
					c.previous, c.prompt = c.prompt, p
				}
			}
			begins = true // whatever was under way ended with the summary
		default:
			// A prompt that got no answer is sent again in the same message as the next one.
			c.ask(text)
			begins = true
		}
	}
	return begins
}

// ask takes in what a person typed.
func (c *conversation) ask(text string) {
	c.script = ""
	if all := directive.FindAllStringSubmatch(text, -1); all != nil {
		c.script = all[len(all)-1][1]
		if rest := strings.TrimSpace(directive.ReplaceAllString(text, "")); rest != "" {
			text = rest
		}
	}
	c.previous, c.prompt = c.prompt, text
	c.results, c.result = nil, ""
}

func (c content) results() (text string, any bool) {
	var parts []string
	for _, b := range c {
		if b.Type == "tool_result" {
			any = true
			parts = append(parts, b.Content.text())
		}
	}
	return strings.Join(parts, "\n"), any
}

// holds reports whether a condition is met here.
func (c conversation) holds(w *When) bool {
	if w == nil {
		return true
	}
	if w.PromptedBefore != nil && *w.PromptedBefore != (c.previous != "") ||
		w.Answering != nil && *w.Answering != c.answering ||
		w.Compacted != nil && *w.Compacted != c.compacted ||
		!strings.Contains(c.prompt, w.PromptHas) {
		return false
	}
	if _, offered := c.tools[w.Tool]; w.Tool != "" && !offered {
		return false
	}
	has := func(s string) bool {
		return slices.ContainsFunc(c.results, func(r string) bool { return strings.Contains(r, s) })
	}
	return (w.ResultHas == "" || has(w.ResultHas)) && (w.ResultLacks == "" || !has(w.ResultLacks))
}

// toolID names a tool call so that the next request tells which step is next.
// The same request always gets the same id; another place in a session another one.
func (c conversation) toolID(next, index int) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %d %d %s", c.messages, next, index, c.prompt)
	return fmt.Sprintf("toolu_demo_%03d_%02d_%016x", next, index, h.Sum64())
}

// templates are what may stand in a script's texts, in the order of filler.
var templates = []string{"{{prompt}}", "{{previous_prompt}}", "{{cwd}}", "{{tool_result}}"}

// template finds what looks like one.
var template = regexp.MustCompile(`\{\{[a-z_ ]*\}\}`)

// Longest text put in for a template, in bytes: a prompt is quoted, not repeated.
const (
	maxQuote  = 600
	maxResult = 4000
)

// filler puts the conversation into a script's texts, each part changed by as.
func (c conversation) filler(as func(string) string) *strings.Replacer {
	var pairs []string
	for i, part := range []string{clip(c.prompt, maxQuote), clip(c.previous, maxQuote), c.cwd, clip(strings.TrimSpace(c.result), maxResult)} {
		pairs = append(pairs, templates[i], as(part))
	}
	return strings.NewReplacer(pairs...)
}

// inJSON is s as it stands within a JSON string, which it cannot end.
func inJSON(s string) string {
	b, _ := json.Marshal(s) // a string always encodes
	return string(b[1 : len(b)-1])
}

// clip shortens s to at most limit bytes at a character's border.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}
