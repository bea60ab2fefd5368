package checkpoints

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"loop/backend/atomicfile"
	"loop/backend/core"
	"loop/backend/filesearch"
)

// settings is the folder of a project's own settings, which may hold a key. It is not kept, so
// that no key outlives its removal there, and stays as it is.
const settings = ".loop"

// racy is how long before a look a file must have been written for its times to prove that it
// stayed the same: file systems count in steps of up to two seconds.
const racy = 2 * time.Second

// partName begins the names of files that are being written.
const partName = ".loop-rewind-"

// Limits of one checkpoint; zero values are the package's.
type Limits struct {
	Files int
	Bytes int64
	File  int64
}

// Errors that say why there is no checkpoint.
var (
	ErrTooMany = errors.New("the folder has too many files")
	ErrTooMuch = errors.New("the folder's files are too large together")
)

// Taker takes checkpoints.
type Taker struct {
	Store  Store
	Limits Limits
	Now    func() time.Time
}

// Take keeps the files of a folder. base is the tree before it, for files that did not change,
// and what also has is looked at although git may ignore it by now. It returns the tree, which
// is stored.
func (k Taker) Take(ctx context.Context, f core.WorkFolder, base *Tree, baseHash Hash, also ...*Tree) (*Tree, Hash, error) {
	t := &taking{Taker: k, began: k.Now(), base: base}
	if t.base == nil {
		t.base = newTree(nil)
	}
	tracked := func(p string) bool {
		for _, a := range also {
			if a.tracked(p) {
				return true
			}
		}
		return t.base.tracked(p)
	}
	covered := func(p string) bool { return p == settings || f.Covered != nil && f.Covered(p) }
	if base == nil {
		// Nothing is kept of a folder of which there can be no checkpoint.
		m := measuring{most: k.Limits.or()}
		if err := filesearch.Each(ctx, f.Root, covered, tracked, func(s filesearch.Seen) error { return m.see(ctx, s) }); err != nil {
			return nil, Hash{}, err
		}
	}
	if err := filesearch.Each(ctx, f.Root, covered, tracked, func(s filesearch.Seen) error { return t.see(ctx, s) }); err != nil {
		return nil, Hash{}, err
	}
	inOrder(t.out)
	if base != nil && slices.Equal(t.out, base.Entries) {
		return base, baseHash, nil
	}
	tree := newTree(t.out)
	h, err := k.Store.PutTree(tree, base, baseHash)
	return tree, h, err
}

type taking struct {
	Taker
	began time.Time
	base  *Tree
	out   []Entry
	bytes int64
}

func (l Limits) or() Limits {
	if l.Files == 0 {
		l.Files = MaxFiles
	}
	if l.Bytes == 0 {
		l.Bytes = MaxBytes
	}
	if l.File == 0 {
		l.File = MaxFile
	}
	return l
}

func (t *taking) see(ctx context.Context, s filesearch.Seen) error {
	most := t.Limits.or()
	if len(t.out) >= most.Files {
		return ErrTooMany
	}
	if len(t.out)%512 == 0 && ctx.Err() != nil {
		return ctx.Err()
	}
	if s.Odd || !validPath(s.Path) || strings.HasPrefix(s.Name, partName) {
		if !s.Odd && validPath(s.Path) {
			t.out = append(t.out, Entry{Path: s.Path, Kind: Ignored})
		}
		return nil
	}
	e := Entry{Path: s.Path, Kind: Other}
	switch {
	case s.Ignored:
		e.Kind = Ignored
	case s.Empty:
		e.Kind = Empty
	default:
		info, err := s.Dir.Lstat(s.Name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // gone by now
		}
		if err == nil {
			err = t.look(s, info, &e)
		}
		if err != nil {
			return err
		}
	}
	if t.bytes += e.Size; e.Kind == File && t.bytes > most.Bytes {
		return ErrTooMuch
	}
	t.out = append(t.out, e)
	return nil
}

// measuring adds up what a checkpoint would have.
type measuring struct {
	most  Limits
	files int
	bytes int64
}

func (m *measuring) see(ctx context.Context, s filesearch.Seen) error {
	if m.files++; m.files > m.most.Files {
		return ErrTooMany
	}
	if m.files%512 == 0 && ctx.Err() != nil {
		return ctx.Err()
	}
	if s.Odd || s.Ignored || s.Empty || !s.Entry.Type().IsRegular() {
		return nil
	}
	info, err := s.Dir.Lstat(s.Name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > m.most.File {
		return nil //nolint:nilerr // taking it finds out why
	}
	if m.bytes += info.Size(); m.bytes > m.most.Bytes {
		return ErrTooMuch
	}
	return nil
}

// look fills in what a path is, and keeps its content if it is not kept yet.
func (t *taking) look(s filesearch.Seen, info fs.FileInfo, e *Entry) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		if to, err := s.Dir.Readlink(s.Name); err == nil && len(to) <= maxPath && to != gone {
			e.Kind, e.Link = Link, to
		}
		return nil
	case !info.Mode().IsRegular():
		return nil
	case info.Size() > t.Limits.or().File:
		e.Kind, e.Size, e.MTime = Large, 0, info.ModTime().UnixNano()
		return nil
	}
	t.seen(info, e)
	if old := t.base.Entry(s.Path); old != nil && old.unchanged(e) {
		e.Sum = old.Sum
		return nil
	}
	return t.content(s, info, e)
}

// seen takes over what a look at a file says.
func (t *taking) seen(info fs.FileInfo, e *Entry) {
	e.Kind, e.Mode, e.Size, e.MTime = File, uint16(info.Mode().Perm()), info.Size(), info.ModTime().UnixNano()
	e.stat(info)
	e.Racy = max(e.MTime, e.CTime) > t.began.Add(-racy).UnixNano()
}

// content reads a file. One that is written meanwhile counts as it was read.
func (t *taking) content(s filesearch.Seen, seen fs.FileInfo, e *Entry) error {
	f, err := s.Dir.OpenFile(s.Name, os.O_RDONLY|atomicfile.NoWait, 0)
	if err == nil {
		var data []byte
		var opened fs.FileInfo
		data, opened, err = atomicfile.ReadOpened(f, t.Limits.or().File)
		if opened != nil && !os.SameFile(seen, opened) {
			err = atomicfile.ErrNotRegular
		}
		if err == nil {
			t.seen(opened, e)
			if int64(len(data)) != e.Size {
				e.Size, e.Racy = int64(len(data)), true
			}
			e.Sum, err = t.Store.put(data)
			return err
		}
	}
	// It cannot be read, or is another one by now: the tree says that it was there.
	*e = Entry{Path: e.Path, Kind: Other}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, atomicfile.ErrNotRegular) ||
		errors.Is(err, atomicfile.ErrTooLarge) {
		return nil
	}
	return fmt.Errorf("read %s: %w", core.CleanTitle(e.Path), err)
}

// At looks at one path as it is now; nil is nothing. It keeps no content.
func At(dir *os.Root, name, path string) (*Entry, error) {
	info, err := dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	e := &Entry{Path: path, Kind: Other}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		e.Kind = Link
		e.Link, err = dir.Readlink(name)
	case info.Mode().IsRegular():
		t := taking{}
		t.seen(info, e)
		var data []byte
		if data, err = atomicfile.ReadIn(dir, name, MaxFile); err == nil {
			e.Size, e.Sum = int64(len(data)), SumOf(data)
		}
	}
	return e, err
}

// Still reports whether a path of a folder is now as a tree had it; nil is nothing.
func Still(root *os.Root, p string, was *Entry) bool {
	w := &putting{root: root}
	dir, err := w.folder(path.Dir(p), false)
	if err != nil {
		return was == nil && errors.Is(err, fs.ErrNotExist)
	}
	defer dir.Close()
	name := path.Base(p)
	if info, err := dir.Lstat(name); err == nil && was != nil && info.Mode().IsRegular() {
		now := &Entry{Path: p}
		(&taking{}).seen(info, now)
		if was.unchanged(now) {
			return true
		}
	}
	now, err := At(dir, name, p)
	return err == nil && Same(was, now)
}
