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

	// A line was asked for that the list does not have, as happens after xterm.js
	// loses count in a resize. It may then be in the list twice, as there, and
	// must not be used anew.
	odd bool
}

// saved is the cursor as DECSC keeps it.
type saved struct {
	x, y    int // y counts from the first line of scrollback
	fg, bg  uint32
	charset *charset
}

// reset makes it as good as new.
func (b *buffer) reset(cols, rows, scrollback int) {
	b.cols, b.rows, b.scrollback = cols, rows, scrollback
	b.saved = saved{}
	b.clear()
}

// clear empties the buffer; saved stays.
func (b *buffer) clear() {
	b.lines.reset(b.rows + b.scrollback)
	b.odd = false
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
func (b *buffer) row(y int) *line { return b.line(b.base + y) }

// line is a line of the list.
func (b *buffer) line(i int) *line {
	l := b.lines.get(i)
	if l == nil { // only where xterm.js has lost count, and throws an error
		l = b.newLine(null, false)
		b.lines.set(i, l)
	}
	return l
}

// scroll moves the region up by one line, into the scrollback if it starts at
// the top.
func (b *buffer) scroll(c cell, wrapped bool) {
	bottom := b.base + b.bottom
	switch {
	case b.top != 0:
		l := b.lines.rotate(b.base+b.top, bottom)
		b.lines.set(bottom, b.blank(l, c, wrapped))
	case !b.lines.full():
		l := b.blank(nil, c, wrapped)
		if bottom == b.lines.n-1 {
			b.lines.push(l)
		} else {
			b.odd = b.odd || bottom >= b.lines.n
			b.lines.insert(bottom+1, l)
		}
		b.base++
	case bottom == b.lines.n-1:
		b.lines.recycle()
		b.line(b.lines.n-1).blank(b.cols, c, wrapped) // the line itself, wherever else it may be
	default:
		l := b.lines.get(0)
		b.odd = b.odd || bottom >= b.lines.n
		b.lines.insert(bottom+1, nil)
		b.lines.set(bottom, b.blank(l, c, wrapped))
	}
}

// blank makes l, which is in the list no more, an empty line.
func (b *buffer) blank(l *line, c cell, wrapped bool) *line {
	if l == nil || b.odd {
		return b.newLine(c, wrapped)
	}
	l.blank(b.cols, c, wrapped)
	return l
}

// scrollRegion moves n lines out at one end of [top, bottom] and blank ones in
// at the other.
func (b *buffer) scrollRegion(top, bottom, n int, up bool, c cell) {
	from, to := b.base+top, b.base+bottom
	if !up {
		from, to = to, from
	}
	for range min(n, bottom-top+1) { // after that all are blank
		if max(from, to) < b.lines.n {
			l := b.lines.rotate(from, to)
			b.lines.set(to, b.blank(l, c, false))
			continue
		}
		b.odd = true
		b.lines.remove(from)
		b.lines.insert(to, b.blank(nil, c, false))
	}
}

// scrollDown is what RI does at the top margin.
func (b *buffer) scrollDown(c cell) {
	top, height := b.base+b.top, b.bottom-b.top
	l := b.lines.get(top + height)
	b.odd = b.odd || top+height >= b.lines.n
	for i := height - 1; i >= 0; i-- {
		b.lines.set(top+i+1, b.lines.get(top+i))
	}
	if more := top + height + 1 - b.lines.n; more > 0 && height > 0 {
		b.lines.n += more
		if over := b.lines.n - len(b.lines.slots); over > 0 {
			b.lines.n -= over
			b.lines.start += over
		}
	}
	b.lines.set(top, b.blank(l, c, false))
}

// tabs is the set of columns with a tab stop.
type tabs [maxTabs]bool

func (t *tabs) has(i int) bool { return i >= 0 && i < maxTabs && t[i] }

func (t *tabs) set(i int, on bool) {
	if i >= 0 && i < maxTabs {
		t[i] = on
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
func (b *buffer) spreadTabs() {
	i := b.cols
	if !b.tabs.has(i) {
		i = b.prevTab(i)
	}
	b.tabs.every8(i, b.cols)
}
