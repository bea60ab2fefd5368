package cli

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxSequence bounds a control sequence that is held until its end is known:
// the longest that passes is text for the clipboard.
const maxSequence = 256 << 10

// screenFilter passes a program's output to this terminal without what would
// make the terminal answer or act: Loop answers queries itself, and an answer
// that came from here as well would be read as keys. What is left draws.
//
// It holds back a sequence until it is whole, and nothing else.
type screenFilter struct {
	state filterState
	held  []byte
	need  int // continuation bytes of a character that are to come
}

type filterState int

const (
	inText filterState = iota
	inEscape
	inCSI
	inString  // OSC, DCS, APC, PM or SOS
	inStrEnd  // an escape within it: the end, if a backslash follows
	inTooLong // a string that is dropped whatever it says
	inTooLongEnd
)

// C1 controls, and their place after ESC.
const (
	c1DCS, c1SOS, c1CSI, c1ST, c1OSC, c1PM, c1APC = 0x90, 0x98, 0x9b, 0x9c, 0x9d, 0x9e, 0x9f

	escByte, belByte, canByte, subByte, delByte = 0x1b, 0x07, 0x18, 0x1a, 0x7f
)

var replacement = []byte("\uFFFD")

// filter returns what of p, and of what was held before, may be shown.
func (f *screenFilter) filter(p []byte) []byte {
	out := make([]byte, 0, len(p))
	for len(p) > 0 {
		if n := f.run(p); n > 0 {
			out, p = append(out, p[:n]...), p[n:]
			continue
		}
		out, p = f.one(out, p[0]), p[1:]
	}
	return out
}

// run is how many of the next bytes are plain text, which most are.
func (f *screenFilter) run(p []byte) int {
	if f.state != inText || len(f.held) > 0 {
		return 0
	}
	for i, b := range p {
		if b < 0x20 && b != '\n' && b != '\r' || b >= 0x80 {
			return i
		}
	}
	return len(p)
}

func (f *screenFilter) one(out []byte, b byte) []byte {
	switch f.state {
	case inText:
		return f.text(out, b)
	case inEscape:
		return f.escape(out, b)
	case inCSI:
		f.held = append(f.held, b)
		switch {
		case b == canByte || b == subByte:
			f.reset()
		case b == escByte:
			f.begin(inEscape, escByte)
		case b < 0x20: // acts at once, in the middle of the sequence
			f.held = f.held[:len(f.held)-1]
			if b != 0x05 {
				out = append(out, b)
			}
		case b >= 0x40 && b < delByte:
			if quietCSI(f.held) {
				out = append(out, f.held...)
			}
			f.reset()
		case b >= 0x80 || len(f.held) > 256:
			f.reset()
		}
	case inString, inStrEnd:
		return f.string(out, b)
	case inTooLong, inTooLongEnd:
		f.skip(b)
	}
	return out
}

func (f *screenFilter) begin(s filterState, held ...byte) {
	f.state, f.held = s, append(f.held[:0], held...)
}

func (f *screenFilter) reset() {
	f.state, f.held = inText, f.held[:0]
	if cap(f.held) > 64<<10 {
		f.held = nil
	}
}

// text follows UTF-8, in which 0x80 to 0x9f are the rest of characters or, as
// two bytes, controls.
func (f *screenFilter) text(out []byte, b byte) []byte {
	if f.need > 0 && b&0xc0 == 0x80 {
		f.need--
		f.held = append(f.held, b)
		if f.need > 0 {
			return out
		}
		if len(f.held) == 2 && f.held[0] == 0xc2 && b < 0xa0 {
			f.reset()
			return f.control(out, b)
		}
		out = append(out, f.held...)
		f.held = f.held[:0]
		return out
	}
	if f.need > 0 || len(f.held) > 0 { // a character that broke off
		out = append(out, replacement...)
		f.need, f.held = 0, f.held[:0]
	}
	switch {
	case b == escByte:
		f.begin(inEscape, b)
	case b == 0x05: // ENQ asks who is there
	case b < 0x80:
		out = append(out, b)
	case b < 0xc2 || b > 0xf4:
		out = append(out, replacement...)
	default:
		f.held = append(f.held, b)
		switch {
		case b < 0xe0:
			f.need = 1
		case b < 0xf0:
			f.need = 2
		default:
			f.need = 3
		}
	}
	return out
}

// control is a C1 control, or an escape with the letter that stands for it.
func (f *screenFilter) control(out []byte, b byte) []byte {
	switch b {
	case c1CSI:
		f.begin(inCSI, escByte, '[')
	case c1OSC, c1DCS, c1APC, c1PM, c1SOS:
		f.begin(inString, escByte, b-0x40)
	case 0x84, 0x85, 0x88, 0x8d: // IND, NEL, HTS, RI
		out = append(out, escByte, b-0x40)
	}
	return out
}

func (f *screenFilter) escape(out []byte, b byte) []byte {
	switch {
	case b == escByte:
		f.begin(inEscape, b)
	case b == canByte || b == subByte || b >= 0x80:
		f.reset()
	case b < 0x20:
		if b != 0x05 {
			out = append(out, b)
		}
	case b < 0x30: // more of it follows: a character set, a size of lines
		if f.held = append(f.held, b); len(f.held) > 4 {
			f.reset()
		}
	case len(f.held) == 1 && slices.Contains([]byte{'[', ']', 'P', '_', '^', 'X'}, b):
		return f.control(out, b+0x40)
	case len(f.held) == 1 && b == 'Z': // asks what this is
		f.reset()
	case len(f.held) > 1 && (f.held[1] == ' ' || f.held[1] == '%'): // another coding, in which letters are controls
		f.reset()
	default:
		out = append(append(out, f.held...), b)
		f.reset()
	}
	return out
}

func (f *screenFilter) string(out []byte, b byte) []byte {
	if f.state == inStrEnd {
		if b == '\\' {
			return f.whole(out)
		}
		f.begin(inEscape, escByte) // it broke off, and another one begins
		return f.escape(out, b)
	}
	switch {
	case b == belByte && f.held[1] == ']':
		return f.whole(out)
	case b == c1ST && len(f.held) > 2 && f.held[len(f.held)-1] == 0xc2:
		f.held = f.held[:len(f.held)-1]
		return f.whole(out)
	case b == escByte:
		f.state = inStrEnd
	case b == canByte || b == subByte:
		f.reset()
	default:
		if f.held = append(f.held, b); len(f.held) > maxSequence {
			f.begin(inTooLong)
		}
	}
	return out
}

// skip looks for the end of a string that is too long.
func (f *screenFilter) skip(b byte) {
	switch {
	case b == belByte, b == canByte, b == subByte, f.state == inTooLongEnd:
		f.reset()
	case b == escByte:
		f.state = inTooLongEnd
	}
}

func (f *screenFilter) whole(out []byte) []byte {
	if quietString(f.held) {
		out = append(append(out, f.held...), escByte, '\\')
	}
	f.reset()
	return out
}

// quietCSI reports that a whole CSI sequence asks nothing.
func quietCSI(seq []byte) bool {
	params, last := string(seq[2:len(seq)-1]), seq[len(seq)-1]
	switch last {
	case 'c', 'n', 'x': // attributes, status and position, parameters
		return last == 'n' && strings.HasPrefix(params, ">") // that one switches a mode
	case 'p': // modes; the other one makes an older terminal of this one
		return !strings.HasSuffix(params, "$") && !strings.HasSuffix(params, "\"")
	case 'q':
		return !strings.HasPrefix(params, ">")
	case 'u': // keys of kitty's, state of the terminal
		return !strings.HasPrefix(params, "?") && !strings.ContainsAny(params, "$&")
	case 'h', 'l':
		return quietModes(params, last)
	case 'i': // prints
		return false
	case 'm':
		return !strings.HasPrefix(params, "?")
	case 'y', 'w', '|', 'R': // tests, rectangle, locator, rendition and colour reports
		return !strings.ContainsAny(params, "*'$&#")
	case 'z', '{':
		return !strings.Contains(params, "'")
	case 't': // the window itself is the person's; only titles may be kept and taken back
		return params == "22" || params == "23" || strings.HasPrefix(params, "22;") || strings.HasPrefix(params, "23;")
	case 'S':
		return !strings.HasPrefix(params, "?") // of graphics
	}
	return true
}

// quietModes reports that setting or resetting modes leaves the keyboard with the
// person, and the terminal one that this filter knows.
func quietModes(params string, last byte) bool {
	modes, private := strings.CutPrefix(params, "?")
	for m := range strings.FieldsFuncSeq(modes, func(r rune) bool { return r == ';' || r == ':' }) {
		switch m = strings.TrimLeft(m, "0"); {
		case private && m == "2" && last == 'l': // a VT52
			return false
		case !private && m != "4" && m != "20": // inserting and new lines; others lock keys or echo them
			return false
		}
	}
	return true
}

// quietString reports that a whole string is one that draws or names: titles,
// colours, links, marks, progress, text for the clipboard, Sixel pictures.
// Others make a terminal answer, read or write files, or speak to the terminal
// around it.
func quietString(seq []byte) bool {
	body := seq[2:]
	odd := func(r rune) bool { return r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 }
	if seq[1] == 'P' { // Sixel is letters and breaks between lines
		odd = func(r rune) bool { return r >= 0x7f || r < 0x20 && r != '\n' && r != '\r' }
	}
	if !utf8.Valid(body) || bytes.ContainsFunc(body, odd) {
		return false
	}
	switch seq[1] {
	case ']':
		kind, rest, _ := strings.Cut(string(body), ";")
		switch kind {
		case "9": // a notice or progress; numbers but 4 are commands to some terminals, one of them to run a program
			n, _, _ := strings.Cut(rest, ";")
			return n == "4" || strings.Trim(n, "0123456789") != ""
		case "0", "1", "2", "7", "8", "133", "633", "104", "110", "111", "112", "117", "119":
			return true
		case "4", "10", "11", "12", "17", "19", "52":
			return rest != "" && !slices.ContainsFunc(strings.Split(rest, ";"), func(v string) bool { return strings.HasPrefix(v, "?") })
		}
	case 'P':
		params := bytes.TrimLeft(body, "0123456789;")
		return len(params) > 0 && params[0] == 'q'
	}
	return false
}
