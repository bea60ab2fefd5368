//go:build unix

package worktree

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// repo is a repository in folders of the test. The scripts run with this computer's sh
// and git; a container has the same programs.
type repo struct {
	*testing.T
	s    *Service
	main core.Channel
}

func newRepo(t *testing.T) repo {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := repo{T: t, s: New(here), main: core.Channel{ID: "c", Dir: dir}}
	r.git("init", "--quiet", "--initial-branch=main")
	r.git("config", "user.name", "A Person")
	r.git("config", "user.email", "person@example.com")
	r.write("a.txt", "one\n")
	r.git("add", ".")
	r.git("commit", "--quiet", "-m", "one")
	return r
}

// here is the port without a container.
func here(ctx context.Context, _ core.Channel, argv []string, dir string) (Output, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) //nolint:gosec // the scripts under test
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	o := Output{Stdout: out.String(), Stderr: errs.String()}
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		o.Code, err = e.ExitCode(), nil
	}
	return o, err
}

func (r repo) git(args ...string) string {
	r.Helper()
	out, err := here(r.Context(), r.main, append([]string{"git"}, args...), r.main.Dir)
	if err != nil || out.Code != 0 {
		r.Fatalf("git %v: %v %+v", args, err, out)
	}
	return strings.TrimSpace(out.Stdout)
}

func (r repo) write(name, text string) {
	r.Helper()
	p := filepath.Join(r.main.Dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		r.Fatal(err)
	}
}

func (r repo) create(dir, branch, base string, wantMade bool) {
	r.Helper()
	made, err := r.s.Create(r.Context(), r.main, dir, branch, base)
	if err != nil || made != wantMade {
		r.Fatalf("made %v, %v", made, err)
	}
}

// refused checks that the error is a failure with this code and a remedy.
func (r repo) refused(err error, code core.Code, word string) {
	r.Helper()
	f, ok := errors.AsType[*core.Failure](err)
	if !ok || f.Code != code || !strings.Contains(f.Cause, word) || f.Remedy == "" {
		r.Errorf("%v is no %q about %q", err, code, word)
	}
}

func TestLifeOfAWorktree(t *testing.T) {
	r := newRepo(t)
	const dir = ".worktrees/fix-login"
	r.create(dir, "fix/login", "", true)
	if got, err := os.ReadFile(filepath.Join(r.main.Dir, dir, "a.txt")); err != nil || string(got) != "one\n" {
		t.Fatalf("%q, %v", got, err)
	}
	if s := r.git("status", "--porcelain"); s != "" {
		t.Errorf("the project shows its worktrees: %q", s)
	}
	// A worktree that an interrupted try left is used.
	r.create(dir, "fix/login", "", false)
	if ex := r.git("config", "--list", "--local"); strings.Contains(ex, "fix/login") {
		t.Errorf("the repository's configuration was changed: %q", ex)
	}
	if list := r.git("worktree", "list", "--porcelain"); !strings.Contains(list, "worktree "+filepath.Join(r.main.Dir, dir)+"\n") ||
		!strings.Contains(list, "branch refs/heads/fix/login") {
		t.Fatal(list)
	}

	r.write(dir+"/new.txt", "x")
	r.refused(r.s.Remove(t.Context(), r.main, []string{dir}, false), core.CodeConflict, "not committed")
	if _, err := os.Stat(filepath.Join(r.main.Dir, dir, "new.txt")); err != nil {
		t.Fatal(err)
	}
	if err := r.s.Remove(t.Context(), r.main, []string{dir}, true); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(r.main.Dir, dir)); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if b := r.git("branch", "--list", "fix/login"); b == "" {
		t.Error("the branch is gone")
	}
	if err := r.s.Remove(t.Context(), r.main, []string{dir}, false); err != nil {
		t.Errorf("removing it again: %v", err)
	}
	r.create(dir, "fix/login", "ignored for a branch that is there", true)
	if ex := r.read(".git/info/exclude"); strings.Count(ex, "/.worktrees/") != 1 {
		t.Errorf("%q", ex)
	}
	if err := os.RemoveAll(filepath.Join(r.main.Dir, dir)); err != nil {
		t.Fatal(err)
	}
	r.create(dir, "fix/login", "", true) // somebody deleted the folder by hand
}

// TestABrokenCheckoutIsMadeAnew: the computer stopped, or the container was removed, while
// git wrote the files. What a person has worked in since stays.
func TestABrokenCheckoutIsMadeAnew(t *testing.T) {
	r := newRepo(t)
	const dir = ".worktrees/fix"
	mark := filepath.Join(t.TempDir(), "begun")
	r.write(".gitattributes", "b.txt filter=slow\n")
	r.write("b.txt", "two\n")
	r.git("add", ".")
	r.git("commit", "--quiet", "-m", "two")
	r.git("config", "filter.slow.smudge", "echo $$ >"+mark+" && sleep 1000")
	add := exec.CommandContext(t.Context(), "git", "worktree", "add", "--quiet", "-b", "fix", "--", dir)
	add.Dir, add.SysProcAttr = r.main.Dir, &syscall.SysProcAttr{Setpgid: true}
	if err := add.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; {
		if _, err := os.Stat(mark); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("git writes no files")
		}
	}
	if err := syscall.Kill(-add.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = add.Wait()
	r.git("config", "--unset", "filter.slow.smudge")
	if got := r.read(".git/worktrees/fix/locked"); got != "initializing\n" {
		t.Fatalf("git left %q", got)
	}
	r.create(dir, "fix", "", true)
	if got := r.read(dir + "/b.txt"); got != "two\n" {
		t.Errorf("%q", got)
	}
	if s := r.git("-C", dir, "status", "--porcelain"); s != "" {
		t.Errorf("it is not whole: %s", s)
	}
	r.write(".git/worktrees/fix/locked", "initializing\n")
	r.write(dir+"/own.txt", "x")
	r.create(dir, "fix", "", false)
	r.read(dir + "/own.txt")
}

func (r repo) read(name string) string {
	r.Helper()
	b, err := os.ReadFile(filepath.Join(r.main.Dir, name))
	if err != nil {
		r.Fatal(err)
	}
	return string(b)
}

func TestBase(t *testing.T) {
	r := newRepo(t)
	r.git("tag", "v1")
	r.write("b.txt", "two\n")
	r.git("add", ".")
	r.git("commit", "--quiet", "-m", "two")
	r.create(".worktrees/old", "old", "v1", true)
	if _, err := os.Stat(filepath.Join(r.main.Dir, ".worktrees/old/b.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Error("it does not begin at its base")
	}
	for _, base := range []string{"no-such", "--help", "v1:a.txt"} {
		_, err := r.s.Create(t.Context(), r.main, ".worktrees/x", "x", base)
		r.refused(err, core.CodeInvalid, "begin from")
	}
	if s := r.git("branch", "--list", "x"); s != "" {
		t.Errorf("left behind: %q", s)
	}
}

// TestProgramsOfTheHomeAreNotGit: an agent's home comes first in PATH. The repository's
// hooks still run, also from the folder that core.hooksPath names.
func TestProgramsOfTheHomeAreNotGit(t *testing.T) {
	r := newRepo(t)
	hooks := filepath.Join(r.main.Dir, ".husky")
	r.write(".husky/post-checkout", "#!/bin/sh\ntouch hooked\n")
	r.git("config", "core.hooksPath", hooks)
	home := t.TempDir()
	for _, name := range []string{filepath.Join(home, "git"), filepath.Join(hooks, "post-checkout")} {
		if filepath.Dir(name) == home {
			if err := os.WriteFile(name, []byte("#!/bin/sh\ntouch '"+home+"/ran'\nexit 1\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(name, 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", home+":"+os.Getenv("PATH"))
	const dir = ".worktrees/x"
	r.create(dir, "x", "", true)
	if _, err := os.Stat(filepath.Join(r.main.Dir, dir, "hooked")); err != nil {
		t.Error("the hook did not run:", err)
	}
	if err := r.s.Remove(t.Context(), r.main, []string{dir}, true); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(home, "ran")); err == nil {
		t.Error("a program of the home ran in git's place")
	}
}

func TestExcludeKeepsALastLineWithoutItsEnd(t *testing.T) {
	r := newRepo(t)
	r.write(".git/info/exclude", "*.tmp")
	r.create(".worktrees/x", "x", "", true)
	if got := r.read(".git/info/exclude"); got != "*.tmp\n/.worktrees/\n" {
		t.Errorf("%q", got)
	}
}

func TestRefusals(t *testing.T) {
	r := newRepo(t)
	r.create(".worktrees/x", "x", "", true)
	r.write(".worktrees/file", "y")
	r.write("sub/f", "y")
	if err := os.Symlink("/tmp", filepath.Join(r.main.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	empty := core.Channel{ID: "e", Dir: t.TempDir()}
	bare := core.Channel{ID: "b", Dir: t.TempDir()}
	if out, err := here(t.Context(), bare, []string{"git", "init", "--quiet"}, bare.Dir); err != nil || out.Code != 0 {
		t.Fatal(err, out)
	}
	sub := core.Channel{ID: "s", Dir: filepath.Join(r.main.Dir, "sub")}
	for name, tc := range map[string]struct {
		main        core.Channel
		dir, branch string
		code        core.Code
		word        string
	}{
		"no repository":              {empty, ".worktrees/y", "y", core.CodeDir, "no git repository"},
		"no commit":                  {bare, ".worktrees/y", "y", core.CodeConflict, "no commit"},
		"a folder of a repository":   {sub, ".worktrees/y", "y", core.CodeDir, "top folder"},
		"a branch git refuses":       {r.main, ".worktrees/y", "a..b", core.CodeInvalid, "branch"},
		"a branch that is an option": {r.main, ".worktrees/y", "--orphan", core.CodeInvalid, "branch"},
		"checked out in the project": {r.main, ".worktrees/y", "main", core.CodeConflict, "another worktree"},
		"checked out elsewhere":      {r.main, ".worktrees/y", "x", core.CodeConflict, "another worktree"},
		"a file is there":            {r.main, ".worktrees/file", "y", core.CodeConflict, "something else"},
		"another worktree is there":  {r.main, ".worktrees/x", "y", core.CodeConflict, "something else"},
		"a link is there":            {r.main, "link", "y", core.CodeConflict, "something else"},
		"outside":                    {r.main, "../y", "y", core.CodeInvalid, "no place"},
		"absolute":                   {r.main, "/tmp/y", "y", core.CodeInvalid, "no place"},
		"in the repository's own":    {r.main, ".git/y", "y", core.CodeInvalid, "no place"},
		"an option for a place":      {r.main, "--force", "y", core.CodeInvalid, "no place"},
	} {
		t.Run(name, func(t *testing.T) {
			made, err := r.s.Create(t.Context(), tc.main, tc.dir, tc.branch, "")
			repo{T: t}.refused(err, tc.code, tc.word)
			if made {
				t.Error("made")
			}
		})
	}
	for name, dir := range map[string]string{"a plain folder": "sub", "a link": "link", "a file": ".worktrees/file"} {
		err := r.s.Remove(t.Context(), r.main, []string{dir}, true)
		r.refused(err, core.CodeConflict, "not a worktree")
		if _, serr := os.Lstat(filepath.Join(r.main.Dir, dir)); serr != nil {
			t.Errorf("%s was removed: %v", name, serr)
		}
	}
}

// TestAllOrNone: one worktree with changes keeps all of them, in any order.
func TestAllOrNone(t *testing.T) {
	r := newRepo(t)
	dirs := []string{".worktrees/a", ".worktrees/b", ".worktrees/c"}
	for _, dir := range dirs {
		r.create(dir, dir[len(".worktrees/"):], "", true)
	}
	r.write(".worktrees/b/new.txt", "x")
	there := func() (n int) {
		for _, dir := range dirs {
			if _, err := os.Stat(filepath.Join(r.main.Dir, dir)); err == nil {
				n++
			}
		}
		return n
	}
	for range dirs {
		dirs = append(dirs[1:], dirs[0])
		err := r.s.Remove(t.Context(), r.main, dirs, false)
		r.refused(err, core.CodeConflict, `".worktrees/b" has changes`)
		if n := there(); n != 3 {
			t.Fatalf("%d of 3 are left", n)
		}
	}
	r.refused(r.s.Remove(t.Context(), r.main, append(dirs, ".git"), true), core.CodeInvalid, "no place")
	r.write("plain/a.txt", "x")
	r.refused(r.s.Remove(t.Context(), r.main, append(dirs, "plain"), true), core.CodeConflict, `"plain" is not a worktree`)
	if n := there(); n != 3 {
		t.Fatalf("%d of 3 are left", n)
	}
	if err := os.RemoveAll(filepath.Join(r.main.Dir, ".worktrees/c")); err != nil { // deleted by hand
		t.Fatal(err)
	}
	if err := r.s.Remove(t.Context(), r.main, dirs, true); err != nil || there() != 0 {
		t.Errorf("%v, %d left", err, there())
	}
	if list := r.git("worktree", "list"); strings.Contains(list, "\n") {
		t.Errorf("git still knows %s", list)
	}
}

// TestArgumentsAreData: a script never runs an argument.
func TestArgumentsAreData(t *testing.T) {
	r := newRepo(t)
	for _, evil := range []string{"$(touch pwned)", "`touch pwned`", "a; touch pwned", "a' touch pwned '", "--upload-pack=touch pwned"} {
		_, _ = r.s.Create(t.Context(), r.main, ".worktrees/z", evil, "")
		_, _ = r.s.Create(t.Context(), r.main, ".worktrees/z", "z", evil)
		_ = r.s.Remove(t.Context(), r.main, []string{evil}, true)
	}
	found, err := filepath.Glob(filepath.Join(r.main.Dir, "pwned*"))
	if err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}

func TestExecFails(t *testing.T) {
	boom := errors.New("boom")
	s := New(func(context.Context, core.Channel, []string, string) (Output, error) { return Output{}, boom })
	if _, err := s.Create(t.Context(), core.Channel{}, "x", "x", ""); !errors.Is(err, boom) {
		t.Error(err)
	}
	if err := s.Remove(t.Context(), core.Channel{}, []string{"x"}, false); !errors.Is(err, boom) {
		t.Error(err)
	}
	synctest.Test(t, func(t *testing.T) {
		s := New(func(ctx context.Context, _ core.Channel, _ []string, _ string) (Output, error) {
			<-ctx.Done() // plays a hook that never ends
			return Output{}, ctx.Err()
		})
		_, err := s.Create(t.Context(), core.Channel{}, "x", "x", "")
		repo{T: t}.refused(err, core.CodeTimeout, "did not end")
	})
	s = New(func(context.Context, core.Channel, []string, string) (Output, error) {
		return Output{Code: 128, Stderr: strings.Repeat("fatal: \xff", 4000)}, nil
	})
	_, err := s.Create(t.Context(), core.Channel{}, "x", "x", "")
	repo{T: t}.refused(err, core.CodeDir, "could not make")
	if f := core.AsFailure(err); len(f.Detail) > maxDetail+100 {
		t.Errorf("%d bytes of detail", len(f.Detail))
	}
}
