package config

import (
	"errors"
	"io/fs"
	"slices"
)

// ProjectWatch notices changes of projects' settings files. It starts nothing;
// its methods are for one goroutine. The zero value has seen nothing.
type ProjectWatch struct {
	seen map[string]string // by folder (see glimpse)
}

// Poll looks at the projects at dirs and returns those that it sees for the
// first time, and those whose settings file is another one than when it looked
// last: different, new or gone. A directory that is no longer named is
// forgotten.
func (w *ProjectWatch) Poll(dirs []string) (first, changed []string) {
	next := make(map[string]string, len(dirs))
	for _, dir := range slices.Compact(slices.Sorted(slices.Values(dirs))) {
		next[dir] = glimpse(dir)
		switch old, known := w.seen[dir]; {
		case !known:
			first = append(first, dir)
		case old != next[dir]:
			changed = append(changed, dir)
		}
	}
	w.seen = next
	return first, changed
}

// glimpse tells a text of a project's settings file from others, and a fault of it
// from others; it is empty without a file.
func glimpse(dir string) string {
	data, err := readProjectFile(dir, "")
	switch {
	case err == nil:
		return sumOf(data)
	case errors.Is(err, fs.ErrNotExist):
		return ""
	}
	return err.Error()
}
