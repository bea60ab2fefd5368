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
