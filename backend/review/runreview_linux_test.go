package review

import (
	"context"
	"crypto/sha1" //nolint:gosec // git names contents so
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

// pretendRuns is one run that changed some files.
type pretendRuns struct {
	got   core.RunChanges
	texts map[string][2]string
	err   error
}

func (p *pretendRuns) RunChanges(context.Context, core.ChannelID, core.RunID) (core.RunChanges, error) {
	return p.got, p.err
}

func (p *pretendRuns) RunFile(_ context.Context, _ core.ChannelID, _ core.RunID, path string) (core.RunFile, error) {
	for _, c := range p.got.Files {
		if c.Path == path {
			t := p.texts[path]
			return core.RunFile{RunChange: c, Known: p.got.Known, Old: t[0], New: t[1], Text: !strings.Contains(t[1], "\x00"), OldBytes: int64(len(t[0])), NewBytes: int64(len(t[1]))}, nil
		}
	}
	return core.RunFile{}, core.ErrNotFound
}

func blob(text string) string {
	sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text)) //nolint:gosec // git names contents so
	return hex.EncodeToString(sum[:])
}

// did adds a file; no text is no file.
func (p *pretendRuns) did(path, was, now string, edited bool) {
	c := core.RunChange{Path: path, Kind: "M", Added: 1, Removed: 1, Edited: edited, Before: []string{blob(was)}, After: []string{blob(now)}}
	if was == "" {
		c.Kind, c.Before = "A", []string{""}
	}
	if now == "" {
		c.Kind, c.After = "D", []string{""}
	}
	p.got.Files, p.texts[path] = append(p.got.Files, c), [2]string{was, now}
}

func (r repo) runs() *pretendRuns {
	p := &pretendRuns{got: core.RunChanges{Run: "r", Until: core.UntilEnd, Known: true}, texts: map[string][2]string{}}
	r.s.o.Runs = p
	return p
}

var ofRun = core.ReviewScope{Kind: core.ReviewRun, From: "r"}

func (r repo) runStatus() core.ReviewStatus {
	r.Helper()
	st, err := r.s.Status(r.Context(), "c", ofRun)
	if err != nil {
		r.Fatal(err)
	}
	return st
}

func (r repo) runFile(path string) core.ReviewDiff {
	r.Helper()
	d, err := r.s.File(r.Context(), "c", ofRun, path)
	if err != nil {
		r.Fatal(err)
	}
	return d
}

func sinces(st core.ReviewStatus) (list []string) {
	for _, f := range st.Files {
		list = append(list, f.Path+" "+f.Since)
	}
	return list
}

// TestChangesOfARunInARepository: what only git can decide about is told from what was committed
// since, changed again, changed before, and what git ignores.
func TestChangesOfARunInARepository(t *testing.T) {
	r := newRepo(t)
	before := r.read("a.txt")
	after := strings.Replace(before, "middle", "MIDDLE", 1)
	r.write(".gitignore", "ignored\n")
	r.write("mixed", "one\n")
	r.write("committed", "one\n")
	r.write("edited", "one\n")
	r.git("add", ".")
	r.git("commit", "--quiet", "-m", "two")
	r.status() // git's own files are known from here
	r.git("config", "core.editor", "evil")
	r.write("committed", "two\n")
	r.git("commit", "--quiet", "-a", "-m", "three")
	r.write("a.txt", after)
	r.write("new.txt", "new\n")
	r.write("mixed", "zero\none\ntwo\n")
	r.write("edited", "three\n")
	r.write("ignored", "x\n")
	p := r.runs()
	p.did("a.txt", before, after, false)
	p.did("committed", "one\n", "two\n", false)
	p.did("edited", "one\n", "two\n", true)
	p.did("ignored", "", "x\n", false)
	p.did("mixed", "zero\none\n", "zero\none\ntwo\n", false)
	p.did("new.txt", "", "new\n", false)
	st := r.runStatus()
	if want := []string{"a.txt ", "committed committed", "edited edited", "ignored outside", "mixed other", "new.txt ", ".git/config "}; !slices.Equal(sinces(st), want) {
		t.Errorf("%q", sinces(st))
	}
	if !st.Editable || st.Run != "r" || st.Branch != "main" || st.Files[0].Unstaged != 1 || st.Files[1].Unstaged != 0 || st.Files[6].Alarm == nil {
		t.Errorf("%+v", st)
	}
	d := r.runFile("a.txt")
	if d.Since != "" || len(d.Hunks) != 1 || !strings.Contains(d.Hunks[0].Lines, "-middle\n+MIDDLE\n") {
		t.Fatalf("%+v", d)
	}
	r.ok(r.s.Stage(t.Context(), "c", "a.txt", []string{d.Hunks[0].ID}, ""))
	if st := r.runStatus(); st.Files[0].Staged != 1 || st.Files[0].Unstaged != 0 || st.Files[0].Since != "" {
		t.Errorf("%+v", st.Files[0])
	}
	if d := r.runFile("a.txt"); d.Since != "" || !d.Hunks[0].Staged {
		t.Errorf("%+v", d)
	}
	if d := r.runFile("new.txt"); d.Since != "" || len(d.Hunks) != 1 || d.Mark == "" {
		t.Errorf("%+v", d)
	}
	for path, want := range map[string][2]string{
		"edited": {core.SinceEdited, "-one\n+two\n"}, "committed": {core.SinceCommitted, "-one\n+two\n"},
		"mixed": {core.SinceOther, " zero\n one\n+two\n"}, "ignored": {core.SinceOutside, "+x\n"},
	} {
		if d := r.runFile(path); d.Since != want[0] || len(d.Hunks) != 1 || d.Hunks[0].Lines != want[1] {
			t.Errorf("%s: %+v", path, d)
		}
	}
	// Where the files of now are unknown, nothing is decided about.
	p.got.Known = false
	if st := r.runStatus(); st.Editable || st.Files[0].Since != "" {
		t.Errorf("%+v", st)
	}
	if d := r.runFile("a.txt"); d.Since == "" {
		t.Errorf("%+v", d)
	}
}

func TestChangesOfARunWithoutARepository(t *testing.T) {
	r := emptyRepo(t)
	p := r.runs()
	r.write("a", "new\n")
	p.did("a", "old\n", "new\n", false)
	p.did("strange\nname", "", "x\n", true)
	p.did("logo.png", "", "\x00", false)
	p.did("tool", "same\n", "same\n", false)
	st := r.runStatus()
	if st.Editable || st.State != core.ReviewNothing || !slices.Equal(sinces(st), []string{"a ", "strange\nname edited", "logo.png ", "tool "}) {
		t.Errorf("%+v", st)
	}
	if d := r.runFile("a"); len(d.Hunks) != 1 || d.Hunks[0].Lines != "-old\n+new\n" {
		t.Errorf("%+v", d)
	}
	if d := r.runFile("strange\nname"); d.Since != core.SinceEdited || len(d.Hunks) != 1 {
		t.Errorf("%+v", d)
	}
	if d := r.runFile("logo.png"); d.Whole != core.WholeBinary {
		t.Errorf("%+v", d)
	}
	if d := r.runFile("tool"); len(d.Hunks) != 1 || !strings.Contains(d.Hunks[0].Section, "program") {
		t.Errorf("%+v", d)
	}
	p.did("empty", "", "", false)
	p.got.Files[len(p.got.Files)-1].Kind = "A"
	if d := r.runFile("empty"); len(d.Hunks) != 1 || d.Hunks[0].Section != "new, empty file" {
		t.Errorf("%+v", d)
	}
	if _, err := r.s.File(t.Context(), "c", ofRun, "../x"); err == nil {
		t.Error("a path out of the folder")
	}
	p.err = core.Fail(core.CodeNotFound, nil, "There is no checkpoint.", "Look at the worktree.")
	_, err := r.s.Status(t.Context(), "c", ofRun)
	r.refused(err, core.CodeNotFound, "checkpoint")
}
