package terminal

// RingSize is the seed's scrollback buffer.
const RingSize = 1 << 20

// ring keeps the last RingSize bytes of a stream by absolute offset. It grows as
// output comes, because most terminals never print a megabyte: fifty idle ones must
// not take fifty. It has no lock of its own.
type ring struct {
	buf       []byte
	at        int // of the oldest byte in a full buf, where the next one goes
	base, end int64
}

func (r *ring) write(p []byte) {
	r.end += int64(len(p))
	n := min(len(p), RingSize-len(r.buf))
	r.buf = append(r.buf, p[:n]...)
	for p = p[n:]; len(p) > 0; p = p[n:] {
		n = copy(r.buf[r.at:], p)
		r.at = (r.at + n) % RingSize
	}
	r.base = max(r.base, r.end-RingSize)
}

// read copies what there is at off; off is within base and end.
func (r *ring) read(p []byte, off int64) int {
	p = p[:min(int64(len(p)), r.end-off)]
	n := 0
	for n < len(p) {
		n += copy(p[n:], r.buf[(r.at+n+int(off-r.base))%RingSize:])
	}
	return n
}
