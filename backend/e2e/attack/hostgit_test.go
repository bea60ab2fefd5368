//go:build linux

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"loop/backend/core"
	"loop/backend/hostfacts"
)

// TestGitMeetsNoProject is E9: a repository in which an agent may write can have git run
// programs. The one git that Loop starts on this computer must not meet it, even from
// within. The same git, asked for the repository's state, runs them.
func TestGitMeetsNoProject(t *testing.T) {
	repo, ran := t.TempDir(), t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = repo
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Logf("git %v: %v: %s", args, err, out)
		}
	}
	git("init", "-q")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(repo, name), []byte(text), 0o755); err != nil { //nolint:gosec // hooks are programs
			t.Fatal(err)
		}
	}
	write("file", "one\n")
	git("-c", "user.name=x", "-c", "user.email=x@example.org", "add", "file")
	git("-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qm", "one")
	for key, route := range map[string]string{
		"core.fsmonitor": "fsmonitor", "core.pager": "pager", "diff.external": "diff", "filter.x.clean": "clean", "alias.config": "alias", "core.sshCommand": "ssh",
	} {
		git("config", key, "touch "+filepath.Join(ran, route)+";:")
	}
	write(".gitattributes", "* filter=x\n")
	write(".git/hooks/post-checkout", "#!/bin/sh\ntouch "+filepath.Join(ran, "hook")+"\n")
	write("file", "two\n")

	t.Chdir(repo)
	t.Setenv("GIT_DIR", filepath.Join(repo, ".git"))
	home := t.TempDir()
	t.Setenv("HOME", home)
	if _, err := (hostfacts.Computer{LoopHome: filepath.Join(home, ".loop")}).Host(t.Context(), core.EngineStatus{}); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(ran); len(left) > 0 {
		t.Errorf("Loop's git ran %v", left)
	}
	git("status")
	git("diff")
	git("worktree", "add", "-q", filepath.Join(t.TempDir(), "w"))
	if left, _ := os.ReadDir(ran); len(left) < 4 {
		t.Errorf("the control ran only %v, so this proves nothing", left)
	}
}
