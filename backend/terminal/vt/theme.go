package vt

import (
	"fmt"

	"loop/backend/core"
)

// dark says that the text is lighter than its background.
func dark(c core.TerminalColors) bool { return luma(c.Foreground) >= luma(c.Background) }

// luma is a colour's brightness by the weights of ITU-R BT.601, in thousandths.
func luma(c core.Color) int { return 299*int(c[0]) + 587*int(c[1]) + 114*int(c[2]) }

// SetTheme changes the theme. A program that asked for it (mode 2031) gets a report
// when light becomes dark or dark light.
func (t *Terminal) SetTheme(c core.TerminalColors) {
	turned := dark(c) != dark(t.o.Theme)
	t.o.Theme = c
	if turned && t.modes.themeReports {
		t.reportScheme()
	}
}

// reportScheme says whether the theme is dark (1) or light (2).
func (t *Terminal) reportScheme() {
	switch {
	case t.o.Theme == core.TerminalColors{}:
	case dark(t.o.Theme):
		t.answer("\x1b[?997;1n")
	default:
		t.answer("\x1b[?997;2n")
	}
}

// reportTheme answers with the theme's colour, whatever the program set.
func (t *Terminal) reportTheme(i int) {
	if t.o.Theme == (core.TerminalColors{}) {
		return
	}
	c := [...]core.Color{t.o.Theme.Foreground, t.o.Theme.Background, t.o.Theme.Cursor}[i-palFg]
	t.answer(fmt.Sprintf("\x1b]%d;rgb:%02[2]x%02[2]x/%02[3]x%02[3]x/%02[4]x%02[4]x\x1b\\", 10+i-palFg, c[0], c[1], c[2]))
}
