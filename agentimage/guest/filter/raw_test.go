//go:build linux

package filter

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// raw is a call that does nothing if it is refused, and little if it is not.
type raw struct {
	name          string
	number        uintptr
	args          [5]uintptr
	agent, static string // errors under the filters; "" is none of the filter's
}

func rawCalls() []raw {
	const eperm, enosys = "EPERM", "ENOSYS"
	refused := func(name string, number uintptr, err string, args ...uintptr) raw {
		r := raw{name: name, number: number, agent: err, static: err}
		copy(r.args[:], args)
		return r
	}
	agents := func(name string, number uintptr, err string, args ...uintptr) raw {
		r := refused(name, number, err, args...)
		r.static = ""
		return r
	}
	none := ^uintptr(0)
	return []raw{
		refused("io_uring_setup", unix.SYS_IO_URING_SETUP, enosys, 1, 0),
		refused("clone3", unix.SYS_CLONE3, enosys, 0, 0),
		refused("a number above the table", 9999, enosys),
		refused("ptrace", unix.SYS_PTRACE, eperm, unix.PTRACE_ATTACH, none), // TRACEME would stop the bare child at its next signal
		refused("process_vm_readv", unix.SYS_PROCESS_VM_READV, eperm, none),
		refused("pidfd_getfd", unix.SYS_PIDFD_GETFD, eperm, none),
		refused("kcmp", unix.SYS_KCMP, eperm, none, none),
		refused("setns", unix.SYS_SETNS, eperm, none),
		refused("mount", unix.SYS_MOUNT, eperm),
		refused("open_tree", unix.SYS_OPEN_TREE, eperm, none, 0),
		refused("open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT, eperm, none),
		refused("bpf", unix.SYS_BPF, eperm, none),
		refused("userfaultfd", unix.SYS_USERFAULTFD, eperm, 1<<30),
		refused("keyctl", unix.SYS_KEYCTL, eperm, none),
		refused("clone with CLONE_NEWUSER and an impossible pair", unix.SYS_CLONE, eperm, unix.CLONE_NEWUSER|unix.CLONE_FS),
		refused("clone with CLONE_PARENT and an impossible pair", unix.SYS_CLONE, eperm, unix.CLONE_PARENT|unix.CLONE_SIGHAND),
		refused("unshare(CLONE_NEWTIME) and an unknown flag", unix.SYS_UNSHARE, eperm, unix.CLONE_NEWTIME|1),
		refused("a listener", unix.SYS_SECCOMP, eperm, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, 0),
		refused("TIOCSTI", unix.SYS_IOCTL, eperm, none, unix.TIOCSTI),
		refused("TIOCSTI with an upper half", unix.SYS_IOCTL, eperm, none, 1<<32|unix.TIOCSTI),
		refused("FS_IOC_SETFLAGS", unix.SYS_IOCTL, eperm, none, unix.FS_IOC_SETFLAGS),
		refused("AF_VSOCK", unix.SYS_SOCKET, "EAFNOSUPPORT", unix.AF_VSOCK, unix.SOCK_STREAM),
		agents("AF_UNIX datagrams", unix.SYS_SOCKET, "EPROTONOSUPPORT", unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC),
		agents("AF_UNIX raw", unix.SYS_SOCKET, "EPROTONOSUPPORT", unix.AF_UNIX, unix.SOCK_RAW),
		agents("a pair of datagram sockets", unix.SYS_SOCKETPAIR, "EPROTONOSUPPORT", unix.AF_UNIX, unix.SOCK_DGRAM),
		agents("MSG_FASTOPEN", unix.SYS_SENDTO, "ENOTSUP", none, 0, 0, unix.MSG_FASTOPEN),
		agents("MSG_FASTOPEN of sendmsg", unix.SYS_SENDMSG, "ENOTSUP", none, 0, unix.MSG_FASTOPEN),
		refused("a stream socket", unix.SYS_SOCKET, "", unix.AF_UNIX, unix.SOCK_STREAM),
		refused("getpid", unix.SYS_GETPID, ""),
		refused("kill with 0", unix.SYS_KILL, "", uintptr(unix.Getpid()), 0),
		refused("personality's question", unix.SYS_PERSONALITY, "", 0xffffffff),
		refused("unshare(CLONE_FS)", unix.SYS_UNSHARE, "", unix.CLONE_FS),
		refused("a strict filter's question", unix.SYS_SECCOMP, "EFAULT", unix.SECCOMP_GET_NOTIF_SIZES),
	}
}

// calls makes all of rawCalls and prints how each ended.
func calls(v Variant) error {
	if v >= 0 {
		if err := confined(v); err != nil {
			return err
		}
	} else if err := ready(nil); err != nil {
		return err
	}
	var pair [2]int32 // for socketpair where it is not refused
	for _, r := range rawCalls() {
		if r.number == unix.SYS_SOCKETPAIR {
			r.args[3] = uintptr(unsafe.Pointer(&pair))
		}
		_, _, e := unix.RawSyscall6(r.number, r.args[0], r.args[1], r.args[2], r.args[3], r.args[4], 0)
		fmt.Printf("%s: %s\n", r.name, unix.ErrnoName(e))
	}
	return nil
}

// TestRefusedCalls makes the calls on this kernel, under the filters and without one.
func TestRefusedCalls(t *testing.T) {
	outcome := map[string]string{}
	for _, name := range []string{"calls-none", "calls-agent", "calls-static"} {
		out, _, end := start(t, name).finish(t)
		if end.ExitStatus() != 0 {
			t.Fatalf("%s: %s", name, out)
		}
		outcome[name] = out
	}
	for _, r := range rawCalls() {
		bare := ended(t, outcome["calls-none"], r.name)
		for name, want := range map[string]string{"calls-agent": r.agent, "calls-static": r.static} {
			if have := ended(t, outcome[name], r.name); want != "" && have != want || want == "" && have != bare {
				t.Errorf("%s, %s: ended with %q, want %q; without a filter %q", name, r.name, have, want, bare)
			}
		}
	}
}

func ended(t *testing.T, out, name string) string {
	t.Helper()
	for line := range strings.Lines(out) {
		if e, ok := strings.CutPrefix(line, name+": "); ok {
			return strings.TrimSpace(e)
		}
	}
	t.Fatalf("no %q in:\n%s", name, out)
	return ""
}
