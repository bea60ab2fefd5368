package checkpoints

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

type rig struct {
	testing.TB
	dir string
	k   Taker
	now time.Time
}

func newRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{TB: t, dir: t.TempDir(), now: time.Now()}
	r.k = Taker{Store: In(filepath.Join(t.TempDir(), "store")), Now: func() time.Time { return r.now }}
	return r
}

func (r *rig) put(files map[string]string) {
	r.Helper()
	for name, text := range files {
		at := filepath.Join(r.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			r.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			r.Fatal(err)
		}
	}
}

func (r *rig) remove(names ...string) {
	r.Helper()
	for _, name := range names {
		if err := os.RemoveAll(filepath.Join(r.dir, name)); err != nil {
			r.Fatal(err)
		}
	}
}

func (r *rig) root() *os.Root {
	r.Helper()
	root, err := os.OpenRoot(r.dir)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = root.Close() })
	return root
}

func (r *rig) take(base *Tree, h Hash, also ...*Tree) (*Tree, Hash) {
	r.Helper()
	t, h, err := r.k.Take(context.Background(), core.WorkFolder{Root: r.root()}, base, h, also...)
	if err != nil {
		r.Fatal(err)
	}
	return t, h
}

// files are those of the folder, without what is ignored in it.
func (r *rig) files() map[string]string {
	r.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(r.dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(r.dir, p)
		if d.Type()&os.ModeSymlink != 0 {
			to, err := os.Readlink(p)
			out[filepath.ToSlash(rel)] = "-> " + to
			return err
		}
		text, err := os.ReadFile(p)
		out[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		r.Fatal(err)
	}
	return out
}

func (r *rig) same(want map[string]string) {
	r.Helper()
	got := r.files()
	for name, text := range want {
		if got[name] != text {
			r.Errorf("%s: %q, want %q", name, got[name], text)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			r.Errorf("%s is there", name)
		}
	}
}

func steps(from, to *Tree) (out []Step) {
	for _, c := range Changes(from, to) {
		out = append(out, Step{Path: c.Path, From: c.From, To: c.To})
	}
	return out
}

func paths(t *Tree, kinds ...Kind) (out []string) {
	for _, e := range t.Entries {
		if slices.Contains(kinds, e.Kind) {
			out = append(out, e.Path)
		}
	}
	return out
}

func TestAFolderGoesBack(t *testing.T) {
	r := newRig(t)
	r.put(map[string]string{
		"a.go": "one\n", "sub/b.go": "two\n", "sub/deep/c.txt": strings.Repeat("long ", 5000), ".gitignore": "*.log\nnode_modules/\n",
		"x.log": "log", "node_modules/p/i.js": "js", ".git/config": "[core]", "swap": "file", "dir/in": "in",
	})
	if err := os.Mkdir(filepath.Join(r.dir, "hollow"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(r.dir, "out")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(r.dir, "a.go"), 0o755); err != nil {
		t.Fatal(err)
	}
	before, h := r.take(nil, Hash{})
	was := r.files()
	if got := paths(before, Ignored); !slices.Equal(got, []string{"node_modules", "x.log"}) {
		t.Errorf("ignored: %q", got)
	}
	if got := paths(before, Empty, Link); !slices.Equal(got, []string{"hollow", "out"}) {
		t.Errorf("empty, links: %q", got)
	}
	r.put(map[string]string{"a.go": "other\n", "new/file": "n", "x.log": "more"})
	r.remove("sub", "hollow", "out", "swap", "dir")
	r.put(map[string]string{"swap/inside": "a folder now", "dir": "a file now", "out": "a file"})
	after, _ := r.take(before, h)
	if err := r.k.Store.PutBack(t.Context(), r.root(), steps(after, before)); err != nil {
		t.Fatal(err)
	}
	if err := MakeEmpty(r.root(), before); err != nil {
		t.Fatal(err)
	}
	was["x.log"] = "more" // nobody keeps what git ignores
	r.same(was)
	if info, err := os.Stat(filepath.Join(r.dir, "a.go")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	for _, name := range []string{"new", "hollow"} {
		_, err := os.Stat(filepath.Join(r.dir, name))
		if there := err == nil; there != (name == "hollow") {
			t.Errorf("%s: %v", name, err)
		}
	}
	again, _ := r.take(after, Hash{})
	if c := Changes(again, before); len(c) > 0 {
		t.Errorf("%+v", c)
	}
}

// TestWhatGitIgnoresLaterStaysKept: an agent that changes .gitignore neither hides its changes
// nor has files removed that were there all the time.
func TestWhatGitIgnoresLaterStaysKept(t *testing.T) {
	r := newRig(t)
	r.put(map[string]string{".gitignore": ".env\ncache/\n", ".env": "secret", "cache/a": "c", "src/a.go": "one"})
	before, h := r.take(nil, Hash{})
	r.put(map[string]string{".gitignore": "src/\n*.go\n", "src/a.go": "two", "src/b.go": "new"})
	after, _ := r.take(before, h)
	var got []string
	for _, c := range Changes(after, before) {
		got = append(got, c.Path)
	}
	if want := []string{".gitignore", "src/a.go"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if err := r.k.Store.PutBack(t.Context(), r.root(), steps(after, before)); err != nil {
		t.Fatal(err)
	}
	r.same(map[string]string{".gitignore": ".env\ncache/\n", ".env": "secret", "cache/a": "c", "src/a.go": "one", "src/b.go": "new"})
}

// TestRacyFiles: a file that is written twice within the steps of its times is read again.
func TestRacyFiles(t *testing.T) {
	r := newRig(t)
	r.put(map[string]string{"a": "one"})
	name := filepath.Join(r.dir, "a")
	at := time.Now()
	stamp := func() {
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	stamp()
	before, h := r.take(nil, Hash{})
	if !before.Entry("a").Racy {
		t.Fatal("a file of this moment is trusted")
	}
	r.put(map[string]string{"a": "two"})
	stamp()
	r.now = r.now.Add(time.Minute)
	after, h2 := r.take(before, h)
	if len(Changes(before, after)) != 1 || after.Entry("a").Racy {
		t.Errorf("%+v", after.Entries)
	}
	// Trusted now: the content is not looked at any more.
	old := after.Entry("a").Sum
	if err := os.Remove(r.k.Store.name(blobsDir, old)); err != nil {
		t.Fatal(err)
	}
	same, h3 := r.take(after, h2)
	if h3 != h2 || same.Entry("a").Sum != old {
		t.Error("nothing changed, and the tree did")
	}
	if _, err := os.Stat(r.k.Store.name(blobsDir, old)); err == nil {
		t.Error("it was read again")
	}
}

func TestNamesThatAreHostile(t *testing.T) {
	r := newRig(t)
	out := t.TempDir()
	r.put(map[string]string{"ok": "1", "bad\nname": "2", "bad\xff": "3", partName + "x": "4", "nest/.git/x": "5", "nest/y": "6"})
	if err := os.Symlink(out, filepath.Join(r.dir, "away")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(out, "secret"), []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	tree, _ := r.take(nil, Hash{})
	if got := paths(tree, File); !slices.Equal(got, []string{"nest/y", "ok"}) {
		t.Errorf("%q", got)
	}
	for _, p := range []string{"../x", "/etc/x", "a/../../x", ".git/hooks/x", "a/.GIT/x", "", "a//b", "./a", strings.Repeat("a", maxPath+1)} {
		if err := r.k.Store.PutBack(t.Context(), r.root(), []Step{{Path: p, To: &Entry{Kind: Link, Link: "x"}}}); err == nil {
			t.Errorf("%q was written", p)
		}
	}
	h, err := r.k.Store.put([]byte("mine"))
	if err != nil {
		t.Fatal(err)
	}
	e := &Entry{Kind: File, Sum: h, Mode: 0o644}
	if err := r.k.Store.PutBack(t.Context(), r.root(), []Step{{Path: "away/secret", To: e}}); !errors.Is(err, ErrMoved) {
		t.Errorf("through a link: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(out, "secret")); err != nil || string(text) != "s" {
		t.Errorf("%q %v", text, err)
	}
	// A link in the place of a file is replaced, not followed.
	at, err := At(r.root(), "away", "away")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.k.Store.PutBack(t.Context(), r.root(), []Step{{Path: "away", From: at, To: e}}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(r.dir, "away")); err != nil || string(text) != "mine" {
		t.Errorf("%q %v", text, err)
	}
}

// TestAllOrNothing: a step that cannot be made leaves the others as they were.
func TestAllOrNothing(t *testing.T) {
	for name, spoil := range map[string]func(r *rig, steps []Step){
		"a file has changed":   func(r *rig, _ []Step) { r.put(map[string]string{"c": "meanwhile"}) },
		"a file is there":      func(r *rig, _ []Step) { r.put(map[string]string{"gone/d": "meanwhile"}) },
		"a content is missing": func(r *rig, s []Step) { r.remove("../none"); s[len(s)-1].To = &Entry{Kind: File, Sum: Hash{1}} },
		"a folder in the way": func(r *rig, _ []Step) {
			r.remove("b")
			r.put(map[string]string{"b/x": "1"})
		},
		"a late step fails": func(r *rig, s []Step) {
			for i := range s {
				if s[i].Path == "turn/x" {
					s[i].To = &Entry{Kind: File, Sum: Hash{1}}
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.put(map[string]string{"a": "1", "b": "2", "c": "3", "gone/d": "4", "turn/x": "5"})
			before, h := r.take(nil, Hash{})
			r.put(map[string]string{"a": "1+", "b": "2+", "c": "3+", "fresh/e": "5"})
			r.remove("gone", "turn")
			r.put(map[string]string{"turn": "a file"})
			after, _ := r.take(before, h)
			s := steps(after, before)
			spoil(r, s)
			was := r.files()
			if err := r.k.Store.PutBack(t.Context(), r.root(), s); err == nil {
				t.Fatal("it went back")
			}
			r.same(was)
		})
	}
}

func TestLimits(t *testing.T) {
	r := newRig(t)
	r.put(map[string]string{"a": "12345", "b": "12345", "big": strings.Repeat("x", 100)})
	take := func(l Limits) (*Tree, error) {
		r.k.Limits = l
		tree, _, err := r.k.Take(t.Context(), core.WorkFolder{Root: r.root()}, nil, Hash{})
		return tree, err
	}
	if _, err := take(Limits{Files: 2}); !errors.Is(err, ErrTooMany) {
		t.Error(err)
	}
	if _, err := take(Limits{Bytes: 9}); !errors.Is(err, ErrTooMuch) {
		t.Error(err)
	}
	if all, err := os.ReadDir(r.k.Store.dir); len(all) > 0 {
		t.Errorf("%d folders were kept of what cannot be kept, %v", len(all), err)
	}
	tree, err := take(Limits{File: 50})
	if err != nil || !slices.Equal(paths(tree, Large), []string{"big"}) {
		t.Errorf("%v %v", tree, err)
	}
	// What was too large then is not removed, and cannot come back.
	r.put(map[string]string{"big": "small"})
	now, err := take(Limits{File: 50})
	if err != nil || len(Changes(now, tree)) != 0 {
		t.Errorf("%v %v", Changes(now, tree), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := r.k.Take(ctx, core.WorkFolder{Root: r.root()}, nil, Hash{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestTreesLeanOnEachOther(t *testing.T) {
	r := newRig(t)
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("d%d/f%d", i%7, i)] = fmt.Sprint(i)
	}
	r.put(files)
	tree, h := r.take(nil, Hash{})
	hashes := []Hash{h}
	for i := range 2*maxChain + 3 {
		r.put(map[string]string{"d1/f1": fmt.Sprint("v", i), fmt.Sprint("new", i): "x"})
		r.remove(fmt.Sprint("new", i-1))
		tree, h = r.take(tree, h)
		hashes = append(hashes, h)
		if n, ok := r.k.Store.chain(h); n > maxChain || !ok {
			t.Fatalf("%d trees lean on each other", n)
		}
	}
	got, err := r.k.Store.Tree(h)
	if err != nil || !slices.Equal(got.Entries, tree.Entries) {
		t.Fatalf("read back another tree: %v", err)
	}
	// Garbage: nothing that is young goes, and then all that only old trees need.
	if _, err := r.k.Store.Collect(t.Context(), []Hash{h}, time.Now(), none); err != nil {
		t.Fatal(err)
	}
	if _, err := r.k.Store.Tree(hashes[1]); err != nil {
		t.Errorf("a young tree is gone: %v", err)
	}
	left, err := r.k.Store.Collect(t.Context(), []Hash{h}, time.Now().Add(2*young), none)
	if err != nil || left == 0 {
		t.Errorf("%d %v", left, err)
	}
	if got, err := r.k.Store.Tree(h); err != nil || len(got.Entries) != len(tree.Entries) {
		t.Errorf("a live tree is gone: %v", err)
	}
	if _, err := r.k.Store.Content(SumOf([]byte("v3"))); err == nil {
		t.Error("an old content is left")
	}
	for i := range tree.Entries {
		if _, err := r.k.Store.Content(tree.Entries[i].Sum); err != nil {
			t.Error(err)
		}
	}
	if left, err := r.k.Store.Collect(t.Context(), nil, time.Now().Add(2*young), none); err != nil || left != 0 {
		t.Errorf("%d bytes are left: %v", left, err)
	}
}

func TestDamageIsNoticed(t *testing.T) {
	r := newRig(t)
	r.put(map[string]string{"a": "one", "b": strings.Repeat("two", 1000)})
	tree, h := r.take(nil, Hash{})
	for _, e := range tree.Entries {
		name := r.k.Store.name(blobsDir, e.Sum)
		for _, text := range []string{"", "p", "pother", "zxx", "?"} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := r.k.Store.Content(e.Sum); !errors.Is(err, errDamaged) {
				t.Errorf("%q: %v", text, err)
			}
		}
	}
	name := r.k.Store.name(treesDir, h)
	for _, text := range [][]byte{nil, {differs}, append([]byte{differs}, h[:]...), append(append([]byte{differs}, h[:]...), squeezed(encode(nil))...),
		append([]byte{squeeze}, squeezed(encode(nil))...)} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := r.k.Store.Tree(h); !errors.Is(err, errDamaged) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestSweepAfterACrash(t *testing.T) {
	r := newRig(t)
	r.put(map[string]string{"d/a": "1", "d/" + partName + "1": "half", partName + "2": "half", "other/" + partName + "3": "not ours"})
	if err := Sweep(t.Context(), core.WorkFolder{Root: r.root()}, []string{"d/a", "d/b", "top", "none/x"}); err != nil {
		t.Fatal(err)
	}
	r.same(map[string]string{"d/a": "1", "other/" + partName + "3": "not ours"})
}

func FuzzTree(f *testing.F) {
	f.Add(encode(nil))
	f.Add(encode([]Entry{{Path: "a", Kind: File, Mode: 0o644, Size: 1, MTime: -5, CTime: 7, Inode: 1 << 60, Sum: Hash{1}}, {Path: "b", Kind: Link, Link: "../c"}}))
	f.Add(encode([]Entry{{Path: "../a", Kind: Ignored}}))
	f.Add(encode([]Entry{{Path: "a/b", Kind: Large, Size: 9}, {Path: "a/b", Kind: Empty}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := decode(data)
		if err != nil {
			return
		}
		for i, e := range entries {
			if !validPath(e.Path) || i > 0 && e.Path <= entries[i-1].Path {
				t.Errorf("%q", e.Path)
			}
		}
		again, err := decode(encode(entries))
		if err != nil || !slices.Equal(again, entries) {
			t.Errorf("%v", err)
		}
		if tree := newTree(entries); len(Changes(tree, tree)) != 0 {
			t.Error("a tree differs from itself")
		}
		if bytes.Contains(data, []byte("loop tree 2")) && len(entries) > 0 {
			t.Error("another form was read")
		}
	})
}

// BenchmarkUnchanged is the checkpoint of 10,000 files of which none has changed, as a prompt
// waits for it.
func BenchmarkUnchanged(b *testing.B) {
	for _, c := range []struct {
		name   string
		cached bool
	}{{"in memory", true}, {"from the disk", false}} {
		b.Run(c.name, func(b *testing.B) {
			r := newRig(b)
			files := map[string]string{".gitignore": "node_modules/\n*.log\n/dist\n*.tmp\n.env\n"}
			for i := range 10_000 {
				files[fmt.Sprintf("services/team%d/internal/module%d/handler%d.go", i%20, i%500, i)] = fmt.Sprint("package p // ", i)
			}
			r.put(files)
			r.now = r.now.Add(time.Hour)
			tree, h := r.take(nil, Hash{})
			f := core.WorkFolder{Root: r.root()}
			for b.Loop() {
				base := tree
				if !c.cached {
					var err error
					if base, err = r.k.Store.Tree(h); err != nil {
						b.Fatal(err)
					}
				}
				if _, again, err := r.k.Take(b.Context(), f, base, h); err != nil || again != h {
					b.Fatalf("%v", err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/checkpoint")
		})
	}
}

// TestSettingsOfAProjectAreNotKept: they may hold a key.
func TestSettingsOfAProjectAreNotKept(t *testing.T) {
	r := newRig(t)
	r.put(map[string]string{".loop/config.json": "a key", "a.go": "one\n", "sub/.loop": "no settings"})
	tree, _ := r.take(nil, Hash{})
	if got := paths(tree, File); !slices.Equal(got, []string{"a.go", "sub/.loop"}) {
		t.Errorf("kept: %q", got)
	}
}
