//go:build linux

package spawn

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// drop turns the calling thread, which must be locked, into the agent: its uid,
// gid and groups, no capability in any set that can be used or regained, and
// no_new_privs, so that neither a set-uid file nor uid 0 itself brings one back.
// Raw calls act on this thread alone; execve ends the others.
func drop(uid, gid int, groups []int) error {
	if have, err := unix.Getgroups(); err != nil || !sameGroups(have, groups) {
		if err := setgroups(groups); err != nil {
			return fmt.Errorf("set groups: %w", err)
		}
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESGID, uintptr(gid), uintptr(gid), uintptr(gid)); e != 0 {
		return fmt.Errorf("set gid %d: %w", gid, e)
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); e != 0 {
		return fmt.Errorf("set uid %d: %w", uid, e)
	}
	// Until execve the agent's other processes must not be able to attach.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("set dumpable: %w", err)
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("clear ambient capabilities: %w", err)
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&head, &none[0]); err != nil {
		return fmt.Errorf("clear capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	return verifyDropped(uid, gid, groups)
}

func verifyDropped(uid, gid int, groups []int) error {
	st, err := ReadStatus("/proc/thread-self/status")
	if err != nil {
		return err
	}
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapAmb"} {
		if v, err := st.Caps(set); err != nil || v != 0 {
			return fmt.Errorf("verify privileges: %s is %q", set, st[set])
		}
	}
	if !st.IDs("Uid", uid) || !st.IDs("Gid", gid) || st["NoNewPrivs"] != "1" {
		return fmt.Errorf("verify privileges: uid %q, gid %q, no_new_privs %q", st["Uid"], st["Gid"], st["NoNewPrivs"])
	}
	have, err := unix.Getgroups()
	if err != nil || !sameGroups(have, groups) {
		return fmt.Errorf("verify privileges: groups %v", have)
	}
	return nil
}

// setgroups is per thread, unlike unix.Setgroups.
func setgroups(groups []int) error {
	list := make([]uint32, len(groups)+1) // one more: its address must exist when the list is empty
	for i, g := range groups {
		list[i] = uint32(g)
	}
	return rawSetgroups(len(groups), list)
}

func sameGroups(a, b []int) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

// Status is /proc/<pid>/status as a table.
type Status map[string]string

// ReadStatus reads one such file.
func ReadStatus(path string) (Status, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read own status: %w", err)
	}
	st := make(Status)
	for line := range bytes.Lines(data) {
		if name, value, ok := strings.Cut(string(line), ":"); ok {
			st[name] = strings.TrimSpace(value)
		}
	}
	return st, nil
}

// Caps is one capability set.
func (s Status) Caps(set string) (uint64, error) {
	v, err := strconv.ParseUint(s[set], 16, 64)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", set, err)
	}
	return v, nil
}

// IDs reports whether real, effective, saved and file system id are all id.
func (s Status) IDs(field string, id int) bool {
	f := strings.Fields(s[field])
	if len(f) != 4 {
		return false
	}
	for _, v := range f {
		if v != strconv.Itoa(id) {
			return false
		}
	}
	return true
}
