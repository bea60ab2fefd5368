package vt

// The parser is the state machine of DEC's VT500 as Paul Williams drew it
// (vt100.net/emu/dec_ansi_parser), with what xterm.js makes of it: C1 controls
// count wherever they occur, BEL ends an OSC, sub-parameters follow colons, and
// a sequence that goes wrong is dropped without a trace.

type state uint8

const (
	ground state = iota
	escape
	escapeIntermediate
	csiEntry
	csiParam
	csiIntermediate
	csiIgnore
	stringIgnore // SOS, PM, APC
	oscString
	dcsEntry
	dcsParam
	dcsIgnore
	dcsIntermediate
	dcsPassthrough
	states
)

type action uint8

const (
	actIgnore action = iota
	actError
	actPrint
	actExecute
	actOSCStart
	actOSCPut
	actOSCEnd
	actCSI
	actParam
	actCollect
	actESC
	actClear
	actDCSEnd
)

// wideClass stands for every code point from 0xa0 on.
const wideClass = 0xa0

type step struct {
	act  action
	next state
}

var table = makeTable()

func makeTable() *[states][wideClass + 1]step {
	t := new([states][wideClass + 1]step)
	on := func(s state, lo, hi int, a action, next state) {
		for c := lo; c <= hi; c++ {
			t[s][c] = step{a, next}
		}
	}
	controls := func(s state, a action) {
		on(s, 0x00, 0x17, a, s)
		on(s, 0x19, 0x19, a, s)
		on(s, 0x1c, 0x1f, a, s)
	}
	for s := range states {
		on(s, 0, wideClass, actError, ground)
		on(s, 0x18, 0x18, actExecute, ground)
		on(s, 0x1a, 0x1a, actExecute, ground)
		on(s, 0x1b, 0x1b, actClear, escape)
		on(s, 0x80, 0x9a, actExecute, ground)
		on(s, 0x90, 0x90, actClear, dcsEntry)
		on(s, 0x98, 0x98, actIgnore, stringIgnore)
		on(s, 0x9b, 0x9b, actClear, csiEntry)
		on(s, 0x9c, 0x9c, actIgnore, ground)
		on(s, 0x9d, 0x9d, actOSCStart, oscString)
		on(s, 0x9e, 0x9f, actIgnore, stringIgnore)
	}

	controls(ground, actExecute)
	on(ground, 0x20, 0x7e, actPrint, ground)
	on(ground, wideClass, wideClass, actPrint, ground)

	controls(escape, actExecute)
	on(escape, 0x20, 0x2f, actCollect, escapeIntermediate)
	on(escape, 0x30, 0x7e, actESC, ground)
	on(escape, 0x7f, 0x7f, actIgnore, escape)
	on(escape, 'P', 'P', actClear, dcsEntry)
	on(escape, 'X', 'X', actIgnore, stringIgnore)
	on(escape, '[', '[', actClear, csiEntry)
	on(escape, ']', ']', actOSCStart, oscString)
	on(escape, '^', '_', actIgnore, stringIgnore)

	controls(escapeIntermediate, actExecute)
	on(escapeIntermediate, 0x20, 0x2f, actCollect, escapeIntermediate)
	on(escapeIntermediate, 0x30, 0x7e, actESC, ground)
	on(escapeIntermediate, 0x7f, 0x7f, actIgnore, escapeIntermediate)

	for _, q := range []struct {
		entry, param, intermediate, ignore state
		control, final                     action
		end, ignored                       state // behind the final byte, and behind one that is ignored
	}{
		{csiEntry, csiParam, csiIntermediate, csiIgnore, actExecute, actCSI, ground, ground},
		{dcsEntry, dcsParam, dcsIntermediate, dcsIgnore, actIgnore, actIgnore, dcsPassthrough, dcsIgnore},
	} {
		for _, s := range []state{q.entry, q.param, q.intermediate, q.ignore} {
			controls(s, q.control)
			on(s, 0x20, 0x2f, actCollect, q.intermediate)
			on(s, 0x30, 0x3b, actParam, q.param)
			on(s, 0x3c, 0x3f, actIgnore, q.ignore)
			on(s, 0x40, 0x7e, q.final, q.end)
			on(s, 0x7f, 0x7f, actIgnore, s)
		}
		on(q.entry, 0x3c, 0x3f, actCollect, q.param)
		on(q.intermediate, 0x30, 0x3f, actIgnore, q.ignore)
		on(q.ignore, 0x20, 0x3f, actIgnore, q.ignore)
		on(q.ignore, 0x40, 0x7e, actIgnore, q.ignored)
		on(q.ignore, wideClass, wideClass, actIgnore, q.ignore)
	}

	controls(stringIgnore, actIgnore)
	on(stringIgnore, 0x20, 0x7f, actIgnore, stringIgnore)

	controls(oscString, actIgnore)
	on(oscString, 0x20, 0x7f, actOSCPut, oscString)
	on(oscString, wideClass, wideClass, actOSCPut, oscString)
	for _, c := range []int{0x07, 0x18, 0x1a, 0x1b, 0x9c} {
		on(oscString, c, c, actOSCEnd, ground)
	}

	controls(dcsPassthrough, actIgnore) // what a DCS carries is not looked at
	on(dcsPassthrough, 0x20, 0x7f, actIgnore, dcsPassthrough)
	on(dcsPassthrough, wideClass, wideClass, actIgnore, dcsPassthrough)
	for _, c := range []int{0x18, 0x1a, 0x1b, 0x9c} {
		on(dcsPassthrough, c, c, actDCSEnd, ground)
	}
	return t
}

// params are the numbers of a sequence. Those past the 32nd are dropped, and
// values stop at the largest int32, both as in xterm.js.
type params struct {
	v    [32]int32
	n    int
	sub  [32]int32
	nsub int
	span [32]struct{ from, to uint8 } // of each parameter's sub-parameters

	inSub, full, subFull bool
}

func (p *params) reset() {
	p.n, p.nsub = 0, 0
	p.inSub, p.full, p.subFull = false, false, false
	p.add()
}

func (p *params) add() {
	p.inSub = false
	if p.n == len(p.v) {
		p.full = true
		return
	}
	p.span[p.n].from, p.span[p.n].to = uint8(p.nsub), uint8(p.nsub)
	p.v[p.n] = 0
	p.n++
}

func (p *params) addSub() {
	p.inSub = true
	if p.full || p.nsub == len(p.sub) {
		p.subFull = true
		return
	}
	p.sub[p.nsub] = -1
	p.nsub++
	p.span[p.n-1].to++
}

func (p *params) digit(d int32) {
	if p.full || p.inSub && p.subFull {
		return
	}
	v := &p.v[p.n-1]
	if p.inSub {
		v = &p.sub[p.nsub-1]
	}
	if *v < 0 {
		*v = d
		return
	}
	*v = int32(min(int64(*v)*10+int64(d), 1<<31-1))
}

func (p *params) char(c byte) {
	switch c {
	case ';':
		p.add()
	case ':':
		p.addSub()
	default:
		p.digit(int32(c - '0'))
	}
}

// subs are the sub-parameters of the i-th parameter.
func (p *params) subs(i int) []int32 { return p.sub[p.span[i].from:p.span[i].to] }

// count is the first parameter as a count: 0 means 1.
func (p *params) count() int { return int(max(p.v[0], 1)) }

// feed takes one code point through the machine.
func (t *Terminal) feed(r rune) {
	s := table[t.state][min(r, wideClass)]
	switch s.act {
	case actPrint:
		t.print(r)
	case actExecute:
		t.execute(r)
		t.join = 0
	case actCSI:
		t.csi(byte(r))
		t.join = 0
	case actParam:
		t.params.char(byte(r))
	case actCollect:
		t.collect = t.collect<<8 | uint32(r)
	case actESC:
		t.esc(byte(r))
		t.join = 0
	case actClear:
		t.clearSequence()
	case actOSCStart:
		t.osc = t.osc[:0]
		t.oscLong = false
	case actOSCPut:
		t.oscPut(r)
	case actOSCEnd:
		if r != 0x18 && r != 0x1a {
			t.oscEnd()
		}
		t.endString(&s, r)
	case actDCSEnd:
		t.endString(&s, r)
	}
	t.state = s.next
	if s.act != actPrint {
		t.run = false
	}
}

func (t *Terminal) endString(s *step, r rune) {
	if r == 0x1b {
		s.next = escape
	}
	t.clearSequence()
	t.join = 0
}

func (t *Terminal) clearSequence() {
	t.params.reset()
	t.collect = 0
}
