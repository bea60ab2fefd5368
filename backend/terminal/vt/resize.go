package vt

// resize follows xterm.js step by step; the order matters wherever lines are
// lost.
func (b *buffer) resize(cols, rows int) {
	capacity := rows + b.scrollback
	if capacity > len(b.lines.slots) {
		b.lines.setCap(capacity)
	}
	if b.lines.n > 0 {
		if b.cols < cols {
			for i := range b.lines.n {
				b.line(i).resize(cols)
			}
		}
		added := b.resizeRows(cols, rows)
		if capacity < len(b.lines.slots) {
			if cut := b.lines.n - capacity; cut > 0 {
				b.lines.trimStart(cut)
				b.base = max(b.base-cut, 0)
				b.saved.y = max(b.saved.y-cut, 0)
			}
			b.lines.setCap(capacity)
		}
		b.x = min(b.x, cols-1)
		b.y = min(b.y, rows-1) + added
		b.saved.x = min(b.saved.x, cols-1)
		b.top = 0
	}
	b.bottom = rows - 1
	if b.scrollback > 0 {
		old := b.cols
		b.cols = cols
		if cols > old {
			b.reflowLarger(old, cols, rows)
		} else if cols < old {
			b.reflowSmaller(old, cols, rows)
			for i := range b.lines.n {
				b.line(i).resize(cols)
			}
		}
	}
	b.cols, b.rows = cols, rows
	b.spreadTabs()
}

// resizeRows changes the height: growing takes lines back from the scrollback
// if nothing is below the cursor, shrinking drops lines below it first.
func (b *buffer) resizeRows(cols, rows int) (added int) {
	for y := b.rows; y < rows; y++ {
		if b.lines.n >= rows+b.base {
			continue
		}
		if b.base > 0 && b.lines.n <= b.base+b.y+added+1 {
			b.base--
			added++
		} else {
			b.lines.push(&line{n: cols})
		}
	}
	for y := b.rows; y > rows; y-- {
		if b.lines.n <= rows+b.base {
			continue
		}
		if b.lines.n > b.base+b.y+1 {
			b.lines.pop()
		} else {
			b.base++
		}
	}
	return added
}
