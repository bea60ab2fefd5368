//go:build docker

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/core"
)

// TestBackToAPrompt: two prompts change files, and going back to before the second brings the
// files of then and a conversation that ends with the first; undoing brings both again.
func TestBackToAPrompt(t *testing.T) {
	t.Parallel()
	h := newHome(t, "")
	dir := repository(t)
	s := h.serve()
	defer s.stop()
	has := func(name, want string) {
		t.Helper()
		if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != want && (want != "" || err == nil) {
			t.Errorf("%s: %q %v, want %q", name, got, err, want)
		}
	}
	var ch core.ChannelView
	if err := s.call("Channels.Add", &ch, dir, ""); err != nil {
		t.Fatal(err)
	}
	h.asks("--dir", dir, "First")
	if err := os.WriteFile(filepath.Join(dir, "mine.txt"), []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := h.runJSON("--demo", "--script", "tools", "--dir", dir, "Second")
	if r.code != 0 {
		t.Fatalf("exit %d: %s%s", r.code, r.out, r.err)
	}
	second := r.events[0].RunID
	before := map[string]string{}
	for _, name := range []string{"a.txt", "mine.txt"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		before[name] = string(text)
	}
	var p core.RewindPreview
	if err := s.call("Rewind.Preview", &p, second); err != nil {
		t.Fatal(err)
	}
	if p.NoFiles != "" || p.Total == 0 || p.Talk.Why != "" || p.Talk.Prompts != 1 || p.Head == "" {
		t.Fatalf("%+v", p)
	}
	after := map[string]string{}
	for _, f := range p.Files {
		text, err := os.ReadFile(filepath.Join(dir, f.Path))
		if err != nil || f.Back != core.BackRemoved {
			t.Errorf("%+v %v", f, err)
		}
		after[f.Path] = string(text)
	}
	var went core.WentBack
	if err := s.call("Rewind.Back", &went, second, core.BackRequest{What: core.RewindBoth, Mark: p.Mark, Keep: []string{}}); err != nil {
		t.Fatal(err)
	}
	for name := range after {
		has(name, "")
	}
	for name, text := range before {
		has(name, text)
	}
	if went.Text != "Second" {
		t.Errorf("%+v", went)
	}
	var undone core.WentBack
	if err := s.call("Rewind.Undo", &undone, went.ID); err != nil {
		t.Fatal(err)
	}
	for name, text := range after {
		has(name, text)
	}
	if err := s.call("Rewind.Preview", &p, second); err != nil {
		t.Fatal(err)
	}
	if err := s.call("Rewind.Back", &went, second, core.BackRequest{What: core.RewindBoth, Mark: p.Mark, Keep: []string{}}); err != nil {
		t.Fatal(err)
	}
	if a := h.asks("--dir", dir, "Third"); !strings.Contains(a, "before that “First”") || strings.Contains(a, "Second") {
		t.Errorf("%q", a)
	}
	for name := range after {
		has(name, "")
	}
	if err := s.call("Rewind.Undo", &undone, went.ID); err == nil || !strings.Contains(err.Error(), "A prompt was sent since") {
		t.Errorf("%v", err)
	}
}
