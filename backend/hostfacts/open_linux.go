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
	real, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	// The kernel's mark says that the file was replaced since: what was opened is whole.
	if name = filepath.Clean(name); err != nil || real != name && real != name+" (deleted)" {
		_ = f.Close() // nothing was read of it
		return nil, &os.PathError{Op: "open", Path: name, Err: errNotOrdinary}
	}
	return f, nil
}
