//go:build linux

package supervise

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/kernel"
	"loop/backend/wire"
)

// thread is a locked OS thread that performs calls as the agent. Only the goroutine
// that is locked to it may use it, except for interrupt.
type thread struct {
	tid   int
	agent Agent
	own   uint64 // capabilities that it may make effective
	now   uint64 // those that are
}

const (
	capDACOverride = 1 << unix.CAP_DAC_OVERRIDE
	capPtrace      = 1 << unix.CAP_SYS_PTRACE
)

// become turns the calling goroutine's thread into one that performs, for good: the
// goroutine must end without unlocking it. extra is what it may have besides
// SYS_PTRACE.
func become(a Agent, extra uint64) (*thread, error) {
	runtime.LockOSThread()
	t := &thread{tid: unix.Gettid(), agent: a, own: capPtrace | extra}
	groups := make([]uint32, len(a.Groups)+1)
	for i, g := range a.Groups {
		groups[i] = uint32(g)
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(a.Groups)), uintptr(unsafe.Pointer(&groups[0])), 0); e != 0 {
		return nil, fmt.Errorf("set groups (is SETGID granted?): %w", e)
	}
	gid := uintptr(a.GID)
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESGID, gid, gid, gid); e != 0 {
		return nil, fmt.Errorf("set gid %d (is SETGID granted?): %w", a.GID, e)
	}
	// The file system's uid follows the effective one.
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), uintptr(a.UID), ^uintptr(0)); e != 0 {
		return nil, fmt.Errorf("set effective uid %d (is SETUID granted?): %w", a.UID, e)
	}
	// Becoming uid 0 has made everything permitted effective; only what is needed stays.
	if err := t.capset(0); err != nil {
		return nil, fmt.Errorf("clear capabilities: %w", err)
	}
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("verify performing thread: %w", err)
	}
	if err := t.ownFiles(); err != nil {
		return nil, err
	}
	return t, nil
}

// ownFiles keeps the process's files in /proc the supervisor's. Each change of a uid makes
// the process not dumpable, which is right unless the agent is uid 0, who then owns them.
func (t *thread) ownFiles() error {
	if t.agent.UID != 0 {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set dumpable: %w", err)
	}
	return nil
}

// capset makes mask effective, of what the thread owns.
func (t *thread) capset(mask uint64) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var set [2]unix.CapUserData
	for i := range set {
		set[i].Effective = uint32(mask >> (32 * i))
		set[i].Permitted = uint32(t.own >> (32 * i))
	}
	if _, _, e := unix.RawSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&set[0])), 0); e != 0 {
		return e
	}
	t.now = mask
	return nil
}

// with makes mask effective. That cannot fail for what the thread owns; if it does, the
// thread is not what it was checked to be.
func (t *thread) with(mask uint64) {
	if t.now == mask {
		return
	}
	if err := t.capset(mask); err != nil {
		panic("supervise: change own capabilities: " + err.Error())
	}
}

// check compares what the kernel says of the thread with what it must be.
func (t *thread) check() error {
	st, err := kernel.ReadStatus("/proc/thread-self/status")
	if err != nil {
		return err
	}
	super, uid, gid := strconv.Itoa(wire.SupervisorID), strconv.Itoa(t.agent.UID), strconv.Itoa(t.agent.GID)
	if have := strings.Fields(st["Uid"]); !slices.Equal(have, []string{super, uid, super, uid}) {
		return fmt.Errorf("uids are %v", have)
	}
	if have := strings.Fields(st["Gid"]); !slices.Equal(have, []string{gid, gid, gid, gid}) {
		return fmt.Errorf("gids are %v", have)
	}
	for name, want := range map[string]uint64{"CapEff": 0, "CapPrm": t.own, "CapInh": 0, "CapAmb": 0} {
		if v, err := strconv.ParseUint(st[name], 16, 64); err != nil || v != want {
			return fmt.Errorf("%s is %q, not %016x", name, st[name], want)
		}
	}
	return nil
}

// wake is the signal that ends a system call of a thread that blocks.
const wake = unix.SIGUSR2

// armWake makes the signal's handler one that does not restart what it interrupts; for
// Go's own handlers the kernel would. The process must not use the signal otherwise.
var armWake = sync.OnceValue(func() error {
	signal.Notify(make(chan os.Signal, 1), wake)
	return interruptible(wake)
})

// interrupt makes a blocking call of the thread return EINTR. It is lost where the
// thread is not in one yet, so whoever needs it repeats it.
func (t *thread) interrupt() {
	_ = unix.Tgkill(unix.Getpid(), t.tid, syscall.Signal(wake))
}
