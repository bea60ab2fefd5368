package vt

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// decode reads one code point as xterm.js does. Bytes that form none, a byte
// order mark and surrogates are dropped: r is -1. A size of 0 says that p is the
// beginning of one.
func decode(p []byte) (r rune, size int) {
	r, size = utf8.DecodeRune(p)
	switch {
	case r == utf8.RuneError && size == 1 && !utf8.FullRune(p):
		return 0, 0
	case r == utf8.RuneError && size == 1, r == '\ufeff':
		return -1, size
	}
	return r, size
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
