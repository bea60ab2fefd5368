package vt

import (
	"sync"
	"unicode"

	"golang.org/x/text/unicode/rangetable"
	"golang.org/x/text/width"
)

// widths are the columns of each code point of the first two planes, two bits each.
var widths [0x20000 / 4]uint8

// otherWidths, in ascending order, are where the page's table goes its own way.
var otherWidths = []struct {
	from, to rune
	w        uint8
}{
	{0x7f, 0x9f, 0}, {0xad, 0xad, 1}, {0x1160, 0x11ff, 0}, {0x1734, 0x1734, 0}, {0x32ff, 0x32ff, 2}, {0x4db6, 0x4dbf, 2},
	{0x9ff0, 0x9fff, 2}, {0xfa6e, 0xfa6f, 2}, {0xfada, 0xfaff, 2}, {0x1f93b, 0x1f93b, 2}, {0x1f946, 0x1f946, 2},
}

// loadWidths makes them from Unicode's categories and widths. What came into Unicode
// after the page's table takes one column there.
var loadWidths = sync.OnceFunc(func() {
	known, others := rangetable.Assigned("12.0.0"), otherWidths
	for r := rune(0x20); r < 0x20000; r++ {
		w := uint8(1)
		switch k := width.LookupRune(r).Kind(); {
		case len(others) > 0 && r >= others[0].from:
			if w = others[0].w; r == others[0].to {
				others = others[1:]
			}
		case !unicode.Is(known, r):
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
			w = 0
		case k == width.EastAsianWide || k == width.EastAsianFullwidth:
			w = 2
		}
		widths[r>>2] |= w << (uint(r&3) * 2)
	}
})

// runeWidth is how many columns a character takes, by Unicode 11.
func runeWidth(r rune) int {
	switch {
	case int(r>>2) < len(widths):
		return int(widths[r>>2] >> (uint(r&3) * 2) & 3)
	case unicode.In(r, unicode.Mn, unicode.Cf):
		return 0
	case r < 0x40000 && r&0xffff < 0xfffe: // ideographs
		return 2
	}
	return 1
}
