//go:build unix

package imagebuild

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOddCAFilesAreLeftOut: opening the pipe would wait for ever, and reading the
// device would never end.
func TestOddCAFilesAreLeftOut(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "ca.pem")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]string{pipe: "not a regular file", "/dev/zero": "not a regular file", t.TempDir(): "is a directory"} {
		if _, err := ReadCAFile(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", p, err)
		}
	}
}
