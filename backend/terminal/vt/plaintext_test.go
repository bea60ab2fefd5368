package vt

import (
	"slices"
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	for in, want := range map[string][]string{
		"":                              {},
		"one\r\n\r\n  two  \r\n\r\n":    {"one", "", "  two"},
		"\x1b[31mred\x1b[0m \x1b[5Cgap": {"red      gap"},
		strings.Repeat("x", 25):         {strings.Repeat("x", 25)},
		"ein\r\n漢字 e\u0301\U0001F468\u200d\U0001F469": {"ein", "漢字 e\u0301\U0001F468\u200d\U0001F469"},
		"shell\r\n\x1b[?1049heditor":                  {"shell"},
		"1\r\n2\r\n3\r\n4\r\n5\r\n6":                  {"3", "4", "5", "6"},
	} {
		term := New(10, 3, Options{})
		_, _ = term.Write([]byte(in))
		if got := term.Text(4); !slices.Equal(got, want) {
			t.Errorf("%q: %q", in, got)
		}
	}
}
