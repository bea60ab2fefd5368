package vt

import (
	"bytes"
	"testing"
)

// FuzzTerminal writes any bytes in pieces between resizes. Nothing may panic. A
// snapshot must draw the same screen again, and must not contain queries.
func FuzzTerminal(f *testing.F) {
	for seed := range uint64(20) {
		g := newGenerator(seed)
		var data []byte
		for _, e := range g.stream(8) {
			if e.cols != 0 {
				data = append(data, 0xff, byte(e.cols), byte(e.rows))
			}
			data = append(data, e.data...)
		}
		f.Add(uint8(g.cols), uint8(g.rows), data)
	}
	f.Add(uint8(2), uint8(1), []byte("\x1b[999;999H\x1b[1J\x1b[2147483647S\x1b[2147483647bx\x1b[2147483647b\x1b[99999@"))
	f.Add(uint8(9), uint8(3), bytes.Repeat([]byte("e\u0301\u0301\u0301\u0301"), 100))
	f.Add(uint8(9), uint8(3), bytes.Repeat([]byte("\x1b]8;id=1;http://x\x1b\\a\x1b]8;;http://y\x1b\\b"), 50))
	f.Fuzz(func(t *testing.T, cols, rows uint8, data []byte) {
		said := 0
		v := New(int(cols), int(rows), Options{
			Scrollback: 50,
			Answer: func(p []byte) {
				if said++; len(p) > maxAnswerLine {
					t.Errorf("answer of %d bytes", len(p))
				}
			},
			Title: func(s string) {
				if len([]rune(s)) > 200 {
					t.Errorf("title of %d bytes", len(s))
				}
			},
			Dir:  func(string) {},
			Mark: func(byte, string) {},
		})
		for i, piece := range bytes.SplitAfter(data, []byte{0xff}) { // no character contains 0xff
			if i > 0 && len(piece) > 2 {
				v.Resize(int(piece[0]), int(piece[1])%60)
				piece = piece[2:]
			}
			v.Write(piece)
		}
		said = 0
		snap := v.Snapshot()
		c, r := v.Size()
		w := New(c, r, Options{Scrollback: 50, Answer: func(p []byte) { t.Errorf("snapshot asks for %q", p) }})
		w.Write(snap)
		if again := w.Snapshot(); v.reproducible() && !bytes.Equal(withoutPending(v), withoutPending(w)) {
			t.Errorf("snapshot\n%q\ndraws\n%q\nwant\n%q\nsnapshot of it\n%q", snap, w.Dump(false), v.Dump(false), again)
		}
	})
}

// withoutPending is a dump without the bytes of incomplete sequences.
func withoutPending(t *Terminal) []byte { return []byte(t.Dump(false)) }
