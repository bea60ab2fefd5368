package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"loop/backend/core"
)

// source writes a file of a project.
func source(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, path, text)
}

const script = "#!/bin/bash\nset -e\napt-get update\n"

// one is the only toolchain that was found.
func one(t *testing.T, e Effective) core.ProjectToolchain {
	t.Helper()
	if e.Err != nil || len(e.Toolchains) != 1 {
		t.Fatalf("toolchains %+v, %v, problems %v", e.Toolchains, e.Err, e.Problems)
	}
	return e.Toolchains[0]
}

// TestSetupScriptIsDecidedOn: it counts as it was approved, not at all once it was declined, and
// each other text asks again and shows what changed.
func TestSetupScriptIsDecidedOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), TrustFileName)
	g, trust := global(t, `{}`), OpenTrust(path)
	dir := t.TempDir()
	source(t, dir, ".loop/setup.sh", script)
	file := ProjectFile(dir).Toolchains()[1]
	look := func() (Effective, core.ProjectToolchain) {
		t.Helper()
		e := ForDir(g, OpenTrust(path), dir, "")
		return e, one(t, e)
	}
	e, tc := look()
	if tc.SHA256 != sumOf([]byte(script)) || tc.Text != script || tc.Kind != core.ToolchainSetup || tc.State != core.ToolchainUndecided ||
		e.Undecided != SetupPath(dir) || e.Child != nil || len(e.Pending) != 1 || e.Pending[0].Toolchain() != core.ToolchainSetup {
		t.Fatalf("%+v", e)
	}
	for _, decide := range []func(File, string) error{trust.Approve, trust.Decline} {
		if err := decide(file, strings.Repeat("0", 64)); !errors.Is(err, core.ErrConflict) {
			t.Errorf("another sum: %v", err)
		}
	}
	if err := trust.Approve(file, tc.SHA256); err != nil {
		t.Fatal(err)
	}
	e, tc = look()
	if c := e.Child; c == nil || c.Base != "loop-agent:latest" || c.Source != core.ToolchainSetup || len(c.Files) != 2 || e.Undecided != "" ||
		tc.State != core.ToolchainApproved || !strings.Contains(string(c.Files[dockerfile]), `RUN ["/usr/local/share/loop/setup.sh"]`) {
		t.Fatalf("approved: %+v", e)
	}
	source(t, dir, ".loop/setup.sh", script+"rm -rf /\n")
	if e, tc = look(); e.Child != nil || e.Undecided == "" || !strings.Contains(tc.Diff, "+rm -rf /") || strings.Contains(tc.Diff, "+set -e") {
		t.Fatalf("changed: %+v", e)
	}
	if err := trust.Decline(file, tc.SHA256); err != nil {
		t.Fatal(err)
	}
	if e, tc = look(); e.Child != nil || e.Undecided != "" || len(e.Pending) != 0 || tc.State != core.ToolchainDeclined || len(e.Waiting(false)) != 0 {
		t.Fatalf("declined: %+v", e)
	}
	source(t, dir, ".loop/setup.sh", script)
	if e, tc = look(); e.Child == nil { // what was approved before
		t.Fatalf("as it was: %+v", tc)
	}
	if err := trust.Decline(file, tc.SHA256); err != nil {
		t.Fatal(err)
	}
	if e, _ = look(); e.Child != nil || e.Undecided != "" {
		t.Fatalf("an approval that was taken back counts: %+v", e)
	}
	if err := trust.Revoke(file); err != nil {
		t.Fatal(err)
	}
	if e, _ = look(); e.Undecided == "" {
		t.Error("revoked, and nobody is asked")
	}
	g = global(t, `{"toolchains": "off"}`)
	if e := ForDir(g, trust, dir, ""); e.Undecided != "" || e.Toolchains != nil || e.Problems != nil {
		t.Errorf("switched off: %+v", e)
	}
	if err := trust.Decline(ProjectFile(dir), "x"); err == nil {
		t.Error("settings were declined")
	}
}

// TestSetupScriptsThatNobodyCanApprove name what is wrong, and runs go on without.
func TestSetupScriptsThatNobodyCanApprove(t *testing.T) {
	g, trust := global(t, `{}`), OpenTrust(filepath.Join(t.TempDir(), TrustFileName))
	for want, text := range map[string]string{
		"larger than 256 KiB": strings.Repeat("#\n", MaxSetupScript/2+1), "not text": "\xff", "is not text": "a\x00b", "It is empty": " \n", "CRLF": "#!/bin/sh\r\ntrue\r\n",
	} {
		dir := t.TempDir()
		source(t, dir, ".loop/setup.sh", text)
		e := ForDir(g, trust, dir, "")
		if e.Err != nil || e.Child != nil || e.Undecided != "" || len(e.Problems) != 1 || !strings.Contains(e.Problems[0].Message, want) || len(e.Notices) != 1 {
			t.Errorf("%s: %+v", want, e)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	for _, link := range []string{".loop/setup.sh", ".loop", ".devcontainer", ".devcontainer/devcontainer.json", ".devcontainer.json"} {
		dir, other := t.TempDir(), t.TempDir()
		source(t, other, "x/setup.sh", script)
		source(t, other, "x/devcontainer.json", `{"image":"debian"}`)
		at := filepath.Join(dir, filepath.FromSlash(link))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(other, "x")
		if strings.Contains(filepath.Base(link), ".sh") || strings.HasSuffix(link, ".json") {
			to = filepath.Join(to, strings.TrimPrefix(filepath.Base(link), "."))
		}
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
		if e := ForDir(g, trust, dir, ""); e.Child != nil || e.Undecided != "" || len(e.Toolchains) != 0 || len(e.Problems) == 0 {
			t.Errorf("%s is a link: %+v", link, e)
		}
	}
}

// TestOneToolchainCounts: the first in the order, and the others are named.
func TestOneToolchainCounts(t *testing.T) {
	g, trust := global(t, `{}`), OpenTrust(filepath.Join(t.TempDir(), TrustFileName))
	dir := t.TempDir()
	source(t, dir, ".devcontainer.json", `{"image": "debian:bookworm"}`)
	if tc := one(t, ForDir(g, trust, dir, "")); tc.Kind != core.ToolchainDevcontainer {
		t.Errorf("%+v", tc)
	}
	if e := ForDir(global(t, `{"toolchains": "loop"}`), trust, dir, ""); e.Toolchains != nil {
		t.Errorf("a devcontainer that nobody wants: %+v", e.Toolchains)
	}
	source(t, dir, ".loop/setup.sh", script)
	e := ForDir(g, trust, dir, "")
	if tc := one(t, e); tc.Kind != core.ToolchainSetup || len(e.Problems) != 1 || !e.Problems[0].Warning || !strings.Contains(e.Problems[0].Path, "devcontainer") {
		t.Errorf("%+v %+v", tc, e.Problems)
	}
	child(t, dir, map[string]string{"Dockerfile": "FROM loop-agent\n"})
	if tc := one(t, ForDir(g, trust, dir, "")); tc.Kind != core.ToolchainImage {
		t.Errorf("%+v", tc)
	}
	// On this computer itself nothing of it counts, and that is said once.
	if said := strings.Join(ForDir(g, trust, dir, "").Waiting(true), " "); !strings.Contains(said, "does not count here") || strings.Contains(said, "goes without its") {
		t.Errorf("on the host: %q", said)
	}
}

// TestToolchainOfWorktree: what was decided for the project is for its worktrees; a script that differs asks.
func TestToolchainOfWorktree(t *testing.T) {
	g, trust := global(t, `{}`), OpenTrust(filepath.Join(t.TempDir(), TrustFileName))
	dir, tree := t.TempDir(), t.TempDir()
	source(t, dir, ".loop/setup.sh", script)
	tc := one(t, ForDir(g, trust, dir, ""))
	if err := trust.Approve(ProjectFile(dir).Toolchains()[1], tc.SHA256); err != nil {
		t.Fatal(err)
	}
	for _, same := range []bool{false, true} {
		if same {
			source(t, tree, ".loop/setup.sh", script)
		}
		if e := ForDir(g, trust, tree, dir); e.Undecided != "" || e.Child == nil || e.Child.Dir != dir {
			t.Errorf("the worktree has it (%v): %+v", same, e)
		}
	}
	if err := trust.Decline(WorktreeFile(tree, dir).Toolchains()[1], tc.SHA256); err != nil {
		t.Fatal(err)
	}
	if e := ForDir(g, trust, tree, dir); e.Child != nil || e.Undecided != "" || e.Toolchains[len(e.Toolchains)-1].State != core.ToolchainDeclined {
		t.Errorf("the project's file was declined in the worktree alone: %+v", e)
	}
	if e := ForDir(g, trust, dir, ""); e.Child == nil {
		t.Errorf("and counts in the project: %+v", e)
	}
	if err := trust.Approve(WorktreeFile(tree, dir).Toolchains()[1], tc.SHA256); err != nil {
		t.Fatal(err)
	}
	if e := ForDir(g, trust, tree, dir); e.Child == nil || e.Undecided != "" {
		t.Errorf("it was approved again: %+v", e)
	}
	source(t, tree, ".loop/setup.sh", "exit 1\n")
	e := ForDir(g, trust, tree, dir)
	if e.Undecided != SetupPath(tree) || len(e.Toolchains) != 2 {
		t.Errorf("another in the worktree: %+v", e)
	}
	if err := trust.Decline(WorktreeFile(tree, dir).Toolchains()[1], sumOf([]byte("exit 1\n"))); err != nil {
		t.Fatal(err)
	}
	if e = ForDir(g, trust, tree, dir); e.Undecided != "" || e.Child != nil {
		t.Errorf("declined there: %+v", e)
	}
}
