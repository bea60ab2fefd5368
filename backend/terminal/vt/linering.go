package vt

// ring is a list of lines of bounded length; pushing onto a full one drops the
// first. It keeps its start where xterm.js's list keeps it: one of the corners
// of reflow shows the difference.
type ring struct {
	slots []*line
	start int
	n     int
}

// reset empties it.
func (r *ring) reset(capacity int) {
	if capacity == len(r.slots) {
		clear(r.slots)
	} else {
		r.slots = make([]*line, capacity)
	}
	r.start, r.n = 0, 0
}

func (r *ring) full() bool { return r.n == len(r.slots) }

// slot is where the i-th line is; reflow asks for places before the first, which
// may come out negative: nowhere.
func (r *ring) slot(i int) int {
	i += r.start
	if uint(i) >= uint(len(r.slots)) {
		i %= len(r.slots)
	}
	return i
}

// get returns what is in a slot, which past the end may be a line dropped
// before, or nil.
func (r *ring) get(i int) *line {
	if s := r.slot(i); s >= 0 {
		return r.slots[s]
	}
	return nil
}

func (r *ring) set(i int, l *line) {
	if s := r.slot(i); s >= 0 {
		r.slots[s] = l
	}
}

func (r *ring) push(l *line) {
	r.slots[r.slot(r.n)] = l
	if r.full() {
		r.start = (r.start + 1) % len(r.slots)
	} else {
		r.n++
	}
}

func (r *ring) pop() { r.n = max(r.n-1, 0) }

// recycle makes the first line of a full ring its last.
func (r *ring) recycle() {
	if r.start++; r.start >= len(r.slots) {
		r.start %= len(r.slots)
	}
}

func (r *ring) trimStart(count int) {
	count = min(count, r.n)
	for i := range count {
		r.set(i, nil) // let go of the memory
	}
	r.start += count // not wrapped around until lines are recycled, as in xterm.js
	r.n -= count
}

// setCap changes the capacity; lines past a smaller one are lost.
func (r *ring) setCap(capacity int) {
	if capacity == len(r.slots) {
		return
	}
	slots := make([]*line, capacity)
	for i := range min(capacity, r.n) {
		slots[i] = r.get(i)
	}
	r.slots, r.start = slots, 0
}

// rotate moves the line at from to the place to, shifting those between.
func (r *ring) rotate(from, to int) *line {
	l := r.get(from)
	for i := from; i < to; i++ {
		r.set(i, r.get(i+1))
	}
	for i := from; i > to; i-- {
		r.set(i, r.get(i-1))
	}
	r.set(to, l)
	return l
}

// remove and insert are xterm.js's splice, for when what they are asked does not
// lie within the list.
func (r *ring) remove(i int) {
	for ; i < r.n-1; i++ {
		r.set(i, r.get(i+1))
	}
	r.pop()
}

func (r *ring) insert(at int, l *line) {
	for i := r.n - 1; i >= at; i-- {
		r.set(i+1, r.get(i))
	}
	r.set(at, l)
	if r.full() {
		r.start++
	} else {
		r.n++
	}
}
