package guestlink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"loop/backend/core"
	"loop/backend/wire"
)

// Read follows an output. It ends with io.EOF only when the process has ended and
// every byte was read. A reader that falls behind a ring gets an error. A new Read from
// its last offset begins with the first byte that is still there; the result has
// Offset() int64, which says where that is.
func (l *Link) Read(ctx context.Context, id core.SpawnID, stream string, offset int64) (io.ReadCloser, error) {
	return l.read(ctx, wire.Request{Op: wire.OpRead, ID: string(id), Stream: stream, Offset: offset})
}

// heldAhead is how far a program may run ahead of its reader: as much as one
// stream's window, so that it costs no throughput, and little enough that an
// interrupt under a flood is seen at once. A mark is sent for every heldMark.
const (
	heldAhead = wire.Window
	heldMark  = heldAhead / 4
)

// ReadHeld follows a program that waits for this reader instead of dropping what
// it has not read. Bytes that were returned count as read. With the stream or the link
// the hold of a terminal ends at once: a new ReadHeld says by its Offset what was lost
// in between. A program that pauses waits for the new one.
func (l *Link) ReadHeld(ctx context.Context, id core.SpawnID, stream string, offset int64) (io.ReadCloser, error) {
	return l.read(ctx, wire.Request{Op: wire.OpRead, ID: string(id), Stream: stream, Offset: offset, Hold: heldAhead})
}

func (l *Link) read(ctx context.Context, q wire.Request) (io.ReadCloser, error) {
	c, p, err := l.begin(ctx, q)
	if err != nil {
		return nil, err
	}
	if p.Offset < q.Offset {
		_ = c.Close()
		return nil, l.down(ctx, fmt.Errorf("read starts at %d before %d", p.Offset, q.Offset))
	}
	return &reader{hostStream: c, l: l, ctx: ctx, chunks: wire.NewChunkReader(c), offset: p.Offset, held: q.Hold > 0}, nil
}

type reader struct {
	*hostStream
	l      *Link
	ctx    context.Context // of the read: it interrupts
	chunks *wire.ChunkReader
	offset int64
	held   bool
	taken  int64 // bytes since offset
	marked int64 // of them, those the guest knows of
}

// Offset is the absolute offset of the first byte: later than the one asked for when a
// ring no longer has that.
func (r *reader) Offset() int64 { return r.offset }

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.chunks.Read(p)
	if r.taken += int64(n); r.held && r.taken-r.marked >= heldMark {
		r.marked = r.taken
		// A stream that takes no mark is broken, and the next read says so.
		_ = wire.WriteMark(r.hostStream, r.offset+r.taken)
	}
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	return n, r.l.down(r.ctx, err)
}

// Stdin writes to a terminal or an open pipe. Close waits until the last byte
// was written and closes the pipe; a link that breaks leaves it open. When the
// program ends, a write under way returns and the stream is given back.
func (l *Link) Stdin(ctx context.Context, id core.SpawnID) (io.WriteCloser, error) {
	return l.write(ctx, id, wire.StreamIn)
}

// Feed is Stdin for a pipe that the program reads at fd.
func (l *Link) Feed(ctx context.Context, id core.SpawnID, fd int) (io.WriteCloser, error) {
	return l.write(ctx, id, strconv.Itoa(fd))
}

func (l *Link) write(ctx context.Context, id core.SpawnID, stream string) (io.WriteCloser, error) {
	c, _, err := l.begin(ctx, wire.Request{Op: wire.OpStdin, ID: string(id), Stream: stream})
	if err != nil {
		return nil, err
	}
	w := &writer{l: l, ctx: ctx, c: c, chunks: wire.NewChunkWriter(c), answered: make(chan struct{})}
	go w.listen() // until the guest answers, ctx ends or the link is down
	return w, nil
}

type writer struct {
	l        *Link
	ctx      context.Context
	c        *hostStream
	chunks   *wire.ChunkWriter
	closed   bool
	answered chan struct{} // closed when there is an answer
	answer   error
}

// listen takes the guest's one answer. One that comes before our end mark is its
// reason to take no more; a write that waits for room would never hear of it.
func (w *writer) listen() {
	_, w.answer = wire.ReadReply(w.c)
	close(w.answered)
	_ = w.c.Close()
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
	<-w.answered // whatever failed the write ends the wait for it too
	if e, ok := errors.AsType[*wire.Error](w.answer); ok {
		return refused(e)
	}
	return w.l.down(w.ctx, err)
}

func (w *writer) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	err := w.chunks.End(wire.Reply{})
	<-w.answered
	switch e, ok := errors.AsType[*wire.Error](w.answer); {
	case ok:
		return refused(e)
	case w.answer != nil:
		return w.l.down(w.ctx, cmp.Or(err, w.answer))
	}
	return nil
}
