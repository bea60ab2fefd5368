package doctor

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// freeBytes is what this user may still write on the volume of path.
func freeBytes(path string) (uint64, error) {
	p, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, fmt.Errorf("ask for free space: %w", err)
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(p, &free, nil, nil); err != nil {
		return 0, fmt.Errorf("ask for free space: %w", err)
	}
	return free, nil
}
