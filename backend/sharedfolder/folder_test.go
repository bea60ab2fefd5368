package sharedfolder

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

// all is a rule by which every file is Loop's.
func all(age time.Duration, most int64) Rule {
	return Rule{Age: age, Max: most, Put: func(i fs.FileInfo) (time.Time, bool) { return i.ModTime(), true }}
}

func names(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Name())
	}
	return strings.Join(out, "|")
}

func TestKeepNeverOverwrites(t *testing.T) {
	f := Folder{Root: t.TempDir(), Dir: "d", Target: "/home/x/d"}
	outside := filepath.Join(t.TempDir(), "mine")
	if err := os.WriteFile(outside, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	keep := func(name, text string) string {
		t.Helper()
		at, err := f.Keep(all(time.Hour, 1<<20), name, int64(len(text)), strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	if at := keep("report.pdf", "one"); at != "/home/x/d/report.pdf" {
		t.Errorf("kept at %s", at)
	}
	if err := os.Symlink(outside, filepath.Join(f.Root, "d", "report (2).pdf")); err != nil {
		t.Fatal(err)
	}
	if at := keep("report.pdf", "three"); at != "/home/x/d/report (3).pdf" {
		t.Errorf("kept at %s", at)
	}
	if at := keep("bare", "x") + keep("bare", "y"); at != "/home/x/d/bare/home/x/d/bare (2)" {
		t.Errorf("kept at %s", at)
	}
	if b, err := os.ReadFile(outside); err != nil || string(b) != "mine" {
		t.Errorf("a link was followed: %q %v", b, err)
	}
	if info, err := os.Stat(filepath.Join(f.Root, "d", "report.pdf")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

// TestKeepTakesTheWholeFileOrNone: what is shorter or longer than was said leaves nothing.
func TestKeepTakesTheWholeFileOrNone(t *testing.T) {
	f := Folder{Root: t.TempDir(), Dir: "d"}
	broken := errors.New("broken")
	for name, r := range map[string]io.Reader{
		"short": strings.NewReader("1234"), "long": strings.NewReader("123456"), "broken": io.MultiReader(strings.NewReader("123"), failing{broken}),
	} {
		_, err := f.Keep(all(time.Hour, 1<<20), name, 5, r)
		if err == nil || name == "broken" && !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left := names(t, filepath.Join(f.Root, "d")); left != "" {
		t.Errorf("left %s", left)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestKeepStaysInside: a container can make the folder a link, or a file.
func TestKeepStaysInside(t *testing.T) {
	outside := t.TempDir()
	for name, make := range map[string]func(at string) error{
		"link":   func(at string) error { return os.Symlink(outside, at) },
		"inside": func(at string) error { return os.Symlink(".", at) },
		"file":   func(at string) error { return os.WriteFile(at, nil, 0o600) },
	} {
		f := Folder{Root: t.TempDir(), Dir: "d"}
		if err := make(filepath.Join(f.Root, "d")); err != nil {
			t.Fatal(err)
		}
		if at, err := f.Keep(all(time.Hour, 1<<20), "x", 1, strings.NewReader("x")); err == nil {
			t.Errorf("%s: kept at %s", name, at)
		}
	}
	f := Folder{Root: t.TempDir(), Dir: "d"}
	for _, name := range []string{"../x", "/etc/x", "a/../../../x", ".", ""} {
		if at, err := f.Keep(all(time.Hour, 1<<20), name, 1, strings.NewReader("x")); err == nil {
			t.Errorf("%q: kept at %s", name, at)
		}
	}
	if left := names(t, outside) + names(t, f.Root); left != "" {
		t.Errorf("wrote %s", left)
	}
}

func TestOldestMakeRoom(t *testing.T) {
	f := Folder{Root: t.TempDir(), Dir: "d"}
	dir := filepath.Join(f.Root, "d")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	put := func(name string, size int64, age time.Duration) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Truncate(path, size), os.Chtimes(path, now, now.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	put("ancient", 1, 48*time.Hour)
	put("older", 60, 3*time.Hour)
	put("newer", 60, 2*time.Hour)
	if err := os.MkdirAll(filepath.Join(dir, "folder", "inner"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Keep(all(24*time.Hour, 130), "new", 50, strings.NewReader(strings.Repeat("x", 50))); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); got != "folder|new|newer" {
		t.Errorf("%s", got)
	}
}

func TestInHome(t *testing.T) {
	home := filepath.Join(t.TempDir(), "state", "home")
	spec := core.Spec{Agent: core.AgentUser{Home: "/home/x"}, Mounts: []core.Mount{
		{Kind: core.MountWorkspace, Source: "/p", Target: "/p"},
		{Kind: core.MountState, Source: home, Target: "/home/x"},
	}}
	f, err := InHome(spec, ".d")
	if err != nil || f != (Folder{Root: home, Dir: ".d", Target: "/home/x/.d"}) {
		t.Errorf("%+v %v", f, err)
	}
	if info, err := os.Stat(home); err != nil || !info.IsDir() {
		t.Errorf("the state folder was not made: %v", err)
	}
	for name, change := range map[string]func(*core.Mount){
		"a volume":  func(m *core.Mount) { m.Volume = true },
		"read-only": func(m *core.Mount) { m.ReadOnly = true },
		"elsewhere": func(m *core.Mount) { m.Target = "/home/y" },
	} {
		other := spec
		other.Mounts = []core.Mount{spec.Mounts[0], spec.Mounts[1]}
		change(&other.Mounts[1])
		if _, err := InHome(other, ".d"); core.AsFailure(err).Code != core.CodeMount {
			t.Errorf("%s: %v", name, err)
		}
	}
}
