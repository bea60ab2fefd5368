//go:build linux

package filter

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// dispositions are the calls that do not pass, whatever their arguments are, written by
// hand: whoever lets one pass in calls.txt says so here as well.
var dispositions = map[string]string{
	"notify": `openat2 creat rename renameat renameat2 unlink unlinkat rmdir mkdir mkdirat mknod mknodat link linkat
		symlink symlinkat bind chmod fchmod fchmodat fchmodat2 chown lchown fchown fchownat truncate utime utimes futimesat
		utimensat setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat file_setattr
		connect execve execveat`,
	"debug": `ptrace process_vm_readv process_vm_writev`, // refused but in the program for debuggers
	"EPERM": `setns process_madvise process_mrelease pidfd_getfd kcmp mount umount2
		pivot_root chroot fsopen fsconfig fsmount fspick move_mount open_tree open_tree_attr mount_setattr open_by_handle_at
		fanotify_init fanotify_mark bpf perf_event_open userfaultfd add_key request_key keyctl quotactl quotactl_fd swapon
		swapoff reboot kexec_load kexec_file_load init_module finit_module delete_module acct settimeofday clock_settime
		sethostname setdomainname syslog iopl ioperm vhangup lsm_set_self_attr`,
	"ENOSYS": `clone3 io_uring_setup io_uring_enter io_uring_register uselib lookup_dcookie nfsservctl _sysctl sysfs
		create_module get_kernel_syms query_module getpmsg putpmsg afs_syscall tuxcall security vserver epoll_ctl_old
		epoll_wait_old arch_specific_syscall`,
}

// TestWhatDoesNotPass: what is held and what is refused is exactly what stands here, in
// each committed program. A line of calls.txt that changes is a decision, and not a slip.
func TestWhatDoesNotPass(t *testing.T) {
	says := map[string]string{}
	for what, names := range dispositions {
		for name := range strings.FieldsSeq(names) {
			says[name] = what
		}
	}
	for _, c := range readCalls(t) {
		if want := says[c.name]; c.what != "args" && c.what != "pass" && want != c.what || c.what == "pass" && want != "" {
			t.Errorf("calls.txt has %s for %s, and this test %q", c.what, c.name, want)
		}
	}
	numbers := readNumbers(t)
	everyProgram(t, func(t *testing.T, v Variant, a architecture, run func(uint32, ...uint64) verdict) {
		for name, what := range says {
			n, ok := numbers[name][a.name]
			if !ok {
				continue
			}
			want := map[string]verdict{"notify": notify, "debug": refusal, "EPERM": refusal, "ENOSYS": absent}[what]
			if v == Debuggers && what == "debug" {
				want = notify
			}
			if v == Static && what == "notify" {
				want = pass
			}
			if have := run(n); have != want {
				t.Errorf("%s: %s, want %s", name, have, want)
			}
		}
	})
}

// TestEachRefusedArgument: every request, command and namespace that is refused has a
// verdict, so that none can go from its list.
func TestEachRefusedArgument(t *testing.T) {
	refused := map[string]bool{}
	for _, c := range verdicts {
		if c.agent == refusal && len(c.args) > 1 {
			refused[fmt.Sprintf("%s %#x", c.name, uint32(c.args[1]))] = true
		}
	}
	if len(requests) != 16 || len(commands) != 5 {
		t.Errorf("%d requests and %d commands are refused", len(requests), len(commands))
	}
	for name, list := range map[string][]uint32{"ioctl": requests, "fcntl": commands} {
		for _, number := range list {
			if what := fmt.Sprintf("%s %#x", name, number); !refused[what] {
				t.Errorf("no verdict on %s", what)
			}
		}
	}
	numbers := readNumbers(t)
	everyProgram(t, func(t *testing.T, _ Variant, a architecture, run func(uint32, ...uint64) verdict) {
		for _, flag := range []uint64{unix.CLONE_NEWNS, unix.CLONE_NEWCGROUP, unix.CLONE_NEWUTS, unix.CLONE_NEWIPC, unix.CLONE_NEWUSER,
			unix.CLONE_NEWPID, unix.CLONE_NEWNET} {
			for _, name := range []string{"clone", "unshare"} {
				if have := run(numbers[name][a.name], flag); have != refusal {
					t.Errorf("%s %#x: %s", name, flag, have)
				}
			}
		}
	})
}
