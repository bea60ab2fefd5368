//go:build !windows

package hostfacts

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"loop/backend/core"
	"loop/backend/sandbox"
)

// copied is a spec for a temporary host, with copies of these files of its home.
func copied(t *testing.T, files map[string]string) (core.Spec, sandbox.Host, string) {
	t.Helper()
	spec, h, home := resolved(t)
	for name, text := range files {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(home, name), []byte(text), 0o644))
		target := spec.Agent.Home + "/" + name
		if rel, ok := strings.CutPrefix(name, ".claude/"); ok {
			target = sandbox.ClaudeDir + "/" + rel
		}
		spec.Copies = append(spec.Copies, core.FileCopy{Source: filepath.Join(home, name), Target: target})
	}
	return spec, h, filepath.Join(h.LoopHome, "channels", "chan1")
}

func TestCopies(t *testing.T) {
	spec, h, state := copied(t, map[string]string{".npmrc": "x=1", ".config/tool/a b.toml": "deep", ".claude/CLAUDE.md": "memory"})
	must(t, os.Chmod(filepath.Join(h.Home, ".npmrc"), 0o755))
	prepare := func(want ...string) {
		t.Helper()
		notices, err := Computer{}.Prepare(spec, h)
		must(t, err)
		if len(notices) != len(want) {
			t.Fatalf("notices %q, want %q", notices, want)
		}
		for i := range want {
			if !strings.Contains(notices[i], want[i]) {
				t.Errorf("%q, want %q", notices[i], want[i])
			}
		}
	}
	prepare()
	for path, want := range map[string]struct {
		text string
		mode os.FileMode
	}{"home/.npmrc": {"x=1", 0o700}, "home/.config/tool/a b.toml": {"deep", 0o600}, "claude/CLAUDE.md": {"memory", 0o600}} {
		info, err := os.Lstat(filepath.Join(state, path))
		must(t, err)
		b, err := os.ReadFile(filepath.Join(state, path))
		if err != nil || string(b) != want.text || info.Mode() != want.mode {
			t.Errorf("%s: %q %v %v", path, b, info.Mode(), err)
		}
	}
	// A correct copy stays as it is. A copy that the agent changed is made again.
	npmrc := filepath.Join(state, "home", ".npmrc")
	before, err := os.Stat(npmrc)
	must(t, err)
	prepare()
	if after, err := os.Stat(npmrc); err != nil || !os.SameFile(before, after) {
		t.Error("a copy that was right was written again")
	}
	must(t, os.WriteFile(npmrc, []byte("x=2"), 0o700))
	prepare()
	if b, _ := os.ReadFile(npmrc); string(b) != "x=1" {
		t.Errorf("%q", b)
	}
	left, err := os.ReadDir(filepath.Join(state, "home"))
	must(t, err)
	for _, e := range left {
		if strings.HasPrefix(e.Name(), ".npmrc.") {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

// TestCopiesIntoAPlantedHome: whatever an agent left in its home, Loop writes nothing
// outside of it and the run goes on.
func TestCopiesIntoAPlantedHome(t *testing.T) {
	spec, h, state := copied(t, map[string]string{".config/tool/x": "new"})
	outside := tempDir(t)
	must(t, os.WriteFile(filepath.Join(outside, "x"), []byte("mine"), 0o644))
	config := filepath.Join(state, "home", ".config")
	for name, c := range map[string]struct {
		plant  func() error
		notice string
	}{
		"folder is a link out":    {func() error { return os.Symlink(outside, filepath.Join(config, "tool")) }, "in its place"},
		"folder is a link inside": {func() error { return os.Symlink(".", filepath.Join(config, "tool")) }, "in its place"},
		"folder is a file":        {func() error { return os.WriteFile(filepath.Join(config, "tool"), nil, 0o600) }, "in its place"},
		"file is a folder":        {func() error { return os.MkdirAll(filepath.Join(config, "tool", "x"), 0o755) }, "in its place"},
		"file is a link": {func() error {
			must(t, os.MkdirAll(filepath.Join(config, "tool"), 0o755))
			return os.Symlink(filepath.Join(outside, "x"), filepath.Join(config, "tool", "x"))
		}, ""},
		"file is a pipe": {func() error {
			must(t, os.MkdirAll(filepath.Join(config, "tool"), 0o755))
			return syscall.Mkfifo(filepath.Join(config, "tool", "x"), 0o600)
		}, ""},
	} {
		must(t, os.RemoveAll(config))
		must(t, os.MkdirAll(config, 0o755))
		must(t, c.plant())
		notices, err := Computer{}.Prepare(spec, h)
		if err != nil || (c.notice == "") != (len(notices) == 0) || c.notice != "" && !strings.Contains(notices[0], c.notice) {
			t.Errorf("%s: %q %v", name, notices, err)
		}
		if b, err := os.ReadFile(filepath.Join(outside, "x")); err != nil || string(b) != "mine" {
			t.Fatalf("%s: a file outside was written: %q %v", name, b, err)
		}
		if b, _ := os.ReadFile(filepath.Join(config, "tool", "x")); c.notice == "" && string(b) != "new" {
			t.Errorf("%s: %q", name, b)
		}
	}
}

// TestCopiesOfWhatChanged: a source that has become something else is left out.
func TestCopiesOfWhatChanged(t *testing.T) {
	spec, h, state := copied(t, map[string]string{".x": "x"})
	source := spec.Copies[0].Source
	for name, c := range map[string]struct {
		change func() error
		notice string
	}{
		"gone":    {func() error { return nil }, "does not exist any more"},
		"link":    {func() error { return os.Symlink("/etc/passwd", source) }, "not an ordinary file"},
		"pipe":    {func() error { return syscall.Mkfifo(source, 0o600) }, "not an ordinary file"},
		"folder":  {func() error { return os.Mkdir(source, 0o700) }, "not an ordinary file"},
		"monster": {func() error { must(t, os.WriteFile(source, nil, 0o600)); return os.Truncate(source, MaxCopySize+1) }, "larger than"},
	} {
		must(t, os.RemoveAll(source))
		must(t, c.change())
		notices, err := Computer{}.Prepare(spec, h)
		if err != nil || len(notices) != 1 || !strings.Contains(notices[0], c.notice) {
			t.Errorf("%s: %q %v", name, notices, err)
		}
		if _, err := os.Lstat(filepath.Join(state, "home", ".x")); err == nil {
			t.Errorf("%s: and yet there is a copy", name)
		}
	}
}

// TestCopiesThroughNoLink: since the path was resolved, a folder on the way became a
// link to a place with a file of the same name.
func TestCopiesThroughNoLink(t *testing.T) {
	spec, h, state := copied(t, map[string]string{"conf/deep/tool.toml": "mine"})
	other := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(other, "deep"), 0o755))
	must(t, os.WriteFile(filepath.Join(other, "deep", "tool.toml"), []byte("secret of another folder"), 0o600))
	conf := filepath.Join(h.Home, "conf")
	must(t, os.Rename(conf, conf+".away"))
	must(t, os.Symlink(other, conf))
	notices, err := Computer{}.Prepare(spec, h)
	if err != nil || len(notices) != 1 || !strings.Contains(notices[0], "a link leads to it") {
		t.Errorf("%q %v", notices, err)
	}
	if b, err := os.ReadFile(filepath.Join(state, "home", "conf", "deep", "tool.toml")); err == nil {
		t.Errorf("copied %q", b)
	}
}

// TestCopiesBelowAFolderThatCannotBeListed, as /home is on many computers.
func TestCopiesBelowAFolderThatCannotBeListed(t *testing.T) {
	spec, h, state := copied(t, map[string]string{"conf/tool.toml": "mine"})
	must(t, os.Chmod(filepath.Join(h.Home, "conf"), 0o311))
	t.Cleanup(func() { must(t, os.Chmod(filepath.Join(h.Home, "conf"), 0o755)) })
	if notices, err := (Computer{}).Prepare(spec, h); err != nil || len(notices) != 0 {
		t.Errorf("%q %v", notices, err)
	}
	if b, err := os.ReadFile(filepath.Join(state, "home", "conf", "tool.toml")); err != nil || string(b) != "mine" {
		t.Errorf("%q %v", b, err)
	}
}

func TestEnviron(t *testing.T) {
	got := environ([]string{"A=1", "B=x=y", "=C:=D", "odd"})
	if len(got) != 2 || got["A"] != "1" || got["B"] != "x=y" {
		t.Error(got)
	}
}
