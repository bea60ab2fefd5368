package hostpty

import (
	"os"
	"strings"
	"testing"

	"loop/backend/core"
)

// TestDirectoryThatIsClosed: the failure is about the directory that may not be
// entered, not about the program. Root may enter every directory.
func TestDirectoryThatIsClosed(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := Start(Options{Argv: []string{"true"}, Dir: dir})
	if err == nil {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if os.Getuid() != 0 {
			t.Error("it was entered")
		}
		return
	}
	if f := core.AsFailure(err); f.Code != core.CodeDir || !strings.Contains(f.Cause, dir) {
		t.Errorf("%+v", f)
	}
}
