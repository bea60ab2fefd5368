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

// ReadFrame reads one frame into v. io.EOF means that the stream ended before
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
	return nil
}

// ReadRequest reads and checks the first frame of a stream.
func ReadRequest(r io.Reader) (q Request, err error) {
	if err = ReadFrame(r, &q); err == nil {
		err = q.Validate()
	}
	return q, err
}

// ReadReply reads a reply. A refusal comes back as its *Error.
func ReadReply(r io.Reader) (p Reply, err error) {
	if err = ReadFrame(r, &p); err == nil {
		err = p.Validate()
	}
	if err == nil && p.Error != nil {
		err = p.Error
	}
	return p, err
}
