package checkpoints

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"loop/backend/atomicfile"
	"loop/backend/core"
)

// folder opens a folder name by name, none of which may be a link, and makes what is missing.
func (w *putting) folder(dir string, make bool) (*os.Root, error) {
	at, err := w.root.OpenRoot(".")
	if err != nil || dir == "." {
		return at, err
	}
	seen := ""
	for name := range strings.SplitSeq(dir, "/") {
		seen = path.Join(seen, name)
		sub, made, err := enter(at, name, make)
		_ = at.Close() // only looked at
		if made {
			w.made[seen] = true
		}
		if err != nil {
			return nil, err
		}
		at = sub
	}
	return at, nil
}

func enter(at *os.Root, name string, make bool) (sub *os.Root, made bool, err error) {
	info, err := at.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) && make {
		if err = at.Mkdir(name, 0o755); err != nil {
			return nil, false, err
		}
		made = true
		info, err = at.Lstat(name)
	}
	if err != nil {
		return nil, made, err
	}
	if !info.IsDir() {
		return nil, made, ErrMoved
	}
	if sub, err = at.OpenRoot(name); err != nil {
		return nil, made, err
	}
	if opened, err := sub.Stat("."); err != nil || !os.SameFile(info, opened) {
		return nil, made, errors.Join(ErrMoved, err, sub.Close())
	}
	return sub, made, nil
}

// emptied removes folders that the last removal has left empty.
func (w *putting) emptied(dir string) {
	for ; dir != "." && dir != "/"; dir = path.Dir(dir) {
		at, err := w.folder(path.Dir(dir), false)
		if err != nil {
			return
		}
		info, err := at.Lstat(path.Base(dir))
		if err == nil && !info.IsDir() {
			err = fs.ErrExist
		}
		if err == nil {
			err = at.Remove(path.Base(dir))
		}
		_ = at.Close() // only looked at
		if err != nil {
			return // it is not empty
		}
	}
}

// Sweep removes what a crash left of files that were being written.
func Sweep(ctx context.Context, f core.WorkFolder, paths []string) error {
	w := &putting{root: f.Root, made: map[string]bool{}}
	var errs []error
	seen := map[string]bool{}
	for _, p := range paths {
		at := path.Dir(p)
		if seen[at] || ctx.Err() != nil {
			continue
		}
		seen[at] = true
		dir, err := w.folder(at, false)
		if err != nil {
			continue // it has nothing left in it
		}
		errs = append(errs, sweepFolder(dir), dir.Close())
	}
	return errors.Join(errs...)
}

func namesIn(dir *os.Root) ([]string, error) {
	d, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	names, err := d.Readdirnames(-1)
	return names, errors.Join(err, d.Close())
}

func sweepFolder(dir *os.Root) error {
	names, err := namesIn(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, partName) {
			err = errors.Join(err, atomicfile.RemoveIn(dir, name))
		}
	}
	return err
}

// MakeEmpty makes the folders that a tree has with nothing in them.
func MakeEmpty(root *os.Root, t *Tree) error {
	w := &putting{root: root, made: map[string]bool{}}
	var errs []error
	for i := range t.Entries {
		if e := &t.Entries[i]; e.Kind == Empty {
			dir, err := w.folder(e.Path, true)
			if err == nil {
				err = dir.Close()
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
