//go:build linux

package supervise

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// commandText bounds what is shown of a command line, in bytes.
const commandText = 8 << 10

// commandLineOf writes arguments as a shell would have to be given them, so that one
// argument with a space is not taken for two, and nothing in them acts on a screen. Of a
// long one the end is missing, and how much.
func commandLineOf(argv []string, limit int) string {
	w := &clipped{limit: limit}
	for i, arg := range argv {
		if i > 0 {
			w.write(" ")
		}
		w.argument(arg, i == 0)
	}
	if w.more == 0 {
		return w.b.String()
	}
	return w.b.String() + "… (" + grouped(w.more) + " bytes more)"
}

// clipped keeps the beginning of a text, and counts the rest.
type clipped struct {
	b     strings.Builder
	limit int
	more  int
}

// write adds a piece that is not divided.
func (w *clipped) write(piece string) {
	if w.more > 0 || w.b.Len()+len(piece) > w.limit {
		w.more += len(piece)
		return
	}
	w.b.WriteString(piece)
}

// argument writes one as it is, where a shell leaves it so, or else in quotes.
func (w *clipped) argument(arg string, first bool) {
	plain, legible := arg != "", true
	for _, r := range arg {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			plain, legible = false, false
			break
		}
		plain = plain && bare(r)
	}
	switch {
	case plain && !(first && strings.Contains(arg, "=")): // the shell would set a variable
		w.pieces(arg, nil)
	case legible:
		w.write("'")
		w.pieces(arg, map[rune]string{'\'': `'\''`})
		w.write("'")
	default:
		w.write("$'")
		w.escaped(arg)
		w.write("'")
	}
}

// bare reports whether a character means itself to a shell.
func bare(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_@%+=:,./-", r)
}

func (w *clipped) pieces(text string, instead map[rune]string) {
	for _, r := range text {
		if other, ok := instead[r]; ok {
			w.write(other)
		} else {
			w.write(string(r))
		}
	}
}

// escapes are those that have a short name.
var escapes = map[rune]string{'\n': `\n`, '\t': `\t`, '\r': `\r`, 0x1b: `\e`, '\'': `\'`, '\\': `\\`}

func (w *clipped) escaped(text string) {
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		short, named := escapes[r]
		switch {
		case r == utf8.RuneError && n == 1:
			w.write(fmt.Sprintf(`\%03o`, text[0]))
		case named:
			w.write(short)
		case unicode.IsPrint(r):
			w.write(text[:n])
		case r < 0x80:
			w.write(fmt.Sprintf(`\%03o`, r)) // takes exactly three digits, whatever follows
		default:
			w.write(fmt.Sprintf(`\U%08x`, r))
		}
		text = text[n:]
	}
}

// grouped writes a number with a comma before every three digits.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
