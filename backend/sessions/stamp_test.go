package sessions

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"loop/backend/core"
)

// TestStamp: each file that the CLI reads at its start changes the stamp, and others do not.
func TestStamp(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	s := New(Options{Home: home, WorkDir: func(d string) string { return d }})
	ch := core.Channel{ID: "c1", Dir: dir}
	state := filepath.Join(home, "channels", "c1", "claude")
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	transcript := filepath.Join(state, projectsDir, folder("/w"), "sess"+suffix)
	write(transcript, "{}\n")
	stamp := func() string { return s.Stamp(ch, "/w", "sess") }
	last := stamp()
	for _, path := range []string{
		transcript, filepath.Join(state, "settings.json"), filepath.Join(state, "skills", "a", "SKILL.md"),
		filepath.Join(dir, "CLAUDE.md"), filepath.Join(dir, ".mcp.json"), filepath.Join(dir, ".claude", "settings.local.json"),
		filepath.Join(dir, ".claude", "commands", "sub", "do.md"), filepath.Join(dir, ".claude", "agents", "one.md"),
	} {
		write(path, "more text than before")
		if now := stamp(); now == last {
			t.Errorf("%s changed nothing", path)
		} else {
			last = now
		}
	}
	// The same size, at another time: it was written anew.
	settings := filepath.Join(state, stateSettings)
	if err := os.Chtimes(settings, time.Time{}, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if now := stamp(); now == last {
		t.Error("another time changed nothing")
	} else {
		last = now
	}
	if err := os.Chtimes(transcript, time.Time{}, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if stamp() != last {
		t.Error("taking up a conversation changed the stamp")
	}
	if err := os.Remove(settings); err != nil {
		t.Fatal(err)
	}
	last = stamp()
	write(settings, "{\n  \"skipDangerousModePermissionPrompt\": true\n}\n")
	if stamp() != last {
		t.Error("the CLI's own note changed the stamp")
	}
	for _, path := range []string{
		filepath.Join(state, ".claude.json"), filepath.Join(state, projectsDir, folder("/w"), "other"+suffix),
		filepath.Join(dir, "main.go"), filepath.Join(dir, ".claude", "worktrees", "w", "CLAUDE.md"),
	} {
		write(path, "x")
		if stamp() != last {
			t.Errorf("%s changed the stamp", path)
			last = stamp()
		}
	}
	if err := os.Remove(filepath.Join(dir, ".claude", "agents", "one.md")); err != nil {
		t.Fatal(err)
	}
	if stamp() == last {
		t.Error("a removal changed nothing")
	}
	if s.Stamp(ch, "/w", "../../x") == "" || s.Stamp(core.Channel{ID: "none", Dir: filepath.Join(dir, "gone")}, "/w", "") == "" {
		t.Error("no stamp")
	}
}

// TestStampOfALink: what a link out of the project leads to is not looked at.
func TestStampOfALink(t *testing.T) {
	home, dir, away := t.TempDir(), t.TempDir(), t.TempDir()
	s := New(Options{Home: home, WorkDir: func(d string) string { return d }})
	ch := core.Channel{ID: "c1", Dir: dir}
	none := s.Stamp(ch, "/w", "")
	if err := os.Symlink(away, filepath.Join(dir, ".claude")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(away, "settings.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s.Stamp(ch, "/w", "") != none {
		t.Error("a link out of the project was followed")
	}
}
