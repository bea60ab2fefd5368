package channels

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

// TestStartWith: a person names a conversation, and its id tells whether it is of the
// demo.
func TestStartWith(t *testing.T) {
	w := newWorld(t)
	p := w.project()
	ctx := t.Context()
	play := core.SessionStart{Mode: core.SessionResume, SessionID: "play"}
	v, err := w.s.StartWith(ctx, p.ID, play)
	if err != nil || v.DemoNextSession != play || v.NextSession != (core.SessionStart{}) {
		t.Fatalf("%+v, %v", v, err)
	}
	if got := w.published(core.EventChannelUpdated); len(got) != 1 {
		t.Errorf("%v", got)
	}
	resume := core.SessionStart{Mode: core.SessionResume, SessionID: "old"}
	if v, err = w.s.StartWith(ctx, p.ID, resume); err != nil || v.NextSession != resume || v.SessionID != "real" {
		t.Fatalf("%+v, %v", v, err)
	}
	_, err = w.s.StartWith(ctx, "gone", resume)
	w.refused(err, core.CodeNotFound, "does not exist")
	w.fail["List"] = errors.New("disk")
	if _, err = w.s.StartWith(ctx, p.ID, resume); err == nil {
		t.Error("a session that could not be looked up was taken")
	}
	delete(w.fail, "List")
	fresh := core.SessionStart{Mode: core.SessionFresh}
	if v, err = w.s.StartWith(ctx, p.ID, fresh); err != nil || v.DemoNextSession != fresh || v.NextSession != fresh {
		t.Fatalf("%+v, %v", v, err)
	}
	if v, err = w.s.StartWith(ctx, p.ID, core.SessionStart{}); err != nil || v.DemoNextSession != (core.SessionStart{}) || v.NextSession != (core.SessionStart{}) {
		t.Fatalf("%+v, %v", v, err)
	}
}

func TestThreadThatIsAFork(t *testing.T) {
	w := newWorld(t)
	p := w.project()
	v, err := w.s.CreateThread(t.Context(), core.ThreadRequest{
		ParentID: p.ID, Name: "Another way", Session: core.SessionStart{Mode: core.SessionFork, SessionID: "real", At: "m1"},
	})
	if err != nil || v.Name != "Another way" || v.ParentID != p.ID || v.NextSession != (core.SessionStart{Mode: core.SessionFork, SessionID: "real", At: "m1"}) {
		t.Errorf("%+v, %v", v, err)
	}
	w.set(p.ID, func(c *core.Channel) { c.SessionID, c.DemoSessionID = "", "" })
	_, err = w.s.CreateThread(t.Context(), core.ThreadRequest{ParentID: p.ID, Session: core.SessionStart{Mode: core.SessionFork}})
	w.refused(err, core.CodeConflict, "no conversation yet")
}

func TestSessionsAndMessages(t *testing.T) {
	w := newWorld(t)
	p := w.project()
	ctx := t.Context()
	if list, err := w.s.ListSessions(ctx, p.ID); err != nil || len(list) != 3 {
		t.Error(list, err)
	}
	if list, err := w.s.Messages(ctx, p.ID, ""); err != nil || len(list) != 1 || list[0].UUID != "m1" {
		t.Error("the channel's own:", list, err)
	}
	w.set(p.ID, func(c *core.Channel) { c.SessionID = "" })
	if list, err := w.s.Messages(ctx, p.ID, ""); err != nil || len(list) != 1 || list[0].UUID != "p1" {
		t.Error("the only one:", list, err)
	}
	if _, err := w.s.Messages(ctx, p.ID, "gone"); !errors.Is(err, core.ErrNotFound) {
		t.Error(err)
	}
	if _, err := w.s.ListSessions(ctx, "gone"); !errors.Is(err, core.ErrNotFound) {
		t.Error(err)
	}
}

func TestWorktree(t *testing.T) {
	w := newWorld(t)
	p := w.project()
	th := w.thread(p.ID, "a")
	v := w.worktree(th.ID, "fix/login")
	dir := filepath.Join(w.dir, ".worktrees", "fix-login")
	if v.Kind != core.KindWorktree || v.Dir != dir || v.ParentDir != w.dir || v.Branch != "fix/login" || v.Name != "fix/login" || v.ParentID != th.ID || v.StateOwner() != v.ID {
		t.Errorf("%+v", v)
	}
	if v.SessionID != "real" || v.DemoSessionID != "play" || v.NextSession != (core.SessionStart{}) {
		t.Errorf("its copy is its own and is resumed: %+v", v)
	}
	if want := []string{"real " + w.dir + ">" + dir, "play " + w.dir + ">" + dir}; !slices.Equal(w.copied, want) {
		t.Errorf("%q", w.copied)
	}
	// For a worktree of a worktree, the main worktree is still the root's. The
	// parent's branch is the base.
	sub := w.worktree(v.ID, "deeper")
	if sub.ParentDir != w.dir || sub.Dir != filepath.Join(w.dir, ".worktrees", "deeper") || sub.ParentID != v.ID {
		t.Errorf("%+v", sub)
	}
	if want := []string{".worktrees/fix-login fix/login ", ".worktrees/deeper deeper fix/login"}; !slices.Equal(w.made, want) {
		t.Errorf("%q", w.made)
	}
	inner := w.thread(v.ID, "in the worktree")
	if inner.Dir != dir || inner.ParentDir != w.dir || inner.Branch != "fix/login" || inner.StateOwner() != v.ID {
		t.Errorf("%+v", inner)
	}
	_, err := w.s.CreateWorktree(t.Context(), core.WorktreeRequest{ParentID: p.ID, Branch: "fix/login"})
	w.refused(err, core.CodeConflict, "already")
	if again, err := w.s.Add(t.Context(), dir, ""); err != nil || again.ID != v.ID {
		t.Errorf("its folder has another channel: %+v, %v", again, err)
	}
	if near := w.worktree(p.ID, "fix-login"); near.Dir != dir+"-2" {
		t.Errorf("%q", near.Dir)
	}
}

func TestWorktreeTakesWhatTheParentIsAboutToUse(t *testing.T) {
	w := newWorld(t)
	p := w.project()
	w.set(p.ID, func(c *core.Channel) {
		c.NextSession = core.SessionStart{Mode: core.SessionResume, SessionID: "old"}
		c.DemoNextSession = core.SessionStart{Mode: core.SessionFresh}
	})
	if v := w.worktree(p.ID, "a"); v.SessionID != "old" || v.DemoSessionID != "" {
		t.Errorf("%+v", v)
	}
	w.fail["Copy"] = core.ErrNotFound
	if v := w.worktree(p.ID, "b"); v.SessionID != "" {
		t.Errorf("a transcript that was pruned: %+v", v)
	}
}

// TestWorktreeUndone: a worktree whose creation fails leaves nothing behind, except a
// folder that was there before.
func TestWorktreeUndone(t *testing.T) {
	for name, tc := range map[string]struct {
		breaks func(w *world)
		kept   bool
		gone   bool
	}{
		"git refuses":           {func(w *world) { w.fail["Create"] = errors.New("git") }, false, true},
		"the copy fails":        {func(w *world) { w.fail["Copy"] = errors.New("disk") }, false, true},
		"the store fails":       {func(w *world) { w.fail["AddChannel"] = errors.New("disk") }, false, true},
		"the store fails, kept": {func(w *world) { w.fail["AddChannel"] = errors.New("disk") }, true, false},
		"the parent goes": {func(w *world) {
			w.onCall["Copy"] = func(string) { _ = w.s.Remove(w.Context(), w.published(core.EventChannelCreated)[0]) }
		}, false, true},
		"a link leads out of it": {func(w *world) { w.onCall["Create"] = func(string) { w.link(t) } }, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := w.project()
			w.kept = tc.kept
			tc.breaks(w)
			_, err := w.s.CreateWorktree(t.Context(), core.WorktreeRequest{ParentID: p.ID, Branch: "x"})
			if err == nil {
				t.Fatal("made")
			}
			if _, serr := os.Stat(filepath.Join(w.dir, ".worktrees", "x")); errors.Is(serr, os.ErrNotExist) != tc.gone && name != "a link leads out of it" {
				t.Errorf("%v: %v", serr, err)
			}
			for _, ch := range w.list {
				if ch.Kind == core.KindWorktree {
					t.Errorf("%+v", ch)
				}
			}
			if left, err := filepath.Glob(filepath.Join(w.home, "channels", "*")); err != nil || len(left) != 0 {
				t.Errorf("state left behind: %v, %v", left, err)
			}
			clear(w.fail)
			clear(w.onCall)
			if len(w.list) == 1 && name != "a link leads out of it" {
				w.worktree(p.ID, "x") // the place is free again
			}
		})
	}
}

// link puts a symbolic link out of the project where worktrees go, as an agent could.
func (w *world) link(t *testing.T) {
	if err := os.Symlink(t.TempDir(), filepath.Join(w.dir, ".worktrees")); err != nil {
		t.Error(err)
	}
}

func TestRemoveWorktree(t *testing.T) {
	w := newWorld(t)
	p := w.project()
	v := w.worktree(p.ID, "x")
	th := w.thread(v.ID, "in it")
	dirty := core.Fail(core.CodeConflict, core.ErrConflict, "The worktree has changes.", "Commit.")
	w.fail["Remove"] = dirty
	if err := w.s.RemoveTree(t.Context(), p.ID, true); !errors.Is(err, core.ErrConflict) || len(w.list) != 3 {
		t.Fatalf("%v, %v", w.list, err)
	}
	w.refused(w.s.RemoveWorktree(t.Context(), p.ID, true), core.CodeInvalid, "no worktree")
	w.refused(w.s.RemoveWorktree(t.Context(), "gone", true), core.CodeNotFound, "does not exist")
	if err := w.s.RemoveWorktree(t.Context(), v.ID, true); err != nil || !slices.Equal(w.removed, []string{".worktrees/x"}) {
		t.Fatalf("%v, %v", w.removed, err)
	}
	if got := w.published(core.EventChannelDeleted); !slices.Equal(got, []core.ChannelID{th.ID, v.ID}) {
		t.Errorf("%v", got)
	}
	// A channel whose folder Loop did not make is not removed with files.
	w.mu.Lock()
	w.list = append(w.list, core.Channel{ID: "odd", ParentID: p.ID, Kind: core.KindWorktree, Dir: "/etc", ParentDir: w.dir})
	w.mu.Unlock()
	w.refused(w.s.RemoveTree(t.Context(), "odd", true), core.CodeInvalid, "did not make")
	w.worktree(p.ID, "y")
	w.refused(w.s.RemoveTree(t.Context(), p.ID, true), core.CodeInvalid, "did not make")
	if err := w.s.Remove(t.Context(), "odd"); err != nil || len(w.removed) != 1 {
		t.Error(w.removed, err)
	}
	// The removal asks about all worktrees at once, because all stay when one has
	// changes.
	w.worktree(p.ID, "z")
	var asked []string
	w.onCall["Remove"] = func(dirs string) { asked = append(asked, dirs) }
	w.refused(w.s.RemoveTree(t.Context(), p.ID, true), core.CodeConflict, "has changes")
	if len(asked) != 1 || len(w.removed) != 1 || len(w.list) != 3 {
		t.Errorf("asked for %q, removed %q, left %v", asked, w.removed, w.list)
	}
	delete(w.fail, "Remove")
	if err := w.s.RemoveTree(t.Context(), p.ID, true); err != nil || len(w.removed) != 3 || len(w.list) != 0 {
		t.Errorf("%v, removed %q, left %v", err, w.removed, w.list)
	}
}

func TestCheckBranch(t *testing.T) {
	for _, good := range []string{"x", "fix/login", "feature/a-b_c.d", "ünï", "v1.2"} {
		if err := CheckBranch(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "-x", "a..b", "a b", "/a", "a/", "a//b", ".a", "a/.b", "a.lock", "a.lock/b", "@", "HEAD", "a@{1}", "a~1", "a^", "a:b", "a?", "a*", "a[", `a\b`, "a\x00", "a\n", "a\u202eb", "a.", "\xff", strings.Repeat("x", 201)} {
		if err := CheckBranch(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
