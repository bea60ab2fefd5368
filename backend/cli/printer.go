package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mattn/go-isatty"

	"loop/backend/core"
)

// Styles, used only on a terminal that wants them.
const (
	dim   = "\x1b[2m"
	bold  = "\x1b[1m"
	red   = "\x1b[31m"
	green = "\x1b[32m"
	amber = "\x1b[33m"
	plain = "\x1b[0m"
)

// printer writes for people. Every text passes through clean, so what a
// container printed cannot move the cursor, set a title or forge a line.
type printer struct {
	w        io.Writer
	colour   bool
	midLine  bool // the cursor is not at the start of a line
	terminal bool
	wrote    bool     // anything
	beside   *printer // writes to the same terminal
}

// sameTerminal makes two printers mind each other's unfinished lines.
func sameTerminal(a, b *printer) {
	if a.terminal && b.terminal {
		a.beside, b.beside = b, a
	}
}

// outlet is standard output. When its reader leaves (“| head”), the command ends as
// after SIGTERM.
type outlet struct {
	w      io.Writer
	closed func()
}

func (o *outlet) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		o.closed()
	}
	return n, err
}

func newPrinter(w io.Writer, env func(string) (string, bool)) *printer {
	p := &printer{w: w, terminal: isTerminal(w)}
	no, _ := env("NO_COLOR")
	term, _ := env("TERM")
	p.colour = p.terminal && no == "" && term != "dumb"
	if runtime.GOOS == "windows" {
		// Older consoles print escape sequences as they are; Windows Terminal says who it is.
		_, modern := env("WT_SESSION")
		p.colour = p.colour && modern
	}
	return p
}

func isTerminal(stream any) bool {
	f, ok := stream.(interface{ Fd() uintptr })
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}

// Write is for cobra's help, which is our own text.
func (p *printer) Write(b []byte) (int, error) {
	p.midLine = len(b) > 0 && b[len(b)-1] != '\n'
	return p.w.Write(b)
}

// text writes a piece of running text.
func (p *printer) text(s string) { p.styled("", s) }

func (p *printer) styled(style, s string) {
	s = clean(s)
	if s == "" {
		return
	}
	p.midLine, p.wrote = s[len(s)-1] != '\n', true
	if style != "" && p.colour {
		s = style + s + plain
	}
	_, _ = io.WriteString(p.w, s) // a reader that left is outlet's business
}

// fresh begins a new line unless the cursor is at one.
func (p *printer) fresh() {
	if p.beside != nil && p.beside.midLine {
		p.beside.text("\n")
	}
	if p.midLine {
		p.text("\n")
	}
}

// line writes one line of its own; line breaks inside what is put in stay.
func (p *printer) line(format string, args ...any) { p.styledLine("", format, args...) }

func (p *printer) styledLine(style, format string, args ...any) {
	p.fresh()
	p.styled(style, fmt.Sprintf(format, args...))
	p.text("\n")
}

// Bounds of what is shown of a failure's detail.
const (
	maxDetailLines = 8
	maxDetail      = 2000 // characters
)

// failure says cause and remedy, and the detail where it adds something.
func (p *printer) failure(f *core.Failure) {
	p.styledLine(red, "%s", f.Cause)
	if f.Remedy != "" {
		p.line("%s", f.Remedy)
	}
	if d := strings.TrimSpace(f.Detail); d != "" && d != f.Cause && d != core.ErrNotFound.Error() && d != core.ErrConflict.Error() {
		lines := strings.Split(core.Shortened(d, maxDetail), "\n")
		if len(lines) > maxDetailLines {
			lines = append(lines[:maxDetailLines], "…")
		}
		p.styledLine(dim, "Detail: %s", strings.Join(lines, "\n        "))
	}
}

// clean makes a text harmless on a terminal: control characters other than
// line feed and tab become visible signs, and so do the characters that turn
// the direction of text or hide in it.
func clean(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return dangerous(r) || r == utf8.RuneError }) {
		return s
	}
	var b strings.Builder
	for _, r := range strings.ReplaceAll(s, "\r\n", "\n") {
		switch {
		case !dangerous(r):
			b.WriteRune(r) // bytes that are no UTF-8 arrive here as U+FFFD
		case r < 0x20:
			b.WriteRune(0x2400 + r) // the picture of the control character, ␛ for ESC
		case r == 0x7f:
			b.WriteRune(0x2421)
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

func dangerous(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r): // C0, DEL, C1; direction
		return true
	}
	return r == 0x2028 || r == 0x2029 || r == 0xfeff || r >= 0xe0000 && r <= 0xe007f // separators and hidden tags
}

// cleanJSON escapes the same characters inside the strings of one line of
// JSON. The value stays the same; only its spelling becomes safe to show.
func cleanJSON(line []byte) []byte {
	if !bytes.ContainsFunc(line, func(r rune) bool { return r >= 0x7f && dangerous(r) }) {
		return line
	}
	var b bytes.Buffer
	for _, r := range string(line) {
		if r < 0x7f || !dangerous(r) {
			b.WriteRune(r)
			continue
		}
		for _, half := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, half)
		}
	}
	return b.Bytes()
}

// oneLine squeezes a text to a single line of at most limit characters.
func oneLine(s string, limit int) string {
	if len(s) > 16*limit {
		s = s[:16*limit]
	}
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if r := []rune(s); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return s
}
