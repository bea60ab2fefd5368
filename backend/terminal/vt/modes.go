package vt

// Mouse protocols and encodings, by the mode that sets them.
const (
	mouseOff    = 0
	mouseX10    = 9
	mouseVT200  = 1000
	mouseDrag   = 1002
	mouseAny    = 1003
	mouseSGR    = 1006
	mousePixels = 1016

	modeTheme = 2031
)

// modes are the settings besides the pen, charsets and margins.
type modes struct {
	resettable           // by DECSTR and RIS
	mouse, mouseEncoding int
	themeReports         bool // ?2031, which xterm.js does not have

	// Not reset by anything but their own sequences, as in xterm.js.
	cursorHidden bool
	newLine      bool // LNM
	blink        int8 // ?12: 1 on, -1 off, 0 never set
}

type resettable struct {
	insert      bool
	appCursor   bool
	appKeypad   bool
	paste       bool
	origin      bool
	reverseWrap bool
	focus       bool
	sync        bool
	noWrap      bool
	cursorShape int8 // 0 the person's choice, 1 block, 2 underline, 3 bar
	cursorBlink int8 // 0 the person's choice, 1 on, -1 off
}

func (m *modes) reset() {
	m.resettable = resettable{}
	m.mouse, m.mouseEncoding, m.themeReports = mouseOff, 0, false
}

// flag is the setting that a DEC mode is, or nil, and whether it is kept the other way
// around.
func (m *modes) flag(mode int32) (setting *bool, inverted bool) {
	switch mode {
	case 1:
		return &m.appCursor, false
	case 6:
		return &m.origin, false
	case 7:
		return &m.noWrap, true
	case 25:
		return &m.cursorHidden, true
	case 45:
		return &m.reverseWrap, false
	case 66:
		return &m.appKeypad, false
	case 1004:
		return &m.focus, false
	case 2004:
		return &m.paste, false
	case 2026:
		return &m.sync, false
	case modeTheme:
		return &m.themeReports, false
	}
	return nil, false
}

// setANSI is SM and RM.
func (t *Terminal) setANSI(on bool) {
	for _, v := range t.params.v[:t.params.n] {
		switch v {
		case 4:
			t.modes.insert = on
		case 20:
			t.modes.newLine = on
		}
	}
}

// setDEC is DECSET and DECRST.
func (t *Terminal) setDEC(on bool) {
	m := &t.modes
	number := func(v int32) int {
		if on {
			return int(v)
		}
		return 0
	}
	for _, v := range t.params.v[:t.params.n] {
		if f, inverted := m.flag(v); f != nil {
			*f = on != inverted
		}
		switch v {
		case 2:
			if on {
				t.charsets = [4]*charset{}
				t.charset = nil
			}
		case 6:
			t.moveTo(0, 0)
		case 12:
			m.blink = int8(2*number(1) - 1)
		case mouseX10, mouseVT200, mouseDrag, mouseAny:
			m.mouse = number(v)
		case mouseSGR, mousePixels:
			m.mouseEncoding = number(v)
		case 47, 1047, 1049:
			t.switchScreen(on, v == 1049)
		case 1048:
			if on {
				t.saveCursor()
			} else {
				t.restoreCursor()
			}
		}
	}
}

// switchScreen goes to the alternate screen or back; withCursor is 1049's.
func (t *Terminal) switchScreen(alt, withCursor bool) {
	if alt && withCursor {
		t.saveCursor()
	}
	if alt && t.b == t.normal {
		t.alt.fillRows(t.bce)
		t.alt.x, t.alt.y = t.normal.x, t.normal.y
		t.b = t.alt
	} else if !alt && t.b == t.alt {
		t.normal.x, t.normal.y = t.alt.x, t.alt.y
		t.alt.clear()
		t.b = t.normal
	}
	if !alt && withCursor {
		t.restoreCursor()
	}
}

func (t *Terminal) saveCursor() {
	b := t.b
	b.saved = saved{b.x, b.base + b.y, t.pen.fg, t.pen.bg, t.charset}
}

func (t *Terminal) restoreCursor() {
	b := t.b
	b.x = b.saved.x
	b.y = max(b.saved.y-b.base, 0)
	t.pen.fg, t.pen.bg = b.saved.fg, b.saved.bg
	t.charset = b.saved.charset
	t.penChanged()
	t.keepInside(t.cols - 1)
}

// softReset is DECSTR.
func (t *Terminal) softReset() {
	b := t.b
	t.modes.cursorHidden = false
	t.modes.resettable = resettable{}
	b.top, b.bottom = 0, t.rows-1
	t.resetPen()
	b.saved = saved{x: 0, y: b.base}
}

func (t *Terminal) resetPen() {
	t.pen = pen{}
	t.penChanged()
	t.charsets = [4]*charset{}
	t.charset, t.glevel = nil, 0
}

// fullReset is RIS. The cursor's visibility, LNM, the blink option and changed
// colours stay, as in xterm.js.
func (t *Terminal) fullReset() {
	t.modes.reset()
	t.resetScreens()
	t.resetPen()
	t.exts.init()
	t.combBytes.used, t.markBytes.used, t.command = 0, 0, ""
}

// setCursorStyle is DECSCUSR. Values past 6 only say whether the cursor blinks.
func (t *Terminal) setCursorStyle(v int32) {
	m := &t.modes
	if v == 0 {
		m.cursorShape, m.cursorBlink = 0, 0
		return
	}
	if v <= 6 {
		m.cursorShape = int8(v+1) / 2
	}
	m.cursorBlink = -1
	if v%2 == 1 {
		m.cursorBlink = 1
	}
}
