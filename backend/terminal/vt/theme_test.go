package vt

import (
	"strings"
	"testing"

	"loop/backend/core"
)

var (
	darkTheme  = core.TerminalColors{Foreground: [3]uint8{0xe6, 0xe9, 0xee}, Background: [3]uint8{0x14, 0x17, 0x1b}, Cursor: [3]uint8{1, 2, 3}}
	lightTheme = core.TerminalColors{Foreground: [3]uint8{0, 0, 0}, Background: [3]uint8{255, 255, 255}}
)

// TestColoursAreTold: a program that asks gets the colours of the theme, not those that
// it or another program set.
func TestColoursAreTold(t *testing.T) {
	var said strings.Builder
	v := New(20, 3, Options{Theme: darkTheme, Answer: func(p []byte) { said.Write(p) }})
	ask := func(s, want string) {
		t.Helper()
		said.Reset()
		v.Write([]byte(s))
		if said.String() != want {
			t.Errorf("%q: %q, want %q", s, said.String(), want)
		}
	}
	ask("\x1b]11;?\x07", "\x1b]11;rgb:1414/1717/1b1b\x1b\\")
	ask("\x1b]10;?;?;?\x1b\\", "\x1b]10;rgb:e6e6/e9e9/eeee\x1b\\\x1b]11;rgb:1414/1717/1b1b\x1b\\\x1b]12;rgb:0101/0202/0303\x1b\\")
	ask("\x1b]11;#ffffff\x07\x1b]11;?\x07", "\x1b]11;rgb:1414/1717/1b1b\x1b\\")
	ask("\x1b[?996n", "\x1b[?997;1n")
	ask("\x1b[996n", "")
	ask("\x1b[?2031$p", "\x1b[?2031;2$y")
	v.SetTheme(lightTheme)
	ask("\x1b[?996n", "\x1b[?997;2n")
	ask("\x1b]11;?\x07", "\x1b]11;rgb:ffff/ffff/ffff\x1b\\")
	v = New(20, 3, Options{Answer: func(p []byte) { said.Write(p) }})
	ask("\x1b]10;?;?;?\x1b\\\x1b[?996n", "")
}

// TestThemeReports: a program that asked for reports gets one when light turns dark or
// back, even after its terminal was made again from a snapshot. A prompt ends the
// reports.
func TestThemeReports(t *testing.T) {
	said := ""
	o := Options{Theme: darkTheme, Answer: func(p []byte) { said += string(p) }}
	v := New(20, 3, o)
	v.SetTheme(lightTheme)
	v.Write([]byte("\x1b[?2031h\x1b[?2031$p"))
	if said != "\x1b[?2031;1$y" {
		t.Fatalf("%q", said)
	}
	snap := v.Snapshot()
	v = New(20, 3, o)
	v.Write(snap)
	said = ""
	v.SetTheme(darkTheme)
	v.SetTheme(lightTheme)
	v.SetTheme(core.TerminalColors{Foreground: [3]uint8{9}, Background: [3]uint8{200, 200, 200}})
	if said != "\x1b[?997;2n" { // the first theme is dark as before, the second is light, the third is light in other colours
		t.Fatalf("%q", said)
	}
	said = ""
	v.StopReports()
	v.SetTheme(darkTheme)
	if said != "" {
		t.Fatalf("%q after the program's end", said)
	}
}
