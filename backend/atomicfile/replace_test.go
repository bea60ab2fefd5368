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

// TestRemoveTree: folders that cannot be written go too, but for root any folder can
// be. What a link leads to stays as it is.
func TestRemoveTree(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	tree, kept := filepath.Join(dir, "tree"), filepath.Join(other, "kept")
	deep := filepath.Join(tree, "a", "b")
	for _, d := range []string{deep, kept} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, "f"), nil, 0o400); err != nil {
			t.Fatal(err)
		}
	}
	_ = os.Symlink(kept, filepath.Join(deep, "link")) // Windows asks for a right
	for _, d := range []string{kept, deep, filepath.Dir(deep), tree} {
		if err := os.Chmod(d, 0o555); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(d, 0o700) })
	}
	if err := RemoveTree(tree); err != nil {
		t.Error(err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 0 {
		t.Errorf("%v %v", list, err)
	}
	if info, err := os.Stat(filepath.Join(kept, "f")); err != nil || info.Size() != 0 {
		t.Error(err)
	}
	if info, err := os.Stat(kept); err != nil || info.Mode().Perm() != 0o555 {
		t.Errorf("%v %v", info, err)
	}
	if err := RemoveTree(tree); err != nil {
		t.Errorf("one that is gone: %v", err)
	}
}
