package vt

import "slices"

// penOf is what a cell was written with, as far as a sequence can say it.
func (s *snapshot) penOf(c cell) pen {
	p := pen{fg: c.fg, bg: c.bg &^ bgExt}
	if c.bg&bgExt != 0 {
		p.ext, p.link = s.t.exts.get(c.ext)
		if c.fg&fgUnder == 0 {
			p.ext &^= extStyle
		}
		p.update()
	}
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
	const fgFlags, bgFlags = ^uint32(colorBits), ^uint32(colorBits)
	if p.fg&fgFlags != old.fg&fgFlags || p.bg&bgFlags != old.bg&bgFlags || p.ext != old.ext {
		s.wholePen(p)
		return
	}
	var codes []int
	if p.fg != old.fg {
		codes = appendColor(codes, p.fg, 30)
	}
	if p.bg != old.bg {
		codes = appendColor(codes, p.bg, 40)
	}
	s.csi("m", codes...)
}

// flags goes from one pen's colours and flags to another's, one by one: none of
// these touches the underline.
func (s *snapshot) flags(fg, bg, toFg, toBg uint32) {
	var codes []int
	if (fg^toFg)&fgBold != 0 || (bg^toBg)&bgDim != 0 {
		codes = append(codes, 22)
		if toFg&fgBold != 0 {
			codes = append(codes, 1)
		}
		if toBg&bgDim != 0 {
			codes = append(codes, 2)
		}
	}
	for _, f := range []struct {
		change, to uint32
		on, off    int
	}{
		{(bg ^ toBg) & bgItalic, toBg & bgItalic, 3, 23},
		{(fg ^ toFg) & fgBlink, toFg & fgBlink, 5, 25},
		{(fg ^ toFg) & fgInverse, toFg & fgInverse, 7, 27},
		{(fg ^ toFg) & fgHidden, toFg & fgHidden, 8, 28},
		{(fg ^ toFg) & fgStrike, toFg & fgStrike, 9, 29},
		{(bg ^ toBg) & bgOverline, toBg & bgOverline, 53, 55},
	} {
		if f.change == 0 {
			continue
		}
		if f.to != 0 {
			codes = append(codes, f.on)
		} else {
			codes = append(codes, f.off)
		}
	}
	if (fg^toFg)&colorBits != 0 {
		codes = appendColor(codes, toFg, 30)
	}
	if (bg^toBg)&colorBits != 0 {
		codes = appendColor(codes, toBg, 40)
	}
	if len(codes) > 0 {
		s.csi("m", codes...)
	}
	if (bg^toBg)&bgProtect != 0 {
		if toBg&bgProtect != 0 {
			s.str("\x1b[1\"q")
		} else {
			s.str("\x1b[0\"q")
		}
	}
}

// wholePen sets everything from nothing.
func (s *snapshot) wholePen(p pen) {
	s.str("\x1b[0")
	for _, f := range []struct {
		on   bool
		code string
	}{
		{p.fg&fgBold != 0, ";1"},
		{p.bg&bgDim != 0, ";2"},
		{p.bg&bgItalic != 0, ";3"},
		{p.fg&fgBlink != 0, ";5"},
		{p.fg&fgInverse != 0, ";7"},
		{p.fg&fgHidden != 0, ";8"},
		{p.fg&fgStrike != 0, ";9"},
		{p.bg&bgOverline != 0, ";53"},
	} {
		if f.on {
			s.str(f.code)
		}
	}
	if style := p.ext & extStyle >> extStyleShift; style == 1 {
		s.str(";4")
	} else if style > 1 {
		s.str(";4:")
		s.num(int(style))
	}
	var codes []int
	if p.fg&modeMask != 0 {
		codes = appendColor(codes, p.fg, 30)
	}
	if p.bg&modeMask != 0 {
		codes = appendColor(codes, p.bg, 40)
	}
	if p.ext&modeMask != 0 {
		codes = appendColor(codes, p.ext, 50)
	}
	for _, c := range codes {
		s.out = append(s.out, ';')
		s.num(c)
	}
	s.out = append(s.out, 'm')
	if p.bg&bgProtect != 0 {
		s.str("\x1b[1\"q")
	}
}

// appendColor appends the parameters for a colour; base is 30, 40 or 50.
func appendColor(codes []int, c uint32, base int) []int {
	v := int(c & colorMask)
	switch c & modeMask {
	case mode16:
		if v >= 8 {
			return append(codes, base+60+v-8)
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
	s.str("\x1b]8;")
	if l != nil {
		if l.id != "" {
			s.str("id=")
			s.str(l.id)
			s.str(":")
		}
		s.str(";")
		s.str(l.uri)
	} else {
		s.str(";")
	}
	s.str("\x1b\\")
}

// palette sets the colours the program changed.
func (s *snapshot) palette() {
	var keys []int
	for i := range s.t.palette {
		keys = append(keys, i)
	}
	slices.Sort(keys)
	for _, i := range keys {
		s.str("\x1b]")
		if i < 256 {
			s.str("4;")
			s.num(i)
		} else {
			s.num(10 + i - palFg)
		}
		s.str(";#")
		for _, v := range s.t.palette[i] {
			const hex = "0123456789abcdef"
			s.out = append(s.out, hex[v>>4], hex[v&15])
		}
		s.str("\x1b\\")
	}
}
