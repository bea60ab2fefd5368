package store

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"loop/backend/core"
	"loop/backend/store/internal/said"
)

const (
	defaultFound   = 50
	maxFound       = 500
	maxFindWords   = 32  // a longer query says too much to be met
	maxFindBytes   = 500 // of a query
	beforeExcerpt  = 60  // characters before the first word
	excerptRunes   = 200
	maxExcerptText = 256 << 10 // bytes of a text that an excerpt is sought in
)

// Find returns events whose texts have all words of a query, newest first. A query without a
// letter or digit finds nothing.
func (s *Store) Find(ctx context.Context, q core.FindQuery) (core.FoundEvents, error) {
	out := core.FoundEvents{Found: []core.FoundEvent{}}
	words := findWords(q.Words)
	if len(words) == 0 {
		return out, nil
	}
	limit := min(max(cmp.Or(q.Limit, defaultFound), 1), maxFound)
	before := q.BeforeID
	if before <= 0 {
		before = math.MaxInt64
	}
	list, err := s.read.FindSaid(ctx, said.FindSaidParams{Words: matchOf(words, q.ChannelID), Before: before, Most: int64(limit + 1)})
	if err != nil {
		return core.FoundEvents{}, s.wrap("find in timelines", err)
	}
	out.More = len(list) > limit
	for _, r := range list[:min(len(list), limit)] {
		out.Found = append(out.Found, foundOf(eventOf(r.Event), r.Prompt, words[0].text))
	}
	return out, nil
}

// findWord is a word, or several that stand together.
type findWord struct {
	text  string
	begun bool // it may go on
}

// findWords takes a query apart. A quote that is not closed reaches to the end.
func findWords(query string) []findWord {
	query = strings.ToValidUTF8(query[:min(len(query), maxFindBytes)], " ")
	var out []findWord
	for i, part := range strings.Split(query, `"`) {
		if i%2 == 1 {
			out = append(out, findWord{text: part})
			continue
		}
		for _, w := range strings.Fields(part) {
			out = append(out, findWord{text: w})
		}
		if n := len(out); n > 0 && part != "" && !unicode.IsSpace(last(part)) {
			out[n-1].begun = true
		}
	}
	out = slices.DeleteFunc(out, func(w findWord) bool { return !strings.ContainsFunc(w.text, wordRune) })
	for i := range out[:max(len(out)-1, 0)] {
		out[i].begun = false // only what is still being written
	}
	return out[:min(len(out), maxFindWords)]
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func last(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// matchOf writes the words as an expression of SQLite's FTS5, in which nothing but the quote
// has a meaning within quotes.
func matchOf(words []findWord, ch core.ChannelID) string {
	quote := func(s string) string { return `"` + strings.NewReplacer(`"`, `""`, "\x00", " ").Replace(s) + `"` }
	var b strings.Builder
	if ch != "" {
		b.WriteString("channel : " + quote(string(ch)) + " AND ")
	}
	b.WriteString("words : (")
	for i, w := range words {
		if i > 0 {
			b.WriteString(" AND ")
		}
		b.WriteString(quote(w.text))
		if w.begun {
			b.WriteString("*")
		}
	}
	b.WriteString(")")
	return b.String()
}

// foundOf is a place in a timeline. prompt is what a run was asked, of the event that says so.
func foundOf(e core.Event, prompt, word string) core.FoundEvent {
	out := core.FoundEvent{EventID: e.ID, ChannelID: e.ChannelID, RunID: e.RunID, Type: e.Type, Timestamp: e.Timestamp}
	var d struct {
		Content   string          `json:"content"`
		Text      string          `json:"text"`
		Output    string          `json:"output"`
		ToolUseID string          `json:"tool_use_id"`
		ToolName  string          `json:"tool_name"`
		IsBot     bool            `json:"is_bot"`
		Input     json.RawMessage `json:"input"`
		Failure   *core.Failure   `json:"failure"`
	}
	text := ""
	if json.Unmarshal(e.Data, &d) == nil {
		out.ToolUseID, out.ToolName, out.IsBot = d.ToolUseID, d.ToolName, d.IsBot
		text = cmp.Or(d.Content, d.Text, d.Output)
		if !d.IsBot {
			text = cmp.Or(prompt, text)
		}
		if d.Failure != nil && text == "" {
			text = d.Failure.Cause
		}
	}
	if text == "" {
		raw := d.Input
		if len(raw) == 0 {
			raw = e.Data
		}
		text = textsIn(raw)
	}
	out.Excerpt = excerpt(text, word)
	return out
}

// textsIn are the texts of a value, in the order of its keys.
func textsIn(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	var parts []string
	var walk func(v any)
	walk = func(v any) {
		switch x := v.(type) {
		case string:
			parts = append(parts, x)
		case []any:
			for _, y := range x {
				walk(y)
			}
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(x)) {
				walk(x[k])
			}
		}
	}
	walk(v)
	return strings.Join(parts, " ")
}

// excerpt is one line of a text around a word, in whatever case the word is there.
func excerpt(text, word string) string {
	text = strings.ToValidUTF8(text[:min(len(text), maxExcerptText)], "")
	all := []rune(strings.Join(strings.Fields(text), " "))
	low := func(r []rune) []rune {
		out := make([]rune, len(r))
		for i, c := range r {
			out[i] = unicode.ToLower(c)
		}
		return out
	}
	at := max(indexRunes(low(all), low([]rune(strings.Join(strings.Fields(word), " ")))), 0)
	from := max(at-beforeExcerpt, 0)
	to := min(from+excerptRunes, len(all))
	out := string(all[from:to])
	if from > 0 {
		out = "…" + out
	}
	if to < len(all) {
		out += "…"
	}
	return out
}

func indexRunes(in, of []rune) int {
	if len(of) == 0 {
		return -1
	}
	for i := 0; i+len(of) <= len(in); i++ {
		if slices.Equal(in[i:i+len(of)], of) {
			return i
		}
	}
	return -1
}
