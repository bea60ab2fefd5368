//go:build linux

package kernel

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// SetIDs gives the calling thread, which must be locked, a uid and a gid (real,
// effective and saved) and supplementary groups. Other threads keep theirs, which is
// why these are raw calls; an execve ends them.
func SetIDs(uid, gid int, groups []int) error {
	if have, err := unix.Getgroups(); err != nil || !sameGroups(have, groups) {
		list := make([]uint32, len(groups)+1) // one more: its address must exist when the list is empty
		for i, g := range groups {
			list[i] = uint32(g)
		}
		if _, _, e := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(groups)), uintptr(unsafe.Pointer(&list[0])), 0); e != 0 {
			return fmt.Errorf("set groups (is SETGID granted?): %w", e)
		}
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESGID, uintptr(gid), uintptr(gid), uintptr(gid)); e != 0 {
		return fmt.Errorf("set gid %d (is SETGID granted?): %w", gid, e)
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); e != 0 {
		return fmt.Errorf("set uid %d (is SETUID granted?): %w", uid, e)
	}
	return nil
}

// SetCaps makes mask the calling thread's effective, permitted and inheritable set.
func SetCaps(mask uint64) error {
	var set [2]unix.CapUserData
	for i := range set {
		part := uint32(mask >> (32 * i))
		set[i] = unix.CapUserData{Effective: part, Permitted: part, Inheritable: part}
	}
	return unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &set[0])
}

func sameGroups(a, b []int) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

// Status is a status file of proc(5) as a table.
type Status map[string]string

// ReadStatus reads the status file at path.
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

// Check reports as an error whatever is not as it should be: all four uids, all four
// gids, the groups, and the four sets of capabilities that can be used or regained.
func (s Status) Check(uid, gid int, groups []int, caps uint64) error {
	for name, id := range map[string]int{"Uid": uid, "Gid": gid} {
		if one := strconv.Itoa(id); !slices.Equal(strings.Fields(s[name]), []string{one, one, one, one}) {
			return fmt.Errorf("%s is %q, not %d", name, s[name], id)
		}
	}
	var have []int
	for _, g := range strings.Fields(s["Groups"]) {
		n, err := strconv.Atoi(g)
		if err != nil {
			return fmt.Errorf("read groups: %w", err)
		}
		have = append(have, n)
	}
	if !sameGroups(have, groups) {
		return fmt.Errorf("groups are %v, not %v", have, groups)
	}
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapAmb"} {
		if v, err := strconv.ParseUint(s[set], 16, 64); err != nil || v != caps {
			return fmt.Errorf("%s is %q, not %016x", set, s[set], caps)
		}
	}
	return nil
}
