package checkpoints

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"strings"
)

// Kind is what a path was.
type Kind byte

// Kinds. Of those that are left out a tree says only that they were there.
const (
	File    Kind = 'f'
	Link    Kind = 'l'
	Empty   Kind = 'd' // a folder with nothing in it
	Ignored Kind = 'i' // by git: a file, or a folder with all that is in it
	Large   Kind = 'b' // a file over the limit
	Other   Kind = 'o' // a pipe, a name that is no text, what could not be read
)

// Hash names contents and trees.
type Hash [sha256.Size]byte

// Entry is one path of a tree.
type Entry struct {
	Path  string // with slashes
	Kind  Kind
	Mode  uint16 // permission bits
	Racy  bool   // it was written so shortly before that its times prove nothing
	Size  int64
	MTime int64 // ns since the epoch
	CTime int64
	Inode uint64
	Sum   Hash   // of a file's content
	Link  string // where a link leads
}

// Kept reports whether the tree has what is needed to bring it back.
func (e *Entry) Kept() bool { return e != nil && (e.Kind == File || e.Kind == Link) }

// same reports whether two entries would be the same file to a reader.
func (e *Entry) same(o *Entry) bool {
	return e.Kind == o.Kind && (e.Kind == Link && e.Link == o.Link || e.Kind == File && e.Sum == o.Sum && e.Mode == o.Mode)
}

// Same reports whether two entries would be the same file to a reader; nil is no file.
func Same(a, b *Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.same(b)
}

// unchanged reports whether the file on the disk needs no reading: it is as it was last seen.
func (e *Entry) unchanged(now *Entry) bool {
	return e.Kind == File && now.Kind == File && !e.Racy && e.Size == now.Size && e.MTime == now.MTime && e.CTime == now.CTime &&
		e.Inode == now.Inode && e.Mode == now.Mode
}

// Tree is a folder at a moment. It does not change.
type Tree struct {
	Entries []Entry // by path
	at      map[string]int32
}

func inOrder(entries []Entry) {
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
}

func newTree(entries []Entry) *Tree {
	inOrder(entries)
	t := &Tree{Entries: entries, at: make(map[string]int32, len(entries))}
	for i := range entries {
		t.at[entries[i].Path] = int32(i) //nolint:gosec // MaxFiles is far below
	}
	return t
}

// Entry returns what the tree has at a path; nil is nothing.
func (t *Tree) Entry(path string) *Entry {
	if i, ok := t.at[path]; ok {
		return &t.Entries[i]
	}
	return nil
}

// LeftOut reports whether the tree knows that there was something at a path, or in a folder
// on the way to it, which was not kept.
func (t *Tree) LeftOut(path string) *Entry {
	for p := path; p != ""; {
		if e := t.Entry(p); e != nil && e.Kind != Empty && !e.Kept() {
			return e
		}
		i := strings.LastIndexByte(p, '/')
		p = p[:max(i, 0)]
	}
	return nil
}

// tracked reports whether a path is kept, or is a folder with something kept in it.
func (t *Tree) tracked(path string) bool {
	if e := t.Entry(path); e != nil {
		return e.Kept()
	}
	dir := path + "/"
	i, _ := slices.BinarySearchFunc(t.Entries, dir, func(e Entry, p string) int { return strings.Compare(e.Path, p) })
	for ; i < len(t.Entries) && strings.HasPrefix(t.Entries[i].Path, dir); i++ {
		if t.Entries[i].Kept() {
			return true
		}
	}
	return false
}

// Change is a path that two trees do not have alike. A nil side has nothing there.
type Change struct {
	Path     string
	From, To *Entry
}

// Changes are what is kept in one of two trees and not alike in the other, by path. What one
// of them left out is none: nobody knows how it was.
func Changes(from, to *Tree) []Change {
	var out []Change
	add := func(p string) {
		a, b := from.Entry(p), to.Entry(p)
		if !a.Kept() && !b.Kept() || a.Kept() && b.Kept() && a.same(b) {
			return
		}
		if !a.Kept() && from.LeftOut(p) != nil || !b.Kept() && to.LeftOut(p) != nil {
			return
		}
		c := Change{Path: p}
		if a.Kept() {
			c.From = a
		}
		if b.Kept() {
			c.To = b
		}
		out = append(out, c)
	}
	for i := range from.Entries {
		add(from.Entries[i].Path)
	}
	for i := range to.Entries {
		if p := to.Entries[i].Path; from.Entry(p) == nil {
			add(p)
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// Unkept are the paths of a tree that were too large, and how many were of no kind that is kept.
func (t *Tree) Unkept() (large []string, others int) {
	for i := range t.Entries {
		switch e := &t.Entries[i]; e.Kind {
		case Large:
			large = append(large, e.Path)
		case Other:
			others++
		}
	}
	return large, others
}
