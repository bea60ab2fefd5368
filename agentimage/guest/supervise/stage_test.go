//go:build linux

package supervise

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/filter"
	"loop/agentimage/guest/kernel"
	"loop/backend/wire"
)

// jail makes everything read-only but the agent's folder, since an agent with uid 0 owns
// most of this computer, and becomes the keeper.
func jail() {
	fail := func(what string, err error) {
		fmt.Fprintln(os.Stderr, "jail:", what, err)
		os.Exit(5)
	}
	dir := os.Getenv(dirVar)
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		fail("private", err)
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		fail("mounts", err)
	}
	if err := unix.Mount(dir, dir, "", unix.MS_BIND, ""); err != nil {
		fail("bind", err)
	}
	for line := range strings.Lines(string(mounts)) {
		at := strings.Fields(line)[1]
		if at == "/proc" || at == "/dev/pts" {
			continue
		}
		if err := unix.Mount("", at, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""); err != nil && (at == "/" || at == "/dev" || at == "/tmp") {
			fail("read-only "+at, err)
		}
	}
	if err := os.WriteFile("/dev/jail", nil, 0o600); !errors.Is(err, unix.EROFS) {
		fail("/dev is not read-only", err)
	}
	if err := os.WriteFile("/jail", nil, 0o600); !errors.Is(err, unix.EROFS) {
		fail("/ is not read-only", err)
	}
	if err := os.Chdir(dir); err != nil { // below the mount that can be written
		fail("folder", err)
	}
	if os.Getenv(usersVar) == "" {
		becomeKeeper()
	}
	_ = os.Setenv(roleVar, "formats")
	all := []syscall.SysProcIDMap{{Size: 1 << 16}}
	run(&syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS, UidMappings: all, GidMappings: all, GidMappingsEnableSetgroups: true})
}

// becomeKeeper runs the test with the keeper's uid and capabilities, and ends.
func becomeKeeper() {
	_ = os.Setenv(roleVar, "keeper")
	run(&syscall.SysProcAttr{
		Credential:  &syscall.Credential{Uid: wire.SupervisorID, Gid: wire.SupervisorID},
		AmbientCaps: []uintptr{unix.CAP_SETUID, unix.CAP_SETGID, unix.CAP_SYS_PTRACE, unix.CAP_DAC_OVERRIDE, unix.CAP_KILL},
	})
}

// run runs this program again, and ends as it does.
func run(as *syscall.SysProcAttr) {
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = as
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// stage becomes the agent, installs the fence and the filter, hands over its listener, and executes
// the act.
func stage() {
	runtime.LockOSThread()
	fail := func(what string, err error) {
		fmt.Fprintln(os.Stderr, "stage:", what, err)
		os.Exit(4)
	}
	uid, _ := strconv.Atoi(os.Getenv(agentVar))
	if err := kernel.SetIDs(uid, uid, []int{uid}); err != nil {
		fail("ids", err)
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		fail("ambient", err)
	}
	if err := kernel.SetCaps(0); err != nil {
		fail("caps", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		fail("nnp", err)
	}
	unix.Umask(0o022)
	dir := os.Getenv("SUPERVISE_IN")
	if dir != os.Getenv(dirVar) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			fail("folder", err)
		}
	}
	if err := os.Chdir(dir); err != nil {
		fail("folder", err)
	}
	if os.Getenv(modeVar) == "filter" {
		if _, err := filter.Landlock(); err != nil {
			fail("fence", err)
		}
		fd, err := install()
		if err != nil {
			fail("filter", err)
		}
		if err := unix.Sendmsg(3, []byte{0}, unix.UnixRights(fd), nil, 0); err != nil {
			fail("send", err)
		}
		_ = unix.Close(fd)
	}
	if _, err := unix.Read(3, make([]byte, 1)); err != nil {
		fail("ack", err)
	}
	_ = unix.Close(3)
	_ = os.Setenv(roleVar, "agent")
	fail("exec", syscall.Exec("/proc/self/exe", os.Args, os.Environ()))
}

// install puts a filter on the calling thread that hands over every call of the table,
// except opens with O_PATH and sends without an address.
func install() (int, error) {
	const (
		jeq  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		jset = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
		load = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		ret  = unix.BPF_RET | unix.BPF_K
	)
	pass := unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW}
	ask := unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_USER_NOTIF}
	prog := []unix.SockFilter{{Code: load, K: 0}}
	for nr, d := range table {
		arg := map[string]uint32{"open": 1, "openat": 2, "sendto": 4}[d.name]
		switch d.name {
		case "open", "openat":
			prog = append(prog, unix.SockFilter{Code: jeq, Jf: 4, K: uint32(nr)}, unix.SockFilter{Code: load, K: 16 + 8*arg},
				unix.SockFilter{Code: jset, Jf: 1, K: unix.O_PATH}, pass, ask)
		case "sendto":
			prog = append(prog, unix.SockFilter{Code: jeq, Jf: 4, K: uint32(nr)}, unix.SockFilter{Code: load, K: 16 + 8*arg},
				unix.SockFilter{Code: jeq, Jf: 1, K: 0}, pass, ask)
		default:
			prog = append(prog, unix.SockFilter{Code: jeq, Jf: 1, K: uint32(nr)}, ask)
		}
	}
	prog = append(prog, pass)
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	const flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	fd, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&fprog)))
	if e != 0 {
		return -1, e
	}
	return int(fd), nil
}
