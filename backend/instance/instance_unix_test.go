//go:build unix

package instance

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"loop/backend/atomicfile"
)

// TestPipeAsInstanceFile: reading a pipe without a writer does not wait.
func TestPipeAsInstanceFile(t *testing.T) {
	home := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(home, fileName), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(home); !errors.Is(err, atomicfile.ErrNotRegular) {
		t.Error(err)
	}
}
