//go:build docker

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"loop/backend/core"
)

// TestDemoRun is a new user's first minute on the command line.
func TestDemoRun(t *testing.T) {
	t.Parallel() // mostly waits
	h := newHome(t, `{"on_app_exit":"stop"}`)
	work := t.TempDir()
	r := h.runJSON("--demo", "--dir", work, "Show me what you can do")
	if r.code != 0 {
		t.Fatalf("exit %d\n%s\n%s", r.code, r.err, r.out)
	}
	if r.last["type"] != "result" || r.last["state"] != string(core.RunDone) {
		t.Errorf("the last line is %v", r.last)
	}
	kinds := map[core.EventType]int{}
	for _, e := range r.events {
		kinds[e.Type]++
	}
	for _, want := range []core.EventType{core.EventMessageCreated, core.EventMessageStreaming, core.EventToolUse, core.EventToolResult, core.EventStatus} {
		if kinds[want] == 0 {
			t.Errorf("no %s among %v", want, kinds)
		}
	}
	files := 0
	_ = filepath.WalkDir(work, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files++
			info, err := d.Info()
			if err != nil {
				t.Fatal(err)
			}
			if uid := int(info.Sys().(*syscall.Stat_t).Uid); uid != os.Getuid() {
				t.Errorf("%s belongs to %d, not to %d", path, uid, os.Getuid())
			}
		}
		return nil
	})
	if files == 0 {
		t.Error("the agent left no file in the directory")
	}
	made := h.containers()
	if len(made) != 1 {
		t.Fatalf("%d containers", len(made))
	}
	c := made[0]
	if c.State.Running || c.State.Pid != 0 {
		t.Errorf("the container still runs: %+v", c.State)
	}
	if c.HostConfig.AutoRemove || !c.HostConfig.ReadonlyRootfs || strings.Join(c.HostConfig.CapDrop, "") != "ALL" {
		t.Errorf("hardening: %+v", c.HostConfig)
	}
	if !strings.HasPrefix(c.Name, "/loop-") || c.Config.Labels["loop-channel"] == "" || c.Config.Labels["loop-type"] != "agent" {
		t.Errorf("name %s labels %v", c.Name, c.Config.Labels)
	}
	t.Logf("demo run took %v", r.took)
}

// TestAnyModel runs an agent that uses a tool, with the test's own Messages API. It
// reaches the API in each way that a configuration can name it.
func TestAnyModel(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, listen, host, network string }{
		{"loopback", "127.0.0.1:0", "127.0.0.1", "bridge"},
		{"localhost name", "127.0.0.1:0", "localhost", "bridge"},
		{"network none", "127.0.0.1:0", "127.0.0.1", "none"},
		{"docker host name", "127.0.0.1:0", "host.docker.internal", "bridge"},
		{"docker host name, all interfaces", "0.0.0.0:0", "host.docker.internal", "bridge"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := newModel(t, tc.listen)
			h := newHome(t, fmt.Sprintf(`{
				// written by a person
				"anthropic_base_url": "http://%s:%s",
				"anthropic_api_key": "sk-test-canary",
				"container_network": %q,
				"envs": {"NPM_AUTH": "sk-test-canary", "SSH_KEY": "sk-test-canary", "GH_TOKEN": "sk-test-canary"},
			}`, tc.host, m.port, tc.network))
			work := t.TempDir()
			r := h.runJSON("--dir", work, "Write the file")
			if r.code != 0 {
				t.Fatalf("exit %d\n%s\n%s", r.code, r.err, r.out)
			}
			if b, err := os.ReadFile(filepath.Join(work, "agent.txt")); err != nil || strings.TrimSpace(string(b)) != "from-the-agent" {
				t.Errorf("%q %v", b, err)
			}
			if !strings.Contains(texts(r.events), m.answer) {
				t.Errorf("the answer is not in the timeline: %q", texts(r.events))
			}
			if len(m.keys) == 0 || !strings.Contains(m.keys[0], "sk-test-canary") {
				t.Errorf("the key did not reach the API: %q", m.keys)
			}
			for _, c := range h.containers() {
				if strings.Contains(fmt.Sprint(c), "sk-test-canary") {
					t.Error("the key can be read by inspecting the container")
				}
				if tc.network == "none" && c.HostConfig.NetworkMode != "none" {
					t.Errorf("network %q", c.HostConfig.NetworkMode)
				}
			}
			for _, name := range []string{"loop.db", "loop.db-wal", "loop.log", "instance.json"} {
				if b, err := os.ReadFile(filepath.Join(h.dir, name)); err == nil && strings.Contains(string(b), "sk-test-canary") {
					t.Errorf("the key is in %s", name)
				}
			}
			if strings.Contains(r.out+r.err, "sk-test-canary") {
				t.Error("the key was printed")
			}
		})
	}
}

// TestModelErrors: each way in which a model can refuse ends the run with its reason.
func TestModelErrors(t *testing.T) {
	t.Parallel()
	body := func(status int, kind, text string) func(http.ResponseWriter) bool {
		return func(w http.ResponseWriter) bool {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("x-should-retry", "false")
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"type":"error","error":{"type":%q,"message":%q}}`, kind, text)
			return true
		}
	}
	for _, tc := range []struct {
		name string
		fail func(http.ResponseWriter) bool
		want string
	}{
		{"401", body(401, "authentication_error", "invalid x-api-key"), "refused"},
		{"400", body(400, "invalid_request_error", "credit balance is too low"), ""},
		{"529", body(529, "overloaded_error", "Overloaded"), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := newModel(t, "127.0.0.1:0")
			m.fail = tc.fail
			h := newHome(t, fmt.Sprintf(`{"anthropic_base_url":"http://127.0.0.1:%s","anthropic_api_key":"k","envs":{"CLAUDE_CODE_MAX_RETRIES":"1"},"claude_retry":{"max_attempts":2,"backoff_base_sec":1}}`, m.port))
			r := h.runJSON("--dir", t.TempDir(), "Write the file")
			if r.code != 1 {
				t.Fatalf("exit %d\n%s\n%s", r.code, r.err, r.out)
			}
			if r.last["state"] != string(core.RunFailed) || strings.TrimSpace(r.err) == "" {
				t.Errorf("last %v, stderr %q", r.last, r.err)
			}
			t.Logf("stderr: %s", r.err)
		})
	}
}

// TestMemory: a second prompt, in a new container, continues the conversation of the
// first.
func TestMemory(t *testing.T) {
	m := newModel(t, "127.0.0.1:0")
	// A person's own model needs no key.
	h := newHome(t, fmt.Sprintf(`{"anthropic_base_url":"http://127.0.0.1:%s","container_scope":"run"}`, m.port))
	work := t.TempDir()
	if r := h.runJSON("--dir", work, "The word is heliotrope"); r.code != 0 {
		t.Fatalf("exit %d\n%s\n%s", r.code, r.err, r.out)
	}
	before := len(m.seen())
	if r := h.runJSON("--dir", work, "Which word was it"); r.code != 0 {
		t.Fatalf("exit %d\n%s\n%s", r.code, r.err, r.out)
	}
	if second := m.seen()[before:]; !strings.Contains(second, "heliotrope") {
		t.Errorf("the second run does not know the first: %.2000s", second)
	}
	if n := len(h.containers()); n != 2 {
		t.Errorf("%d containers, want two", n)
	}
}

// TestCrash kills Loop in the middle of a run. The next start finishes the run.
func TestCrash(t *testing.T) {
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprintf("container killed %v", killed), func(t *testing.T) {
			m := newModel(t, "127.0.0.1:0")
			m.hold = make(chan struct{})
			h := newHome(t, fmt.Sprintf(`{"anthropic_base_url":"http://127.0.0.1:%s","anthropic_api_key":"k"}`, m.port))
			s := h.serve()
			var ch core.Channel
			s.must("Channels.Add", &ch, t.TempDir(), "")
			var run core.Run
			s.must("Runs.Prompt", &run, map[string]any{"client_id": core.NewID(), "channel_id": ch.ID, "prompt": "Write the file"})
			page := s.until(ch.ID, "a tool result", func(p timeline) bool { return count(p, core.EventToolResult, run.ID) == 1 })
			stored := len(page.Events)
			s.kill()
			if killed {
				for _, c := range h.containers() {
					if out, err := docker(t.Context(), "kill", c.ID); err != nil {
						t.Fatal(out, err)
					}
				}
			} else {
				close(m.hold)
			}
			s = h.serve()
			page = s.until(ch.ID, "the end of the run", func(p timeline) bool { return ended(p, run.ID) })
			if len(page.Events) < stored {
				t.Errorf("%d events were stored, %d are left", stored, len(page.Events))
			}
			want := core.RunDone
			if killed {
				want = core.RunInterrupted
			}
			states := statuses(page, run.ID)
			if states[len(states)-1] != want {
				t.Errorf("states %v, want %s last", states, want)
			}
			if n := count(page, core.EventToolUse, run.ID); n != 1 {
				t.Errorf("%d tool uses, want one", n)
			}
			if n := count(page, core.EventToolResult, run.ID); n != 1 {
				t.Errorf("%d tool results, want one", n)
			}
			// Another restart says nothing twice.
			s.stop()
			s = h.serve()
			var again timeline
			s.must("Channels.Timeline", &again, ch.ID, 0, 1000)
			n := 0
			for _, st := range statuses(again, run.ID) {
				if st.Terminal() {
					n++
				}
			}
			if n != 1 {
				t.Errorf("the end was stated %d times: %v", n, statuses(again, run.ID))
			}
		})
	}
}

// TestCancel: of the agent's processes none is left when the run has ended. The container
// goes on, for the next.
func TestCancel(t *testing.T) {
	m := newModel(t, "127.0.0.1:0")
	m.command = "tail -f /dev/null & (setsid tail -f /dev/null >/dev/null &) ; tail -f /dev/null"
	h := newHome(t, fmt.Sprintf(`{"anthropic_base_url":"http://127.0.0.1:%s","anthropic_api_key":"k"}`, m.port))
	s := h.serve()
	var ch core.Channel
	s.must("Channels.Add", &ch, t.TempDir(), "")
	var run core.Run
	s.must("Runs.Prompt", &run, map[string]any{"client_id": core.NewID(), "channel_id": ch.ID, "prompt": "Sleep"})
	s.until(ch.ID, "the tool", func(p timeline) bool { return count(p, core.EventToolUse, run.ID) == 1 })
	s.must("Runs.Cancel", nil, run.ID)
	page := s.until(ch.ID, "the end", func(p timeline) bool { return ended(p, run.ID) })
	if st := statuses(page, run.ID); st[len(st)-1] != core.RunCancelled {
		t.Errorf("states %v", st)
	}
	h.nothingRuns()
}

// nothingRuns checks that in containers that go on, loop init and its link are alone.
func (h *home) nothingRuns() {
	h.t.Helper()
	for _, c := range h.containers() {
		if !c.State.Running {
			continue
		}
		out, err := docker(h.t.Context(), "top", c.ID, "-e", "-o", "pid,args")
		if err != nil {
			h.t.Fatal(err)
		}
		for i, line := range strings.Split(strings.TrimSpace(out), "\n") {
			if i > 0 && !strings.HasSuffix(line, "loop init") && !strings.HasSuffix(line, "loop link") {
				h.t.Errorf("still running:\n%s", out)
			}
		}
	}
}

// TestOddDirectories: folder names that break naive quoting work. A folder that cannot
// be a project is refused with a reason.
func TestOddDirectories(t *testing.T) {
	m := newModel(t, "127.0.0.1:0")
	h := newHome(t, fmt.Sprintf(`{"anthropic_base_url":"http://127.0.0.1:%s","anthropic_api_key":"k"}`, m.port))
	work := filepath.Join(t.TempDir(), "a b 'q' \"d\" $HOME é漢 :colon")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	if r := h.runJSON("--dir", work, "Write the file"); r.code != 0 {
		t.Errorf("exit %d\n%s", r.code, r.err)
	} else if _, err := os.Stat(filepath.Join(work, "agent.txt")); err != nil {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	userHome, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"/", userHome, file, filepath.Join(t.TempDir(), "gone"), h.dir} {
		r := h.run("run", "--dir", dir, "Write the file")
		if r.code == 0 || strings.TrimSpace(r.err) == "" || strings.Contains(r.err, "panic") {
			t.Errorf("%q: exit %d, stderr %q", dir, r.code, r.err)
		}
	}
}

// TestPage: the page is served, and only the token opens the API.
func TestPage(t *testing.T) {
	h := newHome(t, "")
	s := h.serve()
	res, err := http.Get(s.url)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if res.StatusCode != 200 || !strings.Contains(string(b), "<script") {
		t.Errorf("%d %.300s", res.StatusCode, b)
	}
	token := s.token
	s.token = strings.Repeat("0", 64)
	if err := s.call("System.Snapshot", nil); err == nil {
		t.Error("a wrong token opened the API")
	}
	s.token = token
	var snap map[string]any
	s.must("System.Snapshot", &snap)
	if snap["mode"] != "headless" {
		t.Errorf("%v", snap["mode"])
	}
}
