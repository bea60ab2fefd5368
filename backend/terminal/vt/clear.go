package vt

// Clear forgets the scrollback and, unless the alternate screen is shown, what
// is on the screen but for the logical line with the cursor, which moves to the
// top. Modes, pen and margins stay.
func (t *Terminal) Clear() {
	b := t.normal
	var kept []*line
	first := b.base
	if t.b == t.alt {
		kept = b.group(first, first+t.rows)
	} else {
		at := b.base + b.y
		first = at
		for first > 0 && at-first < t.rows-1 && b.line(first).wrapped {
			first--
		}
		last := at
		for last+1 < b.lines.n && last+1-first < t.rows && b.line(last+1).wrapped {
			last++
		}
		kept = b.group(first, last+1)
		b.y = at - first
	}
	if len(kept) > 0 {
		kept[0].wrapped = false // what it continued is gone
	}
	b.lines.reset(len(b.lines.slots))
	for _, l := range kept {
		b.lines.push(l)
	}
	for b.lines.n < t.rows {
		b.lines.push(b.newLine(null, false))
	}
	b.base, b.odd = 0, false
	if b.saved != saved0 {
		b.saved.y = clamp(b.saved.y-first, 0, t.rows-1)
	}
	t.join = 0
}

// StopReports ends mouse, focus and theme reports, as if the program had. It may be
// called from the Mark callback.
func (t *Terminal) StopReports() {
	t.modes.mouse, t.modes.mouseEncoding, t.modes.focus, t.modes.themeReports = mouseOff, 0, false, false
}
