package hostpty

import (
	"errors"
	"os"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	ioctlGetTermios = unix.TCGETS
	ioctlSetTermios = unix.TCSETS
	nonblocking     = true // the master, so that one may read what is there
)

// pollable gives the master to the runtime's poller, so that Close ends a Read:
// making the pair has put it into blocking mode.
func pollable(master *os.File) (*os.File, error) {
	fd := -1
	err := control(master, func(old int) (err error) {
		fd, err = unix.FcntlInt(uintptr(old), unix.F_DUPFD_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return master, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return master, err
	}
	_ = master.Close()
	return os.NewFile(uintptr(fd), "/dev/ptmx"), nil
}

// childInfo is the part of the kernel's siginfo that tells of a child: its union
// begins where a pointer may.
type childInfo struct {
	signo, errno, code int32
	child              struct {
		_      [0]uintptr
		pid    int32
		uid    uint32
		status int32
	}
}

// Why a child ended, from the kernel's signal codes.
const (
	cldExited = 1
	cldKilled = 2
	cldDumped = 3
)

// waitNoReap waits for the process's end, leaves its number taken, and says how it
// ended; Code is -1 when that cannot be told.
func waitNoReap(pid int) Exit {
	var info unix.Siginfo
	for errors.Is(unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
	return exitOfChild(&info)
}

// peekEnd says how a child ended, if it did, and leaves its number taken.
func peekEnd(pid int) (how Exit, ended bool) {
	var info unix.Siginfo
	for errors.Is(unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil), unix.EINTR) {
	}
	how = exitOfChild(&info)
	return how, how.Code >= 0
}

func exitOfChild(info *unix.Siginfo) Exit {
	switch c := (*childInfo)(unsafe.Pointer(info)); c.code {
	case cldExited:
		return Exit{Code: int(c.child.status)}
	case cldKilled, cldDumped:
		return Exit{Code: 128 + int(c.child.status), Signal: unix.SignalName(unix.Signal(c.child.status))}
	}
	return Exit{Code: -1}
}

// bootID tells this start of the computer from others, whose ticks begin anew.
var bootID = sync.OnceValue(func() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // empty is equal in each start of such a kernel
	return strings.TrimSpace(string(b))
})

// identityOf names a running process for good.
func identityOf(pid int) (string, bool) {
	p, ok := proc.stat(pid)
	return bootID() + " " + p.start, ok
}
