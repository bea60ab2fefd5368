//go:build linux

package linkend

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"loop/backend/wire"
)

// stepDown makes a process that was started as uid 0 the supervisor's, for good:
// with the uid the kernel takes every capability from each of its threads. Any
// other uid is left as it is; loop init takes links from the supervisor's alone.
func stepDown() error {
	if os.Getuid() != 0 && os.Geteuid() != 0 {
		return nil
	}
	const id = wire.SupervisorID
	if err := syscall.Setgroups(nil); err != nil {
		return fmt.Errorf("leave the groups of root (is SETGID granted?): %w", err)
	}
	if err := syscall.Setresgid(id, id, id); err != nil {
		return fmt.Errorf("leave gid 0 (is SETGID granted?): %w", err)
	}
	if err := syscall.Setresuid(id, id, id); err != nil {
		return fmt.Errorf("leave uid 0 (is SETUID granted?): %w", err)
	}
	caps := [2]unix.CapUserData{}
	if err := unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &caps[0]); err != nil {
		return fmt.Errorf("look at own capabilities: %w", err)
	}
	for _, c := range caps {
		if c.Effective|c.Permitted != 0 {
			return fmt.Errorf("capabilities are left after uid 0: %08x", c.Permitted)
		}
	}
	return nil
}
