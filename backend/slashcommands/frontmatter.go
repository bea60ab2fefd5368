package slashcommands

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is shown of one command, in code points.
const (
	maxDescription = 200
	maxHint        = 60
)

// head is what the beginning of a command's file says of it.
type head struct {
	description, hint string
	hidden            bool // the person cannot call it
}

// headOf reads the lines between the first two “---”: names with a text behind a colon, which
// may be quoted, or go on in indented lines. Without a description the first line of the text
// is one, as in the CLI. It is no reader of YAML, and takes everything else for nothing.
func headOf(data []byte) (h head) {
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n")
	body := text
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		if front, after, closed := strings.Cut("\n"+rest, "\n---"); closed {
			h, body = fields(front), strings.TrimLeft(after, "-")
		}
	}
	if h.description == "" {
		for line := range strings.Lines(body) {
			if line = shown(strings.TrimLeft(line, "#> \t"), maxDescription); line != "" {
				h.description = line
				break
			}
		}
	}
	return h
}

func fields(front string) (h head) {
	lines := strings.Split(front, "\n")
	for i, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		if !ok || strings.TrimLeft(name, " \t") != name {
			continue
		}
		value = strings.TrimSpace(value)
		if strings.Trim(value, ">|+-") == "" { // the text is in the lines below
			var parts []string
			for _, more := range lines[i+1:] {
				if more != "" && strings.TrimLeft(more, " \t") == more {
					break
				}
				parts = append(parts, strings.TrimSpace(more))
			}
			value = strings.Join(parts, " ")
		}
		switch name {
		case "description":
			h.description = shown(unquoted(value), maxDescription)
		case "argument-hint":
			h.hint = shown(unquoted(value), maxHint)
		case "user-invocable":
			h.hidden = unquoted(value) == "false"
		}
	}
	return h
}

func unquoted(s string) string {
	for _, q := range []string{`"`, "'"} {
		if len(s) >= 2 && strings.HasPrefix(s, q) && strings.HasSuffix(s, q) {
			return s[1 : len(s)-1]
		}
	}
	return s
}

// shown is a text as one line without what does not show, of at most so many code points.
func shown(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r) || r == utf8.RuneError:
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if n := 0; len(s) > most {
		for i := range s {
			if n++; n > most {
				return s[:i] + "…"
			}
		}
	}
	return s
}
