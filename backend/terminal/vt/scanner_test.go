package vt

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestScanner(t *testing.T) {
	for in, want := range map[string]string{
		"aÄ\r\n":                           "0aÄ 1\r 1\n",
		"\x1b[1;2;?m\x1b[?25l\x1b[!p":      "3?25l 3!p",
		"\x1b(B\x1bM\u0085":                "2(B 2M 1\u0085",
		"\x1b]0;t\a\x1b]0;a\x1b[m\x1b\\":   "40;t 40;a 3m 2\\",
		"\x1bPq~\n-\x1b\\\x1b_G\x1b\\":     "5q~- 2\\ 2\\",
		"\x1b]0;never\x18x\xff\x9by\u009b": "0xy",
	} {
		for _, step := range []int{1, 2, len(in)} {
			var s Scanner
			var got []string
			last := PieceControl
			found := func(kind Piece, b []byte) {
				if kind == PieceText && last == PieceText {
					got[len(got)-1] += string(b)
				} else {
					got = append(got, fmt.Sprintf("%d%s", kind, b))
				}
				last = kind
			}
			for p := []byte(in); len(p) > 0; {
				n := min(step, len(p))
				s.Scan(p[:n], found)
				p = p[n:]
			}
			if all := strings.Join(got, " "); all != want {
				t.Errorf("%q in steps of %d: %q, want %q", in, step, all, want)
			}
		}
	}
}

// TestScannerIsBounded: a sequence that never ends is held back up to a bound. The text
// after it is read normally again.
func TestScannerIsBounded(t *testing.T) {
	for _, begin := range []string{"\x1b[", "\x1b]", "\x1bPq", "\x1b("} {
		var s Scanner
		found := func(kind Piece, b []byte) { t.Errorf("%q: %d, %d bytes", begin, kind, len(b)) }
		s.Scan([]byte(begin), found)
		fill := map[bool]string{true: "(", false: "1"}[begin == "\x1b("]
		for range 300 {
			s.Scan(bytes.Repeat([]byte(fill), 1024), found)
		}
		if len(s.seq) > maxScanned {
			t.Errorf("%q: %d bytes are held", begin, len(s.seq))
		}
		s.Scan([]byte("\x18"), func(Piece, []byte) {})
		text := ""
		s.Scan([]byte("x"), func(kind Piece, b []byte) { text += string(b) })
		if text != "x" {
			t.Errorf("%q: %q after it", begin, text)
		}
	}
}
