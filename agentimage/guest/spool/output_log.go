//go:build linux

package spool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"syscall"
	"time"

	"loop/backend/wire"
)

// retryDisk is how often a write that met a full disk is tried again: often
// enough that a person who made room sees the run go on at once.
const retryDisk = time.Second

// disk bounds the file calls under way in this process: each may block a thread,
// and loop init has a fixed number of them (package threads).
var disk = make(chan struct{}, 8)

// ErrGap says that the bytes asked for are no longer there.
var ErrGap error = wire.NewError(wire.CodeGap, "the output was dropped before it was read")

// backing is what a file spool writes to; tests put a full disk in its place.
type backing interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Sync() error
}

// Log is one stream's output. Methods may be called from any goroutine, except
// that one goroutine at a time may call Drain.
type Log struct {
	file backing // nil for a ring
	max  int64   // past it a file's writer is paused, and a ring forgets

	mu     sync.Mutex // guards all below, and is never held during file I/O
	wake   chan struct{}
	wakeAt int64    // the first end that somebody waits for; math.MaxInt64 is none
	ring   [][]byte // in blocks, made as they are needed
	holds  []*Hold
	first  *Hold // for a reader that is still to come
	kept   *Hold // of a pipe, for whatever reader it has
	base   int64
	end    int64
	ended  bool
	typed  time.Time
	paused string
	lifted bool // the process has ended: what is left in its pipe may pass max
}

// NewFile keeps everything in a new file at path, up to limit bytes. The host
// reads the file after the container died, hence mode 0644; the directories
// above it keep everybody else out.
func NewFile(path string, limit int64) (*Log, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create spool: %w", err)
	}
	return newFile(f, limit), nil
}

func newFile(b backing, limit int64) *Log {
	return &Log{wake: make(chan struct{}), wakeAt: math.MaxInt64, file: b, max: limit}
}

// changed wakes every waiter. The lock is held.
func (l *Log) changed() {
	close(l.wake)
	l.wake = make(chan struct{})
	l.wakeAt = math.MaxInt64
}

// grew wakes those who wait for as much as there is now, or for more than there
// can be. The lock is held.
func (l *Log) grew() {
	if l.end >= l.wakeAt || l.free() <= 0 {
		l.changed()
	}
}

// State is where the log stands: the first offset still there, the end, and why
// the writer is held up (empty when it is not).
func (l *Log) State() (base, end int64, paused string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	paused = l.paused
	if l.file == nil && !l.ended && l.free() <= 0 {
		paused = wire.PausedReader
	}
	return l.base, l.end, paused
}

// Lift lets the writer pass the size limit. It is called when the process has
// ended, so that what its pipe still holds (64 KiB) is kept.
func (l *Log) Lift() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lifted = true
	l.changed()
}

// Drain copies r into the log until r ends or ctx is done, then marks the log
// ended. While the log is full it does not read, so the process blocks.
func (l *Log) Drain(ctx context.Context, r io.Reader) {
	defer l.finish()
	buf := make([]byte, wire.MaxChunk)
	for {
		room := l.room(ctx)
		if room <= 0 {
			return
		}
		n, err := r.Read(buf[:min(room, int64(len(buf)))])
		if n > 0 && !l.append(ctx, buf[:n]) {
			return
		}
		if err != nil {
			return // EOF; EIO when a terminal's last process is gone; closed by us
		}
	}
}

func (l *Log) finish() {
	if l.file != nil {
		disk <- struct{}{}
		_ = l.file.Sync() // best effort: the bytes are there for this kernel either way
		<-disk
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended, l.paused = true, ""
	l.changed()
}

// room waits until the log may grow and says by how much; 0 is never again.
func (l *Log) room(ctx context.Context) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	for ctx.Err() == nil {
		if room := l.free(); room > 0 {
			l.setPaused("")
			return room
		}
		if l.file != nil {
			l.setPaused(wire.PausedSpool)
		}
		if l.lifted && l.kept == nil {
			return 0 // a ring with a reader that is far behind; what the program printed is in it
		}
		l.wait(ctx, math.MaxInt64, nil)
	}
	return 0
}

// wait gives the lock back until the log changes or reaches end, late has come or ctx
// ends. It reports whether it was the log.
func (l *Log) wait(ctx context.Context, end int64, late <-chan time.Time) bool {
	l.wakeAt = min(l.wakeAt, end)
	wake := l.wake
	l.mu.Unlock()
	defer l.mu.Lock()
	select {
	case <-wake:
		return true
	case <-late:
	case <-ctx.Done():
	}
	return false
}

// free is by how much the log may grow now. The lock is held.
func (l *Log) free() int64 {
	switch {
	case l.file == nil:
		return l.freeRing()
	case l.lifted || l.end < l.max:
		return math.MaxInt64
	}
	return 0
}

// setPaused is called with the lock held.
func (l *Log) setPaused(why string) {
	if l.paused != why {
		l.paused = why
		l.changed()
	}
}

func (l *Log) append(ctx context.Context, p []byte) bool {
	if l.file == nil {
		return l.appendHeld(ctx, p)
	}
	for len(p) > 0 {
		l.mu.Lock()
		at := l.end // only this goroutine moves it
		l.mu.Unlock()
		disk <- struct{}{}
		n, err := l.file.WriteAt(p, at)
		<-disk
		l.mu.Lock()
		l.end += int64(n)
		if err == nil {
			l.setPaused("")
		} else {
			l.setPaused(wire.PausedDisk)
		}
		l.grew()
		l.mu.Unlock()
		p = p[n:]
		if err == nil {
			continue
		}
		select {
		case <-time.After(retryDisk):
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// Next waits for bytes at off, which is not past the end, and copies some of them to
// p. It returns io.EOF at the end of an ended log, ErrGap when the bytes are gone, and
// ctx's error.
func (l *Log) Next(ctx context.Context, p []byte, off int64) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		l.come()
		switch {
		case off < l.base:
			return 0, ErrGap
		case off < l.end:
			return l.readLocked(p, off)
		case l.ended:
			return 0, io.EOF
		case ctx.Err() != nil:
			return 0, ctx.Err()
		}
		l.wait(ctx, off+1, nil)
	}
}

// hurry is the time after an input in which nothing is gathered: the echo is wanted at
// once, in pieces too.
const hurry = 20 * time.Millisecond

// Hurry says that somebody has typed something.
func (l *Log) Hurry() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.typed = time.Now()
}

// Gather waits for the log to reach end, so that more of it is moved at a time,
// but for no longer than wait.
func (l *Log) Gather(ctx context.Context, end int64, wait time.Duration) {
	late := time.After(wait)
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.end < end && !l.ended && l.free() > 0 && time.Since(l.typed) >= hurry && l.wait(ctx, end, late) {
	}
}

// readLocked is called with the lock held, and gives it back while it reads a file.
func (l *Log) readLocked(p []byte, off int64) (int, error) {
	p = p[:min(int64(len(p)), l.end-off)]
	if l.file == nil {
		l.copyRing(p, off)
		return len(p), nil
	}
	l.mu.Unlock()
	defer l.mu.Lock()
	disk <- struct{}{}
	n, err := l.file.ReadAt(p, off)
	<-disk
	if n > 0 {
		return n, nil
	}
	if errors.Is(err, io.EOF) {
		// Somebody on the host cut the file: the end would be a lie.
		err = io.ErrUnexpectedEOF
	}
	return 0, fmt.Errorf("read spool: %w", err)
}

// Close gives the file back. Drain must have returned.
func (l *Log) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}
