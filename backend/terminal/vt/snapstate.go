package vt

import (
	"bytes"
	"cmp"
)

// finish sets all that is not on a screen, puts the cursor in its place, and
// leaves the pen as it is.
func (s *snapshot) finish() {
	t, b := s.t, s.b
	s.palette()
	s.command(t.command)
	y := b.y
	if t.modes.origin {
		s.str("\x1b[?6h")
		y = max(y-b.top, 0)
	}
	l := b.row(b.y)
	at, joins := s.joinable(l)
	switch {
	case joins && t.modes.insert:
		s.setPen(pen{})
		s.place(at, y)
		s.csi("P", int(t.join))
		fallthrough
	case joins:
		s.settings()
		s.endPen()
		s.place(at, y)
		s.joined(l, at)
	case b.x >= s.cols:
		s.pendingWrap(l, y)
		s.str("\x1b\\") // what follows must not join what was printed
		s.settings()
		s.setPen(t.pen.shown())
	default:
		s.settings()
		s.endPen()
		s.place(b.x, y)
	}
	s.pending()
}

// restored says whether pen or character set are as only DECRC leaves them: it
// brings back the flag for an underline or link, but not the underline or link,
// and a character set without designating it.
func (t *Terminal) restored() bool {
	p := t.pen
	p.update()
	return p.bg != t.pen.bg || t.charset != t.charsets[t.glevel]
}

// endPen leaves the pen as it is, by the same way if that is needed and what is
// saved allows it. It may move the cursor.
func (s *snapshot) endPen() {
	t, saved := s.t, s.b.saved
	if !t.restored() || saved.bg&bgExt != t.pen.bg&bgExt || saved.fg&fgUnder != t.pen.fg&fgUnder ||
		t.charset != t.charsets[t.glevel] && t.charset != saved.charset {
		s.setPen(t.pen.shown())
		return
	}
	s.setPen(pen{ext: t.pen.ext, link: t.pen.link})
	s.str("\x1b8")
	if t.charset == t.charsets[t.glevel] {
		s.str([4]string{"\x0f", "\x0e", "\x1bn", "\x1bo"}[t.glevel])
	}
	s.flags(saved.fg, saved.bg, t.pen.fg, t.pen.bg)
}

// joinable says whether the last thing done was to print a character that a
// combining one, or a repetition, refers to, and where it stands.
func (s *snapshot) joinable(l *line) (int, bool) {
	t, x := s.t, s.b.x
	if t.join == 0 {
		return 0, false
	}
	at := x - int(t.join)
	if t.join == 2 && t.modes.noWrap && x == s.cols-1 && l.width(max(at, 0)) != 2 {
		return x, true // a wide character that was dropped in the last column
	}
	if at < 0 || x > s.cols || !s.regular(l, at) || l.width(at) != int(t.join) {
		return 0, false
	}
	c := l.at(at)
	return at, c.fg == t.dot.fg && c.bg == t.dot.bg && c.ext == t.dot.ext &&
		t.charset.source(l.firstRune(at)) != 0
}

// joined prints the character, for what follows to join.
func (s *snapshot) joined(l *line, at int) {
	if at == s.b.x {
		s.str("一")
		return
	}
	n := len(s.out)
	s.out = l.appendText(s.out, at)
	if c := s.out[n]; c < 127 {
		s.out[n] = byte(s.t.charset.source(rune(c)))
	}
}

// pendingWrap brings the cursor past the last column by printing there.
func (s *snapshot) pendingWrap(l *line, y int) {
	at := s.cols - 1
	if l.code(at) == 0 && at > 0 && s.regular(l, at-1) {
		at--
	}
	s.place(at, y) // in origin mode a column alone would move the row too
	switch c := l.at(at); {
	case s.regular(l, at):
		s.run(l, at, at+1)
	case c.width() == 0 && c.hasContent():
		s.alone(l, at)
	case c.code == width1 && s.uniform(l):
		s.setPen(s.penOf(c))
		s.str(" \x1b[1K")
	default:
		s.setPen(s.penOf(c))
		s.str(" ")
	}
	for range min(s.b.x-s.cols, 100) { // by combining characters with nothing to join
		s.str("\x0f\u200b")
	}
}

// uniform says whether all of the line is erased in one colour.
func (s *snapshot) uniform(l *line) bool {
	for i := range s.cols {
		if l.at(i) != l.at(0) {
			return false
		}
	}
	return erasable(l.at(0))
}

// settings sets modes and character sets. None of it moves the cursor.
func (s *snapshot) settings() {
	m := &s.t.modes
	for _, v := range []int32{1, 7, 25, 45, 66, 1004, 2004, modeTheme} {
		if f, inverted := m.flag(v); *f {
			s.mode(int(v), !inverted)
		}
	}
	if m.insert {
		s.str("\x1b[4h")
	}
	if m.newLine {
		s.str("\x1b[20h")
	}
	if m.blink != 0 {
		s.mode(12, m.blink > 0)
	}
	if !m.sync {
		s.mode(2026, false)
	}
	for _, v := range []int{m.mouse, m.mouseEncoding} {
		if v != 0 {
			s.mode(v, true)
		}
	}
	if m.cursorBlink != 0 { // which is set with the shape
		style := 2 * int(cmp.Or(m.cursorShape, 4))
		if m.cursorBlink > 0 {
			style--
		}
		s.csi(" q", style)
	}
	for g, cs := range s.t.charsets {
		if cs != nil {
			s.out = append(s.out, 0x1b, "()*+"[g], cs.final)
		}
	}
	s.str([4]string{"", "\x0e", "\x1bn", "\x1bo"}[s.t.glevel])
}

// mode sets or resets a DEC mode.
func (s *snapshot) mode(v int, on bool) {
	s.str("\x1b[?")
	s.num(v)
	if on {
		s.str("h")
	} else {
		s.str("l")
	}
}

// pending repeats the bytes of an incomplete sequence and character.
func (s *snapshot) pending() {
	t := s.t
	if t.state != ground {
		if t.pendLong {
			s.str(longPending[t.state])
		}
		for _, c := range bytes.ToValidUTF8(t.pend, nil) { // what is none was dropped
			if c == 0x1b || c >= 0x20 { // other controls were obeyed, or passed over, when they came
				s.out = append(s.out, c)
			}
		}
	}
	s.out = append(s.out, t.utf[:t.utfN]...)
}

// longPending stands for sequences that are too long to be kept: ones of the
// same kind that nobody acts on.
var longPending = [states]string{
	escape: "\x1b", escapeIntermediate: "\x1b !!!", csiEntry: "\x1b[<<", csiParam: "\x1b[<<",
	csiIntermediate: "\x1b[<<", csiIgnore: "\x1b[<<", stringIgnore: "\x1b_", oscString: "\x1b]5522;",
	dcsEntry: "\x1bP<<", dcsParam: "\x1bP<<", dcsIgnore: "\x1bP<<", dcsIntermediate: "\x1bP<<",
	dcsPassthrough: "\x1bPz",
}
