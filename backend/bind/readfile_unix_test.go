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
	ts := &bind.Terminals{Ctx: t.Context(), Shared: mountList{{Source: dir, Target: "/p"}}}
	for _, c := range []struct {
		target core.TerminalTarget
		dir    string
	}{{core.TargetAgent, "/p"}, {core.TargetHost, dir}} {
		if _, err := ts.ReadFile("ch", c.target, c.dir, "pipe", 1); core.AsFailure(err).Code != core.CodeInvalid {
			t.Error(err)
		}
	}
}
