//go:build linux

package threads

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRoom(t *testing.T) {
	was := pidsDirs
	t.Cleanup(func() { pidsDirs = was })
	for _, c := range []struct {
		most, now string
		room      bool
	}{
		{"256\n", "240\n", true}, {"256\n", "241\n", false}, {"256\n", "256\n", false}, {"256\n", "300\n", false},
		{"max\n", "100000\n", true}, {"", "10\n", true}, {"256\n", "", true}, {"odd", "10", true},
	} {
		dir := t.TempDir()
		pidsDirs = []string{filepath.Join(dir, "none"), dir}
		for name, text := range map[string]string{"pids.max": c.most, "pids.current": c.now} {
			if text == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := Room(16); got != c.room {
			t.Errorf("%q of %q: %v", c.now, c.most, got)
		}
	}
}
