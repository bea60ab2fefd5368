//go:build linux

package filter

import (
	"errors"
	"fmt"
	"runtime/debug"
	"unsafe"

	"golang.org/x/sys/unix"
)

var foreignWays = []string{"int80", "x32"}

// int80 asks for the pid as a program of 32 bits does. Go has no such instruction, so
// it is in a page of its own: mov eax,20; int 0x80; ret.
// Some kernels have no such interrupt, and the instruction faults.
func int80() (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil {
			err = errAbsent
		}
	}()
	page, err := unix.Mmap(-1, 0, unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return err
	}
	copy(page, []byte{0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3})
	if err := unix.Mprotect(page, unix.PROT_READ|unix.PROT_EXEC); err != nil {
		return err
	}
	code := &page[0] // a function value points to the address of its code
	(*(*func())(unsafe.Pointer(&struct{ p **byte }{&code})))()
	return nil
}

// x32 asks for the pid with a number of x32.
func x32() error {
	if pid, _, e := unix.RawSyscall(x32Bit|unix.SYS_GETPID, 0, 0, 0); e != unix.ENOSYS && int(pid) != unix.Getpid() {
		return errors.Join(fmt.Errorf("getpid of x32 gave %d", pid), e)
	}
	return nil
}
