//go:build unix

package claudesetup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLinks: one that stays in the setup is resolved, others are named; and what an agent
// puts in a copy's way leads nowhere.
func TestLinks(t *testing.T) {
	r := newRig(t)
	outside := t.TempDir()
	r.write(outside, "SKILL.md", "outside")
	r.mine("dot/skill/SKILL.md", "linked")
	r.mine("skills/a/SKILL.md", "a")
	for at, to := range map[string]string{
		"skills/linked": "../dot/skill", "skills/away": outside, "CLAUDE.md": filepath.Join(outside, "SKILL.md"), "agents": outside,
		"skills/round": "../skills", "commands": "gone",
	} {
		if err := os.Symlink(to, filepath.Join(r.s.Folder, filepath.FromSlash(at))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(r.state, "skills")); err != nil {
		t.Fatal(err)
	}
	r.place(true)
	if r.has("skills/linked/SKILL.md") != "linked" || r.has("skills/a/SKILL.md") != "a" || r.has("CLAUDE.md") != "-" || r.has("skills/away/SKILL.md") != "-" {
		t.Errorf("%v", r.all())
	}
	left := fmt.Sprint(r.survey().Left)
	for _, name := range []string{"skills/away", "CLAUDE.md", "agents", "commands"} {
		if !strings.Contains(left, name) {
			t.Errorf("%s is not named in %s", name, left)
		}
	}
	if there, err := os.ReadDir(outside); err != nil || len(there) != 1 {
		t.Errorf("outside there is %v, %v", there, err)
	}
	// A folder where a file is to be, and a file where a folder is.
	if err := errors.Join(os.RemoveAll(filepath.Join(r.state, "skills", "a")), os.WriteFile(filepath.Join(r.state, "skills", "a"), nil, 0o600),
		os.MkdirAll(filepath.Join(r.state, "settings.json", "x"), 0o700)); err != nil {
		t.Fatal(err)
	}
	r.mine("settings.json", `{"model": "m"}`)
	r.place(true)
	if r.has("skills/a/SKILL.md") != "a" || !strings.Contains(r.has("settings.json"), `"m"`) {
		t.Errorf("%v", r.all())
	}
}
