//go:build unix

package logfile

import (
	"path/filepath"
	"syscall"
	"testing"

	"loop/backend/core"
)

// TestLogIntoAPipe: a named pipe without a reader would hold up the start for ever.
func TestLogIntoAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "log")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, ok := range map[string]bool{pipe: false, filepath.Dir(pipe): false, "/dev/null": true, filepath.Join(filepath.Dir(pipe), "new", "log"): true} {
		_, end, err := Open(Options{Path: path})
		if ok != (err == nil) || (!ok && core.AsFailure(err).Code != core.CodeConfig) {
			t.Errorf("%s: %v", path, err)
		}
		if err == nil {
			_ = end.Close()
		}
	}
}
