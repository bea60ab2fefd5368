//go:build linux

package filter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Variant is one of the filters.
type Variant int

const (
	// Agent hands to the supervisor what calls.txt says, and opens only to read pass.
	Agent Variant = iota
	// AgentReads is Agent for a policy with rules on reads: every open but O_PATH, and
	// but the opens of folders to list them, is handed over.
	AgentReads
	// Static only refuses: it has no listener, for sidecars, which have no supervisor.
	Static
	// Debuggers is AgentReads, and hands over the calls by which programs debug each other
	// instead of refusing them. It is only for behind a Fence that has an ABI: there the
	// kernel keeps them within the fence.
	Debuggers
)

func (v Variant) String() string {
	switch v {
	case Agent:
		return "agent"
	case AgentReads:
		return "agent-reads"
	case Static:
		return "static"
	case Debuggers:
		return "debuggers"
	}
	return fmt.Sprintf("variant %d", int(v))
}

// Why a filter cannot be installed here.
var (
	// ErrKernel says that the kernel cannot do what the gate needs (Linux 5.19 with
	// CONFIG_SECCOMP_FILTER can), or something like gVisor answers for it.
	ErrKernel = errors.New("this kernel cannot hold calls for a supervisor (Linux 5.19 or newer can)")
	// ErrListener says that another supervisor is above this one: the engine's own.
	ErrListener = errors.New("the container's engine already holds calls of this container for a supervisor of its own")
	// ErrPrivileges says that no_new_privs is not set.
	ErrPrivileges = errors.New("no_new_privs must be set before a filter is installed")
)

// Install puts the filter on the calling thread, which must be locked to its goroutine
// (an unlocked one may go on, or execute, without it), and which must have set
// no_new_privs. Threads and processes that it starts later inherit the filter, and so
// does what it executes; the other threads of the process stay without. It cannot be
// taken off.
//
// From here on the thread stands still in each call of Notified until somebody who
// received the listener answers; when all copies of it are closed, they end with ENOSYS.
// The listener is close-on-exec and the caller's to close; it is -1 for Static.
func Install(v Variant) (listener int, err error) { return install(v, seccomp) }

// install is Install on a kernel, or on what a test says that one answers.
func install(v Variant, seccomp func(flags uintptr, prog *unix.SockFprog) (uintptr, unix.Errno)) (listener int, err error) {
	code, err := program(v)
	if err != nil {
		return -1, err
	}
	if nnp, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || nnp != 1 {
		return -1, ErrPrivileges
	}
	var flags uintptr
	if v != Static {
		// Without the second, any signal would make the caller try again a call that
		// the supervisor is already doing. TSYNC would put the filter on the threads
		// of this process as well, and is refused together with a listener.
		flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	}
	// No program is EFAULT where the flags are known, and EINVAL where they are not.
	switch _, e := seccomp(flags, nil); e {
	case unix.EFAULT:
	case unix.EINVAL, unix.ENOSYS:
		return -1, fmt.Errorf("ask for the filter's flags: %w: %w", ErrKernel, e)
	default: // the engine's profile, or a filter of ours
		return -1, fmt.Errorf("ask for the filter's flags: %w", e)
	}
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	fd, e := seccomp(flags, &prog)
	runtime.KeepAlive(code)
	switch {
	case e == unix.EBUSY:
		return -1, ErrListener
	case e != 0:
		return -1, fmt.Errorf("install the filter %s: %w", v, e)
	case v == Static:
		return -1, nil
	}
	return int(fd), nil
}

// seccomp is raw, since a filter is a matter of one thread, and since the call must not
// let the runtime move other goroutines here.
func seccomp(flags uintptr, prog *unix.SockFprog) (uintptr, unix.Errno) {
	r, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(prog)))
	return r, e
}

// program decodes the committed bytes: struct sock_filter of linux/filter.h, little
// endian as both architectures are.
func program(v Variant) ([]unix.SockFilter, error) {
	var data []byte
	switch v {
	case Agent:
		data = agentProgram
	case AgentReads:
		data = agentReadsProgram
	case Static:
		data = staticProgram
	case Debuggers:
		data = debuggersProgram
	default:
		return nil, fmt.Errorf("install a filter: there is no %s", v)
	}
	code := make([]unix.SockFilter, len(data)/instructionSize)
	for i := range code {
		b := data[i*instructionSize:]
		code[i] = unix.SockFilter{Code: binary.LittleEndian.Uint16(b), Jt: b[2], Jf: b[3], K: binary.LittleEndian.Uint32(b[4:])}
	}
	return code, nil
}

const instructionSize = 8 // sizeof(struct sock_filter)
