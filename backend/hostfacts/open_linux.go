package hostfacts

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// openUnlinked opens the file at an absolute path that leads through no link: each
// folder is opened from the one before, so that one which is replaced by a link
// meanwhile is not followed either. A folder need not be readable, only entered.
func openUnlinked(name string) (*os.File, error) {
	fail := func(err error) (*os.File, error) {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	dir, err := openAt(unix.AT_FDCWD, "/", unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return fail(err)
	}
	parts := strings.Split(strings.TrimPrefix(filepath.Clean(name), "/"), "/")
	last := len(parts) - 1
	for _, part := range parts[:last] {
		below, err := openAt(dir, part, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW)
		_ = unix.Close(dir) // only looked through
		if err != nil {
			return fail(err)
		}
		dir = below
	}
	fd, err := openAt(dir, parts[last], unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW)
	_ = unix.Close(dir) // only looked through
	if err != nil {
		return fail(err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

func openAt(dir int, name string, flags int) (fd int, err error) {
	for {
		if fd, err = unix.Openat(dir, name, flags|unix.O_CLOEXEC, 0); err != unix.EINTR {
			return fd, err
		}
	}
}
