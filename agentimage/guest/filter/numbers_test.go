//go:build linux

package filter

import (
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNumbersAreThoseOfTheHeaders makes numbers.txt again where libseccomp's headers are;
// build/setup.sh test installs them.
func TestNumbersAreThoseOfTheHeaders(t *testing.T) {
	for _, needed := range []string{"/usr/include/seccomp.h", "/usr/include/stdlib.h"} {
		if _, err := os.Stat(needed); err != nil {
			t.Logf("not run: the table was not compared with libseccomp, for this computer has no %s (build/setup.sh test)", needed)
			return
		}
	}
	cmd := exec.Command("go", "run", "-C", "../../../build/seccomp", ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// TestNumbersOfThisArchitecture needs nothing but the constants this binary has.
func TestNumbersOfThisArchitecture(t *testing.T) {
	numbers := map[int]string{}
	for _, c := range Notified() {
		numbers[c.Number] = c.Name
	}
	for number, name := range map[int]string{
		unix.SYS_OPENAT: "openat", unix.SYS_OPENAT2: "openat2", unix.SYS_UNLINKAT: "unlinkat", unix.SYS_RENAMEAT2: "renameat2",
		unix.SYS_CONNECT: "connect", unix.SYS_BIND: "bind", unix.SYS_SENDTO: "sendto", unix.SYS_EXECVE: "execve",
		unix.SYS_EXECVEAT: "execveat", unix.SYS_FCHMODAT2: "fchmodat2", unix.SYS_FILE_SETATTR: "file_setattr",
	} {
		if numbers[number] != name {
			t.Errorf("call %d is %q in Notified, want %q", number, numbers[number], name)
		}
	}
}
