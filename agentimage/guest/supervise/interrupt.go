//go:build linux

package supervise

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// action is the kernel's struct sigaction of amd64 and arm64; arm64 leaves the restorer
// unused but has its place.
type action struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

const restart = 0x10000000 // SA_RESTART

// interruptible takes SA_RESTART from the handler that is installed for a signal.
func interruptible(s syscall.Signal) error {
	var a action
	if _, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), 0, uintptr(unsafe.Pointer(&a)), 8, 0, 0); e != 0 {
		return fmt.Errorf("read the handler of %v: %w", s, e)
	}
	if a.handler <= 1 {
		return fmt.Errorf("no handler of %v is installed", s)
	}
	a.flags &^= restart
	if _, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&a)), 0, 8, 0, 0); e != 0 {
		return fmt.Errorf("set the handler of %v: %w", s, e)
	}
	return nil
}
