package agentcopy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

func (r rig) differences() map[string]core.CopyDifference {
	r.t.Helper()
	c, err := r.c.Compare(r.seed)
	if err != nil {
		r.t.Fatal(err)
	}
	out := map[string]core.CopyDifference{}
	for _, d := range c.Differences {
		out[d.Path] = d
	}
	return out
}

func (r rig) remove(dir, name string) {
	r.t.Helper()
	if err := os.Remove(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
		r.t.Fatal(err)
	}
}

// of reads a file of the original; “-” is none.
func (r rig) of(name string) string {
	data, err := os.ReadFile(filepath.Join(r.seed.Original, filepath.FromSlash(name)))
	if err != nil {
		return "-"
	}
	return string(data)
}

// drifted has one file of each kind of difference.
func drifted(t *testing.T) rig {
	r := newRig(t)
	for _, name := range []string{"AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "BOOTSTRAP.md"} {
		r.original(name, "first")
	}
	r.original("main.go", "not the agent's")
	r.seeded()
	r.copied("notes/day.md", "new")
	r.copied("AGENTS.md", "the agent's")
	r.remove(r.seed.Copy, "SOUL.md")
	r.original("TOOLS.md", "the person's")
	r.remove(r.seed.Original, "IDENTITY.md")
	r.copied("USER.md", "the agent's")
	r.original("USER.md", "the person's")
	r.original("HEARTBEAT.md", "new")
	return r
}

func TestCompare(t *testing.T) {
	r := drifted(t)
	got := r.differences()
	want := map[string]string{
		"notes/day.md": core.DiffNew, "AGENTS.md": core.DiffChanged, "SOUL.md": core.DiffRemoved, "TOOLS.md": core.DiffOriginalChanged,
		"IDENTITY.md": core.DiffOriginalRemoved, "USER.md": core.DiffBoth, "HEARTBEAT.md": core.DiffOriginalNew,
	}
	for name, state := range want {
		if got[name].State != state {
			t.Errorf("%s: %q, want %q", name, got[name].State, state)
		}
	}
	if len(got) != len(want) || got["notes/day.md"].OriginalBytes != -1 || got["AGENTS.md"].CopyBytes != 11 {
		t.Errorf("%+v", got)
	}
	o, c, err := r.c.Both(r.seed, "USER.md")
	if err != nil || string(o) != "the person's" || string(c) != "the agent's" {
		t.Errorf("%q %q %v", o, c, err)
	}
	if _, _, err := r.c.Both(r.seed, "BOOTSTRAP.md"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a file that is the same: %v", err)
	}
}

// TestPromoteAndPull: what was brought over is the same in both, and comes back as it was.
func TestPromoteAndPull(t *testing.T) {
	r := drifted(t)
	d := r.differences()
	marks := map[string]string{}
	for _, name := range []string{"notes/day.md", "AGENTS.md", "SOUL.md", "USER.md"} {
		marks[name] = d[name].Mark
	}
	there, err := r.c.Promote(r.seed, marks)
	if err != nil {
		t.Fatal(err)
	}
	if r.of("notes/day.md") != "new" || r.of("AGENTS.md") != "the agent's" || r.of("SOUL.md") != "-" || r.of("USER.md") != "the agent's" || r.of("main.go") == "-" {
		t.Error("not promoted")
	}
	if left := r.differences(); len(left) != 3 {
		t.Errorf("%+v", left)
	}
	back, err := r.c.Pull(r.seed, map[string]string{"TOOLS.md": d["TOOLS.md"].Mark, "IDENTITY.md": d["IDENTITY.md"].Mark, "HEARTBEAT.md": d["HEARTBEAT.md"].Mark})
	if err != nil || r.has("TOOLS.md") != "the person's" || r.has("IDENTITY.md") != "-" || r.has("HEARTBEAT.md") != "new" || len(r.differences()) != 0 {
		t.Errorf("not pulled: %v", err)
	}
	for _, id := range []string{there.ID, back.ID} {
		if _, err := r.c.Restore(id); err != nil {
			t.Fatal(err)
		}
		if _, err := r.c.Restore(id); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("a second time: %v", err)
		}
	}
	if r.of("notes/day.md") != "-" || r.of("AGENTS.md") != "first" || r.of("SOUL.md") != "first" || r.of("USER.md") != "the person's" ||
		r.has("TOOLS.md") != "first" || r.has("IDENTITY.md") != "first" || r.has("HEARTBEAT.md") != "-" {
		t.Error("not as it was")
	}
}

// TestBringRefuses: what changed meanwhile, what may not be written there, and then nothing
// at all is done.
func TestBringRefuses(t *testing.T) {
	r := drifted(t)
	r.copied(".git/hooks/pre-commit", "x")
	r.copied("sub/.loop/config.json", "{}")
	d := r.differences()
	if _, there := d[".git/hooks/pre-commit"]; there {
		t.Error("a hook is compared")
	}
	both := map[string]string{"AGENTS.md": d["AGENTS.md"].Mark, "notes/day.md": d["notes/day.md"].Mark}
	for what, change := range map[string]func(){
		"copy": func() { r.copied("AGENTS.md", "later") }, "original": func() { r.original("AGENTS.md", "later") },
	} {
		change()
		if _, err := r.c.Promote(r.seed, both); core.AsFailure(err).Code != core.CodeConflict || r.of("notes/day.md") != "-" {
			t.Errorf("%s changed meanwhile: %v", what, err)
		}
		both["AGENTS.md"] = r.differences()["AGENTS.md"].Mark
	}
	for _, name := range []string{".git/hooks/pre-commit", "../outside", "/etc/passwd", "sub/.loop/config.json", "sub/../AGENTS.md", ".GIT/config", ""} {
		if _, err := r.c.Promote(r.seed, map[string]string{name: "x"}); err == nil {
			t.Errorf("%q was promoted", name)
		}
	}
	if _, err := r.c.Promote(r.seed, nil); err == nil {
		t.Error("nothing was promoted")
	}
	// What the person has changed since is not undone.
	done, err := r.c.Promote(r.seed, map[string]string{"notes/day.md": r.differences()["notes/day.md"].Mark})
	if err != nil {
		t.Fatal(err)
	}
	r.original("notes/day.md", "the person went on")
	if _, err := r.c.Restore(done.ID); core.AsFailure(err).Code != core.CodeConflict || r.of("notes/day.md") != "the person went on" {
		t.Errorf("%v, %q", err, r.of("notes/day.md"))
	}
}

// TestTrash: a copy goes and comes back whole, for thirty days.
func TestTrash(t *testing.T) {
	r := drifted(t)
	if left, err := r.c.Left(); err != nil || len(left) != 1 || left[0].ChannelID != "c" || left[0].Bytes == 0 {
		t.Fatalf("%+v, %v", left, err)
	}
	before := fmt.Sprint(r.differences())
	gone, err := r.c.Discard(r.seed.Copy)
	if err != nil || gone.Files == 0 {
		t.Fatalf("%+v, %v", gone, err)
	}
	if _, err := os.Stat(r.seed.Copy); err == nil || len(readBase(r.seed.Copy)) != 0 {
		t.Error("the copy is still there")
	}
	r.seeded()
	if r.has("AGENTS.md") != "first" || r.has("notes/day.md") != "-" {
		t.Error("the next copy is not fresh")
	}
	if _, err := r.c.Restore(gone.ID); core.AsFailure(err).Code != core.CodeConflict {
		t.Errorf("over another copy: %v", err)
	}
	second, err := r.c.Discard(r.seed.Copy)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.c.Restore(gone.ID); err != nil || fmt.Sprint(r.differences()) != before {
		t.Errorf("%v\n%v\n%v", err, r.differences(), before)
	}
	if all, err := r.c.Trash(time.Now()); err != nil || len(all) != 1 || all[0].ID != second.ID {
		t.Errorf("%+v, %v", all, err)
	}
	if all, err := r.c.Trash(time.Now().Add(keepTrash + time.Hour)); err != nil || len(all) != 0 {
		t.Errorf("after a month: %+v, %v", all, err)
	}
	for _, id := range []string{"", "..", "../channels", second.ID, strings.Repeat("a", 32)} {
		if _, err := r.c.Restore(id); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// TestMonstrousCopy: more files than are compared, and one that is too large, are named.
func TestMonstrousCopy(t *testing.T) {
	r := newRig(t)
	r.seeded()
	for i := range maxCompared + 10 {
		r.copied(fmt.Sprintf("d%d/f%d", i%50, i), "x")
	}
	r.copied("A-large", strings.Repeat("x", maxComparedBytes+1))
	c, err := r.c.Compare(r.seed)
	if err != nil || len(c.Differences) != maxCompared || !strings.Contains(fmt.Sprint(c.Left), "A-large") || !strings.Contains(fmt.Sprint(c.Left), "more than") {
		t.Errorf("%d differences, %v, %v", len(c.Differences), c.Left, err)
	}
}
