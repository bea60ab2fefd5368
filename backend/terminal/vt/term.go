package vt

import (
	"unicode/utf8"

	"loop/backend/core"
)

// Options say what a Terminal does besides drawing. All callbacks are optional,
// are called from Write, and must not call back into the Terminal,
// but for StopReports from Mark.
type Options struct {
	Scrollback int                         // lines kept above the screen; 0 is 10000
	Answer     func([]byte)                // the reply to a query, to be sent to the program; the slice is the callee's
	Title      func(string)                // OSC 0 and 2, as core.CleanTitle leaves it
	Dir        func(string)                // OSC 7, OSC 633;P;Cwd=, OSC 1337;CurrentDir=: an absolute path
	Mark       func(kind byte, arg string) // OSC 133 and 633: A prompt, B input, C output, D end with exit status, E command line
	Theme      core.TerminalColors         // the answer to queries for colours, and for light or dark; zero answers none
}

// Terminal is the state that a stream of output has led to.
type Terminal struct {
	o          Options
	cols, rows int
	normal     *buffer
	alt        *buffer
	b          *buffer // the active one

	pen  pen
	dot  cell // a cell as the pen writes it, without its character
	bce  cell // an erased cell
	exts extTable

	charsets [4]*charset
	glevel   int
	charset  *charset // in effect; after DECRC not always charsets[glevel]

	modes   modes
	palette map[int][3]uint8 // changed colours: 0 to 255, and below

	state    state
	params   params
	collect  uint32
	osc      []byte
	oscLong  bool
	join     uint8             // width of the character just printed, which a combining one may join; else 0
	run      bool              // the last thing done in this Write was to print
	utf      [utf8.UTFMax]byte // a character whose end is to come
	utfN     int
	pend     []byte // the incomplete sequence's bytes, from Writes before
	pendLong bool
	seq      int // where in the bytes being written it starts

	combBytes budget
	markBytes budget
	command   string // of the next mark C, as OSC 633;E had it
}

// Indexes of Terminal.palette that are not colour numbers.
const (
	palFg = 256 + iota
	palBg
	palCursor
)

// New returns an empty terminal. Sizes are clamped to 2 to 2000 columns and 1 to
// 2000 rows.
func New(cols, rows int, o Options) *Terminal {
	if o.Scrollback <= 0 {
		o.Scrollback = defaultScrollback
	}
	loadWidths()
	t := &Terminal{o: o, cols: clamp(cols, minCols, maxCols), rows: clamp(rows, minRows, maxRows)}
	t.palette = map[int][3]uint8{}
	t.combBytes, t.markBytes = budget{limit: maxCombBytes}, budget{limit: maxMarkBytes}
	t.exts.init()
	t.modes.reset()
	t.resetScreens()
	t.clearSequence()
	t.penChanged()
	return t
}

func clamp(v, lo, hi int) int { return max(lo, min(v, hi)) }

func (t *Terminal) resetScreens() {
	if t.normal == nil {
		t.normal, t.alt = new(buffer), new(buffer)
	}
	t.normal.reset(t.cols, t.rows, t.o.Scrollback)
	t.normal.fillRows(null)
	t.alt.reset(t.cols, t.rows, 0)
	t.b = t.normal
}

// Size is the terminal's size.
func (t *Terminal) Size() (cols, rows int) { return t.cols, t.rows }

// Resize changes the size, clamped as in New. Lines of the normal screen and its
// scrollback wrap anew.
func (t *Terminal) Resize(cols, rows int) {
	cols, rows = clamp(cols, minCols, maxCols), clamp(rows, minRows, maxRows)
	if cols == t.cols && rows == t.rows {
		return
	}
	t.cols, t.rows = cols, rows
	t.normal.resize(cols, rows)
	t.alt.resize(cols, rows)
}

// Write takes the program's output. It never fails.
func (t *Terminal) Write(p []byte) (int, error) {
	t.seq, t.run = 0, false
	i, before := 0, t.utfN
	for t.utfN > 0 && i < len(p) {
		t.utf[t.utfN] = p[i]
		t.utfN++
		i++
		r, size := decode(t.utf[:t.utfN])
		if size == 0 {
			continue // still incomplete
		}
		if size < t.utfN {
			i-- // it does not belong to those before and is read again
		}
		t.utfN = 0
		if r >= 0 {
			t.begin(r, 0)
			t.pend = append(t.pend, t.utf[:before]...)
			t.feed(r)
		}
	}
	for i < len(p) {
		c := p[i]
		if t.state == ground {
			switch {
			case c >= 0x20 && c < 0x7f:
				n := asciiRun(p[i:])
				t.printASCII(p[i : i+n])
				i += n
				continue
			case c == '\n':
				t.lineFeed()
				t.join, t.run = 0, false
				i++
				continue
			case c == '\r':
				t.b.x = 0
				t.join, t.run = 0, false
				i++
				continue
			case c == 0x1b:
				t.seq = i
				if n := t.fastCSI(p[i:]); n > 0 {
					i += n
					continue
				}
			}
		}
		if c < utf8.RuneSelf {
			t.begin(rune(c), i)
			t.feed(rune(c))
			i++
			continue
		}
		r, size := decode(p[i:])
		if size == 0 {
			t.utfN = copy(t.utf[:], p[i:])
			break
		}
		if r >= 0 {
			t.begin(r, i)
			t.feed(r)
		}
		i += size
	}
	t.keepPending(p)
	return len(p), nil
}

// begin notes where an incomplete sequence would start.
func (t *Terminal) begin(r rune, at int) {
	if r == 0x1b || r >= 0x80 && r < 0xa0 || t.state == ground {
		t.seq = at
		t.pend = t.pend[:0]
		t.pendLong = false
	}
}

// keepPending keeps the bytes of a sequence that p leaves incomplete.
func (t *Terminal) keepPending(p []byte) {
	if t.state == ground {
		t.pend = t.pend[:0]
		t.pendLong = false
		return
	}
	more := p[t.seq : len(p)-min(t.utfN, len(p))]
	if t.pendLong || len(t.pend)+len(more) > maxPending {
		t.pend, t.pendLong = t.pend[:0], true
		return
	}
	t.pend = append(t.pend, more...)
}

// fastCSI takes a control sequence of numbers and semicolons that lies whole in
// p, as most do, and returns its length; 0 leaves p to the state machine.
func (t *Terminal) fastCSI(p []byte) int {
	if len(p) < 3 || p[1] != '[' {
		return 0
	}
	ps := &t.params
	var v int32
	n := 0
	for i := 2; i < len(p) && i < 64; i++ {
		switch c := p[i]; {
		case c >= '0' && c <= '9':
			if v > 99999999 {
				return 0
			}
			v = v*10 + int32(c-'0')
		case c == ';':
			if n >= 30 {
				return 0
			}
			ps.v[n] = v
			ps.span[n].from, ps.span[n].to = 0, 0
			n++
			v = 0
		case c >= 0x40 && c <= 0x7e:
			ps.v[n] = v
			ps.span[n].from, ps.span[n].to = 0, 0
			ps.n, ps.nsub = n+1, 0
			ps.inSub, ps.full, ps.subFull = false, false, false
			t.collect = 0
			if c == 'm' {
				t.sgr()
			} else {
				t.csi(c)
			}
			t.join, t.run = 0, false
			return i + 1
		default:
			return 0
		}
	}
	return 0
}
