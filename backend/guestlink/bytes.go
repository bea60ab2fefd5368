package guestlink

import (
	"context"
	"errors"
	"fmt"
	"io"

	"loop/backend/core"
	"loop/backend/wire"
)

// ErrGap means that a follower fell behind a ring and bytes were lost; read
// again from the offset it is wrapped with (GapError).
var ErrGap = errors.New("output was dropped before it was read")

// Reader is what Link.Read returns. Offset is the absolute offset of the first
// byte: later than the one asked for when a ring no longer has that.
type Reader interface {
	io.ReadCloser
	Offset() int64
}

// Read follows an output; the result is a Reader. It ends with io.EOF only when
// the process has ended and every byte was read.
func (l *Link) Read(ctx context.Context, id core.SpawnID, stream string, offset int64) (io.ReadCloser, error) {
	c, p, stop, err := l.begin(ctx, wire.Request{Op: wire.OpRead, ID: string(id), Stream: stream, Offset: offset})
	if err != nil {
		return nil, err
	}
	if p.Offset < offset {
		stop()
		_ = c.Close()
		return nil, l.down(ctx, fmt.Errorf("read starts at %d before %d", p.Offset, offset))
	}
	return &reader{l: l, ctx: ctx, c: c, stop: stop, chunks: wire.NewChunkReader(c), offset: p.Offset}, nil
}

type reader struct {
	l      *Link
	ctx    context.Context // of the read: it interrupts
	c      *guestConn
	stop   func() bool
	chunks *wire.ChunkReader
	offset int64
}

func (r *reader) Offset() int64 { return r.offset }

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.chunks.Read(p)
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	if e, ok := errors.AsType[*wire.Error](err); ok && e.Code == wire.CodeGap {
		return n, fmt.Errorf("%w: %w", ErrGap, e)
	}
	return n, r.l.down(r.ctx, err)
}

func (r *reader) Close() error {
	r.stop()
	return r.c.Close()
}

// Stdin writes to a terminal or an open pipe. Close waits until the last byte
// was written and closes the pipe; a link that breaks leaves it open.
func (l *Link) Stdin(ctx context.Context, id core.SpawnID) (io.WriteCloser, error) {
	c, _, stop, err := l.begin(ctx, wire.Request{Op: wire.OpStdin, ID: string(id)})
	if err != nil {
		return nil, err
	}
	return &writer{l: l, ctx: ctx, c: c, stop: stop, chunks: wire.NewChunkWriter(c)}, nil
}

type writer struct {
	l      *Link
	ctx    context.Context
	c      *guestConn
	stop   func() bool
	chunks *wire.ChunkWriter
	closed bool
}

func (w *writer) Write(p []byte) (int, error) {
	n, err := w.chunks.Write(p)
	if err != nil {
		return n, w.why(err)
	}
	return n, nil
}

// why prefers the guest's reason for closing its end to our write's error.
func (w *writer) why(err error) error {
	if _, rerr := wire.ReadReply(w.c); rerr != nil {
		if e, ok := errors.AsType[*wire.Error](rerr); ok {
			return refused(e)
		}
	}
	return w.l.down(w.ctx, err)
}

func (w *writer) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	defer func() { w.stop(); _ = w.c.Close() }()
	if err := w.chunks.End(wire.Reply{}); err != nil {
		return w.why(err)
	}
	if _, err := wire.ReadReply(w.c); err != nil {
		return w.l.down(w.ctx, err)
	}
	return nil
}
