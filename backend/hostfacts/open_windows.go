package hostfacts

import (
	"os"
	"path/filepath"
)

// openUnlinked opens the file at an absolute path that leads through no link. An
// open here cannot refuse links on the way: the path is looked at again with the
// file open, so that only a link that came and went between is missed.
func openUnlinked(name string) (*os.File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(name); err != nil || real != filepath.Clean(name) {
		_ = f.Close() // nothing was read of it
		return nil, &os.PathError{Op: "open", Path: name, Err: errNotOrdinary}
	}
	return f, nil
}
