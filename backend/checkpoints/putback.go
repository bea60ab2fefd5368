package checkpoints

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"loop/backend/atomicfile"
	"loop/backend/core"
)

// SumOf is the hash of a content.
func SumOf(data []byte) Hash { return sha256.Sum256(data) }

// ErrMoved says that a file is not any more what it was when it was looked at.
var ErrMoved = errors.New("a file has changed meanwhile")

// Step is one path that is to change. From is what must be there, To what will be; nil is
// nothing. Data is a content of To that is in no store.
type Step struct {
	Path     string
	From, To *Entry
	Data     []byte
}

// PutBack makes steps in a folder, all or none as far as that can be: everything is written
// beside its place and looked at first, and what was done is taken back where a later step
// fails. An error that wraps ErrMoved says that a file was not as it should be. No link is
// followed.
func (s Store) PutBack(ctx context.Context, root *os.Root, steps []Step) (err error) {
	w := &putting{store: s, root: root, made: map[string]bool{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.clean())
		}
	}()
	for i := range steps {
		if !validPath(steps[i].Path) {
			return errDamaged
		}
	}
	first, late := inTurn(steps)
	for _, st := range first {
		err := errors.Join(ctx.Err(), w.prepare(st))
		if errors.Is(err, errFolder) {
			late = append(late, st)
			continue
		}
		if err != nil {
			return said(st.Path, err)
		}
	}
	for _, p := range w.parts {
		if err := w.commit(p); err != nil {
			return said(p.step.Path, err)
		}
	}
	for _, p := range w.parts {
		if p.step.To == nil {
			w.emptied(path.Dir(p.step.Path))
		}
	}
	for _, st := range late {
		err := w.clear(st)
		if err == nil {
			err = w.prepare(st)
		}
		if err == nil {
			err = w.commit(w.parts[len(w.parts)-1])
		}
		if err != nil {
			return said(st.Path, err)
		}
	}
	return nil
}

func said(p string, err error) error { return fmt.Errorf("%s: %w", core.CleanTitle(p), err) }

// errFolder says that a folder is where a path comes, which may have nothing in it that counts.
var errFolder = fmt.Errorf("%w: it is a folder", ErrMoved)

// folded is a path as a disk knows it that takes large and small letters for the same.
func folded(p string) string { return strings.ToLower(strings.ToUpper(p)) }

// inTurn puts removals first. What a removed file is in the way of comes last, as does a file
// in the place of a folder. Paths that differ by large and small letters may be the same file.
func inTurn(steps []Step) (first, late []*Step) {
	removed, above := map[string]bool{}, map[string]bool{}
	for i := range steps {
		if st := &steps[i]; st.To == nil {
			first = append(first, st)
			at := folded(st.Path)
			removed[at] = true
			for p := path.Dir(at); p != "."; p = path.Dir(p) {
				above[p] = true
			}
		}
	}
	for i := range steps {
		st := &steps[i]
		if st.To == nil {
			continue
		}
		at := folded(st.Path)
		blocked := above[at]
		for p := at; p != "."; p = path.Dir(p) {
			blocked = blocked || removed[p]
		}
		if blocked {
			late = append(late, st)
		} else {
			first = append(first, st)
		}
	}
	return first, late
}

type putting struct {
	store Store
	root  *os.Root
	parts []*part
	made  map[string]bool // folders that were made

	cleared []clearedFolder // the innermost first
}

// part is a step under way.
type part struct {
	step *Step
	name string      // of what is written beside its place; empty: nothing
	was  fs.FileInfo // what is in its place; nil is nothing
	done bool
}

// prepare looks at what is there, and writes what will be beside it.
func (w *putting) prepare(st *Step) error {
	p := &part{step: st}
	dir, err := w.folder(path.Dir(st.Path), st.To != nil)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = ErrMoved
		}
		return err
	}
	defer dir.Close()
	if err := p.check(dir); err != nil {
		return err
	}
	w.parts = append(w.parts, p)
	if st.To == nil {
		return nil
	}
	p.name = partName + core.NewID()
	return w.write(dir, p, st.To, st.Data)
}

// check refuses a path that is not what it should be.
func (p *part) check(dir *os.Root) error {
	base := path.Base(p.step.Path)
	if info, err := dir.Lstat(base); err == nil && info.IsDir() && p.step.From == nil {
		return errFolder
	}
	now, err := At(dir, base, p.step.Path)
	switch {
	case err != nil:
		return err
	case now == nil && p.step.From == nil:
		return nil
	case now == nil || p.step.From == nil || !now.same(p.step.From):
		return ErrMoved
	}
	p.was, err = dir.Lstat(base)
	return err
}

func (w *putting) write(dir *os.Root, p *part, e *Entry, data []byte) (err error) {
	if e.Kind == Link {
		return dir.Symlink(e.Link, p.name)
	}
	if data == nil {
		if data, err = w.store.Content(e.Sum); err != nil {
			return err
		}
	}
	wr := atomicfile.Writer{Root: dir, Mode: 0o600}
	if p.was != nil && p.was.Mode().IsRegular() {
		wr.Like = p.was // its owner
	}
	if err := wr.Replace(p.name, data); err != nil {
		return err
	}
	f, err := dir.OpenFile(p.name, os.O_RDONLY|atomicfile.NoWait, 0)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) { // it took over a mode without reading
			return dir.Chmod(p.name, fs.FileMode(e.Mode))
		}
		return err
	}
	return errors.Join(f.Chmod(fs.FileMode(e.Mode)), f.Close())
}

// commit puts one path in its place, if what is there is still what was looked at.
func (w *putting) commit(p *part) error {
	dir, err := w.folder(path.Dir(p.step.Path), false)
	if err != nil {
		return err
	}
	defer dir.Close()
	base := path.Base(p.step.Path)
	now, err := dir.Lstat(base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if p.was != nil {
			return ErrMoved
		}
	case err != nil:
		return err
	case p.was == nil || !os.SameFile(p.was, now) || now.Size() != p.was.Size() || !now.ModTime().Equal(p.was.ModTime()):
		return ErrMoved
	}
	if p.step.To == nil {
		err = dir.Remove(base)
	} else if err = dir.Rename(p.name, base); err == nil {
		p.name = ""
	}
	p.done = err == nil
	return err
}

// clean takes back what was done, the last first, and removes what is not in its place.
func (w *putting) clean() error {
	var errs []error
	for i := len(w.parts) - 1; i >= 0; i-- {
		p := w.parts[i]
		if p.name == "" && !p.done {
			continue
		}
		if w.made[p.step.Path] {
			w.emptied(p.step.Path) // what a later step put there is taken back already
		}
		dir, err := w.folder(path.Dir(p.step.Path), p.done)
		if err == nil {
			err = errors.Join(w.undo(dir, p), dir.Close())
		} else if !p.done && errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		errs = append(errs, err)
	}
	for dir := range w.made {
		w.emptied(dir)
	}
	return errors.Join(append(errs, w.unclear())...)
}

func (w *putting) undo(dir *os.Root, p *part) error {
	base := path.Base(p.step.Path)
	switch {
	case !p.done:
		return atomicfile.RemoveIn(dir, p.name)
	case p.step.From == nil:
		return atomicfile.RemoveIn(dir, base)
	}
	p.name, p.was = partName+core.NewID(), nil
	if err := w.write(dir, p, p.step.From, nil); err != nil {
		return err
	}
	return dir.Rename(p.name, base)
}
