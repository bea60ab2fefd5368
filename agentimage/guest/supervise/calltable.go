//go:build linux

package supervise

import "golang.org/x/sys/unix"

// decoder reads what a call is about from its arguments and the caller's memory, once,
// and returns what performs it. Its thread may read from the caller.
type decoder func(c *call) (func(*call) outcome, error)

type disposition struct {
	name   string
	locked lock
	decode decoder
}

// common are the calls that every architecture has. A number that is in no table is
// ENOSYS, also file_setattr, whose flags no rule knows.
var common = map[int]disposition{
	unix.SYS_OPENAT:     {"openat", shared, decodeOpenat},
	unix.SYS_OPENAT2:    {"openat2", shared, decodeOpenat2},
	unix.SYS_RENAMEAT2:  {"renameat2", alone, decodeRename(0, 2, 4)},
	unix.SYS_RENAMEAT:   {"renameat", alone, decodeRename(0, 2, 0)},
	unix.SYS_UNLINKAT:   {"unlinkat", shared, decodeUnlinkat},
	unix.SYS_MKDIRAT:    {"mkdirat", shared, decodeMkdir(0, 2)},
	unix.SYS_MKNODAT:    {"mknodat", shared, decodeMknod(0, 2)},
	unix.SYS_LINKAT:     {"linkat", shared, decodeLinkat},
	unix.SYS_SYMLINKAT:  {"symlinkat", shared, decodeSymlink(0, 1)},
	unix.SYS_FCHMOD:     {"fchmod", free, decodeFchmod},
	unix.SYS_FCHMODAT:   {"fchmodat", free, decodeChmod(0, 2, 0)},
	unix.SYS_FCHMODAT2:  {"fchmodat2", free, decodeChmod(0, 2, 3)},
	unix.SYS_FCHOWN:     {"fchown", free, decodeFchown},
	unix.SYS_FCHOWNAT:   {"fchownat", free, decodeChown(0, 2, 4, false)},
	unix.SYS_TRUNCATE:   {"truncate", free, decodeTruncate},
	unix.SYS_UTIMENSAT:  {"utimensat", free, decodeUtimes(0, 2, 1)},
	unix.SYS_SETXATTR:   {"setxattr", free, decodeSetxattr(false)},
	unix.SYS_LSETXATTR:  {"lsetxattr", free, decodeSetxattr(true)},
	unix.SYS_FSETXATTR:  {"fsetxattr", free, decodeFsetxattr},
	unix.SYS_SETXATTRAT: {"setxattrat", free, decodeSetxattrat},

	unix.SYS_REMOVEXATTR:   {"removexattr", free, decodeRemovexattr(false)},
	unix.SYS_LREMOVEXATTR:  {"lremovexattr", free, decodeRemovexattr(true)},
	unix.SYS_FREMOVEXATTR:  {"fremovexattr", free, decodeFremovexattr},
	unix.SYS_REMOVEXATTRAT: {"removexattrat", free, decodeRemovexattrat},

	unix.SYS_CONNECT:  {"connect", free, decodeConnect},
	unix.SYS_BIND:     {"bind", alone, decodeBind}, // the kernel resolves the path once more
	unix.SYS_SENDTO:   {"sendto", free, decodeSendto},
	unix.SYS_EXECVE:   {"execve", free, decodeExecve},
	unix.SYS_EXECVEAT: {"execveat", free, decodeExecveat},

	unix.SYS_PTRACE:            {"ptrace", free, decodePtrace},
	unix.SYS_PROCESS_VM_READV:  {"process_vm_readv", free, decodeOtherMemory},
	unix.SYS_PROCESS_VM_WRITEV: {"process_vm_writev", free, decodeOtherMemory},
}
