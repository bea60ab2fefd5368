//go:build linux

package probe

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"loop/backend/leaktest"
	"loop/backend/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

// TestFreeTrial: without a gate every write succeeds, which is what makes a refusal
// under the gate the gate's, and the production filter can be installed.
func TestFreeTrial(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "trial")
	got, err := perform(wire.TrialFree, dir, "/bin/sh", "-c", "exit 0")
	if err != nil {
		t.Fatal(err)
	}
	well := wire.TrialWrite{There: true}
	if got.Refused != well || got.Asked != well || got.Allowed != well {
		t.Errorf("writes: %+v", got)
	}
	if got.Ptrace == "" || got.Ptrace == "EPERM" || got.IoUring == "" {
		t.Errorf("ptrace %q, io_uring %q", got.Ptrace, got.IoUring)
	}
	if got.Signals.Tried < 2 || got.Signals.Failed != 0 || got.Programs.Tried == 0 || got.Programs.Failed != 0 {
		t.Errorf("signals %+v, programs %+v", got.Signals, got.Programs)
	}
	if got.Landlock > 0 && got.Fences == 0 {
		t.Errorf("no room for a fence of Landlock %d", got.Landlock)
	}
	if got.Install != "" || got.Kernel == "" || got.Machine == "" || got.Filters < 0 {
		t.Errorf("facts: %+v", got)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder stays: %v", err)
	}
}

// TestTrialSeesWhatFails: acts that do not work are told, with the kernel's name for why.
func TestTrialSeesWhatFails(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none", "file")
	if got := write(missing); got.Error != "ENOENT" || got.There {
		t.Errorf("%+v", got)
	}
	if got := start([]string{"/bin/sh", "-c", "echo no; exit 3"}, time.Hour); got.Tried != starts || got.Failed != starts || got.Why == "" {
		t.Errorf("%+v", got)
	}
	taken := t.TempDir()
	if err := os.WriteFile(filepath.Join(taken, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := interrupted(taken); got.Failed != got.Tried || got.Why != "EEXIST" {
		t.Errorf("%+v", got)
	}
	if name(unix.EACCES) != "EACCES" || name(nil) != "" {
		t.Error("names of errors")
	}
}

// TestSecurityModules: what this computer may lack, from files as the kernel writes them.
func TestSecurityModules(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	for text, want := range map[string]int{"0\n": 0, "1\n": 1, "3\n": 3, "odd\n": -1, "": -1} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := yamaScope(file); got != want {
			t.Errorf("%q: %d", text, got)
		}
	}
	if got := yamaScope(file + ".none"); got != -1 {
		t.Errorf("no Yama: %d", got)
	}
	if err := os.WriteFile(file, []byte("docker-default (enforce)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := profile(file); got != "docker-default (enforce)" {
		t.Errorf("%q", got)
	}
	if got := profile(file + ".none"); got != "" {
		t.Errorf("no module: %q", got)
	}
	if v := cgroup("/proc"); v != 0 {
		t.Errorf("/proc is cgroup %d", v)
	}
	if v := cgroup(file + ".none"); v != 0 {
		t.Errorf("no folder is cgroup %d", v)
	}
}
