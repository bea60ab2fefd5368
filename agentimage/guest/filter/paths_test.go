//go:build linux

package filter

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// pathCalls prints the system calls of the running kernel that take a pointer to
// characters, as its tracing knows them, with a file system of its own.
func pathCalls() error {
	if err := ready(nil); err != nil {
		return err
	}
	const tracing = "/sys/kernel/tracing"
	err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_FS)
	if err == nil {
		err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	}
	if err == nil {
		err = unix.Mount("tracefs", tracing, "tracefs", unix.MS_RDONLY, "")
	}
	if err != nil {
		fmt.Println("not run: the kernel's list of calls cannot be read here:", err)
		return nil
	}
	formats, err := filepath.Glob(tracing + "/events/syscalls/sys_enter_*/format")
	if err != nil {
		return err
	}
	for _, f := range formats {
		text, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		if takesCharacters.Match(text) {
			fmt.Println(strings.TrimPrefix(filepath.Base(filepath.Dir(f)), "sys_enter_"))
		}
	}
	return nil
}

var takesCharacters = regexp.MustCompile(`\bfield:(const )?char \* ?\w+;`)

// Some calls have another name in the kernel than in its headers.
var headerNames = map[string]string{
	"newstat": "stat", "newlstat": "lstat", "newfstat": "fstat", "umount": "umount2", "sendfile64": "sendfile",
}

// harmless are calls that take characters and pass, and why they may.
var harmless = map[string]string{
	"access": "asks", "faccessat": "asks", "faccessat2": "asks", "stat": "asks", "lstat": "asks", "newfstatat": "asks",
	"statx": "asks", "statfs": "asks", "readlink": "asks", "readlinkat": "asks", "name_to_handle_at": "asks",
	"getxattr": "asks", "lgetxattr": "asks", "fgetxattr": "asks", "getxattrat": "asks", "file_getattr": "asks",
	"listxattr": "asks", "llistxattr": "asks", "flistxattr": "asks", "listxattrat": "asks",
	"chdir":             "only the caller's own, by which the supervisor resolves",
	"inotify_add_watch": "tells of changes",
	"memfd_create":      "the name means nothing",
	"mq_open":           "a name of a message queue, not of a file",
	"mq_unlink":         "a name of a message queue, not of a file",
	"getcwd":            "a buffer", "getrandom": "a buffer", "mincore": "a buffer", "read": "a buffer", "write": "a buffer",
	"pread64": "a buffer", "pwrite64": "a buffer", "getsockopt": "a buffer", "setsockopt": "a buffer",
	"mq_timedreceive": "a buffer", "mq_timedsend": "a buffer", "shmat": "an address", "shmdt": "an address",
}

// TestEveryPathCallOfThisKernelIsJudged finds what the tables miss: a call with a path
// that this kernel has, and that neither the supervisor nor anybody else looks at.
func TestEveryPathCallOfThisKernelIsJudged(t *testing.T) {
	out, _, end := start(t, "paths").finish(t)
	if end.ExitStatus() != 0 {
		t.Fatal(out)
	}
	names := strings.Fields(out)
	if strings.HasPrefix(out, "not run") {
		t.Log(out) // needs root; the tables themselves are checked everywhere
		return
	}
	if len(names) < 50 || !slices.Contains(names, "openat") {
		t.Fatalf("the kernel names only %q", names)
	}
	what := map[string]string{}
	for _, c := range readCalls(t) {
		what[c.name] = c.what
	}
	for _, name := range names {
		if other, ok := headerNames[name]; ok {
			name = other
		}
		switch disposition, known := what[name]; {
		case !known:
			t.Logf("%s is younger than the table: ENOSYS", name)
		case disposition == "pass" && harmless[name] == "":
			t.Errorf("%s takes characters and passes; say in harmless why it may, or hold it", name)
		}
	}
	for name := range harmless {
		if what[name] != "pass" {
			t.Errorf("harmless has %s, which does not pass", name)
		}
	}
	t.Logf("%d calls of this kernel take characters", len(names))
}
