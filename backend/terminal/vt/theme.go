package vt

import "fmt"

// Theme is the terminal's colours, 0 to 255 each: the answer to OSC 10, 11 and 12
// queries and to those for light or dark. The zero Theme is none: no query is
// answered.
type Theme struct{ Fg, Bg, Cursor [3]uint8 }

// dark says that the text is lighter than its background.
func (th Theme) dark() bool { return luma(th.Fg) >= luma(th.Bg) }

// luma is a colour's brightness by the weights of ITU-R BT.601, in thousandths.
func luma(c [3]uint8) int { return 299*int(c[0]) + 587*int(c[1]) + 114*int(c[2]) }

// SetTheme changes the theme. A program that asked for it (mode 2031) gets a report
// when light becomes dark or dark light.
func (t *Terminal) SetTheme(th Theme) {
	turned := th.dark() != t.o.Theme.dark()
	t.o.Theme = th
	if turned && t.modes.themeReports {
		t.reportScheme()
	}
}

// reportScheme says whether the theme is dark (1) or light (2).
func (t *Terminal) reportScheme() {
	switch {
	case t.o.Theme == Theme{}:
	case t.o.Theme.dark():
		t.answer("\x1b[?997;1n")
	default:
		t.answer("\x1b[?997;2n")
	}
}

// reportTheme answers with the theme's colour, whatever the program set.
func (t *Terminal) reportTheme(i int) {
	if t.o.Theme == (Theme{}) {
		return
	}
	c := [...][3]uint8{t.o.Theme.Fg, t.o.Theme.Bg, t.o.Theme.Cursor}[i-palFg]
	t.answer(fmt.Sprintf("\x1b]%d;rgb:%02[2]x%02[2]x/%02[3]x%02[3]x/%02[4]x%02[4]x\x1b\\", 10+i-palFg, c[0], c[1], c[2]))
}
