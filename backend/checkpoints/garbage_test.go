package checkpoints

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"
)

// none is a pause in which nobody comes.
func none() ([]Hash, error) { return nil, nil }

// version is a tree of many files, of which one is another in each.
func version(i, files int) *Tree {
	entries := make([]Entry, files)
	for k := range entries {
		entries[k] = Entry{Path: fmt.Sprintf("dir%d/file%06d.go", k%9, k), Kind: File, Mode: 0o644, Sum: SumOf([]byte{byte(k), byte(k >> 8)})}
	}
	entries[0].Sum = SumOf(fmt.Append(nil, "version ", i))
	return newTree(entries)
}

// history is n trees, of which each is told by the one before as far as may be.
func history(t testing.TB, s Store, n, files int) (out []Hash) {
	t.Helper()
	var base *Tree
	var h Hash
	for i := range n {
		tree := version(i, files)
		var err error
		if h, err = s.PutTree(tree, base, h); err != nil {
			t.Fatal(err)
		}
		base = tree
		out = append(out, h)
	}
	return out
}

// TestMarkingReadsOnlyWhatDiffers: what the marking of trees that lean on each other costs grows
// with what differs between them, not with what they have.
func TestMarkingReadsOnlyWhatDiffers(t *testing.T) {
	const files = 2000
	s := In(t.TempDir())
	live := history(t, s, maxChain+1, files)
	allocs := testing.AllocsPerRun(1, func() {
		if _, err := s.Collect(t.Context(), live, time.Now(), none); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 5*files { // every path of every tree would be 17 times the files at least
		t.Errorf("%.0f allocations", allocs)
	}
}

func BenchmarkCollect(b *testing.B) {
	s := In(b.TempDir())
	live := history(b, s, 3*(maxChain+1), 5000)
	for b.Loop() {
		if _, err := s.Collect(b.Context(), live, time.Now(), none); err != nil {
			b.Fatal(err)
		}
	}
}

// TestCollectDuringACheckpoint: what is put while Collect rests is kept, also where it was
// garbage before.
func TestCollectDuringACheckpoint(t *testing.T) {
	r := newRig(t)
	old := map[string]string{}
	for i := range pauseAfter + 10 {
		old[fmt.Sprint("f", i)] = fmt.Sprint("old ", i)
	}
	r.put(old)
	garbage, gh := r.take(nil, Hash{})
	once := map[string]string{"f0": "once"}
	r.put(once)
	r.take(garbage, gh) // leans on it
	for name := range old {
		r.remove(name)
	}
	r.put(map[string]string{"f0": "new"})
	tree, h := r.take(nil, Hash{})
	for at := 1; at <= 2; at++ { // in the marking, and between files
		n := 0
		var now *Tree
		var nh Hash
		left, err := r.k.Store.Collect(t.Context(), []Hash{h}, time.Now().Add(2*young), func() ([]Hash, error) {
			if n++; n != at {
				return nil, nil
			}
			r.put(old)
			r.put(once)
			now, nh = r.take(tree, h)
			return []Hash{nh}, nil
		})
		if err != nil || left == 0 || now == nil {
			t.Fatalf("%d: %d %v", at, left, err)
		}
		again, err := r.k.Store.Tree(nh)
		if err != nil {
			t.Fatalf("%d: %v", at, err)
		}
		for _, e := range again.Entries {
			if _, err := r.k.Store.Content(e.Sum); err != nil {
				t.Fatalf("%d: %s: %v", at, e.Path, err)
			}
		}
	}
}

// TestOldContentsGoWithTheirTree: a tree that is only leaned on keeps no content that those on
// it have otherwise.
func TestOldContentsGoWithTheirTree(t *testing.T) {
	s := In(t.TempDir())
	live := history(t, s, 6, 20)
	for i := range live {
		if _, err := s.put(fmt.Append(nil, "version ", i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Collect(t.Context(), live[3:4], time.Now().Add(2*young), none); err != nil {
		t.Fatal(err)
	}
	for i := range live {
		if _, err := s.Content(SumOf(fmt.Append(nil, "version ", i))); (err == nil) != (i == 3) {
			t.Errorf("version %d: %v", i, err)
		}
	}
	if _, err := s.Tree(live[3]); err != nil {
		t.Error(err)
	}
}

// TestATreeWhoseBaseIsGone is put again whole.
func TestATreeWhoseBaseIsGone(t *testing.T) {
	s := In(t.TempDir())
	all := history(t, s, 3, 20)
	if err := os.Remove(s.name(treesDir, all[0])); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Tree(all[2]); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	// Neither what is gone nor what leans on it is leaned on.
	for _, tree := range []*Tree{version(2, 20), version(4, 20)} {
		h, err := s.PutTree(tree, version(1, 20), all[1])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Tree(h); err != nil {
			t.Error(err)
		}
	}
}

// TestWhatCannotBeReadIsNotGone: a tree that cannot be read just now keeps everything, and only
// one that is not there needs nothing.
func TestWhatCannotBeReadIsNotGone(t *testing.T) {
	s := In(t.TempDir())
	live := history(t, s, 1, 20)
	sum, err := s.put([]byte("version 0"))
	if err != nil {
		t.Fatal(err)
	}
	name := s.name(treesDir, live[0])
	if err := errors.Join(os.Rename(name, name+"x"), os.Mkdir(name, 0o700)); err != nil { // no file
		t.Fatal(err)
	}
	if _, err := s.Tree(live[0]); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := s.Collect(t.Context(), live, time.Now().Add(2*young), none); err == nil {
		t.Error("it was collected")
	}
	if _, err := s.Content(sum); err != nil {
		t.Errorf("a content is gone: %v", err)
	}
	if _, err := s.Content(SumOf([]byte(strings.Repeat("x", 9)))); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if left, err := s.Collect(t.Context(), live, time.Now().Add(2*young), none); err != nil || left != 0 {
		t.Errorf("%d %v", left, err)
	}
}
