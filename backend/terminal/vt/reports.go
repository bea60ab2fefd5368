package vt

import "fmt"

// answer sends a reply. Replies hold numbers and fixed words only.
func (t *Terminal) answer(s string) {
	if t.o.Answer != nil {
		t.o.Answer([]byte(s))
	}
}

// status is DSR: 5 is health, 6 the cursor's place, ?996 light or dark.
func (t *Terminal) status(dec bool) {
	prefix := ""
	if dec {
		prefix = "?"
	}
	switch v := t.params.v[0]; {
	case v == 5 && !dec:
		t.answer("\x1b[0n")
	case v == 996 && dec:
		t.reportScheme()
	case v == 6:
		// A pending wrap counts as a column of its own, as in xterm.js.
		t.answer(fmt.Sprintf("\x1b[%s%d;%dR", prefix, t.b.y+1, t.b.x+1))
	}
}

// windowReport answers 18, the size in cells. Titles are never reported.
func (t *Terminal) windowReport() {
	if t.params.v[0] == 18 {
		t.answer(fmt.Sprintf("\x1b[8;%d;%dt", t.rows, t.cols))
	}
}

// States a mode is reported in.
const (
	modeUnknown = iota
	modeSet
	modeReset
	modeAlwaysSet
	modeAlwaysReset
)

// reportMode is DECRQM.
func (t *Terminal) reportMode(dec bool) {
	p := t.params.v[0]
	prefix, v := "", map[int32]int{2: modeAlwaysReset, 4: onOff(t.modes.insert), 12: modeAlwaysSet, 20: onOff(t.modes.newLine)}[p]
	if dec {
		prefix, v = "?", t.decMode(p)
	}
	t.answer(fmt.Sprintf("\x1b[%s%d;%d$y", prefix, p, v))
}

func onOff(on bool) int {
	if on {
		return modeSet
	}
	return modeReset
}

func (t *Terminal) decMode(p int32) int {
	m := &t.modes
	if f, inverted := m.flag(p); f != nil {
		return onOff(*f != inverted)
	}
	switch p {
	case 8:
		return modeAlwaysSet
	case 12:
		return onOff(m.blink > 0)
	case 67, 1005, 1015:
		return modeAlwaysReset
	case mouseX10, mouseVT200, mouseDrag, mouseAny:
		return onOff(m.mouse == int(p))
	case mouseSGR, mousePixels:
		return onOff(m.mouseEncoding == int(p))
	case 47, 1047, 1049:
		return onOff(t.b == t.alt)
	case 1048:
		return modeSet
	}
	return modeUnknown
}
