package vt

// extTable gives cells under a link a number. Numbers no cell holds any more are
// collected when the table has grown.
type extTable struct {
	list  []extAttr
	index map[extAttr]uint32
	free  []uint32
	gcAt  int
	links budget
	byID  map[link]*link // those with an id, which share
}

const linkCost = 128 // bytes a link costs besides its text

func (e *extTable) init() {
	e.list, e.free = nil, nil
	e.index = map[extAttr]uint32{}
	e.byID = map[link]*link{}
	e.gcAt = 4096
	e.links = budget{limit: maxLinkBytes}
}

// of is what a cell's ext is for a style and link.
func (e *extTable) of(t *Terminal, bits uint32, l *link) uint32 {
	if l == nil {
		return bits
	}
	a := extAttr{bits, l}
	if i, ok := e.index[a]; ok {
		return extLink | i
	}
	if len(e.list)-len(e.free) >= e.gcAt {
		e.collect(t)
	}
	var i uint32
	if n := len(e.free); n > 0 {
		i = e.free[n-1]
		e.free = e.free[:n-1]
		e.list[i] = a
	} else {
		i = uint32(len(e.list))
		e.list = append(e.list, a)
	}
	e.index[a] = i
	return extLink | i
}

// get is the reverse of of.
func (e *extTable) get(ext uint32) (bits uint32, l *link) {
	if ext&extLink == 0 {
		return ext, nil
	}
	a := e.list[ext&^extLink]
	return a.bits, a.link
}

// collect frees the numbers that neither a cell nor the pen holds.
func (e *extTable) collect(t *Terminal) {
	used := make([]bool, len(e.list))
	t.eachLine(func(l *line) {
		for i := range l.cells {
			if ext := l.cells[i].ext; ext&extLink != 0 {
				used[ext&^extLink] = true
			}
		}
	})
	if t.dot.ext&extLink != 0 {
		used[t.dot.ext&^extLink] = true
	}
	live := 0
	links := map[*link]bool{}
	if t.pen.link != nil {
		links[t.pen.link] = true
	}
	e.free = e.free[:0]
	for i, a := range e.list {
		if used[i] {
			live++
			links[a.link] = true
			continue
		}
		delete(e.index, a)
		e.list[i] = extAttr{}
		e.free = append(e.free, uint32(i))
	}
	for k, l := range e.byID {
		if !links[l] {
			delete(e.byID, k)
		}
	}
	e.gcAt = max(4096, 2*live)
}

// bytes is what the links that cells show take.
func (e *extTable) bytes(t *Terminal) int {
	e.collect(t)
	n := 0
	seen := map[*link]bool{}
	for _, a := range e.list {
		if a.link != nil && !seen[a.link] {
			seen[a.link] = true
			n += len(a.link.uri) + len(a.link.id) + linkCost
		}
	}
	return n
}

// open makes a link, or returns nil when there are too many.
func (e *extTable) open(t *Terminal, id, uri string) *link {
	k := link{id, uri}
	if id != "" {
		if l, ok := e.byID[k]; ok {
			return l
		}
	}
	if len(uri) > maxURI || len(id) > maxURI {
		return nil
	}
	if !e.links.spend(len(uri)+len(id)+linkCost, func() int { return e.bytes(t) }) {
		return nil
	}
	l := &link{id, uri}
	if id != "" {
		e.byID[k] = l
	}
	return l
}
