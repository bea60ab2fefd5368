//go:build linux

package filter

import (
	"math"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// verdicts are what the programs must say of calls with arguments, written by hand: a
// rule of arguments_test.go that says something else is wrong. The third and fourth
// column are Agent and AgentReads, the last one is Static; Debuggers is as AgentReads.
var verdicts = []struct {
	name               string
	args               []uint64
	agent, reads, only verdict
}{
	{"open", []uint64{1, unix.O_RDONLY}, pass, notify, pass},
	{"open", []uint64{1, unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NOFOLLOW}, pass, notify, pass},
	{"open", []uint64{1, unix.O_WRONLY}, notify, notify, pass},
	{"open", []uint64{1, unix.O_CREAT, 0o644}, notify, notify, pass},
	{"openat", []uint64{at, 1, unix.O_RDONLY}, pass, notify, pass},
	{"openat", []uint64{at, 1, unix.O_RDONLY | unix.O_NONBLOCK | unix.O_APPEND}, pass, notify, pass},
	{"openat", []uint64{at, 1, unix.O_RDONLY | directory}, pass, pass, pass},
	{"openat", []uint64{at, 1, unix.O_RDONLY | unix.O_NONBLOCK | unix.O_CLOEXEC | directory}, pass, pass, pass},
	{"openat", []uint64{at, 1, unix.O_RDONLY | direct}, pass, notify, pass}, // O_DIRECTORY of the other architecture
	{"openat", []uint64{at, 1, unix.O_WRONLY | directory}, notify, notify, pass},
	{"openat", []uint64{at, 1, unix.O_CREAT | directory, 0o644}, notify, notify, pass},
	{"openat", []uint64{at, 1, unix.O_TRUNC | directory}, notify, notify, pass},
	{"openat", []uint64{at, 1, 0o20000000 | directory}, notify, notify, pass}, // O_TMPFILE
	{"openat", []uint64{at, 1, upper | directory}, pass, pass, pass},
	{"open", []uint64{1, unix.O_RDONLY | directory}, pass, pass, pass},
	{"openat", []uint64{at, 1, unix.O_WRONLY}, notify, notify, pass},
	{"openat", []uint64{at, 1, unix.O_RDWR}, notify, notify, pass},
	{"openat", []uint64{at, 1, unix.O_ACCMODE}, notify, notify, pass},
	{"openat", []uint64{at, 1, unix.O_CREAT, 0o644}, notify, notify, pass},
	{"openat", []uint64{at, 1, unix.O_TRUNC}, notify, notify, pass},
	{"openat", []uint64{at, 1, 0o20000000}, notify, notify, pass}, // O_TMPFILE without its O_DIRECTORY
	{"openat", []uint64{at, 1, unix.O_TMPFILE | unix.O_RDWR}, notify, notify, pass},
	{"openat", []uint64{at, 1, unix.O_PATH}, pass, pass, pass},
	{"openat", []uint64{at, 1, unix.O_PATH | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC}, pass, pass, pass},
	{"openat", []uint64{at, 1, upper}, pass, notify, pass}, // the kernel sees no upper half
	{"openat", []uint64{at, 1, upper | unix.O_WRONLY}, notify, notify, pass},
	{"openat2", []uint64{at, 1, 1, 24}, notify, notify, pass},
	{"creat", []uint64{1, 0o644}, notify, notify, pass},
	{"ftruncate", []uint64{5, 0}, pass, pass, pass},

	{"sendto", []uint64{5, 1, 1, 0, 0, 0}, pass, pass, pass},
	{"sendto", []uint64{5, 1, 1, unix.MSG_NOSIGNAL, 1, 16}, notify, notify, pass},
	{"sendto", []uint64{5, 1, 1, 0, upper, 16}, notify, notify, pass}, // an address above 4 GB
	{"sendto", []uint64{5, 1, 1, unix.MSG_FASTOPEN, 1, 16}, noFastOpen, noFastOpen, pass},
	{"sendto", []uint64{5, 1, 1, unix.MSG_FASTOPEN | unix.MSG_NOSIGNAL, 0, 0}, noFastOpen, noFastOpen, pass},
	{"sendmsg", []uint64{5, 1, 0}, pass, pass, pass},
	{"sendmsg", []uint64{5, 1, upper | unix.MSG_FASTOPEN}, noFastOpen, noFastOpen, pass},
	{"sendmmsg", []uint64{5, 1, unix.MSG_FASTOPEN, 0}, pass, pass, pass}, // a count, not flags
	{"sendmmsg", []uint64{5, 1, 1, unix.MSG_FASTOPEN}, noFastOpen, noFastOpen, pass},

	{"socket", []uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, pass, pass, pass},
	{"socket", []uint64{unix.AF_UNIX, unix.SOCK_SEQPACKET}, pass, pass, pass},
	{"socket", []uint64{unix.AF_UNIX, unix.SOCK_DGRAM}, noDatagrams, noDatagrams, pass},
	{"socket", []uint64{unix.AF_UNIX, unix.SOCK_RAW | unix.SOCK_NONBLOCK}, noDatagrams, noDatagrams, pass},
	{"socket", []uint64{upper | unix.AF_UNIX, upper | unix.SOCK_DGRAM | unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK}, noDatagrams, noDatagrams, pass},
	{"socket", []uint64{unix.AF_INET, unix.SOCK_DGRAM}, pass, pass, pass},
	{"socket", []uint64{unix.AF_NETLINK, unix.SOCK_RAW}, pass, pass, pass},
	{"socket", []uint64{unix.AF_VSOCK, unix.SOCK_STREAM}, noVsock, noVsock, noVsock},
	{"socketpair", []uint64{unix.AF_UNIX, unix.SOCK_STREAM}, pass, pass, pass},
	{"socketpair", []uint64{unix.AF_UNIX, unix.SOCK_DGRAM | unix.SOCK_CLOEXEC}, noDatagrams, noDatagrams, pass},

	{"clone", []uint64{uint64(unix.SIGCHLD)}, pass, pass, pass},
	{"clone", []uint64{unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD | unix.CLONE_SYSVSEM | unix.CLONE_SETTLS}, pass, pass, pass},
	{"clone", []uint64{unix.CLONE_VM | unix.CLONE_VFORK | uint64(unix.SIGCHLD)}, pass, pass, pass},
	{"clone", []uint64{unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)}, refusal, refusal, refusal},
	{"clone", []uint64{unix.CLONE_NEWNS}, refusal, refusal, refusal},
	{"clone", []uint64{upper | unix.CLONE_NEWCGROUP}, refusal, refusal, refusal},
	{"clone", []uint64{unix.CLONE_PARENT | uint64(unix.SIGCHLD)}, refusal, refusal, refusal},
	{"unshare", []uint64{unix.CLONE_FS | unix.CLONE_FILES}, pass, pass, pass},
	{"unshare", []uint64{unix.CLONE_NEWTIME}, refusal, refusal, refusal},
	{"unshare", []uint64{unix.CLONE_NEWUSER | unix.CLONE_NEWNS}, refusal, refusal, refusal},
	{"clone3", []uint64{1, 88}, absent, absent, absent},

	{"ioctl", []uint64{0, unix.TCGETS}, pass, pass, pass},
	{"ioctl", []uint64{0, unix.TIOCSCTTY}, pass, pass, pass},
	{"ioctl", []uint64{0, unix.TIOCSTI}, refusal, refusal, refusal},
	{"ioctl", []uint64{0, upper | unix.TIOCSTI}, refusal, refusal, refusal},
	{"ioctl", []uint64{0, unix.TIOCLINUX}, refusal, refusal, refusal},
	{"ioctl", []uint64{0, unix.FS_IOC_SETFLAGS}, refusal, refusal, refusal},
	{"ioctl", []uint64{0, unix.FS_IOC_GETFLAGS}, pass, pass, pass},
	{"ioctl", []uint64{0, 0x401c5820}, refusal, refusal, refusal},
	{"ioctl", []uint64{0, 0x5000940e}, refusal, refusal, refusal},
	{"ioctl", []uint64{0, unix.FICLONE}, pass, pass, pass},
	{"ioctl", []uint64{0, 0x40046602}, refusal, refusal, refusal}, // FS_IOC32_SETFLAGS
	{"ioctl", []uint64{0, 0x50009401}, refusal, refusal, refusal}, // subvolumes of btrfs
	{"ioctl", []uint64{0, 0x5000940f}, refusal, refusal, refusal},
	{"ioctl", []uint64{0, 0x50009417}, refusal, refusal, refusal},
	{"ioctl", []uint64{0, 0x50009418}, refusal, refusal, refusal},
	{"ioctl", []uint64{0, 0x5000943f}, refusal, refusal, refusal},
	{"ioctl", []uint64{0, 0x4008941a}, refusal, refusal, refusal},

	{"ioctl", []uint64{0, 0x8901}, refusal, refusal, refusal},
	{"ioctl", []uint64{0, 0x8902}, refusal, refusal, refusal},     // SIOCSPGRP
	{"ioctl", []uint64{0, 0x40806685}, refusal, refusal, refusal}, // FS_IOC_ENABLE_VERITY
	{"ioctl", []uint64{0, 0x800c6613}, refusal, refusal, refusal}, // FS_IOC_SET_ENCRYPTION_POLICY

	{"fcntl", []uint64{0, unix.F_GETFL}, pass, pass, pass},
	{"fcntl", []uint64{0, unix.F_SETLK}, pass, pass, pass},
	{"fcntl", []uint64{0, unix.F_GETOWN}, pass, pass, pass},
	{"fcntl", []uint64{0, unix.F_DUPFD_CLOEXEC}, pass, pass, pass},
	{"fcntl", []uint64{0, unix.F_SETOWN}, refusal, refusal, refusal},
	{"fcntl", []uint64{0, unix.F_SETOWN_EX}, refusal, refusal, refusal},
	{"fcntl", []uint64{0, upper | unix.F_SETSIG}, refusal, refusal, refusal},
	{"fcntl", []uint64{0, unix.F_SETLEASE}, refusal, refusal, refusal},
	{"fcntl", []uint64{0, 1040}, refusal, refusal, refusal}, // F_SETDELEG

	{"prctl", []uint64{unix.PR_SET_NAME, 1}, pass, pass, pass},
	{"prctl", []uint64{unix.PR_SET_SECCOMP, 2, 1}, pass, pass, pass},
	{"prctl", []uint64{unix.PR_SET_DUMPABLE, 0}, pass, pass, pass},
	{"prctl", []uint64{unix.PR_SET_MM, 14}, refusal, refusal, refusal},
	{"seccomp", []uint64{unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, 1}, pass, pass, pass},
	{"seccomp", []uint64{unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, 1}, refusal, refusal, refusal},
	{"seccomp", []uint64{unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_LOG, 1}, refusal, refusal, refusal},
	{"seccomp", []uint64{unix.SECCOMP_GET_NOTIF_SIZES, 0, 1}, pass, pass, pass},
}

const (
	at    = math.MaxUint64 - 99 // AT_FDCWD
	upper = 7 << 32

	// Flags that stand for those of the architecture in question.
	directory = 1 << 40 // O_DIRECTORY
	direct    = 1 << 41 // O_DIRECT, the other one's O_DIRECTORY

	refusal     = verdict(unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM))
	absent      = verdict(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS))
	noFastOpen  = verdict(unix.SECCOMP_RET_ERRNO | uint32(unix.EOPNOTSUPP))
	noDatagrams = verdict(unix.SECCOMP_RET_ERRNO | uint32(unix.EPROTONOSUPPORT))
	noVsock     = verdict(unix.SECCOMP_RET_ERRNO | uint32(unix.EAFNOSUPPORT))
)

// everyProgram calls f with each committed program, whatever this computer is.
func everyProgram(t *testing.T, f func(t *testing.T, v Variant, a architecture, run func(number uint32, args ...uint64) verdict)) {
	t.Helper()
	for _, a := range architectures {
		for _, v := range variants {
			t.Run(v.String()+"-"+a.name, func(t *testing.T) {
				program, err := os.ReadFile(programFile(v, a))
				if err != nil {
					t.Fatal(err)
				}
				f(t, v, a, func(number uint32, args ...uint64) verdict {
					d := data{number: number, arch: a.word, pointer: 1 << 40}
					copy(d.args[:], args)
					return simulate(t, program, d)
				})
			})
		}
	}
}

func TestVerdictsOnArguments(t *testing.T) {
	numbers := readNumbers(t)
	tried := map[string]bool{}
	everyProgram(t, func(t *testing.T, v Variant, a architecture, run func(uint32, ...uint64) verdict) {
		for _, c := range verdicts {
			tried[c.name] = true
			n, ok := numbers[c.name][a.name]
			if !ok {
				continue // arm64 has no open
			}
			want := []verdict{c.agent, c.reads, c.only, c.reads}[v]
			if have := run(n, a.flags(c.args)...); have != want {
				t.Errorf("%s%#x: %s, want %s", c.name, c.args, have, want)
			}
		}
	})
	for name := range arguments {
		if !tried[name] {
			t.Errorf("verdicts has no line for %s", name)
		}
	}
}

// flags puts the architecture's own flags into arguments.
func (a architecture) flags(args []uint64) []uint64 {
	own := slices.Clone(args)
	for i, f := range own {
		if f >= 1<<42 {
			continue // no flags
		}
		own[i] = f &^ (directory | direct)
		if f&directory != 0 {
			own[i] |= uint64(a.directory)
		}
		if f&direct != 0 {
			own[i] |= (0o40000 | 0o200000) &^ uint64(a.directory)
		}
	}
	return own
}

// TestVerdictsOnEveryNumber compares the programs with calls.txt, for every number from
// 0 to beyond the table, with arguments that must not matter.
func TestVerdictsOnEveryNumber(t *testing.T) {
	calls := readCalls(t)
	everyProgram(t, func(t *testing.T, v Variant, a architecture, run func(uint32, ...uint64) verdict) {
		byNumber := map[uint32]call{}
		for _, c := range calls {
			if n, ok := c.numbers[a.name]; ok {
				if other, twice := byNumber[n]; twice {
					t.Errorf("%s and %s are both %d", c.name, other.name, n)
				}
				byNumber[n] = c
			}
		}
		full := []uint64{math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64}
		for n := range uint32(2048) {
			want := absent
			switch c := byNumber[n]; c.what {
			case "args":
				continue // TestVerdictsOnArguments
			case "pass":
				want = pass
			case "notify":
				if want = notify; v == Static {
					want = pass
				}
			case "EPERM":
				want = refusal
			case "debug":
				if want = refusal; v == Debuggers {
					want = notify
				}
			}
			if have := run(n); have != want {
				t.Errorf("%d %s: %s, want %s", n, byNumber[n].name, have, want)
			}
			if have := run(n, full...); have != want {
				t.Errorf("%d %s with full arguments: %s, want %s", n, byNumber[n].name, have, want)
			}
		}
	})
}

func TestVerdictsOnForeignCalls(t *testing.T) {
	everyProgram(t, func(t *testing.T, v Variant, a architecture, run func(uint32, ...uint64) verdict) {
		x32 := absent
		if a.x32 {
			x32 = kill
		}
		for _, n := range []uint32{x32Bit, x32Bit | 1, x32Bit | 512, math.MaxUint32 - 1, 0x80000000} {
			if have := run(n); have != x32 {
				t.Errorf("%#x: %s, want %s", n, have, x32)
			}
		}
		for _, n := range []uint32{math.MaxUint32, x32Bit - 1, 10_000} {
			if have := run(n); have != absent {
				t.Errorf("%#x: %s, want ENOSYS", n, have)
			}
		}
		program, err := os.ReadFile(programFile(v, a))
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []uint32{unix.AUDIT_ARCH_I386, unix.AUDIT_ARCH_ARM, unix.AUDIT_ARCH_RISCV64, 0} {
			for n := range uint32(600) {
				if have := simulate(t, program, data{number: n, arch: word}); have != kill {
					t.Fatalf("%d of architecture %#x: %s, want kill", n, word, have)
				}
			}
		}
	})
}
