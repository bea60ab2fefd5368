package transcript

import (
	"bufio"
	"errors"
	"io"
)

const (
	// MaxLine is how much of the front of one line is kept. The longest honest
	// lines are tool results with images, a few MiB.
	MaxLine = 16 << 20
	// MaxTail is how much of the end of an over-long line is kept besides: the
	// fields of a result that follow its text are there.
	MaxTail = 64 << 10
	// keepBuffer is the largest line buffer that is kept for the next line.
	keepBuffer = 1 << 20
)

// Line is one line of output. Its bytes are valid until the next call of Next.
type Line struct {
	Data []byte // without the line feed; the first MaxLine bytes of it
	Tail []byte // of an over-long line: its last bytes, at most MaxTail, not in Data
	Cut  int64  // bytes of the line that are neither in Data nor in Tail
	End  int64  // absolute offset after the line and its line feed
	// Open says that the stream ended before a line feed did.
	Open bool
}

// Reader splits a stream into lines and counts absolute offsets. Use it from
// one goroutine.
type Reader struct {
	in   *bufio.Reader
	off  int64
	data []byte
	tail []byte
	err  error
}

// NewReader reads lines from r, whose first byte is at the absolute offset.
func NewReader(r io.Reader, offset int64) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, 64<<10), off: offset}
}

// Next returns the next line. At the end of the stream it is io.EOF, after the
// last line even if that has no line feed. Another error means that the stream
// broke: what was read of an unfinished line is dropped, because its bytes will
// be read again from the End of the line before.
func (r *Reader) Next() (Line, error) {
	if r.err != nil {
		return Line{}, r.err
	}
	if cap(r.data) > keepBuffer {
		r.data = nil
	}
	r.data, r.tail = r.data[:0], r.tail[:0]
	var n int64
	for {
		part, err := r.in.ReadSlice('\n')
		n += int64(len(part))
		if err == nil {
			part = part[:len(part)-1]
		}
		// The common case, a line that is whole in the reader's own buffer.
		if err == nil && len(r.data) == 0 && len(r.tail) == 0 {
			r.off += n
			return Line{Data: trimCR(part), End: r.off}, nil
		}
		r.keep(part)
		switch {
		case err == nil:
			return r.line(n, false), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case err == io.EOF:
			r.err = io.EOF
			if n == 0 {
				return Line{}, io.EOF
			}
			return r.line(n, true), nil
		default:
			r.err = err
			return Line{}, err
		}
	}
}

func (r *Reader) line(n int64, open bool) Line {
	r.off += n
	size := n
	if !open {
		size--
	}
	if len(r.tail) > MaxTail {
		r.tail = r.tail[len(r.tail)-MaxTail:]
	}
	l := Line{Data: r.data, End: r.off, Open: open, Cut: size - int64(len(r.data)) - int64(len(r.tail))}
	if len(r.tail) > 0 {
		l.Tail = r.tail
	} else {
		l.Data = trimCR(r.data)
	}
	return l
}

func (r *Reader) keep(part []byte) {
	if room := MaxLine - len(r.data); room > 0 {
		k := min(room, len(part))
		r.data, part = append(r.data, part[:k]...), part[k:]
	}
	if len(part) == 0 {
		return
	}
	r.tail = append(r.tail, part...)
	if len(r.tail) > 4*MaxTail { // seldom enough that copying costs little
		r.tail = append(r.tail[:0], r.tail[len(r.tail)-MaxTail:]...)
	}
}

func trimCR(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\r' {
		return b[:n-1]
	}
	return b
}
