package recordings

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
	"unicode/utf8"

	"loop/backend/core"
)

// maxBytes bounds one recording: players keep it in memory, and a page shows less
// of it still.
const maxBytes = 256 << 20

// ErrFull says that a recording has become too long and was ended.
var ErrFull = errors.New("the recording is full")

// header is the first line of a file. What players do not know they pass over.
type header struct {
	Version   int               `json:"version"`
	Width     uint16            `json:"width"`
	Height    uint16            `json:"height"`
	Timestamp int64             `json:"timestamp"`
	Title     string            `json:"title,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
	Session   core.TerminalID   `json:"loop_session_id,omitempty"`
	Channel   core.ChannelID    `json:"loop_channel_id,omitempty"`
}

// Tape is a recording under way. Its methods are called from one goroutine at a
// time; each writes what it was given, so that a crash loses nothing of it.
type Tape struct {
	name  string
	file  *os.File
	ended func()
	now   func() time.Time
	begun time.Time
	size  int64
	over  error  // why nothing more is written
	tail  []byte // the beginning of a character that is cut
	line  []byte
}

// Name is what the recording is asked for by.
func (t *Tape) Name() string { return t.name }

// Output writes what a program printed. Files of this kind are UTF-8, so bytes
// that are none become U+FFFD.
func (t *Tape) Output(p []byte) error {
	text := append(t.tail, p...)
	cut := incomplete(text)
	t.tail = append([]byte(nil), text[len(text)-cut:]...)
	return t.event("o", text[:len(text)-cut])
}

// Resize writes a new size of the terminal.
func (t *Tape) Resize(cols, rows uint16) error {
	return t.event("r", fmt.Appendf(nil, "%dx%d", cols, rows))
}

// Close ends the recording.
func (t *Tape) Close() error {
	_ = t.event("o", t.tail) // why nothing more is written was said when it happened
	t.tail = nil
	t.ended()
	return t.file.Close()
}

func (t *Tape) event(kind string, data []byte) error {
	if t.over != nil {
		return t.over
	}
	if len(data) == 0 {
		return nil
	}
	at := max(t.now().Sub(t.begun), 0).Seconds() // a clock that is set back must not end it
	t.line = append(t.line[:0], '[')
	t.line = strconv.AppendFloat(t.line, at, 'f', 6, 64)
	t.line = append(t.line, `, "`+kind+`", "`...)
	t.line = appendEscaped(t.line, data)
	t.line = append(t.line, "\"]\n"...)
	if t.size+int64(len(t.line)) > maxBytes {
		return t.endFull(at)
	}
	if _, err := t.file.Write(t.line); err != nil {
		// What fits of a line is none, and would be the end of the recording to
		// whoever reads it.
		err = errors.Join(fmt.Errorf("write recording: %w", err), t.file.Truncate(t.size))
		t.over = core.Fail(core.CodeDir, err, "The recording ended because it could not be written.", "Check that the disk is not full.")
		return t.over
	}
	t.size += int64(len(t.line))
	return nil
}

// endFull says in the recording itself, once, that there was more.
func (t *Tape) endFull(at float64) error {
	n, err := fmt.Fprintf(t.file, "[%.6f, \"m\", \"The recording ends here: it is as long as one may be.\"]\n", at)
	t.size += int64(n)
	t.over = core.Fail(core.CodeTooMany, errors.Join(ErrFull, err), "The recording ended because it is as long as one may be.",
		"Begin another one to record more.")
	return t.over
}

// appendEscaped writes text as it stands in a JSON string, without controls and what
// ends lines for some readers. It is the hot path: a session that floods is recorded
// at its full rate.
func appendEscaped(out, text []byte) []byte {
	const hex = "0123456789abcdef"
	from := 0 // of what is taken over as it is
	var n int // bytes of the rune at i
	for i := 0; i < len(text); i += n {
		r := rune(text[i])
		if n = 1; r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(text[i:])
		}
		switch {
		case r == '"' || r == '\\':
			out = append(append(out, text[from:i]...), '\\', byte(r))
		case r == '\n':
			out = append(append(out, text[from:i]...), '\\', 'n')
		case r == '\r':
			out = append(append(out, text[from:i]...), '\\', 'r')
		case r < 0x20, r >= 0x7f && r < 0xa0, r == '\u2028', r == '\u2029', r == utf8.RuneError:
			out = append(append(out, text[from:i]...), '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		default:
			continue
		}
		from = i + n
	}
	return append(out, text[from:]...)
}

// incomplete is how many bytes at the end are the beginning of a character.
func incomplete(p []byte) int {
	for n := min(utf8.UTFMax-1, len(p)); n > 0; n-- {
		if !utf8.FullRune(p[len(p)-n:]) {
			return n
		}
	}
	return 0
}

func (t *Tape) begin(i core.TerminalInfo) error {
	b, err := json.Marshal(header{
		Version: 2, Width: i.Cols, Height: i.Rows, Timestamp: t.begun.Unix(), Title: core.CleanTitle(i.Title),
		Env: map[string]string{"TERM": "xterm-256color"}, Session: i.ID, Channel: i.ChannelID,
	})
	if err != nil {
		return fmt.Errorf("encode header of recording: %w", err)
	}
	n, err := t.file.Write(append(b, '\n'))
	t.size = int64(n)
	if err != nil {
		return fmt.Errorf("write recording: %w", err)
	}
	return nil
}
