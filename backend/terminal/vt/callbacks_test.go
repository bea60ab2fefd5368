package vt

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

// listen writes s and returns the callbacks that the terminal made.
func listen(s string) []string {
	var told []string
	t := New(80, 24, Options{
		Answer: func(p []byte) { told = append(told, fmt.Sprintf("answer %q", p)) },
		Title:  func(s string) { told = append(told, "title "+s) },
		Dir:    func(s string) { told = append(told, "dir "+s) },
		Mark:   func(k byte, arg string) { told = append(told, fmt.Sprintf("mark %c %s", k, arg)) },
		Theme:  core.TerminalColors{Foreground: [3]uint8{1, 0x20, 0xff}, Background: [3]uint8{0, 0, 0x0a}},
	})
	t.Write([]byte(s))
	return told
}

func TestWhatTheOutputSays(t *testing.T) {
	for _, c := range []struct {
		in   string
		want string // joined by |
	}{
		{"\x07a\x1b]0;t\x07", "title t"},
		{"\x1b]0;one\x07\x1b]2;two \u202e\u0085three\x1b\\", "title one"}, // the C1 control is dropped
		{"\x1b]2;a\u202eb\u200bc \x1b\\", "title abc"},
		{"\x1b]2;" + strings.Repeat("é", 500) + "\x07", "title " + strings.Repeat("é", 200)},
		{"\x1b]2;cut", ""},
		{"\x1b]2;cancelled\x18", ""},
		{"\x1b]1;icon\x07", ""},
		{"\x1b]7;file://host/home/me/a%20b%C3%A9\x07", "dir /home/me/a bé"},
		{"\x1b]7;file:///C:/x\x07", "dir /C:/x"},
		{"\x1b]7;file://host/a%0Ab\x07\x1b]7;http://host/a\x07\x1b]7;/a\x07\x1b]7;file://host\x07\x1b]7;file://h/%zz\x07\x1b]7;file://h/%ff\x07", ""},
		{"\x1b]7;file:///" + strings.Repeat("a", 5000) + "\x07", ""},
		{"\x1b]633;P;Cwd=/a\\x20b\\\\c\x07", "dir /a b\\c"},
		{"\x1b]633;P;Cwd=C:\\\\dir\x07", "dir C:\\dir"},
		{"\x1b]633;P;Cwd=relative\x07\x1b]633;P;Cwd=/a\\x0ab\x07", ""},
		{"\x1b]1337;CurrentDir=/w\x07\x1b]1337;File=inline=1:AAAA\x07", "dir /w"},
		{"\x1b]133;A;cl=m\x07\x1b]133;B\x07\x1b]133;C\x07\x1b]133;D;1\x07", "mark A cl=m|mark B |mark C |mark D 1"},
		{"\x1b]633;A\x07\x1b]633;E;echo a\\x3bb \\x5cn;nonce\x07\x1b]633;D\x07", "mark A |mark E echo a;b \\n|mark D "},
		{"\x1b]133;Z\x07\x1b]133;AB\x07\x1b]133\x07\x1b]133;D;" + strings.Repeat("1", 5000) + "\x07", ""},
		{"\x1b[c\x1b[0c\x1b[1c\x1b[>c", `answer "\x1b[?1;2c"|answer "\x1b[?1;2c"|answer "\x1b[>0;276;0c"`},
		{"\x1b[3;5H\x1b[6n\x1b[?6n\x1b[5n\x1b[?5n\x1b[7n", `answer "\x1b[3;5R"|answer "\x1b[?3;5R"|answer "\x1b[0n"`},
		{"\x1b[18t\x1b[14t\x1b[21t\x1b[20t", `answer "\x1b[8;24;80t"`},
		{"\x1b[>q\x1b[>0q\x1b[>1q", `answer "\x1bP>|xterm.js(6.0.0)\x1b\\"|answer "\x1bP>|xterm.js(6.0.0)\x1b\\"`},
		{"\x1b[?2026$p\x1b[?25$p\x1b[4$p\x1b[?9999$p", `answer "\x1b[?2026;2$y"|answer "\x1b[?25;1$y"|answer "\x1b[4;2$y"|answer "\x1b[?9999;0$y"`},
		{"\x1b]10;?\x07\x1b]11;?\x1b\\\x1b]12;?\x07", `answer "\x1b]10;rgb:0101/2020/ffff\x1b\\"|answer "\x1b]11;rgb:0000/0000/0a0a\x1b\\"|answer "\x1b]12;rgb:0000/0000/0000\x1b\\"`},
		{"\x1b]11;#ffffff\x07\x1b]11;?\x07", `answer "\x1b]11;rgb:0000/0000/0a0a\x1b\\"`}, // the theme's colour, never one that a program set
		{"\x1b]4;1;?\x07\x1b]52;c;?\x07\x1bP$qm\x1b\\\x1bP+q544e\x1b\\\x1b[?u\x1b[x\x1b[0x\x1b[=c\x1b]50;?\x07\x05", ""},
	} {
		want := strings.Split(c.want, "|")
		if c.want == "" {
			want = nil
		}
		// A sequence in the answer to XTVERSION contains a bar.
		if strings.Contains(c.want, ">|") {
			want = strings.Split(strings.ReplaceAll(c.want, ">|x", ">\x00x"), "|")
			for i := range want {
				want[i] = strings.ReplaceAll(want[i], "\x00", "|")
			}
		}
		if got := listen(c.in); !slices.Equal(got, want) {
			t.Errorf("%q tells\n%q, want\n%q", c.in, got, want)
		}
	}
}

// TestWithoutCallbacks writes everything to a terminal without callbacks.
func TestWithoutCallbacks(t *testing.T) {
	v := New(0, 0, Options{})
	v.Write([]byte("\x07\x1b]0;t\x07\x1b]7;file:///a\x07\x1b]133;A\x07\x1b[c\x1b]11;?\x07"))
	if c, r := v.Size(); c != minCols || r != minRows {
		t.Errorf("size is %d by %d", c, r)
	}
	v.Resize(1e6, 1e6)
	if c, r := v.Size(); c != maxCols || r != maxRows {
		t.Errorf("size is %d by %d", c, r)
	}
}
