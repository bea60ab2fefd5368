package config

import (
	"fmt"
	"os"
	"testing"
	"time"
)

func TestProjectWatch(t *testing.T) {
	w := &ProjectWatch{}
	a, b := t.TempDir(), project(t, t.TempDir(), `{}`)
	poll := func(dirs ...string) string {
		var files []File
		for _, dir := range dirs {
			files = append(files, ProjectFile(dir))
		}
		first, changed := w.Poll(files)
		short := func(list []File) (out []string) {
			for _, f := range list {
				out = append(out, map[string]string{a: "a", b: "b"}[f.dir])
			}
			return out
		}
		return fmt.Sprint(len(first), short(changed))
	}
	step := func(what, want, got string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	step("first", "2 []", poll(a, b, a))
	step("nothing", "0 []", poll(a, b))
	project(t, a, `{"claude_model": "x"}`)
	step("new", "0 [a]", poll(a, b))
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(ProjectPath(b), old, old); err != nil {
		t.Fatal(err)
	}
	step("only touched", "0 []", poll(a, b))
	// The same size in the same instant.
	info, err := os.Stat(ProjectPath(a))
	if err != nil {
		t.Fatal(err)
	}
	project(t, a, `{"claude_model": "y"}`)
	if err := os.Chtimes(ProjectPath(a), info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	step("same stamp", "0 [a]", poll(a, b))
	project(t, a, `{"claude_model": "y"`)
	step("broken", "0 [a]", poll(a, b))
	if err := os.Remove(ProjectPath(a)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", ProjectPath(a)); err != nil {
		t.Fatal(err)
	}
	step("a link", "0 [a]", poll(a, b))
	step("still", "0 []", poll(a, b))
	if err := os.RemoveAll(a); err != nil {
		t.Fatal(err)
	}
	step("gone", "0 [a]", poll(a, b))
	step("forgotten", "0 []", poll(b))
	step("back", "1 []", poll(a, b))
}
