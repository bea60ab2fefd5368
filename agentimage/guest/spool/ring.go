//go:build linux

package spool

import (
	"context"
	"math"
	"slices"

	"loop/backend/wire"
)

// firstRing is what a ring takes at first: a shell that shows its prompt and
// waits needs no more.
const firstRing = 16 << 10

// spare is what a hold leaves free of a ring, for what is on its way when the
// program ends: one read, and the 12 KiB that a terminal's own buffers hold.
const spare = 2 * wire.MaxChunk

// NewRing keeps the last size bytes. It takes memory as it fills.
func NewRing(size int) *Log {
	return &Log{wake: make(chan struct{}), max: int64(size)}
}

// Hold is one reader of a ring that the writer waits for. On a file it does
// nothing, since nothing of a file is ever lost.
type Hold struct {
	l     *Log
	ahead int64
	taken int64 // guarded by l.mu
}

// MaxAhead is the most that a writer may be ahead of a Hold.
func (l *Log) MaxAhead() int64 { return l.max - spare }

// Hold lets the writer be at most ahead bytes before what the reader has taken,
// from off on, or from the first byte still there: start says which. Until
// Release, bytes that were not taken are not overwritten.
func (l *Log) Hold(off, ahead int64) (h *Hold, start int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h = &Hold{l: l, ahead: ahead, taken: max(off, l.base)}
	l.holds = append(l.holds, h)
	return h, h.taken
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
	if full && h.l.free() > 0 {
		h.l.changed()
	}
	return true
}

// Release lets the writer go on without this reader. It may be called twice.
func (h *Hold) Release() {
	h.l.mu.Lock()
	defer h.l.mu.Unlock()
	if i := slices.Index(h.l.holds, h); i >= 0 {
		h.l.holds = slices.Delete(h.l.holds, i, i+1)
		h.l.changed()
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
	if free := max(0, l.freeRing()); int64(len(p)) > free {
		p = p[:free]
	}
	took := len(p)
	if skip := int64(len(p)) - l.max; skip > 0 {
		p = p[skip:]
		l.end += skip
		l.base = l.end
	}
	l.growRing(int64(len(p)))
	size := int64(len(l.ring))
	n := copy(l.ring[l.end%size:], p)
	copy(l.ring, p[n:])
	l.end += int64(len(p))
	l.base = max(l.base, l.end-size)
	l.changed()
	return took
}

// growRing makes room for n more bytes, up to max.
func (l *Log) growRing(n int64) {
	need := min(l.end-l.base+n, l.max)
	size := int64(len(l.ring))
	if need <= size {
		return
	}
	for size = max(size, min(firstRing, l.max)); size < need; size *= 2 {
	}
	grown := make([]byte, min(size, l.max))
	size = int64(len(grown))
	for off := l.base; off < l.end; {
		part := grown[off%size:]
		part = part[:min(int64(len(part)), l.end-off)]
		l.copyRing(part, off)
		off += int64(len(part))
	}
	l.ring = grown
}

// copyRing copies what is at off, all of which is there.
func (l *Log) copyRing(p []byte, off int64) {
	n := copy(p, l.ring[off%int64(len(l.ring)):])
	copy(p[n:], l.ring)
}
