package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

// demux reads the engine's framing of a stream without a terminal: 8-byte
// headers (stream number, three zero bytes, length) before each piece. Read
// yields stdout; pieces of stderr are handed to stderr on the way. It holds no
// more than one header, whatever the lengths claim.
type demux struct {
	r      io.Reader
	stderr func([]byte)
	left   int // bytes of the stdout piece still to come
	buf    [4096]byte
}

// errSystem is what the engine says about the stream itself (stream number 3).
var errSystem = errors.New("engine reported an error on the stream")

func (d *demux) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for d.left == 0 {
		var h [8]byte
		if _, err := io.ReadFull(d.r, h[:]); err != nil {
			return 0, err // io.EOF exactly between two pieces
		}
		n := int64(binary.BigEndian.Uint32(h[4:]))
		switch h[0] {
		case 0, 1:
			d.left = int(n)
		case 2:
			if err := d.drain(n, d.stderr); err != nil {
				return 0, err
			}
		case 3:
			var msg []byte
			_ = d.drain(n, func(b []byte) {
				if len(msg) < len(d.buf) {
					msg = append(msg, b...)
				}
			})
			return 0, fmt.Errorf("%w: %s", errSystem, msg)
		default:
			return 0, fmt.Errorf("engine stream: unknown stream number %d", h[0])
		}
	}
	if len(p) > d.left {
		p = p[:d.left]
	}
	n, err := d.r.Read(p)
	d.left -= n
	if err == io.EOF && d.left > 0 {
		err = io.ErrUnexpectedEOF
	} else if err == io.EOF && n > 0 {
		err = nil
	}
	return n, err
}

func (d *demux) drain(n int64, to func([]byte)) error {
	for n > 0 {
		b := d.buf[:min(n, int64(len(d.buf)))]
		k, err := d.r.Read(b)
		if k > 0 && to != nil {
			to(b[:k])
		}
		n -= int64(k)
		if err != nil && n > 0 {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// tail keeps the last bytes written to it. Safe for any goroutine.
type tail struct {
	mu  sync.Mutex
	max int
	buf []byte
}

func (t *tail) add(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - t.max; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
