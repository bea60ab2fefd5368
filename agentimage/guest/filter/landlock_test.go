//go:build linux

package filter

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// fenced tries what the fence allows and refuses; the folder is in the environment.
func fenced() error {
	dir := os.Getenv(fenceVariable)
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	fence, err := Landlock([]string{in, "/dev/null", filepath.Join(dir, "missing")}, true)
	if err != nil {
		return err
	}
	fmt.Printf("%+v\n", fence)
	if err := ready(nil); err != nil {
		return err
	}
	if fence.ABI == 0 {
		return nil
	}
	flags := unix.O_WRONLY | unix.O_CREAT | unix.O_CLOEXEC
	open := func(path string, flags int) error {
		fd, err := unix.Open(path, flags, 0o600)
		if err == nil {
			_ = unix.Close(fd)
		}
		return err
	}
	var wrong error
	for what, err := range map[string]error{
		"make in":     open(filepath.Join(in, "new"), flags),
		"write null":  open("/dev/null", unix.O_WRONLY),
		"read out":    open(filepath.Join(out, "file"), unix.O_RDONLY),
		"list out":    open(out, unix.O_RDONLY|unix.O_DIRECTORY),
		"chmod out":   unix.Chmod(filepath.Join(out, "file"), 0o640), // not its business
		"signal self": unix.Kill(unix.Getpid(), 0),
	} {
		if err != nil {
			wrong = errors.Join(wrong, fmt.Errorf("%s: %w", what, err))
		}
	}
	refused := map[string]error{
		"make out":   open(filepath.Join(out, "new"), flags),
		"write out":  open(filepath.Join(out, "file"), unix.O_WRONLY),
		"mkdir out":  unix.Mkdir(filepath.Join(out, "folder"), 0o700),
		"unlink out": unix.Unlink(filepath.Join(out, "file")),
		"rename out": unix.Rename(filepath.Join(out, "file"), filepath.Join(out, "other")),
		"missing":    unix.Mkdir(filepath.Join(dir, "missing"), 0o700),
	}
	if fence.Truncate {
		refused["truncate out"] = unix.Truncate(filepath.Join(out, "file"), 0)
	}
	if fence.Scoped {
		refused["signal the parent"] = unix.Kill(unix.Getppid(), 0)
	}
	for what, err := range refused {
		if !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.EPERM) {
			wrong = errors.Join(wrong, fmt.Errorf("%s was not refused: %w", what, err))
		}
	}
	return wrong
}

const fenceVariable = "LOOP_FILTER_FENCE"

func TestLandlock(t *testing.T) {
	dir := t.TempDir()
	for _, sub := range []string{"in", "out"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "out", "file")
	if err := os.WriteFile(file, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(fenceVariable, dir)
	out, _, end := start(t, "landlock").finish(t)
	if end.ExitStatus() != 0 {
		t.Error(out)
	}
	t.Logf("%s", out)
	if text, err := os.ReadFile(file); err != nil || string(text) != "kept" {
		t.Errorf("the file outside holds %q, %v", text, err)
	}
	// The control: this test is outside of the fence.
	if err := os.Remove(file); err != nil {
		t.Errorf("the file could not have been removed without a fence either: %v", err)
	}
}

// TestFenceOfOtherKernels is what this kernel cannot show.
func TestFenceOfOtherKernels(t *testing.T) {
	for abi, want := range map[int]struct {
		fence  Fence
		fs     uint64
		scoped uint64
	}{
		1: {Fence{ABI: 1}, 0x1fff, 0},
		2: {Fence{ABI: 2}, 0x3fff, 0},
		3: {Fence{ABI: 3, Truncate: true}, 0x7fff, 0},
		5: {Fence{ABI: 5, Truncate: true}, 0x7fff, 0},
		6: {Fence{ABI: 6, Truncate: true, Scoped: true}, 0x7fff, 3},
		9: {Fence{ABI: 9, Truncate: true, Scoped: true}, 0x7fff, 3},
	} {
		fence, rules := fenceOf(abi, true)
		if fence != want.fence || rules.Handled_access_fs != want.fs || rules.Scoped != want.scoped || rules.Handled_access_net != 0 {
			t.Errorf("ABI %d: %+v, %+v", abi, fence, rules)
		}
	}
	if fence, rules := fenceOf(6, false); fence.Scoped || rules.Scoped != 0 {
		t.Errorf("not scoped: %+v, %+v", fence, rules)
	}
}
