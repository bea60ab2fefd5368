//go:build linux

package initd

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/kernel"
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
// PID 1. It returns only on error. Its thread must be the process's first, where main
// keeps it: from another one the kernel would show PID 1 as a zombie meanwhile, and the
// engine would refuse to start the link.
func become() error {
	if unix.Gettid() != unix.Getpid() {
		return fmt.Errorf("execute again: on thread %d, not on the first", unix.Gettid())
	}
	if err := unix.Prctl(unix.PR_SET_KEEPCAPS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("keep capabilities: %w", err)
	}
	if err := kernel.SetIDs(wire.SupervisorID, wire.SupervisorID, nil); err != nil {
		return err
	}
	if err := kernel.SetCaps(keptMask()); err != nil {
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
	st, err := kernel.ReadStatus(statusFile)
	if err != nil {
		return err
	}
	return st.Check(wire.SupervisorID, wire.SupervisorID, nil, keptMask())
}
