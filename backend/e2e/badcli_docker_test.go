//go:build docker

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/core"
)

// TestBadCLIInContainer puts a misbehaving program in the agent's place. Each case must
// end the run with its own reason, keep all output that could be read, and leave
// nothing running.
func TestBadCLIInContainer(t *testing.T) {
	const result = `{"type":"result","subtype":"success","is_error":false,"result":"all is well","session_id":"s1","num_turns":1,"duration_ms":5,"total_cost_usd":0.01}`
	for _, tc := range []struct {
		name, script, config string
		code                 core.Code // empty: the run is done
		text                 string    // in one of the agent's messages or in the result
	}{
		{name: "garbage", script: `echo 'this is not JSON'; echo 'oh dear' >&2; exit 3`, code: core.CodeNoResult},
		{name: "garbage then a result", script: "echo 'not JSON'; echo '" + result + "'", text: "all is well"},
		{name: "invalid UTF-8", script: `printf '{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"a\377\376b"}]}}\n'; echo '` + result + "'", text: "b"},
		{name: "half a JSON", script: `printf '{"type":"assistant","message":{"id":"m"'`, code: core.CodeNoResult},
		{name: "nothing", script: `exit 0`, code: core.CodeNoResult},
		{name: "64 MiB on one line", script: `printf '{"type":"user","message":{"role":"user","content":"'; head -c 67108864 /dev/zero | tr '\0' x; printf '"}}\n'; echo '` + result + "'", text: "all is well"},
		{name: "never ends", script: `trap '' TERM; while :; do tail -f /dev/null; done`, config: `,"container_timeout_sec":3`, code: core.CodeTimeout},
		{name: "result and never ends", script: "echo '" + result + "'; trap '' TERM; while :; do tail -f /dev/null; done", text: "all is well"},
		{name: "killed", script: `kill -KILL $$`, code: core.CodeKilled},
		{name: "out of memory", script: `exec python3 -c 'b=[]
while True: b.append(bytearray(b"x")*(8<<20))'`, config: `,"container_memory_mb":256`, code: core.CodeOutOfMemory},
		{name: "no such program", config: `,"claude_bin_path":"/nonexistent/claude"`, code: "*"},
		{name: "refused by the model", script: `echo '{"type":"result","subtype":"error_during_execution","is_error":true,"result":"API Error: 401 {\"type\":\"error\",\"error\":{\"type\":\"authentication_error\"}}","api_error_status":401}'; exit 1`, code: core.CodeModelAuth},
		{name: "disk full", script: `echo 'ENOSPC: no space left on device, write' >&2; exit 1`, code: core.CodeDiskFull},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel() // the test mostly waits
			work := t.TempDir()
			bin := filepath.Join(work, "cli.sh")
			if err := os.WriteFile(bin, []byte("#!/bin/sh\n"+tc.script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			config := tc.config
			if !strings.Contains(config, "claude_bin_path") {
				config += fmt.Sprintf(`,"claude_bin_path":%q`, bin)
			}
			h := newHome(t, `{"anthropic_api_key":"k","on_app_exit":"stop"`+config+`}`)
			r := h.runJSON("--dir", work, "Anything")
			var out core.Run
			b, _ := json.Marshal(r.last)
			if err := json.Unmarshal(b, &out); err != nil {
				t.Fatalf("%v %s", err, r.err)
			}
			failure := out.Outcome.Failure
			switch {
			case tc.code == "" && (r.code != 0 || out.State != core.RunDone):
				t.Errorf("exit %d, state %s: %s", r.code, out.State, r.err)
			case tc.code != "" && (r.code != 1 || out.State != core.RunFailed || failure == nil):
				t.Errorf("exit %d, state %s: %s", r.code, out.State, r.err)
			case tc.code != "" && tc.code != "*" && failure.Code != tc.code:
				t.Errorf("code %s: %s", failure.Code, r.err)
			case tc.code != "" && (failure.Cause == "" || failure.Remedy == "" || !strings.Contains(r.err, failure.Cause)):
				t.Errorf("stderr %q, failure %+v", r.err, failure)
			}
			if tc.text != "" && !strings.Contains(texts(r.events)+out.Outcome.Text, tc.text) {
				t.Errorf("%q is missing in %q and %q", tc.text, texts(r.events), out.Outcome.Text)
			}
			for _, c := range h.containers() {
				if c.State.Running {
					t.Error("the container still runs")
				}
			}
		})
	}
}

// TestBadConfig: a fault in the file is reported with its place. Commands that do not
// need the file go on.
func TestBadConfig(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, config, want string
		runs               bool // a demo run still works
	}{
		{"byte order mark", "\ufeff{\"theme\":\"dark\"}", "", true},
		{"duplicate key", `{"theme":"dark","theme":"light"}`, "1:17", false},
		{"unknown key", "{\n  \"thme\": \"dark\"\n}", "2:3", true},
		{"syntax", "{\n  \"theme\": \n}", ":3:1", false},
		{"enormous", `{"claude_model":"` + strings.Repeat("x", 8<<20) + `"}`, "large", false},
		{"wrong type", `{"container_memory_mb":"much"}`, "container_memory_mb", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := newHome(t, tc.config)
			doc := h.run("doctor", "--json")
			if tc.want != "" && !strings.Contains(doc.out, tc.want) {
				t.Errorf("doctor does not name %q: %.1500s", tc.want, doc.out)
			}
			r := h.run("run", "--demo", "--script", "quick", "--dir", t.TempDir(), "Hello")
			if (r.code == 0) != tc.runs {
				t.Errorf("exit %d: %.500s", r.code, r.err)
			}
			if r.code != 0 && !strings.Contains(r.err, "config") && !strings.Contains(r.err, "settings") {
				t.Errorf("stderr %.500q", r.err)
			}
		})
	}
}

// TestNoEngine: every command reports the missing engine and a remedy.
func TestNoEngine(t *testing.T) {
	h := newHome(t, `{"docker_host":"unix:///nonexistent/docker.sock"}`)
	r := h.runJSON("--demo", "--dir", t.TempDir(), "Hello")
	if r.code != 1 || !strings.Contains(r.err, "/nonexistent/docker.sock") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	doc := h.run("doctor", "--json")
	if doc.code != 1 || !strings.Contains(doc.out, `"state":"fail"`) && !strings.Contains(doc.out, `"state": "fail"`) {
		t.Errorf("exit %d: %s", doc.code, doc.out)
	}
}
