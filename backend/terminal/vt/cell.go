package vt

// cell is one column of a line. The three first words are laid out as xterm.js
// lays them out, so that the same tests can be made on them.
type cell struct {
	code uint32 // code point, whether a string is kept beside it, width
	fg   uint32 // colour and flags
	bg   uint32 // colour and flags
	ext  uint32 // underline style and colour, or extLink and an index of Terminal.exts; 0 without hasExt
}

// Parts of cell.code.
const (
	codeMask    = 0x1fffff
	codeComb    = 1 << 21 // the string is in line.comb
	contentMask = 0x3fffff
	widthShift  = 22
	width1      = 1 << widthShift
)

// Parts of cell.fg and cell.bg.
const (
	colorMask  = 0xffffff
	modeMask   = 0x3000000
	mode16     = 0x1000000
	mode256    = 0x2000000
	modeRGB    = 0x3000000
	colorBits  = modeMask | colorMask
	fgInverse  = 0x4000000
	fgBold     = 0x8000000
	fgUnder    = 0x10000000
	fgBlink    = 0x20000000
	fgHidden   = 0x40000000
	fgStrike   = 0x80000000
	bgItalic   = 0x4000000
	bgDim      = 0x8000000
	bgExt      = 0x10000000 // cell.ext counts
	bgProtect  = 0x20000000
	bgOverline = 0x40000000
)

// Parts of cell.ext.
const (
	extStyle      = 0x1c000000
	extStyleShift = 26
	extLink       = 1 << 31
)

// null is a cell nothing was written to.
var null = cell{code: width1}

func (c *cell) width() int       { return int(c.code >> widthShift) }
func (c *cell) hasContent() bool { return c.code&contentMask != 0 }

// pen is the colours, flags and link of the next character.
type pen struct {
	fg, bg uint32
	ext    uint32 // underline style and colour
	link   *link
}

// link is a target of OSC 8. Links without an id are told apart by their pointer.
type link struct {
	id, uri string
}

// extAttr is what a cell under a link has beside its colours.
type extAttr struct {
	bits uint32
	link *link
}

// update sets the flag that says whether ext and link count.
func (p *pen) update() {
	if p.link == nil && p.ext&extStyle == 0 {
		p.bg &^= bgExt
	} else {
		p.bg |= bgExt
	}
}
