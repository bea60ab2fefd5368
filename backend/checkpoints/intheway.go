package checkpoints

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"loop/backend/core"
)

// maxNested is how deep folders are looked into that are in the way.
const maxNested = 100

// clearedFolder is a folder that was removed because it had only folders in it.
type clearedFolder struct {
	path string
	mode fs.FileMode
}

// clear removes the folder where a step puts something, if it has only folders in it. No file is
// ever removed.
func (w *putting) clear(st *Step) error {
	at, err := w.folder(path.Dir(st.Path), false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer at.Close()
	if info, err := at.Lstat(path.Base(st.Path)); err != nil || !info.IsDir() || st.From != nil {
		return nil // the step is checked next
	}
	return w.clearFolder(at, st.Path, maxNested)
}

func (w *putting) clearFolder(at *os.Root, p string, deep int) error {
	if deep == 0 {
		return ErrMoved
	}
	sub, _, err := enter(at, path.Base(p), false)
	if err != nil {
		return err
	}
	info, err := sub.Stat(".")
	var names []string
	if err == nil {
		names, err = namesIn(sub)
	}
	for _, name := range names {
		if err == nil {
			err = w.clearFolder(sub, p+"/"+name, deep-1)
		}
	}
	if err = errors.Join(err, sub.Close()); err != nil {
		return err
	}
	if err := at.Remove(path.Base(p)); err != nil {
		return err
	}
	w.cleared = append(w.cleared, clearedFolder{p, info.Mode().Perm()})
	return nil
}

// unclear makes the folders again that clear removed.
func (w *putting) unclear() error {
	var errs []error
	for i := len(w.cleared) - 1; i >= 0; i-- {
		c := w.cleared[i]
		at, err := w.folder(path.Dir(c.path), true)
		if err == nil {
			if err = at.Mkdir(path.Base(c.path), c.mode); errors.Is(err, fs.ErrExist) {
				err = nil
			}
			err = errors.Join(err, at.Close())
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// InTheWay are the paths of changes that cannot come because something is in their place, or on
// the way there, which no change removes: a folder with files that are not kept, for one.
// Folders in folders are nothing.
func InTheWay(ctx context.Context, f core.WorkFolder, changes []Change) (map[string]bool, error) {
	w := &way{WorkFolder: f, removed: map[string]bool{}}
	for _, c := range changes {
		if c.To == nil {
			w.removed[folded(c.Path)] = true
		}
	}
	out := map[string]bool{}
	for _, c := range changes {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if c.From != nil {
			continue
		}
		if w.blocked(f.Root, strings.Split(c.Path, "/"), "") {
			out[c.Path] = true
		}
	}
	return out, nil
}

type way struct {
	core.WorkFolder
	removed map[string]bool // folded paths
}

// blocked goes down to where a path comes.
func (w *way) blocked(at *os.Root, names []string, dir string) bool {
	p := path.Join(dir, names[0])
	info, err := at.Lstat(names[0])
	switch {
	case err != nil:
		return false // what it is, writing will say
	case !info.IsDir():
		return !w.removed[folded(p)]
	case len(names) == 1:
		return w.holds(at, p, maxNested)
	}
	sub, _, err := enter(at, names[0], false)
	if err != nil {
		return false
	}
	defer sub.Close()
	return w.blocked(sub, names[1:], p)
}

// holds reports whether there is a file at a path, or in the folder there, that stays.
func (w *way) holds(at *os.Root, p string, deep int) bool {
	if deep == 0 || p == settings || w.Covered != nil && w.Covered(p) {
		return true
	}
	info, err := at.Lstat(path.Base(p))
	if err != nil || !info.IsDir() {
		return !errors.Is(err, fs.ErrNotExist) && !w.removed[folded(p)]
	}
	sub, _, err := enter(at, path.Base(p), false)
	if err != nil {
		return true
	}
	defer sub.Close()
	names, err := namesIn(sub)
	for _, name := range names {
		if w.holds(sub, p+"/"+name, deep-1) {
			return true
		}
	}
	return err != nil
}
