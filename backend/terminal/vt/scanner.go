package vt

import "bytes"

// maxScanned bounds the bytes of a sequence that a Scanner holds until its end is
// known; the longest that is wanted is text for the clipboard.
const maxScanned = 256 << 10

// Piece is the kind of a piece of output.
type Piece uint8

const (
	PieceText    Piece = iota // characters that are drawn
	PieceControl              // one control that acts by itself, C0 or C1
	PieceESC                  // what follows ESC
	PieceCSI                  // what follows ESC [
	PieceOSC                  // what is between ESC ] and its end
	PieceDCS                  // what is between ESC P and its end
)

// Scanner cuts a program's output into pieces as a Terminal reads it, and draws
// nothing. It leaves out the sequences that a Terminal drops: malformed ones, SOS, PM
// and APC. It also leaves out controls within strings, bytes that are no UTF-8, and
// sequences of more than 256 KiB. The zero value is ready to use.
type Scanner struct {
	state state
	seq   []byte // of the sequence under way, without its beginning
	long  bool   // it is past maxScanned
	rest  []byte // of a character whose end is to come
}

// Scan reads more output and gives found what is whole, in order. found must not
// keep the bytes.
func (s *Scanner) Scan(p []byte, found func(Piece, []byte)) {
	if len(s.rest) > 0 {
		p = append(s.rest, p...)
		s.rest = nil
	}
	for len(p) > 0 {
		if s.state == ground {
			if n := asciiRun(p); n > 0 {
				found(PieceText, p[:n])
				p = p[n:]
				continue
			}
		}
		r, size := decode(p)
		if size == 0 {
			s.rest = bytes.Clone(p)
			return
		}
		if r >= 0 {
			s.feed(r, p[:size], found)
		}
		p = p[size:]
	}
}

func (s *Scanner) feed(r rune, raw []byte, found func(Piece, []byte)) {
	next := table[s.state][min(r, wideClass)]
	switch next.act {
	case actPrint:
		found(PieceText, raw)
	case actExecute:
		found(PieceControl, raw)
	case actClear, actOSCStart:
		s.reset()
	case actParam, actCollect, actOSCPut:
		s.keep(raw)
	case actESC:
		s.keep(raw)
		s.end(PieceESC, found)
	case actCSI:
		s.keep(raw)
		s.end(PieceCSI, found)
	case actOSCEnd, actDCSEnd:
		switch r {
		case 0x18, 0x1a:
			s.reset()
		case 0x1b:
			next.next = escape
			fallthrough
		default:
			kind := PieceOSC
			if next.act == actDCSEnd {
				kind = PieceDCS
			}
			s.end(kind, found)
		}
	case actIgnore:
		if next.next == dcsPassthrough && r >= 0x20 && r != 0x7f {
			s.keep(raw)
		}
	}
	s.state = next.next
}

func (s *Scanner) keep(raw []byte) {
	if s.long = s.long || len(s.seq)+len(raw) > maxScanned; !s.long {
		s.seq = append(s.seq, raw...)
	}
}

func (s *Scanner) end(kind Piece, found func(Piece, []byte)) {
	if !s.long {
		found(kind, s.seq)
	}
	s.reset()
}

func (s *Scanner) reset() {
	s.seq, s.long = s.seq[:0], false
}
