package vt

import (
	"strconv"
	"unicode/utf8"
)

// Snapshot returns bytes that bring an xterm.js terminal of this size (fresh, or
// whatever it showed before) to this state: scrollback, both screens, cursor,
// modes. They hold no query. An incomplete sequence or character at the end of
// what was written ends them too, so that output may go on right after.
//
// Not carried over, because no sequence can: cells of the alternate screen that
// a resize hid; halves of wide characters that a resize or an insertion
// cut off; and a saved cursor outside the screen.
func (t *Terminal) Snapshot() []byte {
	s := &snapshot{t: t, b: t.normal, cols: t.cols, rows: t.rows, codes: make([]int, 0, 32)}
	s.out = make([]byte, 0, s.guess())
	s.start()
	s.normalScreen()
	if t.b == t.alt {
		s.altScreen()
	} else {
		s.altSaved()
	}
	s.finish()
	return s.out
}

// snapshot is one being made. It follows what the other terminal's cursor and
// pen are.
type snapshot struct {
	t          *Terminal
	b          *buffer
	out        []byte
	cols, rows int
	x          int // cols when a wrap is pending
	pen        pen
	codes      []int // empty, with room for the parameters of any pen
}

// guess is about how long a snapshot will be.
func (s *snapshot) guess() int {
	size := 4096
	s.t.eachLine(func(l *line) { size += len(l.cells) + 4 })
	return size + size/4
}

func (s *snapshot) str(v string) { s.out = append(s.out, v...) }
func (s *snapshot) num(v int)    { s.out = strconv.AppendInt(s.out, int64(v), 10) }

// csi writes a control sequence with numbers.
func (s *snapshot) csi(final string, v ...int) {
	s.str("\x1b[")
	for i, n := range v {
		if i > 0 {
			s.out = append(s.out, ';')
		}
		s.num(n)
	}
	s.str(final)
}

// column moves within the row.
func (s *snapshot) column(x int) {
	if x == 0 {
		s.out = append(s.out, '\r')
	} else {
		s.csi("G", x+1)
	}
	s.x = x
}

func (s *snapshot) place(x, y int) {
	s.csi("H", y+1, x+1)
	s.x = x
}

// start ends whatever the other terminal is in the middle of, resets it, and has
// it show nothing before all is drawn.
func (s *snapshot) start() {
	s.str("\x18\x1bc\x1b[?2026h\x1b[?25h\x1b[20l\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\")
}

func (s *snapshot) normalScreen() {
	b := s.b
	if b.line(0).wrapped || b.lines.start%len(b.lines.slots) != 0 {
		s.wrappedTop(b.line(0).wrapped)
	}
	s.lines()
	s.screenState()
	s.savedCursor(b.saved, b.base)
	if s.t.b != b {
		s.place(min(b.x, s.cols-1), b.y)
	}
}

func (s *snapshot) altScreen() {
	s.setPen(pen{})
	s.str("\x1b[?47h")
	s.b = s.t.alt
	if s.b.line(0).wrapped {
		s.wrappedTop(true)
	}
	s.place(0, 0)
	s.lines()
	s.screenState()
	s.savedCursor(s.b.saved, 0)
}

// altSaved gives the alternate screen its saved cursor while it is not shown.
func (s *snapshot) altSaved() {
	if saved := s.t.alt.saved; saved != (saved0) {
		s.setPen(pen{})
		s.str("\x1b[?47h")
		s.place(0, min(saved.y, s.rows-1))
		l := &line{n: s.cols}
		l.put(s.cols-1, cell{code: 'x' | width1})
		s.save(saved, l)
		s.str("\x1b[?47l")
	}
}

var saved0 saved

// wrappedTop makes the first line one that continues a line above, which is then
// dropped, and lets the list of lines start elsewhere than a fresh one.
func (s *snapshot) wrappedTop(wrapped bool) {
	s.place(s.cols-1, s.rows-1)
	s.str("xx\r\x1b[X")
	if !wrapped {
		s.out = append(s.out, '\n')
	}
	for range s.rows - 1 {
		s.out = append(s.out, '\n')
	}
	s.str("\x1b[3J\x1b[H")
	s.x = 0
}

// lines draws all lines, the last at the bottom of the screen.
func (s *snapshot) lines() {
	b := s.b
	end := min(b.base+s.rows, b.lines.n)
	for i := range end {
		l := b.line(i)
		goesOn := i+1 < end && b.line(i+1).wrapped
		wraps := s.x == s.cols // and is in this line once it is drawn
		if !wraps {
			s.marks(l)
		}
		s.line(l, goesOn)
		if wraps {
			s.marks(l)
		}
		if i == b.saved.y && i < b.base && b.saved != saved0 {
			s.save(b.saved, l)
			s.pendAgain(l)
		}
		if i+1 == end {
			break
		}
		if goesOn {
			s.wrapTo(l, b.line(i+1))
		} else {
			if s.pen.bg&colorBits != 0 { // a line scrolled in would be filled with it
				s.setPen(pen{})
			}
			s.str("\r\n")
			s.x = 0
		}
	}
}

// wrapTo goes to the next row by wrapping: printing a character that has no room.
func (s *snapshot) wrapTo(l, next *line) {
	first := next.at(0)
	printable := first.hasContent() && first.width() > 0 && first.bg&colorBits == 0 && s.regular(next, 0) && !s.emptyEnd(next)
	if s.x == s.cols {
		if printable {
			return // drawing the next line wraps by itself
		}
		s.setPen(pen{})
		s.str(" \r\x1b[X")
		s.x = 0
		return
	}
	// The last column is free, as a wide character leaves it, in the colours the
	// wide character has.
	last := l.at(s.cols - 1)
	s.column(s.cols - 1)
	s.setPen(s.penOf(last))
	if printable && first.width() == 2 && s.penOf(first) == s.penOf(last) {
		s.x = s.cols // it will wrap as one at the edge does
		return
	}
	s.str("一\r")
	s.setPen(pen{})
	if last.bg&colorBits != 0 {
		s.csi("X", s.cols)
	} else {
		s.str("\x1b[2X")
	}
	s.x = 0
}

// pendAgain restores a pending wrap after the cursor was moved in the row.
func (s *snapshot) pendAgain(l *line) {
	at := s.cols - 1
	if l.code(at) == 0 && at > 0 {
		at--
	}
	if c := l.at(at); c.hasContent() && s.regular(l, at) && at+max(c.width(), 1) == s.cols {
		s.column(at)
		s.run(l, at, at+1)
	}
}

// screenState sets what a screen has of its own: tab stops and margins.
func (s *snapshot) screenState() {
	b := s.b
	s.str("\x1b[3g")
	for i := range s.cols {
		if b.tabs.has(i) {
			s.column(i)
			s.str("\x1bH")
		}
	}
	if b.top != 0 || b.bottom != s.rows-1 {
		s.csi("r", b.top+1, b.bottom+1)
		s.x = 0
	}
}

// savedCursor saves one on the screen; those above it were saved on the way.
func (s *snapshot) savedCursor(v saved, base int) {
	if v == saved0 || v.y < base {
		return
	}
	y := min(v.y-base, s.rows-1)
	s.place(0, y)
	s.save(v, s.b.row(y))
}

// save saves a cursor in the row of l, where the cursor is.
func (s *snapshot) save(v saved, l *line) {
	s.column(max(0, min(v.x, s.cols-1)))
	if v.x >= s.cols {
		s.pendAgain(l)
	}
	p := pen{fg: v.fg, bg: v.bg &^ bgExt}
	switch {
	case v.fg&fgUnder != 0:
		p.ext = 1 << extStyleShift
		p.bg |= bgExt
	case v.bg&bgExt != 0: // the flag alone: it says that there was a link
		p.link = &link{uri: "x"}
		p.bg |= bgExt
	}
	s.setPen(p)
	if v.charset != nil {
		s.str("\x1b(")
		s.out = append(s.out, v.charset.final)
	}
	s.str("\x1b7")
	if v.charset != nil {
		s.str("\x1b(B")
	}
	if p.link != nil {
		s.setPen(pen{})
	}
}

// appendText appends what a cell shows.
func (l *line) appendText(out []byte, i int) []byte {
	code := l.code(i)
	if code&codeComb != 0 {
		return append(out, l.text(i)...)
	}
	return utf8.AppendRune(out, rune(code&codeMask))
}
