//go:build linux || darwin

package bind_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"loop/backend/bind"
	"loop/backend/core"
)

// TestReadFileOfAPipe: a pipe without a writer is refused as no file, and nobody waits
// for it.
func TestReadFileOfAPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	ts := &bind.Terminals{Ctx: t.Context()}
	if _, err := ts.ReadFile("ch", core.TargetHost, dir, "pipe", 1); core.AsFailure(err).Code != core.CodeInvalid {
		t.Error(err)
	}
}
