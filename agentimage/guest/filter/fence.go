//go:build linux

package filter

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Fence is what Landlock refuses beneath the filter, whatever the supervisor and its
// rules say. The supervisor performs every change of a file in its own process, outside
// of the fence, and hands the descriptor over, which keeps the rights that it was opened
// with. So what the fence holds needs nearly no right of its own, and a call that got past
// the filter changes no file all the same. Landlock does not cover modes, owners, times
// and attributes of files.
type Fence struct {
	ABI      int  // of this kernel's Landlock; 0 where there is none
	Moves    bool // files can be moved between folders (ABI 2), so that it has to refuse it
	Truncate bool // truncate is refused (ABI 3)
	Abstract bool // no abstract Unix socket outside of the fence is reached (ABI 6)
}

// fenceWrites are the rights in linux/landlock.h whose use changes something, of ABI 1.
const fenceWrites = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
	unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR |
	unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
	unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
	unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM

// writable is where the kernel opens a file to write although the filter hands no call
// over: TIOCGPTPEER of openpty(3) opens the other end of a pty, and mq_open(2) a message
// queue. A folder that is no such file system is the image's, and gets no right.
var writable = []struct {
	folder string
	kind   int64 // of the file system
}{
	{"/dev/pts", unix.DEVPTS_SUPER_MAGIC},
	{"/dev/mqueue", mqueueMagic},
}

const mqueueMagic = 0x19800202 // MQUEUE_MAGIC of the kernel

// fenceOf says what a version of Landlock can do. What is not handled is not refused. Left
// out are reads and execution; IOCTL_DEV (ABI 5), since a program that opens its terminal
// only to read, as pagers do, could not set it; and signals (ABI 6), since one program of
// a container may end another's job.
func fenceOf(abi int) (f Fence, rules unix.LandlockRulesetAttr) {
	f = Fence{ABI: abi, Moves: abi >= 2, Truncate: abi >= 3, Abstract: abi >= 6}
	rules.Handled_access_fs = fenceWrites
	if f.Moves {
		rules.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if f.Truncate {
		rules.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if f.Abstract {
		rules.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	return f, rules
}

// LandlockABI is the version of the kernel's Landlock, 0 where there is none or where it
// may not be used: the kernel is too old, it was switched off at boot, or the engine's
// profile refuses it.
func LandlockABI() (int, error) {
	abi, _, e := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch e {
	case 0:
		return int(abi), nil
	case unix.ENOSYS, unix.EOPNOTSUPP, unix.EPERM:
		return 0, nil
	}
	return 0, fmt.Errorf("ask for Landlock's version: %w", e)
}

// Landlock puts the fence on the calling thread, which must be locked and have set
// no_new_privs, before Install. What the thread starts inherits it, and it cannot be taken
// off. Two fences do not see into each other's processes: the kernel's files of a process
// that only a tracer may read are closed to programs of another one.
//
// Where the kernel has no Landlock nothing is applied and ABI is 0: the filter holds
// without it. Any error means that the thread must not execute the program.
func Landlock() (Fence, error) {
	abi, err := LandlockABI()
	if err != nil || abi == 0 {
		return Fence{}, err
	}
	fence, rules := fenceOf(abi)
	ruleset, err := makeRules(&rules)
	if err != nil {
		return Fence{}, err
	}
	defer func() { _ = unix.Close(ruleset) }()
	for _, w := range writable {
		if err := allow(ruleset, w.folder, w.kind); err != nil {
			return Fence{}, fmt.Errorf("allow %s in Landlock: %w", w.folder, err)
		}
	}
	if e := restrict(ruleset); e != 0 {
		return Fence{}, fmt.Errorf("apply Landlock: %w", e)
	}
	return fence, nil
}

// maxFences bounds how many fences the kernel puts on one thread, which is 64 before Linux
// 5.19 and 16 since.
const maxFences = 64

// RoomForFences counts how many more fences the calling thread can get, by putting them
// on: it is one less behind a fence than outside. The thread must be locked, must have set
// no_new_privs, and is of no use afterwards. It is 0 without Landlock.
func RoomForFences() (int, error) {
	abi, err := LandlockABI()
	if err != nil || abi == 0 {
		return 0, err
	}
	rules := unix.LandlockRulesetAttr{Handled_access_fs: unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK}
	ruleset, err := makeRules(&rules)
	if err != nil {
		return 0, err
	}
	defer func() { _ = unix.Close(ruleset) }()
	for n := range maxFences + 1 {
		switch e := restrict(ruleset); e {
		case 0:
		case unix.E2BIG:
			return n, nil
		default:
			return 0, fmt.Errorf("apply Landlock: %w", e)
		}
	}
	return 0, fmt.Errorf("the kernel put more than %d fences on a thread", maxFences)
}

func makeRules(rules *unix.LandlockRulesetAttr) (ruleset int, err error) {
	// The kernel takes a structure that is longer than its own if the rest is zero.
	fd, _, e := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(rules)), unsafe.Sizeof(*rules), 0)
	if e != 0 {
		return -1, fmt.Errorf("make Landlock's rules: %w", e)
	}
	return int(fd), nil
}

func restrict(ruleset int) unix.Errno {
	_, _, e := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0, 0)
	return e
}

// allow lets files beneath a folder be opened to write, if it is the root of that kind of
// file system.
func allow(ruleset int, folder string, kind int64) error {
	fd, err := unix.Open(folder, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ENOENT):
		return nil
	case err != nil:
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	var fs unix.Statfs_t
	if err := unix.Fstatfs(fd, &fs); err != nil || fs.Type != kind {
		return err
	}
	// The kernel's structure is packed, twelve bytes long; Go's has its fields in the
	// same places.
	rule := unix.LandlockPathBeneathAttr{Allowed_access: unix.LANDLOCK_ACCESS_FS_WRITE_FILE, Parent_fd: int32(fd)}
	_, _, e := unix.RawSyscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if e != 0 {
		return e
	}
	return nil
}
