package vt

import (
	"encoding/binary"
	"math/bits"
)

// decode reads one code point as xterm.js does. Bytes that form none, a byte
// order mark and surrogates are dropped: r is -1. A size of 0 says that p is the
// beginning of one.
func decode(p []byte) (r rune, size int) {
	c := p[0]
	var need int
	switch {
	case c < 0x80:
		return rune(c), 1
	case c&0xe0 == 0xc0:
		need, r = 2, rune(c&0x1f)
	case c&0xf0 == 0xe0:
		need, r = 3, rune(c&0x0f)
	case c&0xf8 == 0xf0:
		need, r = 4, rune(c&0x07)
	default:
		return -1, 1
	}
	for i := 1; i < need; i++ {
		if i == len(p) {
			return 0, 0
		}
		if p[i]&0xc0 != 0x80 {
			return -1, i // the byte that does not continue it is read again
		}
		r = r<<6 | rune(p[i]&0x3f)
	}
	switch {
	case need == 2 && r < 0x80,
		need == 3 && (r < 0x800 || r >= 0xd800 && r <= 0xdfff || r == 0xfeff),
		need == 4 && (r < 0x10000 || r > 0x10ffff):
		return -1, need
	}
	return r, need
}

// asciiRun is how many printable ASCII characters p begins with.
func asciiRun(p []byte) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	i := 0
	for ; i+8 <= len(p); i += 8 {
		v := binary.LittleEndian.Uint64(p[i:])
		// The high bit of a byte that is below 0x20, is 0x7f or above it. A borrow
		// can only mark bytes after one that is marked rightly.
		bad := ((v - 0x20*ones) | (v + ones) | v) & highs
		if bad != 0 {
			return i + bits.TrailingZeros64(bad)/8
		}
	}
	for ; i < len(p) && p[i] >= 0x20 && p[i] < 0x7f; i++ {
	}
	return i
}
