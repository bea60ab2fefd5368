package config

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"loop/backend/core"
)

// place is a line and a column, counted as in core.SettingsProblem; zero is not known.
type place struct{ line, col int }

// places turns byte offsets of a text into places. It goes on from the offset
// before, so that growing offsets cost one pass over the text in all.
type places struct {
	text   []byte
	offset int
	at     place
}

func (p *places) of(offset int) place {
	offset = min(offset, len(p.text))
	if p.at.line == 0 || offset < p.offset {
		p.offset, p.at = 0, place{1, 1}
	}
	between := p.text[p.offset:offset]
	if n := bytes.Count(between, []byte("\n")); n > 0 {
		p.at = place{p.at.line + n, 1}
		between = between[bytes.LastIndexByte(between, '\n')+1:]
	}
	p.offset, p.at.col = offset, p.at.col+utf8.RuneCount(between)
	return p.at
}

// unclosed looks for the first text that does not end in its line, or a comment that does not
// end at all, and says where it begins; what is empty when there is neither.
func unclosed(data []byte) (at int, what string) {
	for i := 0; i < len(data); i++ {
		rest := data[i:]
		switch {
		case bytes.HasPrefix(rest, []byte("//")):
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				return 0, ""
			}
			i += n
		case bytes.HasPrefix(rest, []byte("/*")):
			n := bytes.Index(rest[2:], []byte("*/"))
			if n < 0 {
				return i, "The comment that begins here is not closed by */."
			}
			i += n + 3
		case rest[0] == '"':
			n := endOfText(rest)
			if n < 0 {
				return i, "The text that begins here is not closed by a double quote in its line."
			}
			i += n
		}
	}
	return 0, ""
}

// endOfText is where the quote is that closes a text, from its first one; -1 if the line ends
// before.
func endOfText(text []byte) int {
	for i := 1; i < len(text) && text[i] != '\n'; i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// firstError is the first problem that is no warning; nil when there is none.
func firstError(problems []core.SettingsProblem) *core.SettingsProblem {
	if i := slices.IndexFunc(problems, func(p core.SettingsProblem) bool { return !p.Warning }); i >= 0 {
		return &problems[i]
	}
	return nil
}

// failure is the error that goes with problems of which at least one is not a
// warning; nil otherwise.
func failure(problems []core.SettingsProblem) error {
	p := firstError(problems)
	if p == nil {
		return nil
	}
	return core.Fail(core.CodeConfig, fmt.Errorf("read %s", p), "The settings file has an error: "+p.Message, p.Remedy)
}
