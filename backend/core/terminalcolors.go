package core

import "encoding/hex"

// Color is red, green and blue.
type Color [3]uint8

// TerminalColors are the colours in which a viewer draws a terminal. A program can
// ask for them; most do so to choose between light and dark.
type TerminalColors struct{ Foreground, Background, Cursor Color }

// DarkTerminal are the colours of the page's dark theme. Programs get them until a
// viewer names its own.
var DarkTerminal = TerminalColors{Foreground: Color{0xe6, 0xe9, 0xee}, Background: Color{0x14, 0x17, 0x1b}, Cursor: Color{0xe6, 0xe9, 0xee}}

// ParseColor reads #rrggbb.
func ParseColor(s string) (c Color, ok bool) {
	if len(s) != 7 || s[0] != '#' {
		return c, false
	}
	_, err := hex.Decode(c[:], []byte(s[1:]))
	return c, err == nil
}
