//go:build unix

package doctor

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// freeBytes is what an ordinary user may still write on the file system of path.
func freeBytes(path string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, fmt.Errorf("ask for free space: %w", err)
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil //nolint:unconvert // signed on FreeBSD
}
