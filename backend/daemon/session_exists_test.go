package daemon

import (
	"os"
	"path/filepath"
	"testing"

	"loop/backend/core"
)

// TestSessionExists: a session that is known to be gone is not resumed. When nobody can
// tell, it may be resumed.
func TestSessionExists(t *testing.T) {
	const session = "0b2f6a1e-aaaa-4bbb-8ccc-1234567890ab"
	work := "/home/me/my project/x_y.z"
	folder := filepath.Join("projects", "-home-me-my-project-x-y-z")
	put := func(t *testing.T, state, path string) {
		t.Helper()
		full := filepath.Join(state, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		session       core.SessionID
		make          func(t *testing.T, state string)
		exists, known bool
	}{
		"there":                           {session, func(t *testing.T, s string) { put(t, s, filepath.Join(folder, session+".jsonl")) }, true, true},
		"in a folder of another name":     {session, func(t *testing.T, s string) { put(t, s, "projects/-hashed-1a2b/"+session+".jsonl") }, true, true},
		"another session":                 {session, func(t *testing.T, s string) { put(t, s, filepath.Join(folder, "other.jsonl")) }, false, true},
		"nothing in the state":            {session, func(t *testing.T, s string) { put(t, s, "settings.json") }, false, true},
		"no state at all":                 {session, func(*testing.T, string) {}, false, true},
		"state that is no folder":         {session, func(t *testing.T, s string) { put(t, s, "") }, false, false},
		"a path instead of an id":         {"../../secret", func(t *testing.T, s string) { put(t, s, filepath.Join(folder, "x.jsonl")) }, false, false},
		"a pattern instead of an id":      {"*", func(t *testing.T, s string) { put(t, s, filepath.Join(folder, "x.jsonl")) }, false, false},
		"a folder that leads out of here": {session, linkedOut(session), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			if err := os.MkdirAll(filepath.Join(home, "channels", "c"), 0o700); err != nil {
				t.Fatal(err)
			}
			tc.make(t, filepath.Join(home, "channels", "c", "claude"))
			exists, known := transcripts(home, nil).Exists(core.Channel{ID: "c"}, work, tc.session)
			if exists != tc.exists || known != tc.known {
				t.Errorf("exists %v, known %v", exists, known)
			}
		})
	}
}

// linkedOut makes a link out of the state, as an agent could, who may write there.
func linkedOut(session string) func(*testing.T, string) {
	return func(t *testing.T, state string) {
		t.Helper()
		out := t.TempDir()
		if err := os.MkdirAll(filepath.Join(out, "-home-me-my-project-x-y-z"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(out, "-home-me-my-project-x-y-z", session+".jsonl"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(state, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(out, filepath.Join(state, "projects")); err != nil {
			t.Fatal(err)
		}
	}
}
