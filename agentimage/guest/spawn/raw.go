//go:build linux

package spawn

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// rawSetgroups changes the calling thread only. Go's own Setgroups changes every
// thread, which the stage must not wait for and loop init must never do.
func rawSetgroups(n int, list []uint32) error {
	if _, _, e := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(n), uintptr(unsafe.Pointer(&list[0])), 0); e != 0 {
		return e
	}
	return nil
}
