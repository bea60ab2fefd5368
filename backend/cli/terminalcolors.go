package cli

import (
	"strconv"
	"strings"
)

// drawnWith are the colours to be told to programs that ask, by COLORFGBG:
// “foreground;background” or “foreground;default;background” in numbers of the
// palette. Konsole, rxvt, iTerm2 and others set it. nil is not known.
func drawnWith(colorFgBg string) map[string]string {
	parts := strings.Split(colorFgBg, ";")
	bg, err := strconv.Atoi(parts[len(parts)-1])
	if len(parts) < 2 || err != nil || bg < 0 || bg > 15 {
		return nil
	}
	const black, white = "#000000", "#ffffff"
	if bg == 7 || bg > 8 { // as vim reads it
		return map[string]string{"foreground": black, "background": white, "cursor": black}
	}
	return map[string]string{"foreground": white, "background": black, "cursor": white}
}
