//go:build linux

package filter

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Fence is what Landlock refuses beneath the filter, whatever the supervisor and its
// rules say: the outer of two fences. It cannot ask, and it does not cover chmod, chown,
// times and attributes, stat, or what the supervisor performs in the caller's place.
type Fence struct {
	ABI      int  // of this kernel's Landlock; 0 where there is none
	Truncate bool // truncate outside of the folders is refused (ABI 3)
	Scoped   bool // no signal and no abstract socket reaches out of what the fence holds (ABI 6)
}

// Rights in linux/landlock.h: those that change something, by the version that brought
// them, and those that a file that is no folder can have.
const (
	fenceWrites = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	fenceReads = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	fileRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
)

// fenceOf says what a version of Landlock can do. Rights that are not handled are not
// refused, but without REFER (ABI 1) every move between folders is. IOCTL_DEV (ABI 5) is
// left out: a program that opens its terminal only to read, as pagers do, could not set it.
func fenceOf(abi int, scoped bool) (f Fence, rules unix.LandlockRulesetAttr) {
	f.ABI = abi
	rules.Handled_access_fs = fenceReads | fenceWrites
	if abi >= 2 {
		rules.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if f.Truncate = abi >= 3; f.Truncate {
		rules.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if f.Scoped = scoped && abi >= 6; f.Scoped {
		rules.Scoped = unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	return f, rules
}

// Landlock puts a fence on the calling thread, which must be locked and have set
// no_new_privs, before Install: reading and executing stay allowed everywhere, and
// everything that changes a file or folder only beneath writable, which are folders, or
// files such as /dev/null, as the thread sees them now. One that is not there is left
// out, and stays outside of the fence if it is made later. What the thread starts
// inherits it.
//
// With scoped, where the kernel can, neither a signal nor an abstract Unix socket reaches
// out of what the fence holds: not to the person's shells in the same container.
//
// Where the kernel has no Landlock, or the engine refuses it, nothing is applied and ABI
// is 0: whether to go on is the caller's to decide. Any error means that the thread must
// not execute the program.
func Landlock(writable []string, scoped bool) (Fence, error) {
	abi, _, e := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch e {
	case 0:
	case unix.ENOSYS, unix.EOPNOTSUPP, unix.EPERM: // too old, switched off at boot, the engine's profile
		return Fence{}, nil
	default:
		return Fence{}, fmt.Errorf("ask for Landlock's version: %w", e)
	}
	fence, rules := fenceOf(int(abi), scoped)
	// The kernel takes a structure that is longer than its own if the rest is zero.
	made, _, e := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&rules)), unsafe.Sizeof(rules), 0)
	if e != 0 {
		return Fence{}, fmt.Errorf("make Landlock's rules: %w", e)
	}
	ruleset := int(made)
	defer func() { _ = unix.Close(ruleset) }()
	if err := allow(ruleset, "/", rules.Handled_access_fs&fenceReads); err != nil {
		return Fence{}, err
	}
	for _, path := range writable {
		if err := allow(ruleset, path, rules.Handled_access_fs); err != nil && !errors.Is(err, unix.ENOENT) {
			return Fence{}, err
		}
	}
	if _, _, e := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0, 0); e != 0 {
		return Fence{}, fmt.Errorf("apply Landlock: %w", e)
	}
	return fence, nil
}

// allow adds what is beneath path, or the file itself, with the rights that it can have.
func allow(ruleset int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s for Landlock: %w", path, err)
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("look at %s for Landlock: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	// The kernel's structure is packed, twelve bytes long; Go's has its fields in the
	// same places.
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, e := unix.RawSyscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if e != 0 {
		return fmt.Errorf("allow %s in Landlock: %w", path, e)
	}
	return nil
}
