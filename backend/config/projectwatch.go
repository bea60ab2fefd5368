package config

import (
	"errors"
	"io/fs"
)

// ProjectWatch notices changes of projects' settings files. It starts nothing;
// its methods are for one goroutine. The zero value has seen nothing.
type ProjectWatch struct {
	seen map[File]string // see glimpse
}

// Poll looks at files and returns those that it sees for the first time, and those
// that are another one than when it looked last: different, new or gone. A file that
// is no longer named is forgotten.
func (w *ProjectWatch) Poll(files []File) (first, changed []File) {
	next := make(map[File]string, len(files))
	for _, f := range files {
		if _, twice := next[f]; twice {
			continue
		}
		next[f] = glimpse(f)
		switch old, known := w.seen[f]; {
		case !known:
			first = append(first, f)
		case old != next[f]:
			changed = append(changed, f)
		}
	}
	w.seen = next
	return first, changed
}

// glimpse tells a text of a file from others, and a fault of it from others; it is
// empty without a file.
func glimpse(f File) string {
	data, err := f.read()
	switch {
	case err == nil:
		return sumOf(data)
	case errors.Is(err, fs.ErrNotExist):
		return ""
	}
	return err.Error()
}
