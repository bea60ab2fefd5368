//go:build docker

package e2e

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"loop/backend/core"
)

// repository makes a git project with one commit, as a person would have it.
func repository(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "--quiet"}, {"add", "."}, {"-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "--quiet", "-m", "one"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...) //nolint:gosec // fixed arguments
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	return dir
}

// sameOwner reports whether two files have the same owner.
func sameOwner(a, b fs.FileInfo) bool {
	x, xok := a.Sys().(*syscall.Stat_t)
	y, yok := b.Sys().(*syscall.Stat_t)
	return xok && yok && x.Uid == y.Uid && x.Gid == y.Gid
}

// asks sends a prompt to the scripted model. The model's answer lists the earlier
// prompts.
func (h *home) asks(where, channel, prompt string) string {
	h.t.Helper()
	r := h.runJSON("--demo", "--script", "quick", where, channel, prompt)
	if r.code != 0 {
		h.t.Fatalf("%s: exit %d: %s%s", prompt, r.code, r.out, r.err)
	}
	return texts(r.events)
}

// answers parses a command's --json output.
func answers[T any](h *home, args ...string) (out T) {
	h.t.Helper()
	r := h.run(args...)
	if r.code != 0 {
		h.t.Fatalf("%v: exit %d: %s", args, r.code, r.err)
	}
	if err := json.Unmarshal([]byte(r.out), &out); err != nil {
		h.t.Fatalf("%v: %v in %s", args, err, r.out)
	}
	return out
}

func (h *home) follows(answer, before string) {
	h.t.Helper()
	if !strings.Contains(answer, "before that “"+before+"”") {
		h.t.Errorf("%q does not follow %q", answer, before)
	}
}

// TestThreadsAndWorktrees works on one project for a while, with the command line.
func TestThreadsAndWorktrees(t *testing.T) {
	t.Parallel()
	h := newHome(t, "")
	dir := repository(t)
	h.asks("--dir", dir, "First")
	h.follows(h.asks("--dir", dir, "Second"), "First")

	thread := answers[core.Channel](h, "thread", "new", "--dir", dir, "--name", "Aside", "--json")
	h.follows(h.asks("--channel", "Aside", "In the thread"), "Second")
	h.follows(h.asks("--channel", "Aside", "Again"), "In the thread")
	h.follows(h.asks("--dir", dir, "Third"), "Second")

	list := answers[[]core.SessionInfo](h, "sessions", "--dir", dir, "--json")
	if len(list) != 2 || !list[0].Current || list[0].Messages != 6 || list[1].Title != "First" {
		t.Fatalf("%+v", list)
	}
	messages := answers[[]core.SessionMessage](h, "sessions", "messages", "--dir", dir, "--json", string(list[0].ID))
	if len(messages) != 6 || messages[1].Role != "assistant" {
		t.Fatalf("%+v", messages)
	}
	fork := answers[core.Channel](h, "sessions", "fork", "--dir", dir, "--json", string(list[0].ID), "--at", messages[1].UUID)
	h.follows(h.asks("--channel", string(fork.ID), "Branch"), "First")

	tree := answers[core.Channel](h, "worktree", "new", "--dir", dir, "--json", "fix/login")
	if tree.Dir != filepath.Join(dir, ".worktrees", "fix-login") || tree.ParentDir != dir {
		t.Fatalf("%+v", tree)
	}
	info, err := os.Stat(filepath.Join(tree.Dir, "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if mine, err := os.Stat(filepath.Join(dir, "a.txt")); err != nil || !sameOwner(info, mine) {
		t.Errorf("the worktree belongs to somebody else: %v", err)
	}
	h.follows(h.asks("--dir", tree.Dir, "In the worktree"), "Third")
	h.follows(h.asks("--dir", tree.Dir, "And again"), "In the worktree")
	h.follows(h.asks("--dir", dir, "Fourth"), "Third")

	// The thread resumes an old conversation, and the project begins a new one.
	if r := h.run("sessions", "resume", "--channel", string(thread.ID), string(list[0].ID)); r.code != 0 {
		t.Fatal(r.err)
	}
	h.follows(h.asks("--channel", "Aside", "Back"), "Fourth")
	if r := h.run("sessions", "fresh", "--dir", dir); r.code != 0 {
		t.Fatal(r.err)
	}
	if a := h.asks("--dir", dir, "Fifth"); strings.Contains(a, "before that") {
		t.Errorf("%q", a)
	}
	h.follows(h.asks("--dir", dir, "Sixth"), "Fifth")

	found := answers[[]core.Channel](h, "channels", "search", "--json", "login")
	if len(found) != 1 || found[0].ID != tree.ID {
		t.Errorf("%+v", found)
	}

	if err := os.WriteFile(filepath.Join(tree.Dir, "new.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if r := h.run("worktree", "remove", "fix/login"); r.code != 1 || !strings.Contains(r.err, "not committed") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	if r := h.run("worktree", "remove", "--force", "fix/login"); r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if _, err := os.Stat(tree.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a.txt")); err != nil {
		t.Error(err)
	}
}
