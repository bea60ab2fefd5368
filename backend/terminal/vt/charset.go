package vt

// charset replaces some ASCII characters. nil replaces none.
type charset struct {
	final byte // that designates it
	to    [128]rune
}

func (c *charset) translate(r rune) rune {
	if r := c.to[r&0x7f]; r != 0 {
		return r
	}
	return r
}

// charsets are DEC's line drawing and the national sets of the VT220 manual
// (tables 2-5 to 2-15), each with what it replaces.
var charsets = map[byte]*charset{
	'0': newCharset('0', "`abcdefghijklmnopqrstuvwxyz{|}~",
		"◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·"),
	'A': newCharset('A', "#", "£"),
	'4': newCharset('4', `#@[\]{|}~`, "£¾i½|¨f¼´"), // xterm.js takes the ij apart and keeps the i
	'5': newCharset('5', "[\\]^`{|}~", "ÄÖÅÜéäöåü"),
	'R': newCharset('R', `#@[\]{|}~`, "£à°ç§éùè¨"),
	'Q': newCharset('Q', "@[\\]^`{|}~", "àâçêîôéùèû"),
	'K': newCharset('K', `@[\]{|}~`, "§ÄÖÜäöüß"),
	'Y': newCharset('Y', "#@[\\]`{|}~", "£§°çéùàòèì"),
	'6': newCharset('6', "@[\\]^`{|}~", "ÄÆØÅÜäæøåü"),
	'Z': newCharset('Z', `#@[\]{|}`, "£§¡Ñ¿°ñç"),
	'7': newCharset('7', "@[\\]^`{|}~", "ÉÄÖÅÜéäöåü"),
	'=': newCharset('=', "#@[\\]^_`{|}~", "ùàéçêîèôäöüû"),
}

func newCharset(final byte, from, to string) *charset {
	c := &charset{final: final}
	i := 0
	for _, r := range to {
		c.to[from[i]] = r
		i++
	}
	return c
}

// charsetOf is the set a final byte designates.
func charsetOf(final byte) (*charset, bool) {
	switch final {
	case 'B':
		return nil, true
	case 'C':
		final = '5'
	case 'E':
		final = '6'
	case 'H':
		final = '7'
	}
	c, ok := charsets[final]
	return c, ok
}

// source is the ASCII character that prints as r, or 0.
func (c *charset) source(r rune) rune {
	if c == nil || r >= 127 || c.to[r] == 0 {
		return r
	}
	for from, to := range c.to {
		if to == r {
			return rune(from)
		}
	}
	return 0
}
