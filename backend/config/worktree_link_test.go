//go:build !windows

package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/core"
)

// TestWorktreeBehindALink: an agent of the project can put a link in the place of a
// worktree, or of a folder on the way. A file behind the link is not the worktree's.
// Loop neither reads, shows nor writes it.
func TestWorktreeBehindALink(t *testing.T) {
	g := Snapshot{Path: "/g", Config: Defaults(), Good: true}
	for name, at := range map[string]string{"worktree": ".worktrees/deep/fix", "on the way": ".worktrees/deep", "all": ".worktrees"} {
		t.Run(name, func(t *testing.T) {
			parent, other := t.TempDir(), t.TempDir()
			tree := filepath.Join(parent, ".worktrees", "deep", "fix")
			rest, err := filepath.Rel(filepath.Join(parent, at), tree)
			if err != nil {
				t.Fatal(err)
			}
			target := filepath.Join(other, rest)
			if err := os.MkdirAll(target, 0o755); err != nil {
				t.Fatal(err)
			}
			project(t, target, `{"claude_model": "theirs"}`)
			if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(parent, at)), 0o755), os.Symlink(other, filepath.Join(parent, at))); err != nil {
				t.Fatal(err)
			}

			e := ForDir(g, new(Trust), tree, parent)
			if e.Err == nil || core.AsFailure(e.Err).Code != core.CodeConfig || !strings.Contains(e.Err.Error(), "is a link") || e.Config.ClaudeModel == "theirs" {
				t.Errorf("read: %v %q", e.Err, e.Config.ClaudeModel)
			}
			f := WorktreeFile(tree, parent)
			if text, err := f.read(); err == nil {
				t.Errorf("shown: %s", text)
			}
			if err := f.write([]byte("{}")); err == nil {
				t.Error("written")
			}
			if b, err := os.ReadFile(ProjectPath(target)); err != nil || !strings.Contains(string(b), "theirs") {
				t.Errorf("%s %v", b, err)
			}
		})
	}
}

// TestWorktreeWithoutALink: a folder above the project may be a link, and a worktree
// may be outside.
func TestWorktreeWithoutALink(t *testing.T) {
	g := Snapshot{Path: "/g", Config: Defaults(), Good: true}
	real, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	for parent, tree := range map[string]string{link: filepath.Join(link, ".worktrees", "a"), real: filepath.Join(t.TempDir(), "outside")} {
		if err := os.MkdirAll(tree, 0o755); err != nil {
			t.Fatal(err)
		}
		if e := ForDir(g, new(Trust), tree, parent); e.Err != nil {
			t.Errorf("without a file: %v", e.Err)
		}
		f := WorktreeFile(tree, parent)
		if _, err := f.read(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("without a file: %v", err)
		}
		if err := f.write([]byte(`{"claude_model": "mine"}`)); err != nil {
			t.Error(err)
		}
		if e := ForDir(g, new(Trust), tree, parent); e.Err != nil || e.Config.ClaudeModel != "mine" {
			t.Errorf("%v %q", e.Err, e.Config.ClaudeModel)
		}
	}
	if e := ForDir(g, new(Trust), filepath.Join(real, ".worktrees", "gone"), real); e.Err != nil {
		t.Errorf("gone: %v", e.Err)
	}
}
