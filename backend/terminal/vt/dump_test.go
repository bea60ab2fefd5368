package vt

import (
	"fmt"
	"strings"
)

// Dump describes the whole state as text, so tests can compare it. xtermtest describes
// a real xterm.js in the same form. With exact, it includes the parts that no snapshot
// can carry over.
func (t *Terminal) Dump(exact bool) string {
	var w strings.Builder
	screen := "normal"
	if t.b == t.alt {
		screen = "alt"
	}
	m := &t.modes
	fmt.Fprintf(&w, "size %d %d\nactive %s\nstate %d\njoin %d\n", t.cols, t.rows, screen, t.state, t.join)
	fmt.Fprintf(&w, "pen %s\n", t.dumpAttr(t.pen.fg, t.pen.bg, t.pen.ext, t.pen.link, true))
	fmt.Fprintf(&w, "modes insert=%t newline=%t appcursor=%t appkeypad=%t paste=%t origin=%t reversewrap=%t focus=%t sync=%t wrap=%t hidden=%t style=%d blink=%d optblink=%t mouse=%d encoding=%d\n",
		m.insert, m.newLine, m.appCursor, m.appKeypad, m.paste, m.origin, m.reverseWrap, m.focus, m.sync, !m.noWrap,
		m.cursorHidden, m.cursorShape, m.cursorBlink, m.blink > 0, m.mouse, m.mouseEncoding)
	fmt.Fprintf(&w, "charset %s of %d\n", t.charset.dump(), t.glevel)
	for i, c := range t.charsets {
		fmt.Fprintf(&w, "g%d %s\n", i, c.dump())
	}
	w.WriteString("palette")
	for i := range palCursor + 1 {
		if c, ok := t.palette[i]; ok {
			fmt.Fprintf(&w, " %d=%d,%d,%d", i, c[0], c[1], c[2])
		}
	}
	w.WriteString("\n")
	t.dumpBuffer(&w, "normal", t.normal, exact)
	t.dumpBuffer(&w, "alt", t.alt, exact)
	return w.String()
}

func (t *Terminal) dumpBuffer(w *strings.Builder, name string, b *buffer, exact bool) {
	sx, sy := b.saved.x, b.saved.y
	if !exact {
		sx, sy = min(sx, t.cols-1), min(sy, b.base+t.rows-1)
	}
	sy = max(sy, 0)
	x := b.x
	if !exact && b != t.b {
		x = 0 // the cursor of the other screen will set it
	}
	fmt.Fprintf(w, "%s: lines %d base %d cursor %d,%d margins %d,%d\n", name, b.lines.n, b.base, x, b.y, b.top, b.bottom)
	fmt.Fprintf(w, "%s: saved %d,%d %s %s\n", name, sx, sy, t.dumpAttr(b.saved.fg, b.saved.bg&^bgExt, 0, nil, false), b.saved.charset.dump())
	fmt.Fprintf(w, "%s: tabs", name)
	for i := range t.cols {
		if b.tabs.has(i) {
			fmt.Fprintf(w, " %d", i)
		}
	}
	w.WriteString("\n")
	for i := range b.lines.n {
		l := b.line(i)
		fmt.Fprintf(w, "%s %d", name, i)
		if l.wrapped {
			w.WriteString(" wrapped")
		}
		n := t.cols
		if exact {
			n = l.n
		}
		t.dumpCells(w, l, n)
		w.WriteString("\n")
	}
}

func (t *Terminal) dumpCells(w *strings.Builder, l *line, n int) {
	n = min(n, len(l.cells))
	for n > 0 && l.cells[n-1] == null {
		n--
	}
	attr := ""
	for i := range n {
		c := l.cells[i]
		bits, link := t.exts.get(c.ext)
		if a := t.dumpAttr(c.fg, c.bg, bits, link, c.bg&bgExt != 0); a != attr {
			attr = a
			w.WriteString(" " + a)
		}
		if c.code&codeComb != 0 {
			fmt.Fprintf(w, " %d%s", c.width(), dumpText(l.text(i)))
		} else {
			fmt.Fprintf(w, " %x", c.code)
		}
	}
}

func (t *Terminal) dumpAttr(fg, bg, ext uint32, l *link, withExt bool) string {
	s := fmt.Sprintf("{%x.%x", fg, bg)
	if withExt {
		s += fmt.Sprintf(".%x", ext)
		if l != nil {
			s += fmt.Sprintf(".%s.%s", l.id, l.uri)
		}
	}
	return s + "}"
}

func (c *charset) dump() string {
	if c == nil {
		return "-"
	}
	s := ""
	for i, r := range c.to {
		if r != 0 {
			s += fmt.Sprintf("%x>%x,", i, r)
		}
	}
	return s
}

func dumpText(s string) string {
	out := `"`
	for _, r := range s {
		out += fmt.Sprintf("<%x>", r)
	}
	return out + `"`
}
