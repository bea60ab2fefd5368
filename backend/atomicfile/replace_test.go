package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	for _, want := range []string{"one\ntwo", ""} {
		if err := Replace(name, []byte(want)[:len(want)/2], []byte(want)[len(want)/2:]); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Fatalf("%q %v", got, err)
		}
	}
	// A target that cannot be replaced keeps its contents, and no other file is left
	// behind.
	taken := filepath.Join(dir, "folder")
	if err := os.MkdirAll(filepath.Join(taken, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Replace(taken, []byte("x")); err == nil {
		t.Error("a folder was replaced")
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 2 {
		t.Errorf("%v %v", list, err)
	}
}
