package terminal

// Sizes of a session's ring. It grows as output comes, because most terminals
// never print a megabyte: fifty idle ones must not take fifty.
const (
	RingSize  = 1 << 20 // the seed's scrollback buffer
	ringFirst = 16 << 10
)

// ring keeps the last RingSize bytes of a stream by absolute offset. It has no
// lock of its own.
type ring struct {
	buf       []byte
	base, end int64
}

func (r *ring) write(p []byte) {
	if over := len(p) - RingSize; over > 0 {
		r.end += int64(over)
		r.base = r.end // nothing of what was there stays
		p = p[over:]
	}
	if need := int(r.end-r.base) + len(p); need > len(r.buf) && len(r.buf) < RingSize {
		r.grow(need)
	}
	size := int64(len(r.buf))
	at := r.end % size
	n := copy(r.buf[at:], p)
	copy(r.buf, p[n:])
	r.end += int64(len(p))
	r.base = max(r.base, r.end-size)
}

func (r *ring) grow(need int) {
	size := max(len(r.buf), ringFirst)
	for size < need && size < RingSize {
		size *= 2
	}
	next := make([]byte, size)
	for off := r.base; off < r.end; {
		p := r.piece(off)
		at := off % int64(size)
		n := copy(next[at:], p)
		copy(next, p[n:])
		off += int64(len(p))
	}
	r.buf = next
}

// piece is the longest run of bytes at off that lie together.
func (r *ring) piece(off int64) []byte {
	size := int64(len(r.buf))
	at := off % size
	return r.buf[at:min(size, at+r.end-off)]
}

// read copies what there is at off; off is within base and end.
func (r *ring) read(p []byte, off int64) int {
	n := 0
	for n < len(p) && off < r.end {
		c := copy(p[n:], r.piece(off))
		n, off = n+c, off+int64(c)
	}
	return n
}
