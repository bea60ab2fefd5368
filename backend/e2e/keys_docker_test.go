//go:build docker

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/core"
	"loop/backend/credentials/credentialstest"
)

const canary = "sk-ant-canary-7f3e9b52c8"

// TestEachSourceOfKeys: a key reaches the model from wherever it is kept. Loop neither
// writes, says nor shows it, whether the run works or not.
func TestEachSourceOfKeys(t *testing.T) {
	for _, tc := range []struct {
		name    string
		config  string   // more fields of config.json
		project string   // .loop/config.json
		login   string   // flag of “loop auth login”
		env     []string // more of the environment
		where   string
		token   bool
		secret  bool // a Secret Service runs
	}{
		{name: "key in config.json", config: `"anthropic_api_key": "` + canary + `"`, where: "config"},
		{name: "token in config.json", config: `"claude_code_oauth_token": "` + canary + `"`, where: "config", token: true},
		{name: "key of an approved project", project: `{"anthropic_api_key": "` + canary + `"}`},
		{name: "key in the keyring", login: "--api-key", env: []string{"LOOP_KEYRING="}, where: "keyring", secret: true},
		{name: "token in the keyring", login: "--oauth-token", env: []string{"LOOP_KEYRING="}, where: "keyring", token: true, secret: true},
		{name: "key in the file", login: "--api-key", where: "file"},
		{name: "token in the file with a passphrase", login: "--oauth-token", env: []string{"LOOP_KEYRING_PASSPHRASE=correct horse"}, where: "file", token: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.secret {
				credentialstest.Start(t) // sets the address in this process's environment
			} else {
				t.Parallel()
			}
			m := newModel(t, "127.0.0.1:0")
			base := `{"anthropic_base_url": "http://127.0.0.1:` + m.port + `"`
			if tc.config != "" {
				base += ", " + tc.config
			}
			h := newHome(t, base+"}")
			h.env = append(h.env, "XDG_CONFIG_HOME="+t.TempDir())
			h.env = append(h.env, tc.env...)
			work := t.TempDir()
			var said strings.Builder // everything that Loop said to a person or a page
			run := func(args ...string) result {
				r := h.run(args...)
				fmt.Fprintf(&said, "$ loop %s\n%s%s\n", strings.Join(args, " "), r.out, r.err)
				return r
			}
			if tc.login != "" {
				h.in = canary + "\n"
				if r := run("auth", "login", tc.login); r.code != 0 {
					t.Fatalf("exit %d: %s", r.code, r.err)
				}
				h.in = ""
			}

			s := h.serve()
			events := s.listen()
			ch := s.add(work)
			if tc.project != "" {
				s.approve(&said, ch, work, tc.project, func() {
					s.runs(ch, core.RunDone)
					if strings.Contains(m.said(), canary) {
						t.Error("a project that nobody approved set the key")
					}
				})
			}
			s.runs(ch, core.RunDone)
			header := "x-api-key: " + canary
			if tc.token {
				header = "Authorization: Bearer " + canary
			}
			if got := m.said(); !strings.Contains(got, header) {
				t.Fatalf("the key did not reach the model: %q", got)
			}
			m.mu.Lock()
			m.fail = func(w http.ResponseWriter) bool {
				w.Header().Set("x-should-retry", "false")
				http.Error(w, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, http.StatusUnauthorized)
				return true
			}
			m.mu.Unlock()
			s.runs(ch, core.RunFailed)

			for method, args := range map[string][]any{
				"System.Snapshot": {}, "System.Credentials": {}, "System.ListContainers": {}, "Settings.Get": {ch},
				"Settings.Raw": {"project", ch}, "Settings.History": {"global", ""}, "Channels.Timeline": {ch, 0, 1000},
			} {
				var out json.RawMessage
				s.must(method, &out, args...)
				fmt.Fprintf(&said, "%s %s\n", method, out)
			}
			if where := inUse(t, run("auth", "status", "--json")); where != tc.where {
				t.Errorf("said to be in %q, not in %q", where, tc.where)
			}
			run("doctor")
			run("explain", "--dir", work)
			run("config", "get")
			for _, c := range h.containers() {
				for _, ask := range []string{"inspect", "logs"} {
					out, err := docker(context.Background(), ask, c.ID)
					fmt.Fprintf(&said, "docker %s %s %v\n", ask, out, err)
				}
			}
			h.holdsNot(canary, map[string]bool{"config.json": tc.where == "config"})
			if run("auth", "logout").code != 0 || inUse(t, run("auth", "status", "--json")) != "" {
				t.Error("the key is still there after logout")
			}
			s.stop()
			h.holdsNot(canary, nil)
			said.WriteString(s.log.String())
			for len(events) > 0 {
				raw, _ := json.Marshal(<-events)
				said.Write(raw)
			}
			if text := said.String(); strings.Contains(text, canary) {
				at := strings.Index(text, canary)
				t.Errorf("the key was told: …%s…", text[max(0, at-300):min(len(text), at+100)])
			} else if !strings.Contains(text, `"failed"`) || !strings.Contains(text, "docker logs") {
				t.Error("what was said does not hold the run that failed, or its container")
			}
		})
	}
}

// inUse says where the key for a run is kept, according to “loop auth status”.
func inUse(t testing.TB, status result) string {
	t.Helper()
	var list []struct {
		Where string `json:"where"`
		InUse bool   `json:"in_use"`
	}
	if err := json.Unmarshal([]byte(status.out), &list); err != nil {
		t.Fatalf("%v: %s %s", err, status.out, status.err)
	}
	for _, k := range list {
		if k.InUse {
			return k.Where
		}
	}
	return ""
}

// approve writes a project's settings, calls before, and approves them.
func (s *server) approve(said *strings.Builder, ch core.ChannelID, work, text string, before func()) {
	s.h.t.Helper()
	path := filepath.Join(work, ".loop", "config.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.h.t.Fatal(err)
	}
	before()
	var view json.RawMessage
	s.must("Settings.Get", &view, ch)
	said.Write(view)
	var waiting struct {
		Pending []struct {
			Path   string `json:"path"`
			SHA256 string `json:"sha256"`
		} `json:"pending"`
	}
	if err := json.Unmarshal(view, &waiting); err != nil || len(waiting.Pending) != 1 {
		s.h.t.Fatalf("%v, waiting: %s", err, view)
	}
	s.must("Settings.Approve", &view, ch, waiting.Pending[0].Path, waiting.Pending[0].SHA256)
	said.Write(view)
}

// runs sends a prompt and waits until its run ends as wanted.
func (s *server) runs(ch core.ChannelID, want core.RunState) {
	s.h.t.Helper()
	id := s.prompt(ch, "Write the file")
	page := s.until(ch, "the end of the run", func(p timeline) bool { return ended(p, id) })
	if st := statuses(page, id); st[len(st)-1] != want {
		s.h.t.Fatalf("states %v, want %s: %+v", st, want, outcome(page, id))
	}
}

// said lists the keys that requests sent.
func (m *model) said() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.headers, "\n")
}

// holdsNot fails when a file in Loop's folder holds text. Files in may are left out.
func (h *home) holdsNot(text string, may map[string]bool) {
	h.t.Helper()
	files := 0
	err := filepath.WalkDir(h.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // what is gone by now holds nothing
		}
		rel, err := filepath.Rel(h.dir, path)
		if err != nil {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil //nolint:nilerr // the same
		}
		files++
		if strings.Contains(string(raw), text) && !may[rel] {
			h.t.Errorf("the key is in %s", rel)
		}
		return nil
	})
	if err != nil || files < 5 {
		h.t.Errorf("looked at %d files: %v", files, err)
	}
}
