package agentcopy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"loop/backend/core"
)

type rig struct {
	t    *testing.T
	c    *Copies
	seed core.WorkspaceSeed
}

func newRig(t *testing.T) rig {
	t.Helper()
	top := t.TempDir()
	r := rig{t, New(top), core.WorkspaceSeed{Original: filepath.Join(top, "original"), Copy: filepath.Join(top, "channels", "c", "copy")}}
	if err := os.MkdirAll(r.seed.Original, 0o755); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r rig) write(dir, name, text string) {
	r.t.Helper()
	at := filepath.Join(dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o600)); err != nil {
		r.t.Fatal(err)
	}
}

func (r rig) original(name, text string) { r.t.Helper(); r.write(r.seed.Original, name, text) }
func (r rig) copied(name, text string)   { r.t.Helper(); r.write(r.seed.Copy, name, text) }

// has reads a file of the copy; “-” is none.
func (r rig) has(name string) string {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.seed.Copy, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return "-"
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return string(data)
}

func (r rig) seeded() string {
	r.t.Helper()
	notices, err := r.c.Seed(r.seed)
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.Join(notices, "\n")
}

// TestSeed: the files of an agent are copied once, what the agent made of them stays, and
// nothing else of the folder comes along.
func TestSeed(t *testing.T) {
	r := newRig(t)
	for _, name := range seeds {
		r.original(name, "first "+name)
	}
	r.original("main.go", "package main")
	r.original("docs/AGENTS.md", "not this one")
	if said := r.seeded(); said != "" {
		t.Error(said)
	}
	for _, name := range seeds {
		if got := r.has(name); got != "first "+name {
			t.Errorf("%s: %q", name, got)
		}
	}
	if r.has("main.go") != "-" || r.has("docs/AGENTS.md") != "-" {
		t.Error("more than the agent's files was copied")
	}
	r.original("SOUL.md", "second")
	r.original("USER.md", "second")
	r.copied("USER.md", "the agent's own")
	if err := os.Remove(filepath.Join(r.seed.Copy, "TOOLS.md")); err != nil {
		t.Fatal(err)
	}
	r.seeded()
	if r.has("SOUL.md") != "first SOUL.md" || r.has("USER.md") != "the agent's own" || r.has("TOOLS.md") != "first TOOLS.md" {
		t.Errorf("%q %q %q", r.has("SOUL.md"), r.has("USER.md"), r.has("TOOLS.md"))
	}
	if b := readBase(r.seed.Copy); b["SOUL.md"] != hashOf([]byte("first SOUL.md")) || len(b) != len(seeds) {
		t.Errorf("the base is %v", b)
	}
	if left, _ := filepath.Glob(filepath.Join(r.seed.Copy, ".loop-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestSeedOfNothing: an original that is gone, or empty, is no reason not to work.
func TestSeedOfNothing(t *testing.T) {
	r := newRig(t)
	if said := r.seeded(); said != "" {
		t.Error(said)
	}
	r.seed.Original += "-gone"
	if said := r.seeded(); !strings.Contains(said, "cannot be opened") {
		t.Error(said)
	}
}

// TestSkills: they are the original's whenever a container is prepared, and are left alone
// where they are.
func TestSkills(t *testing.T) {
	r := newRig(t)
	r.original("skills/review/SKILL.md", "review")
	r.original("skills/review/run.sh", "#!/bin/sh")
	if err := os.Chmod(filepath.Join(r.seed.Original, "skills", "review", "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.original("skills/.hidden/SKILL.md", "no")
	r.original("skills/loose.md", "no skill")
	r.seeded()
	before, err := os.Stat(filepath.Join(r.seed.Copy, "skills"))
	if err != nil || r.has("skills/review/SKILL.md") != "review" || r.has("skills/.hidden/SKILL.md") != "-" || r.has("skills/loose.md") != "-" {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(r.seed.Copy, "skills", "review", "run.sh")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o100 == 0 {
		t.Error("a program of a skill cannot be run")
	}
	r.seeded()
	if after, err := os.Stat(filepath.Join(r.seed.Copy, "skills")); err != nil || !os.SameFile(before, after) {
		t.Error("skills that were the same were made anew")
	}
	r.copied("skills/review/SKILL.md", "the agent's")
	r.copied("skills/own/SKILL.md", "the agent's")
	r.seeded()
	if r.has("skills/review/SKILL.md") != "review" || r.has("skills/own/SKILL.md") != "-" {
		t.Error("the agent chose its skills")
	}
	if err := os.RemoveAll(filepath.Join(r.seed.Original, "skills")); err != nil {
		t.Fatal(err)
	}
	r.seeded()
	if r.has("skills/review/SKILL.md") != "-" || len(readBase(r.seed.Copy)) != 0 {
		t.Error("skills that were taken away are there")
	}
}
