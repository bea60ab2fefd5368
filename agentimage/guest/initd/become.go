//go:build linux

package initd

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/spawn"
	"loop/backend/wire"
)

// kept are the capabilities loop init goes on with, and what for:
// SETUID and SETGID to become the agent, KILL to signal its processes,
// DAC_OVERRIDE to write the spool in the person's directory and to clear the
// agent's private directories, SYS_PTRACE to see which file a process runs.
var kept = []uintptr{unix.CAP_DAC_OVERRIDE, unix.CAP_KILL, unix.CAP_SETGID, unix.CAP_SETUID, unix.CAP_SYS_PTRACE}

func keptMask() uint64 {
	var m uint64
	for _, c := range kept {
		m |= 1 << c
	}
	return m
}

// become moves this process to the supervisor's uid and gid with the kept
// capabilities, and executes the binary again in place: the credentials are
// changed on one thread, and execve makes that thread the whole process, still
// PID 1. It returns only on error.
func become() error {
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_KEEPCAPS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("keep capabilities: %w", err)
	}
	none := [1]uint32{}
	if _, _, e := unix.RawSyscall(unix.SYS_SETGROUPS, 0, uintptr(unsafe.Pointer(&none[0])), 0); e != 0 {
		return fmt.Errorf("clear groups (is SETGID granted?): %w", e)
	}
	const id = wire.SupervisorID
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESGID, id, id, id); e != 0 {
		return fmt.Errorf("set gid (is SETGID granted?): %w", e)
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, id, id, id); e != 0 {
		return fmt.Errorf("set uid (is SETUID granted?): %w", e)
	}
	mask := keptMask()
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	set := [2]unix.CapUserData{}
	for i := range set {
		part := uint32(mask >> (32 * i))
		set[i] = unix.CapUserData{Effective: part, Permitted: part, Inheritable: part}
	}
	if err := unix.Capset(&head, &set[0]); err != nil {
		return fmt.Errorf("set capabilities (are all of SETUID SETGID SYS_PTRACE DAC_OVERRIDE KILL granted?): %w", err)
	}
	for _, c := range kept {
		if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, c, 0, 0); err != nil {
			return fmt.Errorf("raise ambient capability %d: %w", c, err)
		}
	}
	if err := syscall.Exec("/proc/self/exe", []string{"loop", "init"}, os.Environ()); err != nil {
		return fmt.Errorf("execute again: %w", err)
	}
	return nil
}

// verify refuses to go on unless the move was complete.
func verify(statusFile string) error {
	st, err := spawn.ReadStatus(statusFile)
	if err != nil {
		return err
	}
	if !st.IDs("Uid", wire.SupervisorID) || !st.IDs("Gid", wire.SupervisorID) {
		return fmt.Errorf("not the supervisor: uid %q, gid %q", st["Uid"], st["Gid"])
	}
	if st["Groups"] != "" {
		return fmt.Errorf("groups left: %q", st["Groups"])
	}
	for _, set := range []string{"CapPrm", "CapEff", "CapAmb", "CapInh"} {
		v, err := st.Caps(set)
		if err != nil {
			return err
		}
		if v != keptMask() {
			return fmt.Errorf("%s is %016x, not %016x", set, v, keptMask())
		}
	}
	return nil
}
