package vt

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// marksOf lists the marks of all lines, each with the line's text.
func marksOf(v *Terminal) string {
	var out strings.Builder
	for i := range v.normal.lines.n {
		l := v.normal.line(i)
		if len(l.marks) == 0 {
			continue
		}
		text := ""
		for x := range v.cols {
			if l.hasContent(x) {
				text += string(l.firstRune(x))
			}
		}
		fmt.Fprintf(&out, "%s:", text)
		for _, m := range l.marks {
			fmt.Fprintf(&out, " %c%s", m.kind, m.arg)
		}
		out.WriteByte('\n')
	}
	return out.String()
}

const (
	prompt  = "\x1b]133;A\a$ \x1b]133;B\a"
	command = "\x1b]633;E;make x\\x3b y\a\x1b]133;C\a"
)

// TestMarksAreInSnapshots: a viewer that attaches late, anywhere in the stream, knows
// the same commands as one that was there from the start.
func TestMarksAreInSnapshots(t *testing.T) {
	stream := prompt + "one\r\n" + command + "out1\r\nout2\r\n\x1b]133;D;2\a" +
		prompt + "\r\n" + "\x1b]133;D\a" + prompt + "two\r\n" + command + strings.Repeat("wide ", 12) + "\r\n\x1b]133;D;0;aid=1\a" +
		prompt + "\x1b[?1049h\x1b]133;A\a\x1b[?1049l" + "top\r\n" + command + "\x1b[?1049hfull screen"
	want := "$ one: A\nout1: Cmake x\\x3b y\n$ : D2 A\n$ two: D A\nwide wide wide wide wide wide : Cmake x\\x3b y\n$ top: D0 A\n: Cmake x\\x3b y\n"
	whole := New(30, 6, Options{})
	whole.Write([]byte(stream))
	if got := marksOf(whole); got != want {
		t.Fatalf("%s\nwant\n%s", got, want)
	}
	for cut := range len(stream) {
		v := New(30, 6, Options{})
		v.Write([]byte(stream[:cut]))
		w := New(30, 6, Options{})
		w.Write(v.Snapshot())
		if a, b := marksOf(v), marksOf(w); a != b {
			t.Fatalf("snapshot at %d:\n%s\nwant\n%s", cut, b, a)
		}
		w.Write([]byte(stream[cut:]))
		if got := marksOf(w); got != want {
			t.Fatalf("snapshot at %d, and the rest:\n%s", cut, got)
		}
	}
}

// TestMarksOfWrappedLines puts a mark into a line that is reached by wrapping, and into
// one that is joined to another.
func TestMarksOfWrappedLines(t *testing.T) {
	v := New(10, 4, Options{})
	v.Write([]byte("0123456789abcdefghij\x1b]133;A\aklm\r\nlast\r\n"))
	w := New(10, 4, Options{})
	w.Write(v.Snapshot())
	if a, b := marksOf(v), marksOf(w); a != "abcdefghij: A\n" || a != b {
		t.Fatalf("%q %q", a, b)
	}
	w.Resize(30, 4)
	if got := marksOf(w); got != "0123456789abcdefghijklm: A\n" {
		t.Fatalf("%q", got)
	}
}

// TestMarksGoWithTheirLines: erased lines and lines that are scrolled away lose their
// marks. No program can pile marks up.
func TestMarksGoWithTheirLines(t *testing.T) {
	v := New(20, 4, Options{Scrollback: 3})
	v.Write([]byte(prompt + "a\r\n" + command + "b\r\n\x1b[2J"))
	if got := marksOf(v); got != "" {
		t.Errorf("erased: %q", got)
	}
	v.Write([]byte(prompt + strings.Repeat("\r\n", 20)))
	if got := marksOf(v); got != "" {
		t.Errorf("scrolled away: %q", got)
	}
	v = New(20, 4, Options{})
	long := "\x1b]633;E;" + strings.Repeat("x", 4000) + "\a\x1b]133;C\a\x1b]133;D;1\a"
	for range 2000 {
		v.Write([]byte(strings.Repeat(long, 5) + "\r\n"))
	}
	if n := v.countMarks(); n > maxMarkBytes {
		t.Errorf("%d bytes of marks", n)
	}
	if n := len(v.Snapshot()); n > 2*maxMarkBytes {
		t.Errorf("a snapshot of %d bytes", n)
	}
	v.Write([]byte("\x1bc"))
	if got := marksOf(v); got != "" {
		t.Errorf("after a reset: %.100q", got)
	}
}

// TestMarksOfRandomStreams: whatever a program does, a snapshot has the marks in the
// same lines.
func TestMarksOfRandomStreams(t *testing.T) {
	found := 0
	for seed := range uint64(2000) {
		g := newGenerator(seed)
		v := New(g.cols, g.rows, Options{Scrollback: 50})
		for _, e := range g.stream(5 + g.IntN(60)) {
			e.on(v)
			if g.IntN(2) == 0 {
				v.Write([]byte(g.pick("\x1b]133;A\a", "\x1b]633;E;x\a\x1b]133;C\a", "\x1b]133;D;1\a")))
			}
		}
		if !v.reproducible() {
			continue
		}
		w := New(v.cols, v.rows, Options{Scrollback: 50})
		w.Write(v.Snapshot())
		for i := range v.normal.lines.n {
			a, b := v.normal.line(i).marks, w.normal.line(i).marks
			if !slices.Equal(a, b) {
				t.Fatalf("seed %d, line %d of %d: %v, want %v", seed, i, v.normal.lines.n, b, a)
			}
			found += len(a)
		}
	}
	if found < 1000 {
		t.Errorf("%d marks were compared", found)
	}
}
