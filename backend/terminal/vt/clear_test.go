package vt

import (
	"strings"
	"testing"
)

func TestClear(t *testing.T) {
	for _, c := range []struct {
		name, in   string
		cols, rows int
		want       []string // the text of the screen afterwards
		x, y       int
	}{
		{"scrollback and screen", strings.Repeat("line\r\n", 50) + "$ ls", 20, 4, []string{"$ ls"}, 4, 0},
		{"nothing printed", "", 20, 4, nil, 0, 0},
		{"a line of several rows", strings.Repeat("line\r\n", 9) + "$ 0123456789", 10, 4, []string{"$ 01234567", "89"}, 2, 1},
		{"cursor in its middle", "one\r\n$ 0123456789\x1b[A", 10, 4, []string{"$ 01234567", "89"}, 2, 0},
		{"below the cursor", "one\r\n$ x\r\nlist\x1b[A\x1b[4G", 10, 4, []string{"$ x"}, 3, 0},
		{"a line longer than the screen", strings.Repeat("0123456789", 9), 10, 3, []string{"0123456789", "0123456789", "0123456789"}, 10, 2},
		{"margins stay", "\x1b[2;3ra\r\nb\r\nc", 10, 4, []string{"c"}, 1, 0},
	} {
		a := New(c.cols, c.rows, Options{})
		a.Write([]byte(c.in))
		a.Clear()
		if a.b.base != 0 || a.b.lines.n != c.rows {
			t.Errorf("%s: %d lines, the screen begins at %d", c.name, a.b.lines.n, a.b.base)
		}
		for y := range c.rows {
			want := ""
			if y < len(c.want) {
				want = c.want[y]
			}
			if got := rowText(a, y); got != want {
				t.Errorf("%s: row %d is %q, want %q", c.name, y, got, want)
			}
		}
		if a.b.x != c.x || a.b.y != c.y {
			t.Errorf("%s: cursor at %d, %d, want %d, %d", c.name, a.b.x, a.b.y, c.x, c.y)
		}
		b := New(c.cols, c.rows, Options{})
		b.Write(a.Snapshot())
		for _, v := range []*Terminal{a, b} {
			v.Write([]byte("more\r\nlines\r\nthan\r\nfit\r\nhere"))
		}
		if a.Dump(true) != b.Dump(true) {
			t.Errorf("%s: the snapshot differs:\n%s\n%s", c.name, a.Dump(true), b.Dump(true))
		}
	}
}

// TestClearBehindAFullScreenProgram: the program's screen and the shell's screen behind
// it stay.
func TestClearBehindAFullScreenProgram(t *testing.T) {
	a := New(20, 3, Options{})
	a.Write([]byte(strings.Repeat("line\r\n", 20) + "$ vim\x1b[?1049h\x1b[Hfile"))
	a.Clear()
	if got := rowText(a, 0); got != "file" {
		t.Errorf("the program's screen shows %q", got)
	}
	a.Write([]byte("\x1b[?1049l"))
	if got := rowText(a, 2); got != "$ vim" || a.b.base != 0 || a.b.y != 2 {
		t.Errorf("afterwards %q, %d lines above, cursor in row %d", got, a.b.base, a.b.y)
	}
}

func rowText(t *Terminal, y int) string {
	l := t.b.row(y)
	var out []byte
	for x := range t.cols {
		if l.hasContent(x) {
			out = l.appendText(out, x)
		} else {
			out = append(out, ' ')
		}
	}
	return strings.TrimRight(string(out), " ")
}
