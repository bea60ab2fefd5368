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
	info   fs.FileInfo // nil when there was none
	sum    string
	readAt time.Time
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
		now := w.look(dir, old, known)
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

// look reads the file only when its time, size or identity changed, or was set
// so short a time before the last look that it could have changed unseen.
func (w *ProjectWatch) look(dir string, old glimpse, known bool) glimpse {
	info, err := os.Lstat(ProjectPath(dir))
	if err != nil {
		return glimpse{}
	}
	if known && old.info != nil && os.SameFile(info, old.info) && info.ModTime().Equal(old.info.ModTime()) &&
		info.Size() == old.info.Size() && info.Mode() == old.info.Mode() && old.readAt.Sub(info.ModTime()) > settle {
		return old
	}
	g := glimpse{info: info, readAt: w.now()}
	switch data, err := readProjectFile(dir, ""); {
	case err == nil:
		g.sum = sumOf(data)
	case !errors.Is(err, fs.ErrNotExist):
		g.sum = err.Error() // a different fault is news as well
	}
	return g
}
