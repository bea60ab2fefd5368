package vt

import "slices"

// reflowLarger joins wrapped lines after the columns grew. The line with the
// cursor is left to the program.
func (b *buffer) reflowLarger(oldCols, cols, rows int) {
	cursor := b.base + b.y
	kept := make([]*line, 0, b.lines.n)
	for y := 0; y < b.lines.n; {
		end, empty := y+1, 0
		for end < b.lines.n && b.line(end).wrapped {
			end++
		}
		if end-y > 1 && (cursor < y || cursor >= end) {
			group := b.group(y, end)
			empty = joinGroup(group, oldCols, cols)
			for _, l := range group[len(group)-empty:] {
				group[len(group)-empty-1].takeMarks(l)
			}
		}
		for i := y; i < end-empty; i++ {
			kept = append(kept, b.line(i))
		}
		y = end
	}
	count := b.lines.n - len(kept)
	if count == 0 {
		return
	}
	for i, l := range kept {
		b.lines.set(i, l)
	}
	b.lines.n = len(kept)
	for range count {
		if b.base > 0 {
			b.base--
			continue
		}
		if b.y > 0 {
			b.y--
		}
		if b.lines.n < rows {
			b.lines.push(&line{n: cols})
		}
	}
	b.saved.y = max(b.saved.y-count, 0)
}

// group are the lines [from, to) of the list.
func (b *buffer) group(from, to int) []*line {
	out := make([]*line, 0, to-from)
	for i := from; i < to; i++ {
		out = append(out, b.line(i))
	}
	return out
}

// joinGroup moves the cells of a wrapped line up and says how many lines at its
// end are left empty.
func joinGroup(group []*line, oldCols, cols int) int {
	dst, dstCol := 0, wrappedLength(group, 0, oldCols)
	src, srcCol := 1, 0
	for src < len(group) && dst < len(group) {
		length := wrappedLength(group, src, oldCols)
		n := min(length-srcCol, cols-dstCol)
		group[dst].copyCells(group[src], srcCol, dstCol, n, false)
		if dstCol += n; dstCol == cols {
			dst++
			dstCol = 0
		}
		if srcCol += n; srcCol == length {
			src++
			srcCol = 0
		}
		if dstCol == 0 && dst != 0 && dst < len(group) && group[dst-1].width(cols-1) == 2 {
			// A wide character has no room in the last column.
			group[dst].copyCells(group[dst-1], cols-1, dstCol, 1, false)
			dstCol++
			group[dst-1].put(cols-1, null)
		}
	}
	dst = min(dst, len(group)-1)
	group[dst].erase(dstCol, cols, null, false)
	empty := 0
	for i := len(group) - 1; i > 0 && (i > dst || group[i].trimmed() == 0); i-- {
		empty++
	}
	return empty
}

// wrappedLength is how many cells of a wrapped line's part belong to it: all,
// but for a last one left free by a wide character, and for the last part.
func wrappedLength(group []*line, i, cols int) int {
	if i == len(group)-1 {
		return group[i].trimmed()
	}
	if group[i].code(cols-1) == width1 && group[i+1].width(0) == 2 {
		return cols - 1
	}
	return cols
}

// inserted are lines that reflow adds in front of a line of the list.
type inserted struct {
	at    int
	lines []*line
}

// reflowSmaller wraps lines that became too long for the columns.
func (b *buffer) reflowSmaller(oldCols, cols, rows int) {
	var insert []inserted
	total := 0
	for y := b.lines.n - 1; y >= 0; y-- {
		last := y
		if l := b.line(y); !l.wrapped && l.trimmed() <= cols {
			continue
		}
		for y > 0 && b.line(y).wrapped {
			y--
		}
		if at := b.base + b.y; at >= y && at <= last {
			continue // the program redraws the line with the cursor
		}
		group := b.group(y, last+1)
		more := b.splitGroup(group, oldCols, cols)
		adding := len(more) // xterm.js can come to -1 here, for one empty line
		if len(group) == 1 && group[0].wrapped && group[0].trimmed() == 0 {
			adding = -1
		}
		var cut int
		if b.base == 0 && b.y != b.lines.n-1 {
			cut = max(0, b.y-len(b.lines.slots)+adding)
		} else {
			cut = max(0, b.lines.n-len(b.lines.slots)+adding)
		}
		insert = append(insert, inserted{last + 1, more})
		total += len(more)
		for range max(adding-cut, 0) {
			switch {
			case b.base > 0:
				if b.base < min(len(b.lines.slots), b.lines.n+total)-rows {
					b.base++
				}
			case b.y < rows-1:
				b.y++
				b.lines.pop()
			default:
				b.base++
			}
		}
		b.saved.y = min(b.saved.y+adding, b.base+rows-1)
	}
	if total > 0 {
		b.insertLines(insert, total)
	}
}

// splitGroup spreads the cells of a wrapped line over more, narrower lines and
// returns those to be added.
func (b *buffer) splitGroup(group []*line, oldCols, cols int) []*line {
	lengths := narrowLengths(group, oldCols, cols)
	var more []*line
	for range len(lengths) - len(group) {
		more = append(more, &line{n: cols, wrapped: true})
	}
	all := append(group[:len(group):len(group)], more...)
	src, srcCol := len(group)-1, group[len(group)-1].trimmed()
	for dst, dstCol := range slices.Backward(lengths) {
		for dstCol > 0 && src >= 0 {
			n := min(srcCol, dstCol)
			all[dst].copyCells(all[src], srcCol-n, dstCol-n, n, true)
			dstCol -= n
			if srcCol -= n; srcCol == 0 {
				src--
				srcCol = wrappedLength(all, max(src, 0), oldCols)
			}
		}
	}
	for i, n := range lengths {
		if n < cols {
			all[i].put(n, null)
		}
	}
	return more
}

// narrowLengths is how many cells each of the narrower lines takes: all columns,
// or one less before a wide character.
func narrowLengths(group []*line, oldCols, cols int) []int {
	need := 0
	for i := range group {
		need += wrappedLength(group, i, oldCols)
	}
	var lengths []int
	srcCol, src, have := 0, 0, 0
	for have < need {
		if need-have < cols {
			return append(lengths, need-have)
		}
		srcCol += cols
		if old := wrappedLength(group, min(src, len(group)-1), oldCols); srcCol > old {
			srcCol -= old
			src++
		}
		n := cols
		if src < len(group) && group[src].width(srcCol-1) == 2 {
			srcCol--
			n--
		}
		lengths = append(lengths, n)
		have += n
	}
	return lengths
}

// insertLines puts the new lines in their places. Lines that do not fit are lost at
// the start, and beyond it, as xterm.js has it.
func (b *buffer) insertLines(insert []inserted, total int) {
	old := b.group(0, b.lines.n)
	b.lines.n = min(len(b.lines.slots), len(old)+total)
	for i, from := b.lines.n-1, len(old)-1; i >= 0; {
		if len(insert) > 0 && insert[0].at > from {
			for _, l := range slices.Backward(insert[0].lines) {
				b.lines.set(i, l)
				i--
			}
			insert = insert[1:]
			continue
		}
		b.lines.set(i, old[from])
		i, from = i-1, from-1
	}
}
