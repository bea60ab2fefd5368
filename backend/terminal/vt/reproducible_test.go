package vt

// reproducible reports whether Snapshot can carry over the whole state. Its comment
// names the exceptions.
func (t *Terminal) reproducible() bool {
	for _, b := range []*buffer{t.normal, t.alt} {
		if b.saved.y > b.base+t.rows-1 || b.lines.n > 0 && b.lines.n != b.base+t.rows || b.saved.x > t.cols || b.saved.x == t.cols && !t.b.row(clamp(b.saved.y-b.base, 0, t.rows-1)).hasContent(t.cols-1) {
			return false
		}
		usual, hidden := true, false
		for i := range maxTabs {
			if i >= t.cols {
				hidden = hidden || b.tabs.has(i)
				usual = usual && (!b.tabs.has(i) || i%8 == 0)
			} else {
				usual = usual && b.tabs.has(i) == (i%8 == 0)
			}
		}
		if hidden && !usual {
			return false
		}
		for i := range b.lines.n {
			l := b.line(i)
			if l.n != t.cols {
				return false // a resize hid these cells
			}
			for _, c := range l.comb {
				if l.code(c.col)&codeComb == 0 {
					return false // a reflow may bring these leftovers back
				}
			}
			if s := (&snapshot{cols: t.cols}); s.emptyEnd(l) && l.code(t.cols-2) == width1 && !erasable(l.at(t.cols-2)) {
				return false
			}
			for x := range t.cols {
				c := l.at(x)
				switch w := c.width(); {
				case c.bg&bgExt != 0 && c.ext&(extStyle|extLink) == 0,
					c.bg&bgExt != 0 && (t.styleOf(c) != 0) != (c.fg&fgUnder != 0),
					w == 0 && !c.hasContent() && (x == 0 || l.width(x-1) != 2),
					w == 2 && (x+1 == t.cols || l.code(x+1) != 0),
					c.hasContent() && runeWidth(l.firstRune(x)) != w,
					w == 0 && c.code&codeComb != 0:
					return false
				}
			}
		}
	}
	if t.pen.bg&bgExt != 0 && (t.pen.ext&extStyle != 0) != (t.pen.fg&fgUnder != 0) {
		return false
	}
	if sv := t.b.saved; t.restored() && (t.b.x >= t.cols || sv.bg&bgExt != t.pen.bg&bgExt || sv.fg&fgUnder != t.pen.fg&fgUnder ||
		t.charset != t.charsets[t.glevel] && t.charset != sv.charset) {
		return false
	}
	if _, ok := (&snapshot{t: t, b: t.b, cols: t.cols}).joinable(t.b.row(t.b.y)); t.join != 0 && !ok {
		return false
	}
	s := &snapshot{t: t, b: t.b, cols: t.cols}
	if l := t.b.row(t.b.y); t.b.x >= t.cols && l.code(t.cols-1) == width1 && !s.uniform(l) {
		return false
	}
	if t.modes.origin && (t.b.y < t.b.top || t.b.y > t.b.bottom) {
		return false
	}
	return len(t.alt.lines.slots) == t.rows
}

func (t *Terminal) styleOf(c cell) uint32 {
	bits, _ := t.exts.get(c.ext)
	return bits & extStyle
}
