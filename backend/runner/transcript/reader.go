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
	// keepBuffer is the largest line buffer that is kept for the next line.
	keepBuffer = 1 << 20
)

// Line is one line of output. Its bytes are valid until the next call of Next.
type Line struct {
	Data []byte // without the line feed; the first MaxLine bytes of it
	Cut  int64  // bytes of the line that are not in Data
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
	r.data = r.data[:0]
	size := int64(0) // of the line
	for {
		part, err := r.in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			r.err = err
		}
		r.off += int64(len(part))
		if err == nil {
			part = part[:len(part)-1]
		}
		size += int64(len(part))
		// The common case, a line that is whole in the reader's own buffer.
		if err == nil && len(r.data) == 0 {
			return Line{Data: trimCR(part), End: r.off}, nil
		}
		r.data = append(r.data, part[:min(len(part), MaxLine-len(r.data))]...)
		if err == nil || err == io.EOF && size > 0 {
			return Line{Data: trimCR(r.data), Cut: size - int64(len(r.data)), End: r.off, Open: err != nil}, nil
		}
		if r.err != nil {
			return Line{}, err
		}
	}
}

func trimCR(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\r' {
		return b[:n-1]
	}
	return b
}
