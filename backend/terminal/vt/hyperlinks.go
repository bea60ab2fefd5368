package vt

import "maps"

// extTable gives cells under a link a number. Numbers that no cell holds any more are
// collected when the links have come to take too much.
type extTable struct {
	attrs map[uint32]extAttr
	index map[extAttr]uint32
	last  uint32 // number given
	taken budget
	byID  map[link]*link // those with an id, which share
}

const linkCost = 128 // bytes a link costs in each style, besides its text

func (e *extTable) init() {
	*e = extTable{attrs: map[uint32]extAttr{}, index: map[extAttr]uint32{}, byID: map[link]*link{}, taken: budget{limit: maxLinkBytes}}
}

func (a extAttr) bytes() int { return len(a.link.uri) + len(a.link.id) + linkCost }

// of is what a cell's ext is for a style and link: without the link where there are
// too many.
func (e *extTable) of(t *Terminal, bits uint32, l *link) uint32 {
	if l == nil {
		return bits
	}
	a := extAttr{bits, l}
	if i, ok := e.index[a]; ok {
		return extLink | i
	}
	if !e.taken.spend(a.bytes(), func() int { return e.collect(t) }) {
		return bits
	}
	e.last = (e.last + 1) &^ extLink
	e.attrs[e.last], e.index[a] = a, e.last
	return extLink | e.last
}

// get is the reverse of of.
func (e *extTable) get(ext uint32) (bits uint32, l *link) {
	if ext&extLink == 0 {
		return ext, nil
	}
	a := e.attrs[ext&^extLink]
	return a.bits, a.link
}

// collect forgets what neither a cell nor the pen holds, and says how many bytes the
// rest takes.
func (e *extTable) collect(t *Terminal) (bytes int) {
	used := map[uint32]bool{t.dot.ext: true}
	t.eachLine(func(l *line) {
		for i := range l.cells {
			if ext := l.cells[i].ext; ext&extLink != 0 {
				used[ext] = true
			}
		}
	})
	links := map[*link]bool{t.pen.link: true}
	for i, a := range e.attrs {
		if used[extLink|i] {
			links[a.link] = true
			bytes += a.bytes()
			continue
		}
		delete(e.index, a)
		delete(e.attrs, i)
	}
	maps.DeleteFunc(e.byID, func(_ link, l *link) bool { return !links[l] })
	return bytes
}

// open makes a link, or returns nil for one that is too long.
func (e *extTable) open(id, uri string) *link {
	l := &link{id, uri}
	if len(uri) > maxURI || len(id) > maxURI {
		return nil
	}
	if id == "" {
		return l
	}
	if known, ok := e.byID[*l]; ok {
		return known
	}
	e.byID[*l] = l
	return l
}
