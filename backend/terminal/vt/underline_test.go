package vt

import "testing"

// TestUnderlinesThatAreSeen: DECRC restores either the flag of an underline or its
// style. A snapshot has the visible result, in its cells and in the text that is
// printed next.
func TestUnderlinesThatAreSeen(t *testing.T) {
	seen := func(v *Terminal) (out string) {
		for x := range v.cols {
			c := v.b.row(0).at(x)
			if c.fg&fgUnder != 0 || c.bg&bgExt != 0 && v.styleOf(c) != 0 {
				out += "_"
			} else {
				out += "."
			}
		}
		return out
	}
	for _, in := range []string{
		"\x1b[4m\x1b7\x1b[0m\x1b8ab",
		"\x1b[4m\x1b7\x1b[0m\x1b8ab\x1b[1m",
		"\x1b7\x1b[4mu\x1b8ab",
		"\x1b[4:3mu\x1b7\x1b[0mv\x1b8ab",
		"\x1b]8;;u\a\x1b7\x1b[4mu\x1b8ab",
	} {
		v := New(10, 2, Options{})
		v.Write([]byte(in))
		w := New(10, 2, Options{})
		w.Write(v.Snapshot())
		if a, b := seen(v), seen(w); a != b {
			t.Errorf("%q: %s, the snapshot %s", in, a, b)
		}
		v.Write([]byte("xx"))
		w.Write([]byte("xx"))
		if a, b := seen(v), seen(w); a != b {
			t.Errorf("%q, and then: %s, the snapshot %s", in, a, b)
		}
	}
}
