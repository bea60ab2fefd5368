//go:build linux

package spool

import (
	"context"
	"math"
	"slices"
	"time"

	"loop/backend/wire"
)

// ringBlock is what a ring takes of memory at a time: a shell that shows its
// prompt and waits needs no more, and blocks leave nothing behind to collect.
const ringBlock = 32 << 10

// spare is what a hold leaves free of a ring, for what is on its way when the
// program ends: one read, and the 12 KiB that a terminal's own buffers hold.
const spare = 2 * wire.MaxChunk

// NewRing keeps the last size bytes. It takes memory as it fills.
func NewRing(size int) *Log {
	blocks := make([][]byte, (size+ringBlock-1)/ringBlock)
	return &Log{wake: make(chan struct{}), wakeAt: math.MaxInt64, max: int64(size), ring: blocks}
}

// NewPipe keeps as much as a ring of that size and loses nothing: what no Hold has
// taken is not overwritten, and the writer waits, with a reader or without one.
func NewPipe(size int) *Log {
	l := NewRing(size)
	l.kept = &Hold{l: l, ahead: l.max - spare}
	l.holds = append(l.holds, l.kept)
	return l
}

// Hold is one reader of a ring that the writer waits for. On a file it does
// nothing, since nothing of a file is ever lost.
type Hold struct {
	l     *Log
	ahead int64
	taken int64 // guarded by l.mu
}

// Hold lets the writer be at most ahead bytes before what the reader has taken,
// from off on, or from the first byte still there: start says which. A ring has no
// more ahead than it keeps. Until Release, bytes that were not taken are not
// overwritten.
func (l *Log) Hold(off, ahead int64) (h *Hold, start int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h = &Hold{l: l, ahead: min(ahead, l.max-spare), taken: max(off, l.base)}
	if l.file == nil && l.lifted && !l.ended {
		h.taken = max(h.taken, l.end-l.max+spare) // the program's last words need a place, too
	}
	l.holds = append(l.holds, h)
	if l.take(h.taken); l.kept != nil {
		l.changed()
	}
	l.come()
	return h, h.taken
}

// Expect holds a new ring for its first reader, but for no longer than wait: a
// program may print more than a ring keeps before whoever started it can ask
// for its output.
func (l *Log) Expect(wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.first = &Hold{l: l, ahead: l.max - spare}
	l.holds = append(l.holds, l.first)
	time.AfterFunc(wait, l.first.Release)
}

// come ends what Expect began. The lock is held.
func (l *Log) come() {
	if l.first != nil {
		l.drop(l.first)
		l.first = nil
	}
}

// Taken says that the reader has everything before off. It reports whether that
// can be true.
func (h *Hold) Taken(off int64) bool {
	h.l.mu.Lock()
	defer h.l.mu.Unlock()
	if off < h.taken || off > h.l.end {
		return false
	}
	full := h.l.free() <= 0
	h.taken = off
	h.l.take(off)
	if full && h.l.free() > 0 {
		h.l.changed()
	}
	return true
}

// take notes that a reader has the bytes of a pipe before off. The lock is held.
func (l *Log) take(off int64) {
	if l.kept != nil && off <= l.end {
		l.kept.taken = max(l.kept.taken, off)
	}
}

// Release lets the writer go on without this reader. It may be called twice, and for
// no hold.
func (h *Hold) Release() {
	if h == nil {
		return
	}
	h.l.mu.Lock()
	defer h.l.mu.Unlock()
	h.l.drop(h)
}

// drop takes a hold away. The lock is held.
func (l *Log) drop(h *Hold) {
	if i := slices.Index(l.holds, h); i >= 0 {
		l.holds = slices.Delete(l.holds, i, i+1)
		l.changed()
	}
}

// freeRing is how much a ring may take without passing a reader that it waits
// for. Once the program has ended there is nothing to hold up: then the whole
// ring is there for the rest. The lock is held.
func (l *Log) freeRing() int64 {
	free := int64(math.MaxInt64)
	for _, h := range l.holds {
		ahead := h.ahead
		if l.lifted {
			ahead = l.max
		}
		free = min(free, h.taken+ahead-l.end)
	}
	return free
}

// appendHeld puts p into the ring, waiting for a reader that began while p was
// being read.
func (l *Log) appendHeld(ctx context.Context, p []byte) bool {
	for len(p) > 0 {
		room := l.room(ctx)
		if room <= 0 {
			return false
		}
		p = p[l.appendRing(p):]
	}
	return true
}

// appendRing takes as much of p as it may.
func (l *Log) appendRing(p []byte) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	p = p[:min(int64(len(p)), max(0, l.freeRing()))]
	took := len(p)
	if skip := int64(len(p)) - l.max; skip > 0 {
		p = p[skip:]
		l.end += skip
		l.base = l.end
	}
	for len(p) > 0 {
		n := copy(l.block(l.end), p)
		l.end += int64(n)
		p = p[n:]
	}
	l.base = max(l.base, l.end-l.max)
	l.grew()
	return took
}

// copyRing copies what is at off, all of which is there. The lock is held.
func (l *Log) copyRing(p []byte, off int64) {
	for len(p) > 0 {
		n := copy(p, l.block(off))
		off += int64(n)
		p = p[n:]
	}
}

// block is the place of off and what follows it in memory. The lock is held.
func (l *Log) block(off int64) []byte {
	pos := off % l.max
	i := pos / ringBlock
	if l.ring[i] == nil {
		l.ring[i] = make([]byte, min(ringBlock, l.max-i*ringBlock))
	}
	return l.ring[i][pos-i*ringBlock:]
}
