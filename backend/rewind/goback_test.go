package rewind

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

// TestWhatIsInThePlaceStays: an agent has made folders of files. Those with nothing in them go;
// one with files that are not kept stays, with a notice, and keeps nothing else from going back.
func TestWhatIsInThePlaceStays(t *testing.T) {
	r := newRig(t)
	r.put(map[string]string{".gitignore": "__pycache__/\n", "a": "1\n", "b": "2\n", "c": "3\n", "d": "4\n"})
	r.run("one", fresh, nil)
	r.run("two", resume, map[string]string{"a": "-", "b": "-", "c": "-", "d": "other\n"})
	r.put(map[string]string{"b/__pycache__/b.pyc": "x", "c/.git/HEAD": "x"})
	if err := os.MkdirAll(filepath.Join(r.dir, "a", "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := r.preview("two")
	if p.Total != 2 || len(p.Left) != 1 || !strings.Contains(p.Left[0], "in the place of b, c") {
		t.Errorf("%+v", p)
	}
	out, err := r.Back(t.Context(), "two", core.BackRequest{What: core.RewindFiles, Mark: p.Mark})
	if err != nil || out.Files != 2 || len(out.Notices) != 1 || !strings.HasPrefix(out.Notices[0], "b, c did not come back") {
		t.Fatalf("%+v %v", out, err)
	}
	back := map[string]string{"a": "1\n", "b/__pycache__/b.pyc": "x", "c/.git/HEAD": "x", "d": "4\n"}
	r.has(back)
	if _, err := r.Undo(t.Context(), out.ID); err != nil {
		t.Fatal(err)
	}
	r.has(map[string]string{"b/__pycache__/b.pyc": "x", "c/.git/HEAD": "x", "d": "other\n"})
	if info, err := os.Stat(filepath.Join(r.dir, "a", "sub")); err != nil || !info.IsDir() {
		t.Error(err)
	}
}

// TestWhatIsKeptIsInTheWay of what would come in its place: that stays away, with a notice.
func TestWhatIsKeptIsInTheWay(t *testing.T) {
	r := newRig(t)
	r.put(map[string]string{"a": "1\n", "dir/in": "2\n", "d": "4\n"})
	r.run("one", fresh, nil)
	r.run("two", resume, map[string]string{"a": "-", "dir/in": "-", "d": "other\n"})
	if err := os.Remove(filepath.Join(r.dir, "dir")); err != nil {
		t.Fatal(err)
	}
	mine := map[string]string{"a/mine": "m\n", "dir": "m\n"}
	r.put(mine)
	req := core.BackRequest{What: core.RewindFiles, Mark: r.preview("two").Mark, Keep: []string{"a/mine", "dir"}}
	out, err := r.Back(t.Context(), "two", req)
	if err != nil || out.Files != 1 || len(out.Notices) != 3 {
		t.Fatalf("%+v %v", out, err)
	}
	r.has(mine)
	r.has(map[string]string{"d": "4\n"})
}

// brokenOff is a going back to before run two that Loop did not live to end: two of its files
// are as they were at the prompt, two are not yet.
func brokenOff(t *testing.T) (r *rig, id string) {
	t.Helper()
	r = newRig(t)
	r.day()
	out, err := r.Back(t.Context(), "two", core.BackRequest{What: core.RewindFiles, Mark: r.preview("two").Mark})
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.db.Checkpoint(t.Context(), out.ID)
	if err != nil {
		t.Fatal(err)
	}
	c.Rewind.State = core.RewindBegun
	_, err = r.db.PutCheckpoint(t.Context(), c, nil)
	if err := errors.Join(err, r.db.DropCheckpoints(t.Context(), []string{out.ID + ".after"})); err != nil {
		t.Fatal(err)
	}
	r.put(map[string]string{"limits.yaml": "refill: 10s\nexport:\n\nmore:\n\nreset: 3\n", "mine.txt": "mine\n"})
	r.each(t.Context(), r.unfinished)
	return r, out.ID
}

func TestUndoOfWhatBrokeOffKeepsLaterEdits(t *testing.T) {
	r, id := brokenOff(t)
	// The person edits one that had gone back, one that had not, and one of neither.
	later := map[string]string{"reset.go": "mine now\n", "mine.txt": "mine again\n", "first.go": "mine too\n"}
	r.put(later)
	out, err := r.Undo(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	r.has(later)
	r.has(map[string]string{"reset_test.go": "test\n", "docs/old.md": "-", "limits.yaml": "refill: 10s\nexport:\n\nmore:\n\nreset: 3\n"})
	slices.Sort(out.Notices)
	if len(out.Notices) != 3 || !strings.HasPrefix(out.Notices[0], "first.go was changed since") {
		t.Errorf("%q", out.Notices)
	}
}

// TestUndoThatKnowsNothing of what the person changed brings nothing back.
func TestUndoThatKnowsNothing(t *testing.T) {
	r, id := brokenOff(t)
	if err := r.db.DropCheckpoints(t.Context(), []string{"two.before"}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Undo(t.Context(), id); core.AsFailure(err).Code != core.CodeConflict {
		t.Error(err)
	}
	r.has(map[string]string{"reset.go": "a\nb\n", "mine.txt": "mine\n"})
}
