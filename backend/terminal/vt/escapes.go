package vt

// execute runs a control character.
func (t *Terminal) execute(r rune) {
	b := t.b
	switch r {
	case 0x08:
		t.backspace()
	case 0x09:
		if b.x < t.cols {
			b.x = b.nextTab(b.x)
		}
	case 0x0a, 0x0b, 0x0c:
		t.lineFeed()
	case 0x0d:
		b.x = 0
	case 0x0e:
		t.setLevel(1)
	case 0x0f:
		t.setLevel(0)
	case 0x84:
		t.index()
	case 0x85:
		b.x = 0
		t.index()
	case 0x88:
		b.tabs.set(b.x, true)
	}
}

func (t *Terminal) lineFeed() {
	b := t.b
	if t.modes.newLine {
		b.x = 0
	}
	switch {
	case b.y == b.bottom:
		b.scroll(t.bce, false)
	case b.y < t.rows-1:
		b.y++
		b.row(b.y).wrapped = false
	}
	if b.x >= t.cols {
		b.x--
	}
}

// index is IND: a line feed that leaves the line's wrapping alone.
func (t *Terminal) index() {
	b := t.b
	t.keepInside(t.cols - 1)
	if b.y == b.bottom {
		b.scroll(t.bce, false)
	} else {
		b.y = min(b.y+1, t.rows-1)
	}
	t.keepInside(t.cols - 1)
}

func (t *Terminal) reverseIndex() {
	b := t.b
	t.keepInside(t.cols - 1)
	if b.y == b.top {
		b.scrollDown(t.bce)
		return
	}
	b.y--
	t.keepInside(t.cols - 1)
}

func (t *Terminal) backspace() {
	b := t.b
	if !t.modes.reverseWrap {
		t.keepInside(t.cols - 1)
		if b.x > 0 {
			b.x--
		}
		return
	}
	t.keepInside(t.cols)
	if b.x > 0 {
		b.x--
	} else if l := b.row(b.y); b.y > b.top && b.y <= b.bottom && l.wrapped {
		l.wrapped = false
		b.y--
		b.x = t.cols - 1
		if b.row(b.y).code(b.x)&(contentMask|3<<widthShift) == width1 {
			b.x-- // left free by a wide character
		}
	}
	t.keepInside(t.cols - 1)
}

// esc runs an escape sequence.
func (t *Terminal) esc(final byte) {
	b := t.b
	switch t.collect {
	case 0:
		switch final {
		case '7':
			t.saveCursor()
		case '8':
			t.restoreCursor()
		case 'D':
			t.index()
		case 'E':
			b.x = 0
			t.index()
		case 'H':
			b.tabs.set(b.x, true)
		case 'M':
			t.reverseIndex()
		case '=':
			t.modes.appKeypad = true
		case '>':
			t.modes.appKeypad = false
		case 'c':
			t.fullReset()
		case '~':
			t.setLevel(1)
		case 'n', '}':
			t.setLevel(2)
		case 'o', '|':
			t.setLevel(3)
		}
	case '%':
		if final == '@' || final == 'G' {
			t.setLevel(0)
			t.designate(0, nil)
		}
	case '(', ')', '*', '+', '-', '.':
		if cs, ok := charsetOf(final); ok {
			t.designate(map[uint32]int{'(': 0, ')': 1, '*': 2, '+': 3, '-': 1, '.': 2}[t.collect], cs)
		}
	case '#':
		if final == '8' {
			t.alignmentPattern()
		}
	}
}

func (t *Terminal) setLevel(g int) {
	t.glevel = g
	t.charset = t.charsets[g]
}

func (t *Terminal) designate(g int, cs *charset) {
	t.charsets[g] = cs
	if g == t.glevel {
		t.charset = cs
	}
}

// alignmentPattern is DECALN: E everywhere.
func (t *Terminal) alignmentPattern() {
	e := cell{code: 'E' | width1, fg: t.pen.fg, bg: t.pen.bg}
	t.moveTo(0, 0)
	for y := range t.rows {
		// In origin mode from the top margin on, and around at the list's end.
		if l := t.b.lines.get(t.b.base + t.b.y + y); l != nil {
			marks := l.marks
			l.blank(l.n, e, false)
			l.marks = marks
		}
	}
	t.moveTo(0, 0)
}
