package bind_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loop/backend/bind"
)

// TestOldPastesAreRemoved: a pasted file goes after a week, or when all of them are too
// large together. Nothing else in the folder goes, whatever a container put there.
func TestOldPastesAreRemoved(t *testing.T) {
	home, outside := t.TempDir(), t.TempDir()
	folder := filepath.Join(home, "p")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC()
	put := func(name string, size int64) string {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		return path
	}
	name := func(age time.Duration, n int) string {
		return fmt.Sprintf("paste-%s-%08x.png", now.Add(-age).Format("20060102T150405Z"), n)
	}
	const day = 24 * time.Hour
	old := put(name(8*day, 1), 10)
	young := put(name(6*day, 2), 10)
	agents := []string{put("notes.md", 10), put("paste-20200101T000000Z-zz.png", 10), put("paste-20200101T000000Z-00000001.png.bak", 10)}
	target := filepath.Join(outside, "mine")
	if err := os.WriteFile(target, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(folder, name(30*day, 3))
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(folder, name(30*day, 4))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	term := &bind.Terminals{Ctx: t.Context(), Shared: pasteFolder{Root: home, Dir: "p", Target: "/home/x/p"}}
	paste := func(size int) {
		t.Helper()
		if _, err := term.PasteFile("c", "x.png", base64.StdEncoding.EncodeToString([]byte(strings.Repeat("y", size)))); err != nil {
			t.Fatal(err)
		}
	}
	paste(5)
	there := func(path string, want bool) {
		t.Helper()
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
	there(old, false)
	there(young, true)
	there(target, true)
	there(link, true)
	there(dir, true)
	for _, a := range agents {
		there(a, true)
	}

	// The oldest files make room: for 10 MiB, one of the two large files has to go.
	first, second := put(name(3*day, 5), 100<<20), put(name(2*day, 6), 95<<20)
	paste(10 << 20)
	there(young, false)
	there(first, false)
	there(second, true)
	// A file larger than the bound goes as well.
	huge := put(name(time.Minute, 7), 1<<40)
	paste(5)
	there(second, false)
	there(huge, false)
	there(agents[0], true)
}
