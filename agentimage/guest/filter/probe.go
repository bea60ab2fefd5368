//go:build linux

package filter

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Between a filter and its supervisor there is one call whose answer nobody but the
// supervisor gives: unlinkat of ProbeName is ProbeErrno. Nothing can have the name, so the
// call is harmless where no supervisor takes it: the kernel then says ENOENT, and a
// supervisor that merely performs what it gets does as well.
const (
	// ProbeName is what the probe removes, exactly these bytes, relative to AT_FDCWD.
	ProbeName = "/proc/loop-gate-probe"
	// ProbeErrno is the supervisor's answer (“not a XENIX named type file”), which Linux
	// itself never gives.
	ProbeErrno = unix.ENOTNAM
)

// ErrProbe says that the filter's calls do not reach a working supervisor.
var ErrProbe = errors.New("the filter's calls do not reach the supervisor")

// Probe makes the reserved call on the calling thread, which Install must have put an
// agent's filter on, and stands still until the supervisor answers it.
func Probe() error {
	name, err := unix.BytePtrFromString(ProbeName)
	if err != nil {
		return fmt.Errorf("name the probe: %w", err)
	}
	// Not RawSyscall: the answer may take a while.
	dir := unix.AT_FDCWD
	_, _, e := unix.Syscall(unix.SYS_UNLINKAT, uintptr(dir), uintptr(unsafe.Pointer(name)), 0)
	runtime.KeepAlive(name)
	if e != ProbeErrno {
		return fmt.Errorf("%w: the probe ended with %q, not %q", ErrProbe, unix.ErrnoName(e), unix.ErrnoName(ProbeErrno))
	}
	return nil
}
