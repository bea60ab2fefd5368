package agentimage

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestChromeFilter: Chromium's filter of system calls is the engine's own, and beyond it
// allows the three kinds of namespaces that Chromium's sandbox makes, and chroot.
func TestChromeFilter(t *testing.T) {
	type arg struct {
		Index, Value uint64
		Op           string
	}
	var filter struct {
		DefaultAction string
		Syscalls      []struct {
			Names    []string
			Action   string
			Args     []arg
			Includes struct{ Caps []string }
		}
	}
	if err := json.Unmarshal([]byte(ChromeSeccomp), &filter); err != nil {
		t.Fatal(err)
	}
	if filter.DefaultAction != "SCMP_ACT_ERRNO" {
		t.Errorf("what is not named: %s", filter.DefaultAction)
	}
	// Of clone's flags for namespaces those of users (0x10000000), processes (0x20000000)
	// and networks (0x40000000) may be set, and no other: mounts, control groups, host
	// names and System V IPC.
	const refused = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000
	// What the engine's own filter allows only with a capability that the container has not.
	forbidden := []string{
		"mount", "umount", "umount2", "pivot_root", "setns", "bpf", "perf_event_open", "kexec_load", "kexec_file_load", "init_module", "finit_module",
		"delete_module", "open_by_handle_at", "keyctl", "add_key", "request_key", "userfaultfd", "reboot", "swapon", "swapoff", "acct", "iopl", "ioperm",
		"settimeofday", "clock_settime", "sethostname", "setdomainname", "quotactl", "syslog", "nfsservctl", "lookup_dcookie", "move_mount", "open_tree",
		"fsopen", "fsmount", "fsconfig", "fspick", "mount_setattr", "io_uring_setup", "io_uring_enter", "io_uring_register", "vhangup", "process_madvise",
	}
	for _, rule := range filter.Syscalls {
		for _, name := range rule.Names {
			switch {
			case rule.Action != "SCMP_ACT_ALLOW" || len(rule.Includes.Caps) > 0:
			case name == "clone" || name == "unshare":
				if !slices.Equal(rule.Args, []arg{{0, refused, "SCMP_CMP_MASKED_EQ"}}) {
					t.Errorf("%s with %+v", name, rule.Args)
				}
			case name == "clone3" || slices.Contains(forbidden, name):
				t.Errorf("%s is allowed", name)
			case name == "socket" && slices.ContainsFunc(rule.Args, func(a arg) bool { return a.Op == "SCMP_CMP_EQ" && (a.Value == 38 || a.Value == 40) }):
				t.Error("sockets of the kernel's cryptography or of virtual machines are allowed")
			}
		}
	}
}
