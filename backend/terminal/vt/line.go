package vt

import "slices"

// line is one row. Cells past len(cells) are null: a short line costs little
// and is quickly blanked. n is its width, which in the alternate screen may
// exceed the terminal's after a resize, as in xterm.js.
type line struct {
	cells   []cell
	n       int
	wrapped bool // continues the line above
	marks   []mark
	comb    []comb // ascending columns; may hold leftovers of overwritten cells, as in xterm.js
}

// comb is the text of a cell that holds more than one code point.
type comb struct {
	col  int
	text string
}

// code is the cell's first word, 0 outside the line.
func (l *line) code(i int) uint32 {
	if uint(i) < uint(len(l.cells)) {
		return l.cells[i].code
	}
	if i >= 0 && i < l.n {
		return width1
	}
	return 0
}

func (l *line) width(i int) int       { return int(l.code(i) >> widthShift) }
func (l *line) hasContent(i int) bool { return l.code(i)&contentMask != 0 }

func (l *line) at(i int) cell {
	if uint(i) < uint(len(l.cells)) {
		return l.cells[i]
	}
	if i >= 0 && i < l.n {
		return null
	}
	return cell{}
}

// reach makes cells[:n] real.
func (l *line) reach(n int) {
	old := len(l.cells)
	if n <= old {
		return
	}
	if n > cap(l.cells) {
		grown := make([]cell, n, min(max(n+n/4, 24), max(l.n, n)))
		copy(grown, l.cells)
		l.cells = grown
	} else {
		l.cells = l.cells[:n]
	}
	for i := old; i < n; i++ {
		l.cells[i] = null
	}
}

// put writes a cell; outside the line it does nothing.
func (l *line) put(i int, c cell) {
	if i < 0 || i >= l.n {
		return
	}
	if i >= len(l.cells) {
		if c == null {
			return
		}
		l.reach(i + 1)
	}
	l.cells[i] = c
}

// fill writes c to [from, to), to at most the line's width.
func (l *line) fill(from, to int, c cell) {
	from, to = max(from, 0), min(to, l.n)
	if from >= to {
		return
	}
	if c == null {
		if to >= len(l.cells) {
			if from < len(l.cells) {
				l.cells = l.cells[:from]
			}
			return
		}
	} else {
		l.reach(to)
	}
	for i := from; i < to; i++ {
		l.cells[i] = c
	}
}

// blank makes the line one of n erased cells.
func (l *line) blank(n int, c cell, wrapped bool) {
	l.cells = l.cells[:0]
	l.comb = l.comb[:0]
	l.marks = nil
	l.n, l.wrapped = n, wrapped
	if c != null {
		l.fill(0, n, c)
	}
}

// erase is replaceCells of xterm.js: halves of wide characters at both ends go.
func (l *line) erase(from, to int, c cell, keepProtected bool) {
	kept := func(i int) bool { return keepProtected && l.at(i).bg&bgProtect != 0 }
	if from > 0 && l.width(from-1) == 2 && !kept(from-1) {
		l.put(from-1, c)
	}
	if to < l.n && l.width(to-1) == 2 && !kept(to) {
		l.put(to, c)
	}
	if !keepProtected {
		l.fill(from, to, c)
		return
	}
	for i := from; i < min(to, l.n); i++ {
		if !kept(i) {
			l.put(i, c)
		}
	}
}

// insert shifts cells from pos to the right and fills the gap.
func (l *line) insert(pos, n int, c cell) {
	pos %= l.n
	if pos > 0 && l.width(pos-1) == 2 {
		l.put(pos-1, c)
	}
	if n < l.n-pos {
		if end := min(len(l.cells)+n, l.n); n > 0 && len(l.cells) > pos {
			l.reach(end)
			l.moveComb(pos, pos+n, end-pos-n)
			copy(l.cells[pos+n:end], l.cells[pos:end-n])
		}
		l.fill(pos, pos+n, c)
	} else {
		l.fill(pos, l.n, c)
	}
	if l.width(l.n-1) == 2 {
		l.put(l.n-1, c)
	}
}

// delete shifts cells from pos+n to the left and fills the end.
func (l *line) delete(pos, n int, c cell) {
	pos %= l.n
	if n < l.n-pos {
		if n > 0 {
			if len(l.cells) > pos+n {
				l.moveComb(pos+n, pos, len(l.cells)-pos-n)
				copy(l.cells[pos:], l.cells[pos+n:])
				l.cells = l.cells[:len(l.cells)-n]
			} else if len(l.cells) > pos {
				l.cells = l.cells[:pos]
			}
			l.fill(l.n-n, l.n, c)
		}
	} else {
		l.fill(pos, l.n, c)
	}
	if pos > 0 && l.width(pos-1) == 2 {
		l.put(pos-1, c)
	}
	if l.width(pos) == 0 && !l.hasContent(pos) {
		l.put(pos, c)
	}
}

// resize changes the width; new cells are null.
func (l *line) resize(n int) {
	if n < l.n {
		if len(l.cells) > n {
			l.cells = l.cells[:n]
		}
		first, _ := l.find(n)
		l.comb = l.comb[:first]
		if cap(l.cells) > 2*n+64 { // give memory of wide terminals back
			l.cells = slices.Clone(l.cells)
		}
	}
	l.n = n
}

// trimmed is the column after the last character.
func (l *line) trimmed() int {
	for i := len(l.cells) - 1; i >= 0; i-- {
		if c := &l.cells[i]; c.hasContent() {
			return i + c.width()
		}
	}
	return 0
}

// copyCells copies n cells of src, as reflow does: cell by cell, so that a line
// may be copied onto itself in the right order, and with every string kept
// beside the cells from srcCol on, which xterm.js does not bound by n.
func (l *line) copyCells(src *line, srcCol, dstCol, n int, reverse bool) {
	for i := range n {
		if reverse {
			i = n - 1 - i
		}
		l.put(dstCol+i, src.at(srcCol+i))
	}
	for _, c := range slices.Clone(src.comb) {
		if c.col >= srcCol {
			l.setText(c.col-srcCol+dstCol, src.text(c.col)) // which may have been copied there just now
		}
	}
}

func (l *line) find(col int) (int, bool) {
	return slices.BinarySearchFunc(l.comb, col, func(c comb, col int) int { return c.col - col })
}

func (l *line) text(col int) string {
	if i, ok := l.find(col); ok {
		return l.comb[i].text
	}
	return ""
}

func (l *line) setText(col int, s string) {
	i, ok := l.find(col)
	if !ok {
		l.comb = slices.Insert(l.comb, i, comb{col: col})
	}
	l.comb[i].text = s
}

// moveComb copies the strings of cells [from, from+n) to [to, to+n); leftovers
// of overwritten cells stay where they are.
func (l *line) moveComb(from, to, n int) {
	var moved []comb
	for _, c := range l.comb {
		if c.col >= from && c.col < from+n && l.code(c.col)&codeComb != 0 {
			moved = append(moved, comb{c.col - from + to, c.text})
		}
	}
	for _, c := range moved {
		l.setText(c.col, c.text)
	}
}
