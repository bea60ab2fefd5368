package vt

// buffer is one of the two screens with what belongs to it.
type buffer struct {
	lines       ring
	base        int // index of the first line on the screen; what lies above is scrollback
	x, y        int // x may be past the last column: a wrap is pending
	top, bottom int // margins, inclusive
	cols, rows  int
	scrollback  int // 0 for the alternate screen
	tabs        tabs
	saved       saved
}

// saved is the cursor as DECSC keeps it.
type saved struct {
	x, y    int // y counts from the first line of scrollback
	fg, bg  uint32
	charset *charset
}

func newBuffer(cols, rows, scrollback int) *buffer {
	b := &buffer{cols: cols, rows: rows, scrollback: scrollback}
	b.clear()
	return b
}

// clear empties the buffer; saved stays.
func (b *buffer) clear() {
	b.lines = newRing(b.rows + b.scrollback)
	b.base, b.x, b.y = 0, 0, 0
	b.top, b.bottom = 0, b.rows-1
	b.tabs = tabs{}
	b.tabs.every8(0, b.cols)
}

// fillRows gives an empty buffer its lines.
func (b *buffer) fillRows(c cell) {
	if b.lines.n == 0 {
		for range b.rows {
			b.lines.push(b.newLine(c, false))
		}
	}
}

func (b *buffer) newLine(c cell, wrapped bool) *line {
	l := &line{n: b.cols, wrapped: wrapped}
	if c != null {
		l.fill(0, l.n, c)
	}
	return l
}

// row is a line of the screen.
func (b *buffer) row(y int) *line {
	l := b.lines.get(b.base + y)
	if l == nil { // only if xterm.js's own bookkeeping would have broken
		l = b.newLine(null, false)
		b.lines.set(b.base+y, l)
	}
	return l
}

// scroll moves the region up by one line, into the scrollback if it starts at
// the top.
func (b *buffer) scroll(c cell, wrapped bool) {
	bottom := b.base + b.bottom
	if b.top != 0 {
		b.lines.rotate(b.base+b.top, bottom).blank(b.cols, c, wrapped)
		return
	}
	if !b.lines.full() {
		l := b.newLine(c, wrapped)
		b.lines.push(l)
		if bottom+1 < b.lines.n-1 {
			b.lines.rotate(b.lines.n-1, bottom+1)
		}
		b.base++
		return
	}
	last := b.lines.n - 1
	var l *line
	if bottom == last {
		l = b.lines.recycle()
	} else {
		l = b.lines.get(0)
		b.lines.start++
		b.lines.set(last, l)
		b.lines.rotate(last, bottom)
	}
	if l == nil {
		l = &line{}
		b.lines.set(bottom, l)
	}
	l.blank(b.cols, c, wrapped)
}

// scrollRegion moves n lines out at one end of [top, bottom] and blank ones in
// at the other.
func (b *buffer) scrollRegion(top, bottom, n int, up bool, c cell) {
	for range min(n, bottom-top+1) { // after that all are blank
		from, to := b.base+top, b.base+bottom
		if !up {
			from, to = to, from
		}
		if l := b.lines.rotate(from, to); l != nil {
			l.blank(b.cols, c, false)
		} else {
			b.lines.set(to, b.newLine(c, false))
		}
	}
}

// tabs is the set of columns with a tab stop.
type tabs [(maxTabs + 63) / 64]uint64

func (t *tabs) has(i int) bool { return i >= 0 && i < maxTabs && t[i/64]>>(i%64)&1 != 0 }

func (t *tabs) set(i int, on bool) {
	if i < 0 || i >= maxTabs {
		return
	}
	if on {
		t[i/64] |= 1 << (i % 64)
	} else {
		t[i/64] &^= 1 << (i % 64)
	}
}

func (t *tabs) every8(from, cols int) {
	for i := from; i < cols; i += 8 {
		t.set(i, true)
	}
}

func (b *buffer) nextTab(x int) int {
	for x++; !b.tabs.has(x) && x < b.cols; x++ {
	}
	return min(x, b.cols-1)
}

func (b *buffer) prevTab(x int) int {
	for x--; !b.tabs.has(x) && x > 0; x-- {
	}
	return max(min(x, b.cols-1), 0)
}

// spreadTabs sets stops in columns that a resize brought.
func (b *buffer) spreadTabs(cols int) {
	i := cols
	if !b.tabs.has(i) {
		i = b.prevTab(i)
	}
	b.tabs.every8(i, b.cols)
}
