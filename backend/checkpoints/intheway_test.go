package checkpoints

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"loop/backend/core"
)

func (r *rig) mkdir(names ...string) {
	r.Helper()
	for _, name := range names {
		if err := os.MkdirAll(filepath.Join(r.dir, name), 0o750); err != nil {
			r.Fatal(err)
		}
	}
}

// emptyFolders replaces three files and a link by folders of which no file is left after going back.
func (r *rig) emptyFolders() (before, after *Tree) {
	r.Helper()
	r.put(map[string]string{"a": "1", "b": "2", "c": "3", "other": "o"})
	if err := os.Symlink("a", filepath.Join(r.dir, "d")); err != nil {
		r.Fatal(err)
	}
	before, h := r.take(nil, Hash{})
	r.remove("a", "b", "c", "d")
	r.mkdir("a", "b/sub/deep", "b/more", "c/sub", "d")
	r.put(map[string]string{"c/new.txt": "n", "other": "o2"})
	after, _ = r.take(before, h)
	return before, after
}

// TestFoldersWithNothingInThem give way to what was in their place.
func TestFoldersWithNothingInThem(t *testing.T) {
	r := newRig(t)
	before, after := r.emptyFolders()
	blocked, err := InTheWay(t.Context(), core.WorkFolder{Root: r.root()}, Changes(after, before))
	if err != nil || len(blocked) > 0 {
		t.Errorf("%v %v", blocked, err)
	}
	if err := r.k.Store.PutBack(t.Context(), r.root(), steps(after, before)); err != nil {
		t.Fatal(err)
	}
	r.same(map[string]string{"a": "1", "b": "2", "c": "3", "d": "-> a", "other": "o"})
}

// TestFoldersComeBackToo: what was cleared for a going back that fails is there afterwards.
func TestFoldersComeBackToo(t *testing.T) {
	r := newRig(t)
	before, after := r.emptyFolders()
	all := steps(after, before)
	for i := range all {
		if all[i].Path == "d" {
			all[i].To = &Entry{Kind: File, Sum: Hash{1}} // a content that nobody has
		}
	}
	was := r.files()
	if err := r.k.Store.PutBack(t.Context(), r.root(), all); err == nil {
		t.Fatal("it went back")
	}
	r.same(was)
	for _, name := range []string{"a", "b/sub/deep", "b/more", "c/sub", "d"} {
		if info, err := os.Stat(filepath.Join(r.dir, name)); err != nil || !info.IsDir() {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNoFileIsClearedAway: a folder gets a file after it was looked at.
func TestNoFileIsClearedAway(t *testing.T) {
	r := newRig(t)
	before, after := r.emptyFolders()
	r.put(map[string]string{"b/sub/deep/mine": "meanwhile"})
	was := r.files()
	if err := r.k.Store.PutBack(t.Context(), r.root(), steps(after, before)); !errors.Is(err, ErrMoved) {
		t.Error(err)
	}
	r.same(was)
}

func TestInTheWay(t *testing.T) {
	r := newRig(t)
	r.put(map[string]string{
		".gitignore": "__pycache__/\n", "ignored": "1", "repo": "2", "covered": "3", "fine": "4", "kept": "5", "dir/in": "6", "back": "7", "readme.md": "8", "linked/in": "9",
	})
	before, h := r.take(nil, Hash{})
	r.remove("ignored", "repo", "covered", "fine", "kept", "dir", "back", "readme.md", "linked")
	r.put(map[string]string{
		"ignored/a": "x", "ignored/__pycache__/b": "x", "repo/.git/HEAD": "x", "fine/a": "x", "kept/mine": "x", "dir": "mine", "README.md": "8",
	})
	r.mkdir("covered/mount", "fine/sub")
	if err := r.root().Symlink("fine", "linked"); err != nil {
		t.Fatal(err)
	}
	after, _ := r.take(before, h)
	changes := Changes(after, before)
	f := core.WorkFolder{Root: r.root(), Covered: func(p string) bool { return p == "covered/mount" }}
	for name, c := range map[string]struct {
		keep []string // changes that the person leaves out
		want []string
	}{
		"all":                 {want: []string{"covered", "ignored", "repo"}},
		"without some":        {keep: []string{"kept/mine", "dir"}, want: []string{"covered", "dir/in", "ignored", "kept", "repo"}},
		"a link on the way":   {keep: []string{"linked"}, want: []string{"covered", "ignored", "linked/in", "repo"}},
		"two spellings":       {keep: []string{"README.md"}, want: []string{"covered", "ignored", "repo"}},
		"nothing is replaced": {keep: []string{"covered", "ignored", "repo"}},
	} {
		left := slices.DeleteFunc(slices.Clone(changes), func(x Change) bool { return slices.Contains(c.keep, x.Path) })
		blocked, err := InTheWay(t.Context(), f, left)
		got := slices.Sorted(maps.Keys(blocked))
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q, %v", name, got, c.want, err)
		}
	}
}

// TestNamesThatDifferByLetterSize: on a disk that takes them for one, the old name has to be gone
// before the new one can be looked at.
func TestNamesThatDifferByLetterSize(t *testing.T) {
	e := &Entry{Kind: File}
	first, late := inTurn([]Step{
		{Path: "README.md", From: e}, {Path: "readme.md", To: e}, {Path: "Src/A.go", From: e}, {Path: "src/a.go", To: e}, {Path: "src/b.go", To: e},
		{Path: "Folder/x", From: e}, {Path: "folder", To: e}, {Path: "FILE", From: e}, {Path: "file/in", To: e},
	})
	of := func(all []*Step) (out []string) {
		for _, st := range all {
			out = append(out, st.Path)
		}
		return out
	}
	if got := of(first); !slices.Equal(got, []string{"README.md", "Src/A.go", "Folder/x", "FILE", "src/b.go"}) {
		t.Errorf("first: %q", got)
	}
	if got := of(late); !slices.Equal(got, []string{"readme.md", "src/a.go", "folder", "file/in"}) {
		t.Errorf("late: %q", got)
	}
}
