package cli

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"loop/backend/terminal/vt"
)

const escByte, delByte = 0x1b, 0x7f

// screenFilter passes a program's output to this terminal without what would
// make the terminal answer or act: Loop answers queries itself, and an answer
// that came from here as well would be read as keys. What is left draws.
//
// It holds back a sequence until it is whole, and nothing else.
type screenFilter struct{ vt.Scanner }

// sequences are how each kind begins and ends, and which of them may be shown.
var sequences = map[vt.Piece]struct {
	begin, end string
	quiet      func([]byte) bool
}{
	vt.PieceESC: {"\x1b", "", quietESC}, vt.PieceCSI: {"\x1b[", "", quietCSI},
	vt.PieceOSC: {"\x1b]", "\x1b\\", quietOSC}, vt.PieceDCS: {"\x1bP", "\x1b\\", quietDCS},
}

// filter returns what of p, and of what was held before, may be shown.
func (f *screenFilter) filter(p []byte) []byte {
	out := make([]byte, 0, len(p))
	f.Scan(p, func(kind vt.Piece, b []byte) {
		switch s := sequences[kind]; {
		case kind == vt.PieceText:
			out = append(out, b...)
		case kind == vt.PieceControl:
			out = append(out, quietControl(b)...)
		case s.quiet(b):
			out = append(append(append(out, s.begin...), b...), s.end...)
		}
	})
	return out
}

// quietControl is a control as this terminal takes it: C1 as an escape with the
// letter that stands for it, and nothing of one that asks or ends a sequence.
func quietControl(b []byte) []byte {
	switch r, _ := utf8.DecodeRune(b); r {
	case 0x05, 0x18, 0x1a: // ENQ asks who is there
		return nil
	case 0x84, 0x85, 0x88, 0x8d: // IND, NEL, HTS, RI
		return []byte{escByte, byte(r) - 0x40}
	default:
		if r < 0x20 {
			return b
		}
		return nil
	}
}

// quietESC reports that an escape sequence is none that asks (Z), that goes over to
// another coding, in which letters are controls, or that ends a string.
func quietESC(seq []byte) bool {
	return !bytes.ContainsAny(seq[:1], " %Z\\") && len(seq) <= 4
}

// quietCSI reports that a CSI sequence asks nothing.
func quietCSI(seq []byte) bool {
	params, last := string(seq[:len(seq)-1]), seq[len(seq)-1]
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

// quietOSC reports that a string draws or names: titles, colours, links, marks,
// progress, text for the clipboard. Others make a terminal answer, read or write
// files, or speak to the terminal around it.
func quietOSC(body []byte) bool {
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
	return false
}

// quietDCS reports that a string is a picture in Sixel, which is of letters.
func quietDCS(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(body, "0123456789;"), []byte("q")) &&
		!bytes.ContainsFunc(body, func(r rune) bool { return r >= delByte })
}
