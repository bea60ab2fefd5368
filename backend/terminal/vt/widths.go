package vt

import (
	"slices"
	"sync"
)

// widths are the columns of each code point of the first plane, two bits each.
var widths [0x10000 / 4]uint8

var loadWidths = sync.OnceFunc(func() {
	set := func(ranges [][2]rune, w uint8) {
		for _, r := range ranges {
			for c := r[0]; c <= r[1] && c < 0x10000; c++ {
				s := uint(c&3) * 2
				widths[c>>2] = widths[c>>2]&^(3<<s) | w<<s
			}
		}
	}
	set([][2]rune{{0x20, 0x7e}, {0xa0, 0xffff}}, 1)
	set(zeroWidth, 0)
	set(doubleWidth, 2)
})

// runeWidth is how many columns a character takes, by Unicode 11.
func runeWidth(r rune) int {
	switch {
	case r < 0x10000:
		return int(widths[r>>2] >> (uint(r&3) * 2) & 3)
	case within(zeroWidth, r):
		return 0
	case within(doubleWidth, r):
		return 2
	}
	return 1
}

func within(ranges [][2]rune, r rune) bool {
	i, _ := slices.BinarySearchFunc(ranges, r, func(x [2]rune, r rune) int { return int(x[1] - r) })
	return i < len(ranges) && ranges[i][0] <= r
}
