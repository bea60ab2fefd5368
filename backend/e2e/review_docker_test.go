//go:build docker

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

// TestReviewInAContainer: of two hunks one is accepted and committed, the other is rejected and
// put back. Nothing that a hostile repository names runs, neither on this computer nor in the
// container, and clicks share one container.
func TestReviewInAContainer(t *testing.T) {
	t.Parallel()
	h := newHome(t, "")
	s := h.serve()
	work := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		p := filepath.Join(work, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o700); err != nil { //nolint:gosec // hooks are programs
			t.Fatal(err)
		}
	}
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"}, args...)...)
		cmd.Dir = work
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	same := strings.Repeat("line\n", 12)
	git("init", "--quiet", "--initial-branch=main")
	git("config", "user.name", "A Person")
	git("config", "user.email", "person@example.com")
	write("a.txt", "first\n"+same+"last\n")
	write(".gitattributes", "*.md filter=evil diff=evil\n*.txt diff=evil\n")
	write("b.md", "b\n")
	git("add", ".")
	git("commit", "--quiet", "-m", "one")
	evil := `echo "$0" "$(hostname)" >>` + work + `/ran; cat`
	for _, key := range []string{"core.fsmonitor", "diff.external", "diff.evil.textconv", "diff.evil.command", "filter.evil.clean", "filter.evil.smudge", "gpg.program"} {
		git("config", key, evil)
	}
	git("config", "core.hooksPath", "hooks")
	for _, hook := range []string{"pre-commit", "commit-msg", "post-commit", "post-index-change", "reference-transaction"} {
		write("hooks/"+hook, "#!/bin/sh\n"+evil+"\n")
		write(".git/hooks/"+hook, "#!/bin/sh\n"+evil+"\n")
	}
	write("a.txt", "FIRST\n"+same+"LAST\n")
	write("b.md", "changed\n")

	ch := s.add(work)
	var st core.ReviewStatus
	var d core.ReviewDiff
	scope := core.ReviewScope{Kind: core.ReviewWorktree}
	began := time.Now()
	s.must("Review.Status", &st, ch, scope)
	first := time.Since(began)
	if st.State != core.ReviewNothing || st.Branch != "main" || len(st.Files) != 7 {
		t.Fatalf("%+v", st)
	}
	began = time.Now()
	s.must("Review.File", &d, ch, scope, "a.txt")
	t.Logf("the first look took %v, the next %v", first, time.Since(began))
	if len(d.Hunks) != 2 || len(h.containers()) != 1 {
		t.Fatalf("%+v in %d containers", d, len(h.containers()))
	}
	s.must("Review.Stage", nil, ch, "a.txt", []string{d.Hunks[0].ID}, "")
	var undo core.ReviewUndo
	s.must("Review.Reject", &undo, ch, "a.txt", []string{d.Hunks[1].ID})
	if got, err := os.ReadFile(filepath.Join(work, "a.txt")); err != nil || string(got) != "FIRST\n"+same+"last\n" {
		t.Errorf("%q, %v", got, err)
	}
	s.must("Review.Undo", nil, ch, undo.ID)
	if got, err := os.ReadFile(filepath.Join(work, "a.txt")); err != nil || string(got) != "FIRST\n"+same+"LAST\n" {
		t.Errorf("%q, %v", got, err)
	}
	var made core.ReviewCommit
	s.must("Review.Commit", &made, ch, "Say it louder")
	if got := git("show", "--format=%an %s", "--numstat", "--no-ext-diff", "--no-textconv", "HEAD"); got != "A Person Say it louder\n\n1\t1\ta.txt" {
		t.Errorf("%+v is %q", made, got)
	}
	s.must("Review.Branch", nil, ch, "louder")
	if got := git("symbolic-ref", "--short", "HEAD"); got != "louder" {
		t.Errorf("on %q", got)
	}
	if err := s.call("Review.Stage", nil, ch, "b.md", []string{}, ""); err == nil || !strings.Contains(err.Error(), "filter") {
		t.Errorf("a file with a filter: %v", err)
	}
	if ran, err := os.ReadFile(filepath.Join(work, "ran")); err == nil {
		t.Errorf("it ran: %s", ran)
	}
	if n := len(h.containers()); n != 1 {
		t.Errorf("%d containers for some clicks", n)
	}
	end := time.Now().Add(patience)
	for tick := time.NewTicker(time.Second); len(h.containers()) > 0; <-tick.C {
		if time.Now().After(end) {
			t.Fatal("the container of the review does not end")
		}
	}

	// Where a container of the channel runs, git runs there, and it goes on after that.
	var term core.TerminalInfo
	s.must("Terminals.Create", &term, core.TerminalSpec{ChannelID: ch, Plain: true, Cols: 80, Rows: 24, Cmd: []string{"sleep", "1000"}})
	s.must("Review.Status", &st, ch, scope)
	if n := len(h.containers()); n != 1 || len(st.Files) == 0 {
		t.Errorf("%d containers beside a terminal, %d files", n, len(st.Files))
	}
}
