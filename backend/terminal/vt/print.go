package vt

import "unicode/utf8"

// penChanged works out again what cells are written with.
func (t *Terminal) penChanged() {
	t.dot = cell{fg: t.pen.fg, bg: t.pen.bg}
	if t.pen.bg&bgExt != 0 {
		t.dot.ext = t.exts.of(t, t.pen.ext, t.pen.link)
	}
	t.bce = cell{code: width1, bg: t.pen.bg & colorBits}
}

// nothing is a null cell in the pen's colours.
func (t *Terminal) nothing() cell {
	c := t.dot
	c.code = width1
	return c
}

// printASCII prints a run of printable ASCII.
func (t *Terminal) printASCII(p []byte) {
	if t.charset != nil || t.modes.insert {
		for _, c := range p {
			t.print(rune(c))
		}
		return
	}
	b := t.b
	l := b.row(b.y)
	t.startRun(l)
	for len(p) > 0 {
		if b.x >= t.cols {
			if t.modes.noWrap {
				// All but the last land in the last column, one over the other.
				b.x = t.cols - 1
				p = p[len(p)-1:]
			} else {
				l = t.wrap(l)
			}
		}
		n := min(len(p), t.cols-b.x)
		l.reach(b.x + n)
		dot := t.dot
		cells := l.cells[b.x : b.x+n]
		for i, c := range p[:len(cells)] {
			dot.code = uint32(c) | width1
			cells[i] = dot
		}
		b.x += n
		p = p[n:]
	}
	t.afterPrint(l)
	t.join = 1
}

// startRun clears the first half of a wide character whose second half is about
// to be written over. As xterm.js, it looks only once for characters in a row.
func (t *Terminal) startRun(l *line) {
	if t.run {
		return
	}
	t.run = true
	if x := t.b.x; x > 0 && l.width(x-1) == 2 {
		l.put(x-1, t.nothing())
	}
}

// wrap goes to the next line because a character does not fit.
func (t *Terminal) wrap(l *line) *line {
	b := t.b
	from := b.x
	b.x = 0
	if b.y == b.bottom {
		b.scroll(t.bce, true)
	} else {
		b.y = min(b.y+1, t.rows-1)
		b.row(b.y).wrapped = true
	}
	if from < t.cols {
		l.fill(from, t.cols, t.nothing())
	}
	return b.row(b.y)
}

// print prints one character.
func (t *Terminal) print(r rune) {
	b := t.b
	if r < 127 && t.charset != nil {
		r = t.charset.translate(r)
	}
	l := b.row(b.y)
	t.startRun(l)
	width := runeWidth(r)
	if width == 0 && t.join > 0 {
		t.combine(l, r)
		return
	}
	t.join = uint8(width)
	if b.x+width > t.cols {
		if !t.modes.noWrap {
			l = t.wrap(l)
		} else {
			b.x = t.cols - 1
			if width == 2 {
				t.afterPrint(l)
				return
			}
		}
	}
	if t.modes.insert {
		l.insert(b.x, width, t.nothing())
		if l.width(t.cols-1) == 2 {
			l.put(t.cols-1, t.nothing())
		}
	}
	c := t.dot
	c.code = uint32(r) | uint32(width)<<widthShift
	l.put(b.x, c)
	b.x++
	if width == 2 {
		c.code = 0
		l.put(b.x, c)
		b.x++
	}
	t.afterPrint(l)
}

// afterPrint clears the second half of a wide character whose first half was
// written over.
func (t *Terminal) afterPrint(l *line) {
	if x := t.b.x; x < t.cols && l.code(x) == 0 {
		l.put(x, t.nothing())
	}
}

// combine adds a code point to the character just printed.
func (t *Terminal) combine(l *line, r rune) {
	b := t.b
	width := int(t.join)
	if b.x == 0 {
		// Only after a resize. xterm.js makes it a cell of its own.
		t.join = 0
		t.print(r)
		return
	}
	at := b.x - 1
	if l.width(at) == 0 {
		at--
	}
	code := l.code(at)
	if code&contentMask != 0 {
		s := string(utf8.AppendRune(l.appendText(nil, at), r))
		cost := utf8.RuneLen(r)
		if code&codeComb == 0 {
			cost = len(s) + combCost
		}
		if len(s) <= maxComb && t.combBytes.spend(cost, t.countComb) {
			l.setText(at, s)
			code = code&^codeMask | codeComb
		}
	} else {
		code = uint32(r) | width1
	}
	c := l.at(at)
	c.code = code&contentMask | uint32(width)<<widthShift
	l.put(at, c)
	t.afterPrint(l)
}

// combCost is what a string beside a cell costs besides its bytes.
const combCost = 32

// countComb counts the bytes of all combining characters in the lines.
func (t *Terminal) countComb() int {
	n := 0
	t.eachLine(func(l *line) {
		for _, c := range l.comb {
			n += len(c.text) + combCost
		}
	})
	return n
}

func (t *Terminal) eachLine(f func(*line)) {
	for _, b := range []*buffer{t.normal, t.alt} {
		for i := range b.lines.n {
			if l := b.lines.get(i); l != nil {
				f(l)
			}
		}
	}
}

// budget bounds something that is counted up quickly and counted anew rarely.
type budget struct {
	used, limit int
	refused     int // bytes still to be refused before counting again
}

// spend says whether n more may be used; count says what is in use in truth.
func (b *budget) spend(n int, count func() int) bool {
	if b.used+n <= b.limit {
		b.used += n
		return true
	}
	if b.refused > 0 {
		b.refused -= n
		return false
	}
	b.used, b.refused = count(), 0
	if b.used+n > b.limit {
		b.refused = b.limit / 8
		return false
	}
	b.used += n
	return true
}
