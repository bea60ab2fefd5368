//go:build docker

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/soaktest"
)

// largest is the most memory that a server has had, in MiB.
func (s *server) largest() int {
	s.h.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		s.h.t.Fatal(err)
	}
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text)
	if m == nil {
		s.h.t.Fatalf("no memory in %s", text)
	}
	kb, err := strconv.Atoi(string(m[1]))
	if err != nil {
		s.h.t.Fatal(err)
	}
	return kb / 1024
}

// took logs how long something was under way.
func took(t *testing.T, what string, f func()) {
	t.Helper()
	began := time.Now()
	f()
	t.Logf("%s: %v", what, time.Since(began).Round(time.Millisecond))
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "gc.auto=0"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// prompted sends a prompt that changes nothing, and says what going back to before it would do.
func (s *server) prompted(dir string) (core.RunID, core.RewindPreview) {
	s.h.t.Helper()
	r := s.h.runJSON("--demo", "--script", "quick", "--dir", dir, "Look")
	if r.code != 0 || len(r.events) == 0 {
		s.h.t.Fatalf("exit %d: %s%s", r.code, r.out, r.err)
	}
	var p core.RewindPreview
	s.must("Rewind.Preview", &p, r.events[0].RunID)
	return r.events[0].RunID, p
}

// TestFolderOfManyFiles: 500,000 files under “make soak”, else a tenth. All of them are found,
// git in the container says what has changed among them, and files go back to before a prompt,
// or it is said that they are too many for that.
func TestFolderOfManyFiles(t *testing.T) {
	const each = 500
	n := soaktest.Of(500_000)
	h := newHome(t, "")
	dir := repository(t)
	began := time.Now()
	for i := range n {
		folder := filepath.Join(dir, fmt.Sprintf("team%d", i/each%40), fmt.Sprintf("module%d", i/each))
		if i%each == 0 {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("handler%d.go", i)), fmt.Appendf(nil, "package p%d\n", i/each), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d files: %v", n, time.Since(began))
	took(t, "git add and commit", func() {
		gitIn(t, dir, "add", ".")
		gitIn(t, dir, "commit", "--quiet", "-m", "all")
	})
	last := fmt.Sprintf("team%d/module%d/handler%d.go", (n-1)/each%40, (n-1)/each, n-1)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := h.serve()
	defer func() { took(t, "Loop's end", s.stop) }()
	ch := s.add(dir)

	var found core.FileMatches
	took(t, "the first “@”", func() { s.must("Files.Find", &found, ch, "", 20, []string{}) })
	if found.Partial || found.Known < n+n/each || len(found.Files) == 0 {
		t.Fatalf("%d known of %d files, partial %v", found.Known, n, found.Partial)
	}
	for _, query := range []string{"h", fmt.Sprintf("handler%d", n-1)} {
		took(t, "“@"+query+"”", func() { s.must("Files.Find", &found, ch, query, 20, []string{}) })
	}
	if len(found.Files) == 0 || found.Files[0].Path != last {
		t.Errorf("%+v, want %s first", found.Files, last)
	}

	var st core.ReviewStatus
	var d core.ReviewDiff
	scope := core.ReviewScope{Kind: core.ReviewWorktree}
	write(last, "package changed\n")
	write("new.go", "package fresh\n")
	took(t, "the first review", func() { s.must("Review.Status", &st, ch, scope) })
	took(t, "the next one", func() { s.must("Review.Status", &st, ch, scope) })
	if len(st.Files) != 2 || st.More || st.Files[0].Path != "new.go" || st.Files[1].Path != last || st.Files[1].Added != 1 {
		t.Errorf("%+v", st)
	}
	took(t, "a file's changes", func() { s.must("Review.File", &d, ch, scope, last) })
	took(t, "accepting it", func() { s.must("Review.Stage", nil, ch, last, []string{d.Hunks[0].ID}, "") })

	var p core.RewindPreview
	var id core.RunID
	took(t, "the first prompt", func() { id, p = s.prompted(dir) })
	if p.NoFiles != "" && !strings.Contains(p.NoFiles, "still being kept") && !strings.Contains(p.NoFiles, "took too long") && !strings.Contains(p.NoFiles, "more than") {
		t.Errorf("%q", p.NoFiles)
	}
	took(t, "the rest of the first checkpoint", func() {
		end := time.Now().Add(patience)
		for tick := time.NewTicker(time.Second); strings.Contains(p.NoFiles, "still being kept"); <-tick.C {
			if time.Now().After(end) {
				t.Fatal("the first checkpoint does not end")
			}
			s.must("Rewind.Preview", &p, id)
		}
	})
	took(t, "the next prompt", func() { id, p = s.prompted(dir) })
	if n > 200_000 {
		if !strings.Contains(p.NoFiles, "more than 200000 files") {
			t.Errorf("%+v", p)
		}
	} else if p.NoFiles != "" || p.Total != 0 {
		t.Errorf("%+v", p)
	} else {
		write(last, "package worse\n")
		took(t, "a look at what would go back", func() { s.must("Rewind.Preview", &p, id) })
		var went core.WentBack
		took(t, "going back", func() {
			s.must("Rewind.Back", &went, id, core.BackRequest{What: core.RewindFiles, Mark: p.Mark, Keep: []string{}})
		})
		if got, err := os.ReadFile(filepath.Join(dir, last)); string(got) != "package changed\n" {
			t.Errorf("%q, %v", got, err)
		}
	}

	// Everything has changed: what is shown of it is bounded, and it says that there is more.
	gitIn(t, dir, "read-tree", "--empty")
	took(t, "a review of all", func() { s.must("Review.Status", &st, ch, scope) })
	if len(st.Files) != 2000 || !st.More || st.Files[0].Staged+st.Files[0].Unstaged == 0 {
		t.Errorf("%d files, more %v", len(st.Files), st.More)
	}
	t.Logf("Loop had %d MiB at most", s.largest())
	if most := 200 + n/1000; s.largest() > most {
		t.Errorf("Loop had %d MiB, more than %d", s.largest(), most)
	}
}

// TestFileOfAGigabyte: nothing reads it whole into memory, and what is left out is said.
func TestFileOfAGigabyte(t *testing.T) {
	t.Parallel()
	const size = 1 << 30
	h := newHome(t, "")
	dir := repository(t)
	for _, name := range []string{"disk.img", "fresh.img"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("small\x00"), 0o644); err != nil {
			t.Fatal(err)
		}
		if name == "disk.img" {
			gitIn(t, dir, "add", name)
			gitIn(t, dir, "commit", "--quiet", "-m", name)
		}
		if err := os.Truncate(filepath.Join(dir, name), size); err != nil { // it has no blocks
			t.Fatal(err)
		}
	}
	s := h.serve()
	defer s.stop()
	ch := s.add(dir)
	var st core.ReviewStatus
	scope := core.ReviewScope{Kind: core.ReviewWorktree}
	took(t, "the review", func() { s.must("Review.Status", &st, ch, scope) })
	if len(st.Files) != 2 || st.Files[0].Path != "disk.img" || st.Files[0].Kind != "M" || st.Files[1].Kind != "A" || st.Files[0].Added != -1 || st.Files[1].Added != -1 {
		t.Errorf("%+v", st.Files)
	}
	for _, f := range st.Files {
		var d core.ReviewDiff
		took(t, "its changes", func() { s.must("Review.File", &d, ch, scope, f.Path) })
		if d.Whole != core.WholeLarge || d.Bytes != size || len(d.Hunks) != 0 {
			t.Errorf("%s: %+v", f.Path, d)
		}
	}
	var c core.FileContent
	took(t, "its beginning", func() { s.must("Files.Read", &c, ch, filepath.Join(dir, "disk.img"), 512<<10) })
	if c.Whole || len(c.Data) != 512<<10 || c.Bytes != size {
		t.Errorf("%d bytes of %d, whole %v", len(c.Data), c.Bytes, c.Whole)
	}
	var id core.RunID
	var p core.RewindPreview
	took(t, "a prompt", func() { id, p = s.prompted(dir) })
	if left := strings.Join(p.Left, " "); p.NoFiles != "" || !strings.Contains(left, "Files over 10 MB: disk.img, fresh.img") {
		t.Errorf("%+v", p)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("worse\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.must("Rewind.Preview", &p, id)
	took(t, "going back", func() {
		s.must("Rewind.Back", nil, id, core.BackRequest{What: core.RewindFiles, Mark: p.Mark, Keep: []string{}})
	})
	if info, err := os.Stat(filepath.Join(dir, "disk.img")); err != nil || info.Size() != size {
		t.Errorf("%v %v", info, err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "a.txt")); string(got) != "one\n" {
		t.Errorf("%q %v", got, err)
	}
	t.Logf("Loop had %d MiB at most", s.largest())
	if s.largest() > 200 {
		t.Errorf("Loop had %d MiB", s.largest())
	}
}
