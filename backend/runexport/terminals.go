package runexport

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"loop/backend/core"
	"loop/backend/redact"
)

const maxCastLine = 1 << 20 // a piece of output has 64 KiB, and each byte six in JSON

// terminal is a recording as the page names it.
type terminal struct{ File, Title string }

// writeTerminals writes what the agent's commands wrote, and the recordings of the channel's
// terminals that were made during the run.
func (x *Export) writeTerminals(ctx context.Context) ([]terminal, error) {
	var out []terminal
	if len(x.agent.pieces) > 0 {
		if err := x.writeAgent("terminals/agent.cast"); err != nil {
			return nil, err
		}
		out = append(out, terminal{"terminals/agent.cast", "The agent's commands"})
	}
	list, err := x.o.Recordings.Recordings(ctx)
	if err != nil {
		return nil, err
	}
	slices.Reverse(list) // oldest first
	left := int64(maxCasts)
	for _, r := range list {
		over := r.StartedAt.Add(time.Duration(r.DurationMs) * time.Millisecond).Before(x.began)
		if r.ChannelID != x.run.ChannelID || over || !r.StartedAt.Before(x.end) {
			continue
		}
		title := x.secrets.Text(r.Title)
		if left <= 0 {
			x.note("The recording “%s” is left out: the terminals are too long together.", title)
			continue
		}
		file := fmt.Sprintf("terminals/%d.cast", len(out)+1)
		n, err := x.writeRecording(ctx, r, file, min(left, maxCast))
		if err != nil {
			return nil, err
		}
		if left -= n; n > 0 {
			out = append(out, terminal{file, title})
		}
	}
	return out, nil
}

func (x *Export) writeRecording(ctx context.Context, r core.Recording, file string, most int64) (int64, error) {
	in, _, err := x.o.Recordings.OpenRecording(r.Name)
	if err != nil { // it may have been deleted meanwhile
		x.note("The recording “%s” is left out: %s", x.secrets.Text(r.Title), core.AsFailure(err).Cause)
		return 0, nil
	}
	defer in.Close()
	w, err := x.entry(file, false)
	if err != nil {
		return 0, err
	}
	n, cut, err := copyCast(ctx, w, in, x.secrets, x.end.Sub(r.StartedAt), most)
	if cut != "" {
		x.note("The recording “%s” ends early: %s.", x.secrets.Text(r.Title), cut)
	}
	return n, err
}

// copyCast copies a recording without secrets, up to a moment of it. What could be the
// beginning of a secret waits for the output after it, as a program may write one in pieces.
// cut says why it ended earlier.
func copyCast(ctx context.Context, w io.Writer, in io.Reader, s redact.Secrets, until time.Duration, most int64) (int64, string, error) {
	c, cut := castWriter{w: w, secrets: s}, ""
	lines := bufio.NewReaderSize(in, maxCastLine)
	for ctx.Err() == nil && c.err == nil && cut == "" {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) { // what follows the last whole line is still being written
			break
		}
		over := false
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			cut = "a line of it is too long"
		case err != nil:
			return c.n, "", fmt.Errorf("read a recording: %w", err)
		case c.n == 0:
			cut = c.begin(line)
		case c.n > most:
			cut = "it is longer than an export takes"
		default:
			over, cut = c.line(line, until)
		}
		if over {
			break
		}
	}
	c.flush()
	return c.n, cut, errors.Join(c.err, ctx.Err())
}

// castWriter writes asciicast v2.
type castWriter struct {
	w       io.Writer
	secrets redact.Secrets
	held    string // the end of the output, which may begin a secret
	at      string // of held
	n       int64
	err     error
}

// castHeader is what players need of the first line. Loop's own ids are not among it.
type castHeader struct {
	Version   int               `json:"version"`
	Width     uint16            `json:"width"`
	Height    uint16            `json:"height"`
	Timestamp int64             `json:"timestamp,omitempty"`
	Title     string            `json:"title,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
}

func (c *castWriter) begin(line []byte) (cut string) {
	var h castHeader
	if json.Unmarshal(line, &h) != nil || h.Version != 2 {
		return "its first line cannot be read"
	}
	c.put(h)
	return ""
}

func (c *castWriter) put(v any) {
	if c.err != nil {
		return
	}
	raw, err := c.secrets.Value(v)
	if err == nil {
		var n int
		n, err = c.w.Write(append(raw, '\n'))
		c.n += int64(n)
	}
	if err != nil {
		c.err = fmt.Errorf("write a recording: %w", err)
	}
}

// line writes one event. over says that it is after the end.
func (c *castWriter) line(line []byte, until time.Duration) (over bool, cut string) {
	var e [3]json.RawMessage
	var kind, data string
	if json.Unmarshal(line, &e) != nil || json.Unmarshal(e[1], &kind) != nil || json.Unmarshal(e[2], &data) != nil {
		return false, "a line of it cannot be read"
	}
	at := string(e[0])
	seconds, err := strconv.ParseFloat(at, 64)
	if err != nil {
		return false, "a line of it cannot be read"
	}
	if seconds > until.Seconds() {
		return true, ""
	}
	switch kind {
	case "o":
		text := c.secrets.Text(c.held + data)
		k := c.secrets.Begun(text)
		c.held, c.at = text[len(text)-k:], at
		if text = text[:len(text)-k]; text != "" {
			c.put([]any{json.RawMessage(at), "o", text})
		}
	case "r", "m": // not what was typed; what is held goes on waiting
		c.put([]any{json.RawMessage(at), kind, data})
	}
	return false, ""
}

func (c *castWriter) flush() {
	if c.held != "" {
		c.put([]any{json.RawMessage(c.at), "o", c.held})
		c.held = ""
	}
}

// agentCast is what the agent's shell was told and what it wrote.
type agentCast struct {
	pieces []piece
	shells map[string]bool // calls under way
}

type piece struct {
	at   time.Duration
	text string
}

func (a *agentCast) use(at time.Duration, m core.ToolUse) {
	if command := commandOf(m); m.Name == "Bash" && command != "" {
		if a.shells == nil {
			a.shells = map[string]bool{}
		}
		a.shells[m.ToolUseID] = true
		a.pieces = append(a.pieces, piece{at, "\x1b[34m$\x1b[0m " + command + "\n"})
	}
}

func (a *agentCast) result(at time.Duration, m core.ToolResult) {
	if a.shells[m.ToolUseID] {
		delete(a.shells, m.ToolUseID)
		a.pieces = append(a.pieces, piece{at, strings.TrimRight(m.Output, "\n") + "\n"})
	}
}

func (x *Export) writeAgent(file string) error {
	w, err := x.entry(file, false)
	if err != nil {
		return err
	}
	c := castWriter{w: w, secrets: x.secrets}
	c.put(castHeader{Version: 2, Width: 120, Height: 32, Timestamp: x.began.Unix(), Title: "The agent's commands"})
	for _, p := range x.agent.pieces {
		if c.n > maxCast {
			x.note("The agent's commands end early: they are longer than an export takes.")
			break
		}
		at := json.RawMessage(strconv.FormatFloat(p.at.Seconds(), 'f', 3, 64))
		c.put([]any{at, "o", strings.ReplaceAll(p.text, "\n", "\r\n")})
	}
	return c.err
}
