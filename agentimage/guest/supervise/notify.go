//go:build linux

package supervise

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// notification is struct seccomp_notif of linux/seccomp.h.
type notification struct {
	ID    uint64
	Tid   uint32 // in the supervisor's pid namespace; 0 where it cannot be seen
	Flags uint32
	Nr    int32
	Arch  uint32
	IP    uint64
	Args  [6]uint64
}

// response is struct seccomp_notif_resp.
type response struct {
	ID    uint64
	Val   int64
	Error int32 // negative errno
	Flags uint32
}

// addFD is struct seccomp_notif_addfd.
type addFD struct {
	ID         uint64
	Flags      uint32
	SrcFD      uint32
	NewFD      uint32
	NewFDFlags uint32
}

// listener is the descriptor of a filter's notifications.
type listener int

func (l listener) ioctl(request uint, arg unsafe.Pointer) (int, unix.Errno) {
	n, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(l), uintptr(request), uintptr(arg))
	return int(n), e
}

// receive blocks until a call is handed over. EINTR is the caller's to look at, ENOENT
// means that the one that was there has gone, or that no program is left.
func (l listener) receive(n *notification) unix.Errno {
	*n = notification{} // the kernel refuses one that is not zero
	_, e := l.ioctl(unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(n))
	return e
}

// send answers a call. ENOENT means that nothing waits for the answer.
func (l listener) send(r response) unix.Errno {
	for {
		_, e := l.ioctl(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r))
		if e != unix.EINTR {
			return e
		}
	}
}

// give makes a copy of fd the caller's, and returns its number there. The caller may have
// no room for it (EMFILE). With flags SECCOMP_ADDFD_FLAG_SEND that is the answer as well;
// without, the caller still waits.
//
// No signal may come meanwhile, and the runtime sends some to its own threads: a kernel that
// is interrupted before the caller has taken the descriptor takes it back, but leaves the
// call answered, so that the caller's open returns 0.
func (l listener) give(id uint64, fd int, cloexec bool, flags uint32) (int, unix.Errno) {
	a := addFD{ID: id, Flags: flags, SrcFD: uint32(fd)}
	if cloexec {
		a.NewFDFlags = unix.O_CLOEXEC
	}
	runtime.LockOSThread() // the mask is the thread's
	defer runtime.UnlockOSThread()
	all, before := ^uint64(0), uint64(0)
	if e := signalMask(&all, &before); e != 0 {
		return -1, e
	}
	defer func() {
		if e := signalMask(&before, nil); e != 0 {
			panic("supervise: restore the signal mask: " + e.Error())
		}
	}()
	for {
		n, e := l.ioctl(unix.SECCOMP_IOCTL_NOTIF_ADDFD, unsafe.Pointer(&a))
		if e != unix.EINTR {
			return int(n), e
		}
	}
}

// signalMask sets the signals that the calling thread, which must be locked, holds off, and
// returns those from before.
func signalMask(mask, before *uint64) unix.Errno {
	_, _, e := unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(mask)),
		uintptr(unsafe.Pointer(before)), unsafe.Sizeof(*mask), 0, 0)
	return e
}

// valid reports whether a call still waits, and with it that its thread id is still the
// thread's. A signal ends the kernel's wait for the filter's lock (EINTR), which says nothing
// about the call: one that was taken for gone would never be answered.
func (l listener) valid(id uint64) bool {
	for {
		_, e := l.ioctl(unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&id))
		if e != unix.EINTR {
			return e == 0
		}
	}
}

// syncWakeUp makes the kernel move the caller to the answering CPU (Linux 6.6); an older
// one does without.
func (l listener) syncWakeUp() {
	flags := uintptr(unix.SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP)
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(l), unix.SECCOMP_IOCTL_NOTIF_SET_FLAGS, flags)
}
