package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
)

// ErrTooLarge is a frame, chunk or body past its bound.
var ErrTooLarge = errors.New("too large")

// WriteFrame encodes v and writes it with one Write.
func WriteFrame(w io.Writer, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode frame: %w", err)
	}
	if len(body) > MaxFrame {
		return fmt.Errorf("frame of %d bytes: %w", len(body), ErrTooLarge)
	}
	buf := make([]byte, 4+len(body))
	binary.BigEndian.PutUint32(buf, uint32(len(body)))
	copy(buf[4:], body)
	if _, err := w.Write(buf); err != nil {
		return fmt.Errorf("write frame: %w", err)
	}
	return nil
}

// ReadFrame reads one frame into v, and checks a v that can be. io.EOF means that the stream ended before
// the first byte; one torn later is io.ErrUnexpectedEOF.
func ReadFrame(r io.Reader, v any) error {
	var n uint32
	if err := binary.Read(r, binary.BigEndian, &n); err != nil {
		return err
	}
	if n > MaxFrame {
		return fmt.Errorf("frame of %d bytes: %w", n, ErrTooLarge)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return fmt.Errorf("read frame: %w", torn(err))
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("decode frame: %w", err)
	}
	if c, ok := v.(interface{ Validate() error }); ok {
		return c.Validate()
	}
	return nil
}

// ReadRequest reads and checks the first frame of a stream.
func ReadRequest(r io.Reader) (q Request, err error) {
	err = ReadFrame(r, &q)
	return q, err
}

// ReadReply reads a reply. A refusal comes back as its *Error.
func ReadReply(r io.Reader) (p Reply, err error) {
	if err = ReadFrame(r, &p); err == nil && p.Error != nil {
		err = p.Error
	}
	return p, err
}

// ChunkWriter writes a byte stream as chunks. It is for one goroutine.
type ChunkWriter struct {
	w   io.Writer
	buf []byte
}

// NewChunkWriter writes to w; nothing is held back between calls.
func NewChunkWriter(w io.Writer) *ChunkWriter { return &ChunkWriter{w: w} }

// Write sends p in as many chunks as it needs.
func (c *ChunkWriter) Write(p []byte) (int, error) {
	if c.buf == nil {
		c.buf = make([]byte, 4+MaxChunk)
	}
	done := 0
	for done < len(p) {
		n := copy(c.buf[4:], p[done:])
		binary.BigEndian.PutUint32(c.buf, uint32(n))
		if _, err := c.w.Write(c.buf[:4+n]); err != nil {
			return done, fmt.Errorf("write chunk: %w", err)
		}
		done += n
	}
	return done, nil
}

// End writes the end mark and how the stream ended.
func (c *ChunkWriter) End(p Reply) error {
	if _, err := c.w.Write([]byte{0, 0, 0, 0}); err != nil {
		return fmt.Errorf("write end mark: %w", err)
	}
	return WriteFrame(c.w, p)
}

// ChunkReader reads what a ChunkWriter wrote. It is for one goroutine.
type ChunkReader struct {
	r    io.Reader
	left uint32
	err  error
}

// NewChunkReader reads from r and never past the reply after the end mark.
func NewChunkReader(r io.Reader) *ChunkReader { return &ChunkReader{r: r} }

// Read returns io.EOF only after a whole end mark that reports no error; that
// error otherwise, and io.ErrUnexpectedEOF when the stream broke off.
func (c *ChunkReader) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	if c.left == 0 {
		if c.err = c.next(); c.err != nil {
			return 0, c.err
		}
	}
	if uint32(len(p)) > c.left {
		p = p[:c.left]
	}
	n, err := c.r.Read(p)
	c.left -= uint32(n)
	if err != nil && (n == 0 || !errors.Is(err, io.EOF)) {
		c.err = torn(err)
		return n, c.err
	}
	return n, nil
}

func (c *ChunkReader) next() error {
	var n uint32
	if err := binary.Read(c.r, binary.BigEndian, &n); err != nil {
		return torn(err)
	}
	if n > MaxChunk {
		return fmt.Errorf("chunk of %d bytes: %w", n, ErrTooLarge)
	}
	if n > 0 {
		c.left = n
		return nil
	}
	if _, err := ReadReply(c.r); err != nil {
		return torn(err)
	}
	return io.EOF
}

// WriteMark says on a read stream with a hold that everything before off was
// taken.
func WriteMark(w io.Writer, off int64) error {
	return binary.Write(w, binary.BigEndian, off) // in one Write
}

// ReadMark reads what WriteMark wrote; io.EOF means that there are no more. The
// offset may be any, negative ones included.
func ReadMark(r io.Reader) (off int64, err error) {
	err = binary.Read(r, binary.BigEndian, &off)
	return off, err
}

func torn(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
