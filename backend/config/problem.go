package config

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"loop/backend/core"
)

// Problem is one thing wrong with the file, with the place to look at. Line
// and Col count from 1, Col in characters; both are 0 when the whole file is
// meant.
type Problem struct {
	Path    string `json:"path"`
	Line    int    `json:"line,omitempty"`
	Col     int    `json:"col,omitempty"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"`
	// Warning says that the rest of the file is used all the same.
	Warning bool `json:"warning,omitempty"`
}

func (p Problem) String() string {
	where := p.Path
	if p.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d", p.Path, p.Line, p.Col)
	}
	return where + ": " + p.Message
}

// position turns a byte offset into line and column.
func position(data []byte, offset int) (line, col int) {
	offset = min(max(offset, 0), len(data))
	before := data[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])
}

// failure is the error that goes with problems of which at least one is not a
// warning; nil otherwise.
func failure(problems []Problem) error {
	for _, p := range problems {
		if !p.Warning {
			return core.Fail(core.CodeConfig, fmt.Errorf("read %s", p), "The settings file has an error: "+p.Message, p.Remedy)
		}
	}
	return nil
}
