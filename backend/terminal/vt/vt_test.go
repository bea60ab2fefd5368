package vt

import (
	"strings"
	"testing"
)

// text returns the screen's text, without empty cells at the ends of lines.
func (t *Terminal) text() string {
	var rows []string
	for y := range t.rows {
		l := t.b.row(y)
		var out []byte
		for x := range l.trimmed() {
			switch {
			case l.hasContent(x):
				out = l.appendText(out, x)
			case l.width(x) > 0:
				out = append(out, ' ')
			}
		}
		rows = append(rows, string(out))
	}
	return strings.TrimRight(strings.Join(rows, "\n"), "\n")
}

func TestWhatIsWrittenIsOnTheScreen(t *testing.T) {
	v := New(10, 4, Options{})
	v.Write([]byte("hello\r\nwor\x1b[1mld\x1b[3;3H界e\u0301 wraps on"))
	if got, want := v.text(), "hello\nworld\n  界e\u0301 wrap\ns on"; got != want {
		t.Errorf("screen is %q, want %q", got, want)
	}
	w := New(10, 4, Options{})
	w.Write(v.Snapshot())
	if v.text() != w.text() {
		t.Errorf("snapshot draws %q, want %q", w.text(), v.text())
	}
	v.Resize(20, 4)
	if got, want := v.text(), "hello\nworld\n  界e\u0301 wrap\ns on"; got != want {
		t.Errorf("the cursor's line was reflowed: %q", got)
	}
}
