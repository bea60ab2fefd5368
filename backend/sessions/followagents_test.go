package sessions

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
	"loop/backend/runner/transcript"
)

// follow opens the transcript of a session.
func (r *rig) follow(session core.SessionID) *Following {
	r.Helper()
	f, err := r.s.Follow(r.Context(), core.Channel{ID: "c", Dir: project}, session, 0)
	if err != nil {
		r.Fatal(err)
	}
	return f
}

// beside writes a file of the session's own folder.
func (r *rig) beside(session, name, text string) string {
	r.Helper()
	p := r.path("c", "projects", folder(project), session, agentsDir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o700), os.WriteFile(p, []byte(text), 0o600)); err != nil {
		r.Fatal(err)
	}
	return p
}

func TestSubAgentsOfASession(t *testing.T) {
	r := newRig(t)
	r.put("c", project, "one", say("user", "u", "", "Go"))
	none := r.follow("one")
	if ids, err := none.SubAgents(); err != nil || len(ids) > 0 {
		t.Errorf("%v, %v where there are none", ids, err)
	}
	if err := none.Close(); err != nil {
		t.Fatal(err)
	}
	r.beside("one", "agent-b2.meta.json", `{"toolUseId":"t2"}`)
	r.beside("one", "agent-b2.jsonl", "first\nsecond\n")
	r.beside("one", "agent-a1.meta.json", strings.Repeat("x", transcript.MaxAgentNote+100))
	r.beside("one", "agent-c3.jsonl", "no note\n")
	r.beside("one", "other.meta.json", "{}")
	r.beside("one", "agent-.meta.json", "{}")
	r.beside("one", "agent-a b.meta.json", "{}")
	r.beside("two", "agent-d4.meta.json", "{}")
	f := r.follow("one")
	defer f.Close()
	ids, err := f.SubAgents()
	if err != nil || !slices.Equal(ids, []string{"a1", "b2"}) {
		t.Errorf("%v, %v", ids, err)
	}
	if raw, err := f.AgentNote("b2"); err != nil || string(raw) != `{"toolUseId":"t2"}` {
		t.Errorf("%q, %v", raw, err)
	}
	if raw, err := f.AgentNote("a1"); err != nil || len(raw) > transcript.MaxAgentNote+1 {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
	in, size, err := f.SubAgent("b2", 6)
	if err != nil {
		t.Fatal(err)
	}
	r.beside("one", "agent-b2.jsonl", "first\nsecond\nthird\n")
	if text, err := io.ReadAll(in); err != nil || string(text) != "second\n" || size != 13 {
		t.Errorf("%q of %d, %v", text, size, err)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	for _, id := range []string{"a1", "none", "", "../agent-b2", "-x", "b2/../b2"} {
		if _, _, err := f.SubAgent(id, 0); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// TestSubAgentsElsewhere: what is no file of the session's own folder is not read, however it
// looks like one.
func TestSubAgentsElsewhere(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // links take a privilege there
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(r *rig) error{
		"a link to a file outside": func(r *rig) error {
			p := r.beside("one", "agent-a.jsonl", "")
			return errors.Join(os.Remove(p), os.Symlink(secret, p))
		},
		"a link to another session's file": func(r *rig) error {
			p := r.beside("one", "agent-a.jsonl", "")
			return errors.Join(os.Remove(p), os.Symlink("../../two/"+agentsDir+"/agent-a.jsonl", p))
		},
		"a link to another session's folder": func(r *rig) error {
			p := r.path("c", "projects", folder(project), "one")
			return errors.Join(os.Mkdir(p, 0o700), os.Symlink("../two/"+agentsDir, filepath.Join(p, agentsDir)))
		},
		"a link to another session's files": func(r *rig) error {
			return os.Symlink("two", r.path("c", "projects", folder(project), "one"))
		},
		"a folder": func(r *rig) error {
			p := r.beside("one", "agent-a.jsonl", "")
			return errors.Join(os.Remove(p), os.Mkdir(p, 0o700))
		},
		"a pipe": func(r *rig) error {
			pipe(r.T, r.path("c", "projects", folder(project), "one", agentsDir, "agent-a.jsonl"))
			return nil
		},
		"too long": func(r *rig) error { return os.Truncate(r.beside("one", "agent-a.jsonl", ""), maxTranscript+1) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.put("c", project, "one", say("user", "u", "", "Go"))
			r.beside("two", "agent-a.jsonl", "of another\n")
			r.beside("two", "agent-a.meta.json", "{}")
			if err := change(r); err != nil {
				t.Fatal(err)
			}
			f := r.follow("one")
			defer f.Close()
			if _, _, err := f.SubAgent("a", 0); !errors.Is(err, core.ErrConflict) {
				t.Errorf("%v", err)
			}
			if ids, _ := f.SubAgents(); len(ids) > 0 {
				t.Errorf("%v", ids)
			}
		})
	}
}
