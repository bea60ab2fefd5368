package hostfacts

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/wire"
)

func TestStageSetup(t *testing.T) {
	all := filepath.Join(t.TempDir(), "setup")
	s := core.ContainerSetup{Command: "apt-get install -y tool\n", Dir: filepath.Join(all, "scope-0011223344556677")}
	old, young := filepath.Join(all, "once-aaaaaa"), filepath.Join(all, "once-bbbbbb")
	for _, dir := range []string{old, young} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-2 * onceKept)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := StageSetup(s, true); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(s.Dir, wire.SetupFile)); err != nil || string(got) != s.Command {
			t.Fatalf("staged %q, %v", got, err)
		}
	}
	_, gone := os.Stat(old)
	if _, err := os.Stat(young); err != nil || !errors.Is(gone, fs.ErrNotExist) {
		t.Fatalf("left of once: %v, %v", gone, err)
	}
	for range 2 {
		if err := StageSetup(s, false); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(s.Dir); err != nil || len(left) != 0 {
			t.Fatalf("left %v, %v", left, err)
		}
	}
}

// TestStageSetupThatCannotBeTakenBack: the container must not go on as if it were set up.
func TestStageSetupThatCannotBeTakenBack(t *testing.T) {
	s := core.ContainerSetup{Command: "true", Dir: filepath.Join(t.TempDir(), "absent")}
	err := StageSetup(s, false)
	if f := core.AsFailure(err); err == nil || f.Code != core.CodeDir || f.Remedy == "" {
		t.Fatalf("got %v", err)
	}
}
