package vt

import "unicode/utf8"

// line draws a line's cells on a row that is blank, starting with the cursor at
// its start or where printing wraps to it. goesOn says that the next line wraps.
func (s *snapshot) line(l *line, goesOn bool) {
	end := min(len(l.cells), s.cols)
	for end > 0 && l.cells[end-1] == null {
		end--
	}
	if s.x == s.cols {
		s.x = 0 // by wrapping
	}
	if end == s.cols && s.emptyEnd(l) {
		end--
		if !goesOn { // else wrapping leaves it so
			s.half(s.cols-2, s.cols-2, l.cells[end])
			s.column(0)
		}
	}
	for i := 0; i < end; {
		c := l.cells[i]
		switch {
		case c == null:
			i++
		case c.code == width1 && erasable(c):
			i += s.erased(l, i, end)
		case c.code == width1:
			s.half(i, i+1, c)
			i++
		case s.regular(l, i):
			i += s.run(l, i, end)
		case c.width() == 0 && c.hasContent():
			s.alone(l, i)
			i++
		default:
			i++
		}
	}
}

func (s *snapshot) to(x int) {
	if s.x != x {
		s.column(x)
	}
}

// erasable says whether erasing makes such a cell.
func erasable(c cell) bool { return c.fg == 0 && c.bg&^colorBits == 0 }

// erased draws erased cells of one colour.
func (s *snapshot) erased(l *line, i, end int) int {
	n := 1
	for i+n < end && l.cells[i+n] == l.cells[i] {
		n++
	}
	s.to(i)
	s.setPen(s.penOf(l.cells[i]))
	s.csi("X", n)
	return n
}

// half draws a cell without a character in colours or flags that erasing does not
// give: one half of a wide character at x whose other half, at over, is written over.
func (s *snapshot) half(x, over int, c cell) {
	s.to(x)
	s.str("一")
	s.column(over)
	s.setPen(s.penOf(c))
	s.str(" ")
	s.column(over)
	s.setPen(pen{})
	s.str("\x1b[X")
}

// emptyEnd says whether a line's last cell is such a one: the second half.
func (s *snapshot) emptyEnd(l *line) bool {
	c := l.at(s.cols - 1)
	return c.code == width1 && !erasable(c)
}

// alone draws a combining character that has its own cell: it must not join the one
// before.
func (s *snapshot) alone(l *line, i int) {
	s.to(i)
	s.setPen(s.penOf(l.cells[i]))
	s.out = append(s.out, 0x0f)
	s.out = utf8.AppendRune(s.out, l.firstRune(i))
	s.x++
}

// regular says whether printing the cell's text gives the cell.
func (s *snapshot) regular(l *line, i int) bool {
	c := l.at(i)
	w := c.width()
	if !c.hasContent() || w == 0 || i+w > s.cols || runeWidth(l.firstRune(i)) != w {
		return false
	}
	return w == 1 || l.code(i+1) == 0
}

func (l *line) firstRune(i int) rune {
	code := l.code(i)
	if code&codeComb != 0 {
		r, _ := utf8.DecodeRuneInString(l.text(i))
		return r
	}
	return rune(code & codeMask)
}

// run draws regular cells with the same pen and says how many columns they take.
func (s *snapshot) run(l *line, from, end int) int {
	c := l.cells[from]
	s.to(from)
	s.setPen(s.penOf(c))
	i := from
	for i < end {
		d := &l.cells[i]
		if d.fg != c.fg || d.bg != c.bg || d.ext != c.ext {
			break
		}
		if code := d.code &^ width1; code >= 0x20 && code < 0x7f && d.code&width1 != 0 {
			s.out = append(s.out, byte(code))
			i++
			continue
		}
		if !s.regular(l, i) {
			break
		}
		s.out = l.appendText(s.out, i)
		i += d.width()
	}
	s.x = i
	return i - from
}
