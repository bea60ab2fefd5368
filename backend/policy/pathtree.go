package policy

import (
	"math"
	"slices"
	"strings"
)

// slot is the column of a node: an operation, or the making of a folder.
type slot int

const (
	slotRead slot = iota
	slotWrite
	slotCreate
	slotDelete
	slotStat
	slotList
	slotChmod
	slotChown
	slotLink
	slotFolder
	slots
)

// slotOf is the column of an operation; false is an operation that does not exist.
func slotOf(op Operation) (slot, bool) {
	for i, known := range operations {
		if op == known {
			return slot(i), true
		}
	}
	return 0, false
}

// operations in the order of the slots.
var operations = [...]Operation{Read, Write, Create, Delete, Stat, List, Chmod, Chown, Link}

const noRule = math.MaxInt32

// node stands for the beginning of patterns. A tree of them finds every rule that
// matches a path while it looks at each name of the path once.
type node struct {
	names  map[string]*node
	folded map[string]*node // names in lower case, of patterns from .git or its like on
	any    *node            // “*”
	globs  []globEdge
	deep   *node // “**”: reached without a name, and stays
	loops  bool  // this is a “**”
	// first is the first rule whose pattern ends here.
	first [slots]int32
}

type globEdge struct {
	segment segment
	to      *node
}

func newNode() *node {
	n := &node{}
	for i := range n.first {
		n.first[i] = noRule
	}
	return n
}

// add makes the nodes of a pattern and says how many of them are new.
func (n *node) add(pattern []segment, on []slot, rule int32) (made int) {
	for _, s := range pattern {
		to := n.edge(s)
		if to == nil {
			to, made = newNode(), made+1
			n.setEdge(s, to)
		}
		n = to
	}
	for _, s := range on {
		n.first[s] = min(n.first[s], rule)
	}
	return made
}

func (n *node) edge(s segment) *node {
	switch {
	case s.deep:
		return n.deep
	case s.glob == nil && s.fold:
		return n.folded[s.lit]
	case s.glob == nil:
		return n.names[s.lit]
	case s.isAny():
		return n.any
	}
	for _, e := range n.globs {
		if e.segment.key == s.key {
			return e.to
		}
	}
	return nil
}

func (n *node) setEdge(s segment, to *node) {
	switch {
	case s.deep:
		to.loops, n.deep = true, to
	case s.glob == nil && s.fold:
		if n.folded == nil {
			n.folded = map[string]*node{}
		}
		n.folded[s.lit] = to
	case s.glob == nil:
		if n.names == nil {
			n.names = map[string]*node{}
		}
		n.names[s.lit] = to
	case s.isAny():
		n.any = to
	default:
		n.globs = append(n.globs, globEdge{s, to})
	}
}

func (s segment) isAny() bool { return len(s.glob) == 1 && s.glob[0].kind == '*' }

// reached are the nodes that the names so far lead to.
type reached []*node

func (r reached) with(n *node) reached {
	// A name can lead to one node by several ways only through a “**”.
	if n.loops && slices.Contains(r, n) {
		return r
	}
	r = append(r, n)
	if n.deep != nil {
		return r.with(n.deep)
	}
	return r
}

func (r reached) step(name string, next reached) reached {
	lower, lowered := "", false
	for _, n := range r {
		if n.loops {
			next = next.with(n)
		}
		if to := n.names[name]; to != nil {
			next = next.with(to)
		}
		if n.folded != nil {
			if !lowered {
				lower, lowered = lowerASCII(name), true
			}
			if to := n.folded[lower]; to != nil {
				next = next.with(to)
			}
		}
		if n.any != nil {
			next = next.with(n.any)
		}
		for i := range n.globs {
			e := &n.globs[i]
			text := name
			if e.segment.fold {
				text = lowerASCII(name)
			}
			if matches(e.segment.glob, text) {
				next = next.with(e.to)
			}
		}
	}
	return next
}

// walk follows a path; ok is false for one that no kernel resolved. exact is for
// abstract sockets, in whose names slashes and dots mean nothing.
func (n *node) walk(path string, exact bool, buffers *[2][32]*node) (at reached, ok bool) {
	at, next := reached(buffers[0][:0]).with(n), reached(buffers[1][:0])
	if !exact {
		if !strings.HasPrefix(path, "/") {
			return nil, false
		}
		path = path[1:]
	}
	for more := true; more; {
		var name string
		if i := strings.IndexByte(path, '/'); i >= 0 {
			name, path = path[:i], path[i+1:]
		} else {
			name, path, more = path, "", false
		}
		if !exact {
			if name == "" || name == "." {
				continue
			}
			if name == ".." {
				return nil, false
			}
		}
		if len(at) == 0 {
			continue // the rest is only looked at for “..”
		}
		at, next = at.step(name, next[:0]), at
	}
	return at, true
}

// decide is the first rule that ends at one of the nodes.
func (r reached) decide(s slot) int32 {
	rule := int32(noRule)
	for _, n := range r {
		rule = min(rule, n.first[s])
	}
	return rule
}

// covers is the first rule that covers the folder and everything below it.
func (r reached) covers(s slot) int32 {
	rule := int32(noRule)
	for _, n := range r {
		if n.loops {
			rule = min(rule, n.first[s])
		}
	}
	return rule
}

// below calls visit for every rule that could end at a node or below it.
func (n *node) below(s slot, visit func(rule int32)) {
	if n.first[s] != noRule {
		visit(n.first[s])
	}
	for _, to := range n.names {
		to.below(s, visit)
	}
	for _, to := range n.folded {
		to.below(s, visit)
	}
	if n.any != nil {
		n.any.below(s, visit)
	}
	for i := range n.globs {
		n.globs[i].to.below(s, visit)
	}
	if n.deep != nil {
		n.deep.below(s, visit)
	}
}
