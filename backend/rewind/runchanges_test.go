package rewind

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

func (r *rig) changes(id core.RunID) core.RunChanges {
	r.Helper()
	got, err := r.RunChanges(context.Background(), "c", id)
	if err != nil {
		r.Fatal(err)
	}
	return got
}

// said are “kind path”, with a star where the file was changed since.
func said(c core.RunChanges) (list []string) {
	for _, f := range c.Files {
		text := f.Kind + " " + f.Path
		if f.Edited {
			text += "*"
		}
		list = append(list, text)
	}
	return list
}

func TestChangesOfARun(t *testing.T) {
	r := newRig(t)
	r.day()
	r.put(map[string]string{"docs/old.md": "again\n"})
	got := r.changes("two")
	// The person changed limits.yaml, a later run reset.go, and the removed file is there again.
	if want := []string{"D docs/old.md*", "M limits.yaml*", "M reset.go*", "A reset_test.go"}; !slices.Equal(said(got), want) {
		t.Errorf("%q", said(got))
	}
	if got.Until != core.UntilEnd || !got.Known || got.Run != "two" || got.Files[2].Added != 2 || got.Files[2].Removed != 1 {
		t.Errorf("%+v", got)
	}
	f, err := r.RunFile(t.Context(), "c", "two", "reset.go")
	if err != nil || f.Old != "a\nb\n" || f.New != "a\nB\nc\n" || !f.Text || f.OldBytes != 4 || !f.Edited {
		t.Errorf("%+v %v", f, err)
	}
	if f, err := r.RunFile(t.Context(), "c", "two", "docs/old.md"); err != nil || f.NewBytes != -1 || f.New != "" {
		t.Errorf("%+v %v", f, err)
	}
	f1, err := r.RunFile(t.Context(), "c", "two", "reset_test.go")
	if err != nil || f1.Edited {
		t.Errorf("%+v %v", f1, err)
	}
	for _, path := range []string{"mine.txt", "../etc/passwd", ""} {
		if _, err := r.RunFile(t.Context(), "c", "two", path); core.AsFailure(err).Code != core.CodeNotFound {
			t.Errorf("%q: %v", path, err)
		}
	}
	// What the person does after the list was read counts.
	if got := r.changes("two"); got.Files[3].Edited {
		t.Fatalf("%q", said(got))
	}
	r.put(map[string]string{"reset_test.go": "mine\n"})
	if f, err := r.RunFile(t.Context(), "c", "two", "reset_test.go"); err != nil || !f.Edited || !f.Known || f.New == "mine\n" {
		t.Errorf("edited after the list was read: %+v %v", f, err)
	}
	r.put(map[string]string{"reset_test.go": f1.New})
	if f, err := r.RunFile(t.Context(), "c", "two", "reset_test.go"); err != nil || f.Edited {
		t.Errorf("put back after the list was read: %+v %v", f, err)
	}
	if last := r.changes(""); last.Run != "three" || !slices.Equal(said(last), []string{"M reset.go"}) {
		t.Errorf("the last run: %+v", last)
	}
	if f, err := r.RunFile(t.Context(), "c", "one", "first.go"); err != nil || f.Kind != "A" {
		t.Errorf("a file of a run that was not listed: %+v %v", f, err)
	}
}

func TestChangesOfARunThatGoesOn(t *testing.T) {
	r := newRig(t)
	r.put(map[string]string{"a": "a\n"})
	r.begin("live", fresh, map[string]string{"a": "b\n", "new": "new\n"})
	got := r.changes("")
	if got.Until != core.UntilNow || !slices.Equal(said(got), []string{"M a", "A new"}) || !got.Known {
		t.Errorf("%+v", got)
	}
	r.put(map[string]string{"new": "newer\n"})
	if f, err := r.RunFile(t.Context(), "c", "live", "new"); err != nil || f.New != "newer\n" || f.Edited || !f.Known {
		t.Errorf("it went on after the list was read: %+v %v", f, err)
	}
	r.put(map[string]string{"a": "a\n"})
	if _, err := r.RunFile(t.Context(), "c", "live", "a"); core.AsFailure(err).Code != core.CodeNotFound {
		t.Errorf("it is as it was: %v", err)
	}
	if got := r.changes("live"); !slices.Equal(said(got), []string{"A new"}) {
		t.Errorf("%q", said(got))
	}
}

func TestRunsWithoutAnEndAndWithoutCheckpoints(t *testing.T) {
	r := newRig(t)
	r.day()
	if err := r.db.DropCheckpoints(t.Context(), []string{"two.after", "one.before"}); err != nil {
		t.Fatal(err)
	}
	if got := r.changes("two"); got.Until != core.UntilNext || !slices.Contains(said(got), "A mine.txt") {
		t.Errorf("%+v", got)
	}
	if err := r.db.AddChannel(t.Context(), core.Channel{ID: "d", Kind: core.KindProject, Name: "d", Dir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	for _, at := range []struct {
		ch  core.ChannelID
		run core.RunID
	}{{"c", "one"}, {"c", "none"}, {"d", "two"}, {"d", ""}} {
		_, err := r.RunChanges(t.Context(), at.ch, at.run)
		if f := core.AsFailure(err); f.Code != core.CodeNotFound || f.Remedy == "" {
			t.Errorf("%+v: %v", at, err)
		}
	}
	if err := os.RemoveAll(r.dir); err != nil {
		t.Fatal(err)
	}
	if got := r.changes("two"); got.Known || len(got.Files) == 0 {
		t.Errorf("the folder is gone: %+v", got)
	}
}

// TestChangesOfManyFiles: beyond those whose lines are counted a file says so, and has git's
// names of both contents all the same.
func TestChangesOfManyFiles(t *testing.T) {
	r := newRig(t)
	r.put(map[string]string{"z": "old\n"})
	many := map[string]string{"z": "new\n"}
	for i := range mostCounted {
		many[fmt.Sprintf("f%04d", i)] = "x\n"
	}
	r.run("one", fresh, many)
	got := r.changes("one")
	if len(got.Files) != mostCounted+1 || got.More {
		t.Fatalf("%d files, more: %v", len(got.Files), got.More)
	}
	for _, f := range got.Files[:mostCounted] {
		if f.Added != 1 || f.Removed != 0 || len(f.After) != 2 {
			t.Fatalf("%+v", f)
		}
	}
	f, err := r.RunFile(t.Context(), "c", "one", "z")
	if err != nil || f.Kind != "M" || f.Added != -1 || f.Removed != -1 || len(f.Before) != 2 || len(f.After) != 2 || f.Before[0] == f.After[0] {
		t.Errorf("%+v, %v", f, err)
	}
}

// Git's names are those that git gives.
func TestBlobs(t *testing.T) {
	r := newRig(t)
	r.put(map[string]string{"a": "a\n"})
	r.run("one", fresh, map[string]string{"a": "b\nc\n"})
	f := r.changes("one").Files[0]
	for _, c := range []struct {
		blobs []string
		text  string
	}{{f.Before, "a\n"}, {f.After, "b\nc\n"}} {
		cmd := exec.CommandContext(t.Context(), "git", "hash-object", "--stdin")
		cmd.Stdin = strings.NewReader(c.text)
		out, err := cmd.Output()
		if err != nil || len(c.blobs) != 2 || strings.TrimSpace(string(out)) != c.blobs[0] || len(c.blobs[1]) != 64 {
			t.Errorf("%q: %q %v", out, c.blobs, err)
		}
	}
}
