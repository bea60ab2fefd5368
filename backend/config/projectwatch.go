package config

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"
)

// ProjectWatch notices changes of projects' settings files. It starts nothing;
// its methods are for one goroutine.
type ProjectWatch struct {
	now  func() time.Time
	seen map[string]glimpse
}

// glimpse is a settings file as it was read last.
type glimpse struct {
	look
	sum string
}

// NewProjectWatch has seen nothing.
func NewProjectWatch() *ProjectWatch {
	return &ProjectWatch{now: time.Now, seen: map[string]glimpse{}}
}

// Poll looks at the projects at dirs and returns those that it sees for the
// first time, and those whose settings file is another one than when it looked
// last: different, new or gone. A directory that is no longer named is
// forgotten.
func (w *ProjectWatch) Poll(dirs []string) (first, changed []string) {
	next := make(map[string]glimpse, len(dirs))
	for _, dir := range dirs {
		if _, twice := next[dir]; twice {
			continue
		}
		old, known := w.seen[dir]
		now := w.glimpse(dir, old)
		next[dir] = now
		switch {
		case !known:
			first = append(first, dir)
		case old.sum != now.sum:
			changed = append(changed, dir)
		}
	}
	w.seen = next
	slices.Sort(first)
	slices.Sort(changed)
	return first, changed
}

// glimpse reads the file only when it is not the one of the last glimpse.
func (w *ProjectWatch) glimpse(dir string, old glimpse) glimpse {
	info, err := os.Lstat(ProjectPath(dir))
	switch {
	case err != nil:
		return glimpse{}
	case old.same(info):
		return old
	}
	g := glimpse{look: look{info, w.now()}}
	switch data, err := readProjectFile(dir, ""); {
	case err == nil:
		g.sum = sumOf(data)
	case !errors.Is(err, fs.ErrNotExist):
		g.sum = err.Error() // a different fault is news as well
	}
	return g
}
