//go:build unix

package filebridge

import (
	"os"
	"path/filepath"
	"testing"

	"loop/backend/core"
)

// A file is where it is on this computer, links followed as the container would; what leads out
// of the mounts, and what is no ordinary file, is none.
func TestHostFile(t *testing.T) {
	w, s := newWorld(t)
	if err := os.WriteFile(filepath.Join(w.dir, "p/sub/a.go"), []byte("a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "outside/secret"), []byte("s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.link(t, "p/to-a", "sub/a.go")
	w.link(t, "p/out", w.dir+"/outside/secret")
	w.link(t, "p/away", "../outside")
	for _, path := range []string{"sub/a.go", "to-a", w.dir + "/p/sub/../sub/a.go"} {
		if got, err := s.HostFile(t.Context(), "ch", path); err != nil || got != w.dir+"/p/sub/a.go" {
			t.Errorf("%s: %q %v", path, got, err)
		}
	}
	for _, path := range []string{"out", "away/secret", "../outside/secret", w.dir + "/outside/secret", "/etc/passwd", "sub", "gone.go", "a\nb"} {
		got, err := s.HostFile(t.Context(), "ch", path)
		if f := core.AsFailure(err); got != "" || err == nil || f.Cause == "" || f.Remedy == "" {
			t.Errorf("%s: %q %v", path, got, err)
		}
	}
}
