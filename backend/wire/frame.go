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
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		if errors.Is(err, io.EOF) {
			return err
		}
		return fmt.Errorf("read frame length: %w", err)
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > MaxFrame {
		return fmt.Errorf("frame of %d bytes: %w", n, ErrTooLarge)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("read frame: %w", err)
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("decode frame: %w", err)
	}
	return nil
}

// ReadRequest reads and checks the first frame of a stream.
func ReadRequest(r io.Reader) (Request, error) {
	var q Request
	if err := ReadFrame(r, &q); err != nil {
		return Request{}, err
	}
	if err := q.Validate(); err != nil {
		return Request{}, err
	}
	return q, nil
}

// ReadReply reads a reply. A refusal comes back as its *Error.
func ReadReply(r io.Reader) (Reply, error) {
	var p Reply
	if err := ReadFrame(r, &p); err != nil {
		return Reply{}, err
	}
	if err := p.Validate(); err != nil {
		return Reply{}, err
	}
	if p.Error != nil {
		return p, p.Error
	}
	return p, nil
}
