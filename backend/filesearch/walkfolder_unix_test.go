//go:build unix

package filesearch

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestWalkStaysInside: links lead to a folder outside, to one inside, and to themselves.
func TestWalkStaysInside(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	put(t, outside, map[string]string{"secret": "", "ignore": "*\n"})
	put(t, dir, map[string]string{"sub/a": "", "b": ""})
	for name, to := range map[string]string{"out": outside, "up": "..", "round": "round", "in": "sub", ".gitignore": outside + "/ignore", ".git": outside} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if x := walked(t, dir); !slices.Equal(x.paths, []string{".gitignore", "b", "in", "out", "round", "sub/", "sub/a", "up"}) {
		t.Errorf("%q", x.paths)
	}
}

func TestWalkOddNames(t *testing.T) {
	dir := t.TempDir()
	odd := 0
	for _, name := range []string{"line\nend", "esc\x1b[2J", "\xff\xfe"} {
		if os.WriteFile(filepath.Join(dir, name), nil, 0o600) == nil { // not every file system has such names
			odd++
		}
	}
	put(t, dir, map[string]string{"bidi\u202egpj.exe": "", "with space": ""})
	x := walked(t, dir)
	if !slices.Equal(x.paths, []string{"bidi\u202egpj.exe", "with space"}) || x.Odd != odd {
		t.Errorf("%q, odd %d of %d", x.paths, x.Odd, odd)
	}
}
