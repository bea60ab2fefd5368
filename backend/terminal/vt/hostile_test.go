package vt

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestMemoryIsBounded writes far more than fits of each thing that can grow.
func TestMemoryIsBounded(t *testing.T) {
	numbered := func(format string, n int) func() []byte {
		return func() []byte {
			var b bytes.Buffer
			for i := range n {
				fmt.Fprintf(&b, format, i)
			}
			return b.Bytes()
		}
	}
	again := func(before, s string, n int) func() []byte {
		return func() []byte { return []byte(before + strings.Repeat(s, n)) }
	}
	for name, make := range map[string]func() []byte{
		"links":        numbered("\x1b]8;;http://host/%d/"+strings.Repeat("x", 2000)+"\x1b\\a", 6000),
		"links, id":    numbered("\x1b]8;id=%d;http://host/"+strings.Repeat("x", 2000)+"\x1b\\a", 6000),
		"link styles":  numbered("\x1b]8;;http://h\x1b\\\x1b[4;58;5;%dma", 60000),
		"combining":    again("", "e"+strings.Repeat("\u0301", 300), 30000),
		"one cell":     again("e", "\u0301", 500000),
		"osc":          again("\x1b]2;", "x", 1000000),
		"dcs":          again("\x1bPq", "x", 1000000),
		"apc":          again("\x1b_", "x", 1000000),
		"parameters":   again("\x1b[", "1;", 300000),
		"digits":       again("\x1b[", "9", 1000000),
		"subparams":    again("\x1b[", "1:", 300000),
		"collects":     again("\x1b[", " ", 1000000),
		"palette":      numbered("\x1b]4;%d;#123456\x07", 20000),
		"tabs":         again("", "\x1bH \u0301", 100000),
		"past edge":    again("", "\x0f\u0301", 200000),
		"saved":        again("", "\x1b7\n", 100000),
		"repeat":       again("a", "\x1b[2147483647b", 500),
		"repeat combo": again("", "e\u0301\x1b[2147483647b", 60),
		"resets":       again("", "\x1bc", 5000),
		"screens":      again("", "\x1b[?1049h\x1b[?1049l", 5000),
		"scrolls":      again("", "\x1b[2147483647S\x1b[2147483647L\x1b[2147483647T\x1b[2147483647M\x1b[2147483647I\x1b[2147483647@\x1b[2147483647X", 500),
	} {
		v := New(80, 24, Options{})
		for p := make(); len(p) > 0; {
			n := min(len(p), 64<<10)
			v.Write(p[:n])
			p = p[n:]
		}
		snap := v.Snapshot()
		if len(snap) > 64<<20 {
			t.Errorf("%s: snapshot of %d bytes", name, len(snap))
		}
		if n := v.countComb(); n > maxCombBytes {
			t.Errorf("%s: %d bytes of combining characters", name, n)
		}
		if n := v.exts.collect(v); n > maxLinkBytes {
			t.Errorf("%s: %d bytes of links", name, n)
		}
		if cap(v.osc) > 2*maxOSC || cap(v.pend) > 2*maxPending || len(v.palette) > 259 {
			t.Errorf("%s: osc %d, pending %d, palette %d", name, cap(v.osc), cap(v.pend), len(v.palette))
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		// The cells of 10,024 lines take 13 MB. The strings beside them have the bounds
		// above.
		if m.HeapAlloc > 80<<20 {
			t.Errorf("%s: %d MB in use", name, m.HeapAlloc>>20)
		}
		runtime.KeepAlive(v)
	}
}

// TestLongPending cuts the stream in sequences that are too long to keep. The bytes
// that follow still count as part of them.
func TestLongPending(t *testing.T) {
	for name, start := range map[string]string{
		"osc": "\x1b]2;", "dcs": "\x1bPq", "dcs parameters": "\x1bP1;", "apc": "\x1b_", "csi": "\x1b[1;", "csi ignore": "\x1b[<<", "intermediates": "\x1b[ ",
	} {
		fill, end := "0", "\x1b\\"
		if strings.Contains(name, "csi") || name == "intermediates" {
			end = "m"
		}
		if name == "intermediates" {
			fill = " "
		}
		v := New(20, 3, Options{Title: func(string) { t.Errorf("%s: a title of %d bytes", name, maxPending) }})
		v.Write([]byte("before" + start))
		for range 2 * maxPending / 1000 {
			v.Write([]byte(strings.Repeat(fill, 1000)))
		}
		w := New(20, 3, Options{Title: func(string) { t.Errorf("%s: a title", name) }})
		snap := v.Snapshot()
		if len(snap) > 1000 {
			t.Errorf("%s: snapshot of %d bytes", name, len(snap))
		}
		w.Write(snap)
		for _, x := range []*Terminal{v, w} {
			x.Write([]byte(fill + fill + end + " after"))
		}
		if v.text() != "before after" || w.text() != v.text() {
			t.Errorf("%s: screens %q and %q", name, v.text(), w.text())
		}
	}
}

// TestRepetitionIsBounded: a few bytes print at most a few lines, even when a cell
// holds a lot.
func TestRepetitionIsBounded(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int // columns printed
	}{
		{"a\x1b[2147483647b", 1 + 4*80},
		{"a\x1b[300b", 301},
		{"e" + strings.Repeat("\u0301", 9) + "\x1b[999b", 1 + 4*80/10},
		{"中\x1b[2b", 6},
	} {
		v := New(80, 24, Options{})
		v.Write([]byte(c.in))
		if got := (v.b.base+v.b.y)*80 + v.b.x; got != c.want {
			t.Errorf("%.20q: %d columns, want %d", c.in, got, c.want)
		}
	}
}
