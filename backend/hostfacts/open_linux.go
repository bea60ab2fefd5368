package hostfacts

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"loop/backend/atomicfile"
)

// openUnlinked opens the file at an absolute path that leads through no link: the
// kernel says where the file lies that was opened, whatever is replaced by a link
// meanwhile.
func openUnlinked(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|atomicfile.NoWait|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if real, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd())); err != nil || real != filepath.Clean(name) {
		_ = f.Close() // nothing was read of it
		return nil, &os.PathError{Op: "open", Path: name, Err: errNotOrdinary}
	}
	return f, nil
}
