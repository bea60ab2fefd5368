package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/docker/docker/pkg/stdcopy"
)

// demux reads the engine's framing of a stream without a terminal: 8-byte
// headers (stream number, three zero bytes, length) before each piece. Read
// yields stdout; pieces of stderr are written to stderr on the way. The client's
// own stdcopy would need a goroutine and a pipe to be read from, and takes as much
// memory as a length claims.
type demux struct {
	r      io.Reader
	stderr io.Writer
	left   int64 // bytes of the stdout piece still to come
}

// errSystem comes before the engine's words about the stream itself.
var errSystem = errors.New("engine reported an error on the stream")

func (d *demux) Read(p []byte) (int, error) {
	for d.left == 0 && len(p) > 0 {
		var h [8]byte
		if _, err := io.ReadFull(d.r, h[:]); err != nil {
			return 0, err // io.EOF exactly between two pieces
		}
		n := int64(binary.BigEndian.Uint32(h[4:]))
		switch stdcopy.StdType(h[0]) {
		case stdcopy.Stdin, stdcopy.Stdout:
			d.left = n
		case stdcopy.Stderr:
			if _, err := io.CopyN(d.stderr, d.r, n); err != nil {
				return 0, inPiece(err)
			}
		case stdcopy.Systemerr:
			words, _ := io.ReadAll(io.LimitReader(d.r, min(n, stderrTail))) // as far as they came
			return 0, fmt.Errorf("%w: %s", errSystem, words)
		default:
			return 0, fmt.Errorf("engine stream: unknown stream number %d", h[0])
		}
	}
	n, err := d.r.Read(p[:min(int64(len(p)), d.left)])
	if d.left -= int64(n); d.left == 0 && errors.Is(err, io.EOF) {
		return n, nil // the next call says so
	}
	return n, inPiece(err)
}

// inPiece is the error of a stream that ends where a piece goes on.
func inPiece(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// tail keeps the last bytes written to it. Safe for any goroutine.
type tail struct {
	max int
	mu  sync.Mutex
	buf bytes.Buffer
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf.Write(p)
	t.buf.Next(max(0, t.buf.Len()-t.max))
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}
