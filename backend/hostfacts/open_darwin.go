package hostfacts

import (
	"os"

	"golang.org/x/sys/unix"

	"loop/backend/atomicfile"
)

// openUnlinked opens the file at an absolute path that leads through no link; the
// kernel refuses one anywhere on the way.
func openUnlinked(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDONLY|atomicfile.NoWait|unix.O_NOFOLLOW_ANY, 0)
}
