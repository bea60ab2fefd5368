package sessions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"loop/backend/core"
	"loop/backend/runner/transcript"
)

const (
	maxTranscript = 256 << 20 // bytes read of one
	titleLimit    = 200       // runes
	textLimit     = 4000      // runes of one message
)

// line is what is read of one line of a transcript; the CLI writes more, and
// other kinds.
type line struct {
	Type      string    `json:"type"`
	UUID      string    `json:"uuid"`
	Parent    string    `json:"parentUuid"`
	Sidechain bool      `json:"isSidechain"`
	Meta      bool      `json:"isMeta"`
	Compact   bool      `json:"isCompactSummary"`
	At        time.Time `json:"timestamp"`
	Dir       string    `json:"cwd"`
	Branch    string    `json:"gitBranch"`
	Summary   string    `json:"summary"`
	Custom    string    `json:"customTitle"`
	AI        string    `json:"aiTitle"`
	APIError  bool      `json:"isApiErrorMessage"`
	Message   message   `json:"message"`
}

type message struct {
	Role    string          `json:"role"`
	Model   string          `json:"model"`
	Content json.RawMessage `json:"content"`
}

// parse reads one line; false is one that says nothing here.
func parse(raw []byte) (line, bool) {
	var l line
	if !utf8.Valid(raw) || json.Unmarshal(raw, &l) != nil {
		// One field of another shape than expected must not cost the chain.
		var least struct {
			Type   string `json:"type"`
			UUID   string `json:"uuid"`
			Parent string `json:"parentUuid"`
		}
		if json.Unmarshal(raw, &least) != nil {
			return line{}, false
		}
		l = line{Type: least.Type, UUID: least.UUID, Parent: least.Parent}
	}
	if !validID(l.UUID) {
		l.UUID = ""
	}
	if !validID(l.Parent) {
		l.Parent = ""
	}
	return l, true
}

// role is user or assistant for what a person or the agent said; empty for tool
// traffic and the CLI's own notes.
func (l line) role() string {
	if l.Sidechain || l.Meta {
		return ""
	}
	switch l.Type {
	case "user":
		if l.Compact {
			return ""
		}
		return "user"
	case "assistant":
		if strings.HasPrefix(l.Message.Model, "<") {
			return "" // “<synthetic>”: the CLI's own words in the model's place
		}
		return "assistant"
	}
	return ""
}

// text is the words of a message, empty when it has none.
func (m message) text() string {
	content := bytes.TrimSpace(m.Content)
	if len(content) == 0 {
		return ""
	}
	if content[0] == '"' {
		var s string
		_ = json.Unmarshal(content, &s)
		return s
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &blocks) != nil {
		return ""
	}
	var parts []string
	for _, b := range blocks {
		if b.Type == "text" && strings.TrimSpace(b.Text) != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// typed reports whether a user's text is a person's, not the echo of a command
// or a reminder that the CLI put there.
func typed(text string) bool {
	t := strings.TrimSpace(text)
	for _, own := range []string{"<command-", "<local-command", "<system-reminder>", "Caveat: The messages below were generated"} {
		if strings.HasPrefix(t, own) {
			return false
		}
	}
	return t != ""
}

// walk calls each with every whole line of r; longer ones than are kept are passed
// over.
func walk(ctx context.Context, r io.Reader, each func(raw []byte) (more bool)) error {
	lines := transcript.NewReader(io.LimitReader(r, maxTranscript), 0)
	for n := 0; ; n++ {
		l, err := lines.Next()
		switch {
		case errors.Is(err, io.EOF) || l.Open: // what has no line end yet is still being written
			return nil
		case err != nil:
			return fmt.Errorf("read transcript: %w", err)
		case n%256 == 0 && ctx.Err() != nil:
			return ctx.Err()
		case len(l.Data) > 0 && l.Cut == 0 && !each(l.Data):
			return nil
		}
	}
}

// plain makes text from a container fit for one line of a list.
func plain(s string, limit int) string {
	return core.Shortened(strings.Join(strings.Fields(shown(s)), " "), limit)
}

// shown drops what could change how the text around it is displayed.
func shown(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

var errGone = core.Fail(core.CodeNotFound, core.ErrNotFound, "The agent no longer keeps that conversation.",
	"Choose another one, or start a fresh one.")
