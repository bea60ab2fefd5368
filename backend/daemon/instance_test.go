package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"loop/backend/core"
)

func TestOneInstancePerFolder(t *testing.T) {
	home := t.TempDir()
	first, err := lockHome(home)
	if err != nil {
		t.Fatal(err)
	}
	want := Instance{PID: 42, URL: "http://127.0.0.1:1/", Token: newToken(), StartedAt: time.Unix(1, 0).UTC()}
	if err := writeInstance(home, want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadInstance(home)
	if err != nil || got != want {
		t.Fatalf("%+v %v", got, err)
	}
	if info, err := os.Stat(filepath.Join(home, instanceFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	_, err = lockHome(home)
	if !errors.Is(err, ErrRunning) || core.AsFailure(err).Code != core.CodeConflict {
		t.Errorf("second lock: %v", err)
	}
	if err := first.Unlock(); err != nil {
		t.Fatal(err)
	}
	second, err := lockHome(home)
	if err != nil {
		t.Fatal(err)
	}
	_ = second.Unlock()
	if left, _ := filepath.Glob(filepath.Join(home, instanceFile+".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
