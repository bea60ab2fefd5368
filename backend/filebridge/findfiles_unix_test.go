//go:build unix

package filebridge

import (
	"context"
	"slices"
	"testing"

	"loop/backend/core"
)

func TestFind(t *testing.T) {
	w, s := newWorld(t)
	w.link(t, "p/out", w.dir+"/outside")
	w.put(t, "p/.gitignore", "*.log\n")
	w.put(t, "p/a.log", "")
	w.put(t, "p/sub/deep/secret.txt", "")
	paths := func(query string) (out []string) {
		got, err := s.Find(t.Context(), "ch", query, 20, nil)
		if err != nil || got.Known != 8 || got.Ignored != 1 || got.Partial || got.Total != len(got.Files) {
			t.Errorf("%q: %+v %v", query, got, err)
		}
		for _, f := range got.Files {
			out = append(out, f.Path)
		}
		return out
	}
	if got := paths("secret"); !slices.Equal(got, []string{"sub/deep/secret.txt"}) {
		t.Errorf("%q", got)
	}
	if got := paths(""); !slices.Equal(got, []string{"out", "sub/", "a.txt", ".loop/", ".gitignore"}) {
		t.Errorf("%q", got)
	}
	if _, err := s.Find(t.Context(), "gone", "", 20, nil); codeOf(err) != core.CodeNotFound {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Find(ctx, "ch", "secret", 20, nil); err == nil {
		t.Error("a search that was ended answered")
	}
}

// TestFindSeesTheContainersFiles: what is mounted over a folder hides the folder's own files.
func TestFindSeesTheContainersFiles(t *testing.T) {
	w, s := newWorld(t)
	w.put(t, "p/sub/hidden", "")
	w.tmpfs = []core.Tmpfs{{Target: w.dir + "/p/sub"}}
	got, err := s.Find(t.Context(), "ch", "hidden", 20, nil)
	if err != nil || len(got.Files) > 0 {
		t.Errorf("%+v %v", got, err)
	}
}

// TestFindEndsTheSearchBefore: the search of an earlier letter answers nothing any more.
func TestFindEndsTheSearchBefore(t *testing.T) {
	_, s := newWorld(t)
	_, first, cancel := s.searches.begin(t.Context(), "ch")
	defer cancel()
	if _, err := s.Find(t.Context(), "ch", "a", 20, nil); err != nil || first.Err() == nil {
		t.Error(err, first.Err())
	}
}
