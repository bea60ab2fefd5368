package vt

import "strings"

// Text is what the last lines of the ordinary screen and its scrollback say, without colours:
// rows that wrap are one line, and nothing is left of what programs drew elsewhere.
func (t *Terminal) Text(most int) []string {
	b := t.normal
	var out []string
	var line strings.Builder
	for i := range b.lines.n {
		l := b.line(i)
		if i > 0 && !l.wrapped {
			out = append(out, strings.TrimRight(line.String(), " "))
			line.Reset()
		}
		l.plain(&line)
	}
	if b.lines.n > 0 {
		out = append(out, strings.TrimRight(line.String(), " "))
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out[max(0, len(out)-most):]
}

// plain writes a row's characters.
func (l *line) plain(w *strings.Builder) {
	for i := 0; i < l.trimmed(); i++ {
		switch text := l.text(i); {
		case text != "":
			w.WriteString(text)
		case l.hasContent(i):
			w.WriteRune(rune(l.code(i) & codeMask)) //nolint:gosec // a code point
		case l.width(i) == 1:
			w.WriteByte(' ')
		}
	}
}
