package chrome

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clip keeps the first most bytes of s, whole characters, and marks what was cut.
func clip(s string, most int) string {
	if len(s) > most {
		n := max(most-len("…"), 0)
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n] + "…"
	}
	return strings.ToValidUTF8(s, "�")
}

// line makes one line of at most most bytes out of a page's text.
func line(s string, most int) string {
	if len(s) > 4*most {
		s = clip(s, 4*most)
	}
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	return clip(strings.Map(undirected, s), most)
}

// undirected leaves out what turns the direction of text around: an address or a name
// could look like another one.
func undirected(r rune) rune {
	if unicode.Is(unicode.Bidi_Control, r) {
		return -1
	}
	return r
}
