package sessions

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/core"
	"loop/backend/runner/transcript"
)

func TestCopy(t *testing.T) {
	r := newRig(t)
	text := recording(t, recorded)
	r.put("from", project, recordedID, text+`{"type":"user","message":{"role":"us`)
	from, to := core.Channel{ID: "from"}, core.Channel{ID: "to"}
	wt := project + "/.worktrees/x"
	if err := r.s.Copy(t.Context(), from, to, project, wt, recordedID); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(r.path("to", "projects", folder(wt), recordedID+suffix))
	if err != nil || string(got) != text {
		t.Fatalf("%d of %d bytes, %v", len(got), len(text), err)
	}
	if exists, known := r.s.Exists(to, wt, recordedID); !exists || !known {
		t.Error("the copy is not found")
	}
	left, err := filepath.Glob(r.path("to", "projects", "*", ".copy-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
	// The second copy replaces the whole file, even after the first one went on.
	if err := r.s.Copy(t.Context(), from, to, project, wt, recordedID); err != nil {
		t.Error(err)
	}
	// Another version of the CLI may have named the folder by another rule.
	if err := r.s.Copy(t.Context(), from, core.Channel{ID: "to2"}, "/moved", wt, recordedID); err != nil {
		t.Error(err)
	}
}

func TestCopyOfNothing(t *testing.T) {
	r := newRig(t)
	r.put("from", project, "cut", `{"type":"user"`)
	for _, id := range []core.SessionID{"gone", "cut", "", "../x"} {
		err := r.s.Copy(t.Context(), core.Channel{ID: "from"}, core.Channel{ID: "to"}, project, "/w", id)
		if !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if files, err := filepath.Glob(r.path("to", "projects", "*", "*")); err != nil || len(files) != 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
	if err := r.s.Copy(t.Context(), core.Channel{ID: "from"}, core.Channel{ID: "../to"}, project, "/w", "cut"); err == nil {
		t.Error("a channel id that is a path was taken")
	}
}

// TestHostileState: an agent could put these things where transcripts are.
func TestHostileState(t *testing.T) {
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret.jsonl")
	if err := os.WriteFile(secret, []byte(say("user", "1", "", "secret of the host")), 0o600); err != nil {
		t.Fatal(err)
	}
	link := func(t *testing.T, to, at string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
	}
	for name, make := range map[string]func(t *testing.T, r *rig){
		"a link to a file outside": func(t *testing.T, r *rig) { link(t, secret, r.path("c", "projects", folder(project), "s1.jsonl")) },
		"a folder that is a link":  func(t *testing.T, r *rig) { link(t, outside, r.path("c", "projects", folder(project))) },
		"projects is a link":       func(t *testing.T, r *rig) { link(t, outside, r.path("c", "projects")) },
		"projects is a file": func(t *testing.T, r *rig) {
			if err := os.MkdirAll(r.path("c"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(r.path("c", "projects"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"a folder for a transcript": func(t *testing.T, r *rig) {
			if err := os.MkdirAll(r.path("c", "projects", folder(project), "s1.jsonl"), 0o700); err != nil {
				t.Fatal(err)
			}
		},
		"a pipe for a transcript": func(t *testing.T, r *rig) { pipe(t, r.path("c", "projects", folder(project), "s1.jsonl")) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			make(t, r)
			ch := core.Channel{ID: "c"}
			list, err := r.s.List(t.Context(), ch)
			if len(list) != 0 {
				t.Errorf("listed %+v, %v", list, err)
			}
			for _, id := range []core.SessionID{"s1", "secret"} {
				if m, err := r.s.Messages(t.Context(), ch, id); err == nil || len(m) != 0 {
					t.Errorf("%s: %v, %v", id, m, err)
				}
				if err := r.s.Copy(t.Context(), ch, core.Channel{ID: "to"}, project, "/w", id); err == nil {
					t.Errorf("%s was copied", id)
				}
			}
			if files, err := filepath.Glob(r.path("to", "projects", "*", "*")); err != nil || len(files) != 0 {
				t.Errorf("left behind: %v, %v", files, err)
			}
		})
	}
}

// TestOneOddFileHidesNoOther: the other conversations of a state are still listed.
func TestOneOddFileHidesNoOther(t *testing.T) {
	r := newRig(t)
	r.put("c", project, "good", say("user", "1", "", "hello"))
	r.put("c", project, "long", strings.Repeat("x", transcript.MaxLine+5)+"\n"+say("user", "1", "", "after a monstrous line"))
	r.put("c", project, "bytes", "\x00\xff\xfe\n[]\n{\n"+strings.Repeat("[", 20000)+"\n"+say("user", "1", "", "after nonsense"))
	r.put("c", project, "types", `{"type":"user","uuid":7,"message":"x"}`+"\n"+`{"type":"user","uuid":"1","timestamp":"soon","message":{"content":{"a":1}}}`+"\n"+say("user", "2", "1", "after other shapes"))
	pipe(t, r.path("c", "projects", folder(project), "pipe.jsonl"))
	list, err := r.s.List(t.Context(), core.Channel{ID: "c"})
	if err != nil || len(list) != 4 {
		t.Fatalf("%+v, %v", list, err)
	}
	m, err := r.s.Messages(t.Context(), core.Channel{ID: "c"}, "types")
	if err != nil || len(m) != 1 || m[0].UUID != "2" {
		t.Errorf("%+v, %v", m, err)
	}
}
