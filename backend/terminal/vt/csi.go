package vt

import (
	"bytes"
	"unicode/utf8"
)

// keepInside keeps the cursor on the screen, or between the margins in origin
// mode.
func (t *Terminal) keepInside(maxX int) {
	b := t.b
	b.x = clamp(b.x, 0, maxX)
	if t.modes.origin {
		b.y = clamp(b.y, b.top, b.bottom)
	} else {
		b.y = clamp(b.y, 0, t.rows-1)
	}
}

func (t *Terminal) moveTo(x, y int) {
	t.b.x, t.b.y = x, y
	if t.modes.origin {
		t.b.y += t.b.top
	}
	t.keepInside(t.cols - 1)
}

// moveBy is relative, but for origin mode: as in xterm.js the top margin is
// added there too.
func (t *Terminal) moveBy(dx, dy int) {
	t.keepInside(t.cols - 1)
	t.moveTo(t.b.x+dx, t.b.y+dy)
}

func (t *Terminal) up(n int) {
	if d := t.b.y - t.b.top; d >= 0 {
		n = min(n, d)
	}
	t.moveBy(0, -n)
}

func (t *Terminal) down(n int) {
	if d := t.b.bottom - t.b.y; d >= 0 {
		n = min(n, d)
	}
	t.moveBy(0, n)
}

// inMargins says whether the cursor is between the margins.
func (t *Terminal) inMargins() bool { return t.b.y >= t.b.top && t.b.y <= t.b.bottom }

// csi runs a control sequence.
func (t *Terminal) csi(final byte) {
	if t.collect != 0 {
		t.csiPrefixed(final)
		return
	}
	b, n := t.b, t.params.count()
	switch final {
	case '@':
		t.keepInside(t.cols - 1)
		b.row(b.y).insert(b.x, n, t.bce)
	case 'A':
		t.up(n)
	case 'B':
		t.down(n)
	case 'C', 'a':
		t.moveBy(n, 0)
	case 'D':
		t.moveBy(-n, 0)
	case 'E':
		t.down(n)
		b.x = 0
	case 'F':
		t.up(n)
		b.x = 0
	case 'G', '`':
		t.moveTo(n-1, b.y)
	case 'H', 'f':
		x := 0
		if t.params.n > 1 {
			x = int(max(t.params.v[1], 1)) - 1
		}
		t.moveTo(x, n-1)
	case 'I', 'Z':
		tab := b.nextTab
		if final == 'Z' {
			tab = b.prevTab
		}
		for i := 0; i < min(n, t.cols) && b.x < t.cols; i++ {
			b.x = tab(b.x)
		}
	case 'J':
		t.eraseDisplay(t.params.v[0], false)
	case 'K':
		t.eraseLine(t.params.v[0], false)
	case 'L', 'M':
		t.keepInside(t.cols - 1)
		if t.inMargins() {
			b.scrollRegion(b.y, b.bottom, n, final == 'M', t.bce)
			b.x = 0
		}
	case 'P':
		t.keepInside(t.cols - 1)
		b.row(b.y).delete(b.x, n, t.bce)
	case 'S':
		b.scrollRegion(b.top, b.bottom, n, true, t.bce)
	case 'T':
		b.scrollRegion(b.top, b.bottom, n, false, null)
	case 'X':
		t.keepInside(t.cols - 1)
		b.row(b.y).erase(b.x, b.x+n, t.bce, false)
	case 'b':
		t.repeat(n)
	case 'c':
		if t.params.v[0] <= 0 {
			t.answer("\x1b[?1;2c")
		}
	case 'd':
		t.moveTo(b.x, n-1)
	case 'e':
		t.moveBy(0, n)
	case 'g':
		switch t.params.v[0] {
		case 0:
			b.tabs.set(b.x, false)
		case 3:
			b.tabs = tabs{}
		}
	case 'h':
		t.setANSI(true)
	case 'l':
		t.setANSI(false)
	case 'm':
		t.sgr()
	case 'n':
		t.status(false)
	case 'r':
		t.setMargins()
	case 's':
		t.saveCursor()
	case 't':
		t.windowReport()
	case 'u':
		t.restoreCursor()
	}
}

// csiPrefixed runs a control sequence with a prefix or intermediates.
func (t *Terminal) csiPrefixed(final byte) {
	n := t.params.count()
	switch t.collect<<8 | uint32(final) {
	case '?'<<8 | 'h':
		t.setDEC(true)
	case '?'<<8 | 'l':
		t.setDEC(false)
	case '?'<<8 | 'J':
		t.eraseDisplay(t.params.v[0], true)
	case '?'<<8 | 'K':
		t.eraseLine(t.params.v[0], true)
	case '?'<<8 | 'n':
		t.status(true)
	case '>'<<8 | 'c':
		if t.params.v[0] <= 0 {
			t.answer("\x1b[>0;276;0c")
		}
	case '>'<<8 | 'q':
		if t.params.v[0] <= 0 {
			t.answer("\x1bP>|xterm.js(6.0.0)\x1b\\")
		}
	case '!'<<8 | 'p':
		t.softReset()
	case ' '<<8 | 'q':
		t.setCursorStyle(t.params.v[0])
	case '"'<<8 | 'q':
		switch t.params.v[0] {
		case 1:
			t.pen.bg |= bgProtect
		case 0, 2:
			t.pen.bg &^= bgProtect
		}
		t.penChanged()
	case '$'<<8 | 'p':
		t.reportMode(false)
	case '?'<<16 | '$'<<8 | 'p':
		t.reportMode(true)
	case ' '<<8 | '@':
		t.shiftColumns(func(l *line) { l.delete(0, n, t.bce) })
	case ' '<<8 | 'A':
		t.shiftColumns(func(l *line) { l.insert(0, n, t.bce) })
	case '\''<<8 | '}':
		t.shiftColumns(func(l *line) { l.insert(t.b.x, n, t.bce) })
	case '\''<<8 | '~':
		t.shiftColumns(func(l *line) { l.delete(t.b.x, n, t.bce) })
	}
}

// shiftColumns does something to every line between the margins.
func (t *Terminal) shiftColumns(f func(*line)) {
	if !t.inMargins() {
		return
	}
	for y := t.b.top; y <= t.b.bottom; y++ {
		l := t.b.row(y)
		f(l)
		l.wrapped = false
	}
}

func (t *Terminal) setMargins() {
	top, bottom := t.params.count(), t.rows
	if t.params.n > 1 {
		if v := int(t.params.v[1]); v > 0 && v < t.rows {
			bottom = v
		}
	}
	if bottom > top {
		t.b.top, t.b.bottom = top-1, bottom-1
		t.moveTo(0, 0)
	}
}

func (t *Terminal) eraseDisplay(how int32, selective bool) {
	b := t.b
	t.keepInside(t.cols)
	switch how {
	case 0:
		t.eraseLine(0, selective)
		for y := b.y + 1; y < t.rows; y++ {
			t.resetRow(y, selective)
		}
	case 1:
		t.eraseLine(1, selective)
		b.row(b.y).wrapped = false
		if b.x+1 >= t.cols {
			// xterm.js takes the line from the top of the scrollback here, and
			// throws an error where there is none.
			if next := b.lines.get(b.y + 1); next != nil {
				next.wrapped = false
			}
		}
		for y := range b.y {
			t.resetRow(y, selective)
		}
	case 2:
		for y := range t.rows {
			t.resetRow(y, selective)
		}
	case 3:
		if n := b.lines.n - t.rows; n > 0 {
			b.lines.trimStart(n)
			b.base = max(b.base-n, 0)
		}
	}
}

func (t *Terminal) resetRow(y int, selective bool) {
	l := t.b.row(y)
	if selective {
		l.erase(0, l.n, t.bce, true)
	} else {
		l.blank(l.n, t.bce, false)
	}
	l.wrapped, l.marks = false, nil // as xterm.js drops its markers
}

func (t *Terminal) eraseLine(how int32, selective bool) {
	b := t.b
	t.keepInside(t.cols)
	l := b.row(b.y)
	switch how {
	case 0:
		l.erase(b.x, t.cols, t.bce, selective)
		if b.x == 0 {
			l.wrapped = false
		}
	case 1:
		l.erase(0, b.x+1, t.bce, selective)
	case 2:
		l.erase(0, t.cols, t.bce, selective)
		l.wrapped = false
	}
}

// repeat prints the character before the cursor n times more, up to what
// repeatLines hold. The page's terminal is bounded by the same rule.
func (t *Terminal) repeat(n int) {
	if t.join == 0 {
		return
	}
	t.run = false
	l := t.b.row(t.b.y)
	x := t.b.x - int(t.join)
	var text string
	if l.hasContent(x) {
		text = string(l.appendText(nil, x))
	}
	n = min(n, repeatLines*t.cols/max(1, utf8.RuneCountInString(text)))
	if len(text) == 1 && t.charset == nil && !t.modes.insert {
		t.printASCII(bytes.Repeat([]byte(text), n))
		return
	}
	for range n {
		for _, r := range text {
			t.print(r)
		}
	}
}
