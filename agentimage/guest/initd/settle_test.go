//go:build linux

package initd

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func owner(t *testing.T, path string) int {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return int(info.Sys().(*syscall.Stat_t).Uid)
}

// TestChownTreeLeavesARightTopAlone: chownTree does not walk a volume that is already
// the agent's, however large it is. As root, the test proves this by an entry that
// keeps another owner; as another user, by a folder that a walk could not enter.
func TestChownTreeLeavesARightTopAlone(t *testing.T) {
	top := t.TempDir()
	inner, outside := filepath.Join(top, "inner"), filepath.Join(t.TempDir(), "outside")
	for _, err := range []error{os.Mkdir(inner, 0o755), os.WriteFile(filepath.Join(inner, "file"), nil, 0o600), os.WriteFile(outside, nil, 0o600), os.Symlink(outside, filepath.Join(top, "link"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	me, group := os.Getuid(), os.Getgid()
	if me != 0 {
		if err := os.Chmod(inner, 0); err != nil {
			t.Fatal(err)
		}
		err := chownTree(top, me, group)
		if cerr := os.Chmod(inner, 0o755); err != nil || cerr != nil {
			t.Errorf("%v %v", err, cerr)
		}
		return
	}
	const other, agent = 12345, 23456
	if err := os.Lchown(inner, other, other); err != nil {
		t.Fatal(err)
	}
	if err := chownTree(top, me, group); err != nil || owner(t, inner) != other {
		t.Errorf("%v, inner is %d's", err, owner(t, inner))
	}
	// When the top has another owner, everything in it gets the agent as owner. So do
	// symbolic links themselves, but not their targets.
	if err := chownTree(top, agent, agent); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "inner", "inner/file", "link"} {
		if got := owner(t, filepath.Join(top, name)); got != agent {
			t.Errorf("%q is %d's", name, got)
		}
	}
	if got := owner(t, outside); got != 0 {
		t.Errorf("a link was followed: %d", got)
	}
}

// TestSweep removes whatever a directory has, and does not follow a link out of it.
func TestSweep(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside")
	for _, err := range []error{os.WriteFile(outside, nil, 0o600), os.WriteFile(filepath.Join(dir, "a.json"), nil, 0o640),
		os.MkdirAll(filepath.Join(dir, "b", "c"), 0o700), os.Symlink(filepath.Dir(outside), filepath.Join(dir, "link"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := sweep(dir); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left: %v %v", left, err)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
	if err := sweep(filepath.Join(dir, "none")); err == nil {
		t.Error("no directory, and no error")
	}
}
