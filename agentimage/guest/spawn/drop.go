//go:build linux

package spawn

import (
	"fmt"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/kernel"
)

// drop turns the calling thread, which must be locked, into the agent: its uid,
// gid and groups, no capability in any set that can be used or regained, and
// no_new_privs, so that neither a set-uid file nor uid 0 itself brings one back.
func drop(uid, gid int, groups []int) error {
	if err := kernel.SetIDs(uid, gid, groups); err != nil {
		return err
	}
	// Until execve the agent's other processes must not be able to attach.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("set dumpable: %w", err)
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("clear ambient capabilities: %w", err)
	}
	if err := kernel.SetCaps(0); err != nil {
		return fmt.Errorf("clear capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	st, err := kernel.ReadStatus("/proc/thread-self/status")
	if err == nil {
		err = st.Check(uid, gid, groups, 0)
	}
	if err == nil && st["NoNewPrivs"] != "1" {
		err = fmt.Errorf("no_new_privs is %q", st["NoNewPrivs"])
	}
	if err != nil {
		return fmt.Errorf("verify privileges: %w", err)
	}
	return nil
}
