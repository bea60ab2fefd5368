package vt

import (
	"encoding/hex"
	"maps"
	"slices"
)

// penOf is what a cell was written with, as far as a sequence can say it.
func (s *snapshot) penOf(c cell) pen {
	p := pen{fg: c.fg, bg: c.bg}
	if c.bg&bgExt != 0 {
		p.ext, p.link = s.t.exts.get(c.ext)
	}
	return p.shown()
}

// shown has the underline that is seen. DECRC brings back the flag and not the
// style, or the other way around, and no other sequence can say that: without a
// style the flag alone is drawn as a single line, and a style counts only if the
// cell says that it has one.
func (p pen) shown() pen {
	style := p.ext & extStyle
	if p.bg&bgExt == 0 {
		style = 0
	}
	if style == 0 && p.fg&fgUnder != 0 {
		style = 1 << extStyleShift
	}
	p.ext = p.ext&^extStyle | style
	p.update()
	return p
}

// setPen changes the other terminal's pen.
func (s *snapshot) setPen(p pen) {
	old := s.pen
	if p == old {
		return
	}
	s.pen = p
	if p.link != old.link {
		s.link(p.link)
	}
	// In xterm.js a link changes the flag, not what is under it.
	p.bg, old.bg = p.bg&^bgExt, old.bg&^bgExt
	if p.fg == old.fg && p.bg == old.bg && p.ext == old.ext {
		return
	}
	if ((p.fg^old.fg)|(p.bg^old.bg))&^colorBits != 0 || p.ext != old.ext {
		s.wholePen(p)
		return
	}
	codes := s.codes
	if p.fg != old.fg {
		codes = color(codes, p.fg, 30)
	}
	if p.bg != old.bg {
		codes = color(codes, p.bg, 40)
	}
	s.csi("m", codes...)
}

// flags goes from one pen's colours and flags to another's, one by one: none of
// these touches the underline.
func (s *snapshot) flags(fg, bg, toFg, toBg uint32) {
	codes := s.codes
	for _, f := range styles {
		if was, is := fg&f.fg|bg&f.bg, toFg&f.fg|toBg&f.bg; was&^is != 0 {
			codes = append(codes, int(f.off))
		}
	}
	for _, f := range styles { // after all that are cleared: two share a parameter
		if toFg&f.fg|toBg&f.bg != 0 {
			codes = append(codes, int(f.on))
		}
	}
	s.csi("m", color(color(codes, toFg, 30), toBg, 40)...)
	if toBg&bgProtect != 0 {
		s.str("\x1b[1\"q")
	} else if bg&bgProtect != 0 {
		s.str("\x1b[0\"q")
	}
}

// wholePen sets everything from nothing.
func (s *snapshot) wholePen(p pen) {
	codes := append(s.codes, 0)
	if (p.fg|p.bg)&^colorBits != 0 {
		for i := range styles {
			if f := &styles[i]; p.fg&f.fg|p.bg&f.bg != 0 {
				codes = append(codes, int(f.on))
			}
		}
	}
	for i, c := range [...]uint32{p.fg, p.bg, p.ext} {
		if c&modeMask != 0 {
			codes = color(codes, c, 30+10*i)
		}
	}
	s.csi("m", codes...)
	if style := p.ext & extStyle >> extStyleShift; style > 0 {
		s.out = append(s.out, 0x1b, '[', '4', ':', '0'+byte(style), 'm')
	}
	if p.bg&bgProtect != 0 {
		s.str("\x1b[1\"q")
	}
}

// color appends the parameters for a colour; base is 30, 40 or 50.
func color(codes []int, c uint32, base int) []int {
	v := int(c & colorMask)
	switch c & modeMask {
	case mode16:
		if v >= 8 {
			v += 60 - 8
		}
		return append(codes, base+v)
	case mode256:
		return append(codes, base+8, 5, v)
	case modeRGB:
		return append(codes, base+8, 2, v>>16, v>>8&0xff, v&0xff)
	}
	return append(codes, base+9)
}

func (s *snapshot) link(l *link) {
	if l == nil {
		l = &link{}
	}
	s.str("\x1b]8;")
	if l.id != "" {
		s.str("id=")
		s.str(l.id)
		s.str(":")
	}
	s.str(";")
	s.str(l.uri)
	s.str("\x1b\\")
}

// palette sets the colours the program changed.
func (s *snapshot) palette() {
	for _, i := range slices.Sorted(maps.Keys(s.t.palette)) {
		s.str("\x1b]")
		if i < 256 {
			s.str("4;")
			s.num(i)
		} else {
			s.num(10 + i - palFg)
		}
		s.str(";#")
		c := s.t.palette[i]
		s.out = hex.AppendEncode(s.out, c[:])
		s.str("\x1b\\")
	}
}
