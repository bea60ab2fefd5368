package vt

// sgr applies the parameters to the pen.
func (t *Terminal) sgr() {
	ps, pen := &t.params, &t.pen
	for i := 0; i < ps.n; i++ {
		switch v := ps.v[i]; {
		case v == 0:
			pen.fg, pen.bg = 0, 0
			pen.ext &^= extStyle | colorBits
			pen.update()
		case v >= 30 && v <= 37:
			pen.fg = pen.fg&^colorBits | mode16 | uint32(v-30)
		case v >= 40 && v <= 47:
			pen.bg = pen.bg&^colorBits | mode16 | uint32(v-40)
		case v >= 90 && v <= 97:
			pen.fg = pen.fg&^colorBits | mode16 | uint32(v-90) | 8
		case v >= 100 && v <= 107:
			pen.bg = pen.bg&^colorBits | mode16 | uint32(v-100) | 8
		case v == 38 || v == 48 || v == 58:
			i += t.extendedColor(i)
		default:
			t.sgrFlag(i, v)
		}
	}
	t.penChanged()
}

// styles are the pen's flags and the parameters that set and clear them. Underlines,
// which have kinds, are apart.
var styles = [...]struct {
	on, off int32
	fg, bg  uint32
}{
	{on: 1, off: 22, fg: fgBold}, {on: 2, off: 22, bg: bgDim}, {on: 3, off: 23, bg: bgItalic}, {on: 5, off: 25, fg: fgBlink},
	{on: 7, off: 27, fg: fgInverse}, {on: 8, off: 28, fg: fgHidden}, {on: 9, off: 29, fg: fgStrike}, {on: 53, off: 55, bg: bgOverline},
}

func (t *Terminal) sgrFlag(i int, v int32) {
	pen := &t.pen
	switch v {
	case 4:
		style := int32(1)
		if subs := t.params.subs(i); len(subs) > 0 {
			style = subs[0]
		}
		t.underline(style)
	case 21:
		t.underline(2)
	case 24:
		t.underline(0)
	case 39:
		pen.fg &^= colorBits
	case 49:
		pen.bg &^= colorBits
	case 59:
		pen.ext |= colorBits // white, as xterm.js has it
		pen.update()
	default:
		for i := range styles {
			f := &styles[i]
			if v == f.on {
				pen.fg, pen.bg = pen.fg|f.fg, pen.bg|f.bg
				break
			}
			if v == f.off {
				pen.fg, pen.bg = pen.fg&^f.fg, pen.bg&^f.bg
			}
		}
	}
}

// underline sets the style 1 to 5 (single, double, curly, dotted, dashed) or 0.
func (t *Terminal) underline(style int32) {
	if style < 0 || style > 5 {
		style = 1
	}
	t.pen.ext = t.pen.ext&^extStyle | uint32(style)<<extStyleShift
	t.pen.fg |= fgUnder
	if style == 0 {
		t.pen.fg &^= fgUnder
	}
	t.pen.update()
}

// extendedColor applies 38, 48 or 58 at parameter i, in any of the forms with
// semicolons, colons or both, and says how many more parameters it took.
func (t *Terminal) extendedColor(i int) int {
	ps := &t.params
	// What is sought: target, kind, (colour space), three values.
	acc := [6]int32{0, 0, -1, 0, 0, 0}
	space, took := 0, 0
	for {
		acc[took+space] = ps.v[i+took]
		if subs := ps.subs(i + took); len(subs) > 0 {
			for k, v := range subs {
				if acc[1] == 5 {
					space = 1
				}
				if at := took + k + 1 + space; at < len(acc) {
					acc[at] = v
				}
			}
			break
		}
		if acc[1] == 5 && took+space >= 2 || acc[1] == 2 && took+space >= 5 {
			break
		}
		if acc[1] != 0 {
			space = 1
		}
		took++
		if i+took >= ps.n || took+space >= len(acc) {
			break
		}
	}
	for k := 2; k < len(acc); k++ {
		acc[k] = max(acc[k], 0)
	}
	to := &t.pen.ext
	switch acc[0] {
	case 38:
		to = &t.pen.fg
	case 48:
		to = &t.pen.bg
	}
	switch acc[1] {
	case 2:
		*to = *to&^colorBits | modeRGB |
			uint32(acc[3]&0xff)<<16 | uint32(acc[4]&0xff)<<8 | uint32(acc[5]&0xff)
	case 5:
		*to = *to&^colorBits | mode256 | uint32(acc[3]&0xff)
	}
	return took
}
