//go:build unix

package sessions

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// pipe makes a named pipe, which holds up a careless reader.
func pipe(t *testing.T, at string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(at, 0o600); err != nil {
		t.Fatal(err)
	}
}
