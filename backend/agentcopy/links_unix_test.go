//go:build unix

package agentcopy

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSeedIsNotLedAway: neither a link of the original's nor one that the agent put into its
// copy leads anywhere.
func TestSeedIsNotLedAway(t *testing.T) {
	r := newRig(t)
	outside := t.TempDir()
	r.write(outside, "secret", "secret")
	links := map[string]string{
		filepath.Join(r.seed.Original, "SOUL.md"):            filepath.Join(outside, "secret"),
		filepath.Join(r.seed.Original, "TOOLS.md"):           "AGENTS.md",
		filepath.Join(r.seed.Original, "skills", "a", "x"):   filepath.Join(outside, "secret"),
		filepath.Join(r.seed.Original, "skills", "b", "dir"): outside,
		filepath.Join(r.seed.Copy, "USER.md"):                filepath.Join(outside, "made"),
		filepath.Join(r.seed.Copy, "skills"):                 outside,
	}
	r.original("AGENTS.md", "agents")
	r.original("USER.md", "user")
	r.original("skills/a/SKILL.md", "a")
	r.original("skills/b/SKILL.md", "b")
	r.original("skills/c/SKILL.md", "c")
	if err := os.MkdirAll(r.seed.Copy, 0o700); err != nil {
		t.Fatal(err)
	}
	for at, to := range links {
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(r.seed.Original, "IDENTITY.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.original("HEARTBEAT.md", strings.Repeat("x", maxSeed+1))
	said := r.seeded()
	for _, name := range []string{"SOUL.md", "TOOLS.md", "IDENTITY.md", "HEARTBEAT.md", "“a”", "“b”"} {
		if !strings.Contains(said, name) {
			t.Errorf("%s is not named in %q", name, said)
		}
	}
	for _, name := range []string{"SOUL.md", "TOOLS.md", "HEARTBEAT.md", "skills/a/SKILL.md", "skills/b/SKILL.md"} {
		if got := r.has(name); got != "-" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if r.has("AGENTS.md") != "agents" || r.has("skills/c/SKILL.md") != "c" {
		t.Error("what is there was not copied")
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 1 {
		t.Errorf("outside there is %v, %v", left, err)
	}
	if info, err := os.Lstat(filepath.Join(r.seed.Copy, "USER.md")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the agent's link was replaced")
	}
}
