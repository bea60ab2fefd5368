//go:build claude

package runner

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"loop/backend/core"
	"loop/backend/demo"
	"loop/backend/wire"
)

// readOnly is a file that nobody may write, not even uid 0: the kernel has no way to.
const readOnly = "/sys/kernel/fscaps"

// TestClaudeHearsWhyItWasDenied: a file tool of the CLI fails with a bare “permission
// denied”, and the next request to the model says why, once. The person's own hooks run
// beside Loop's.
func TestClaudeHearsWhyItWasDenied(t *testing.T) {
	if os.Getenv("LOOP_GUEST_BIN") == "" {
		t.Fatal("there is no guest binary: build it, and set LOOP_GUEST_BIN")
	}
	lib, err := demo.LoadDir(fstest.MapFS{"denied.json": {Data: []byte(deniedScript)}})
	if err != nil {
		t.Fatal(err)
	}
	r := newReal(t)
	r.quit()
	r.ports.Gate = &fakeGate{}
	r.start()
	r.api.mu.Lock()
	r.api.model = demo.New(demo.Options{Pace: demo.Instant, Library: lib})
	r.api.mu.Unlock()
	if err := os.Mkdir(r.boxes.gate(), 0o700); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(r.boxes.home, "own-hook")
	settings := fmt.Sprintf(`{"hooks":{"PostToolUseFailure":[{"hooks":[{"type":"command","command":"cat >> %s"}]}]}}`, own)
	if err := os.MkdirAll(filepath.Join(r.boxes.home, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.boxes.home, ".claude", "settings.json"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	bodies := map[int]string{}
	r.api.cue(func(n int, body string, _ http.ResponseWriter) bool {
		mu.Lock()
		defer mu.Unlock()
		bodies[n] = body
		if n == 2 { // the answer is the Write: what a supervisor would say of it
			line := fmt.Sprintf(`{"n":1,"at":%d,"call":"renameat2","operation":"write","target":%q,"by":%q,"pid":1}`+"\n",
				time.Now().UnixMilli(), readOnly, wire.ByPerson)
			r.boxes.mu.Lock()
			defer r.boxes.mu.Unlock()
			for id := range r.boxes.procs {
				if err := os.WriteFile(filepath.Join(r.boxes.gate(), string(id)+wire.DeniedSuffix), []byte(line), 0o600); err != nil {
					t.Error(err)
				}
			}
		}
		return false
	})
	for _, plan := range []bool{false, true} {
		r.api.cue(r.api.refuse)
		run := r.run(core.Run{Prompt: "write", Script: "denied", Plan: plan, Session: core.SessionStart{Mode: core.SessionFresh}})
		r.want(run, core.RunDone)
		mu.Lock()
		const why = "Loop's gate denied the write to " + readOnly + ": the person said no. Do not try again another way"
		for n, body := range bodies {
			if want := min(max(n-2, 0), 1); strings.Count(body, why) != want {
				t.Errorf("plan %v: request %d does not have the reason %d times", plan, n, want)
			}
		}
		if len(bodies) != 4 || !strings.Contains(bodies[3], "EACCES: permission denied") {
			t.Errorf("plan %v: %d requests", plan, len(bodies))
		}
		clear(bodies)
		mu.Unlock()
		heard, err := os.ReadFile(own)
		if err != nil || !strings.Contains(string(heard), `"tool_name":"Write"`) {
			t.Errorf("plan %v: the person's own hook heard %q: %v", plan, heard, err)
		}
		if err := os.Remove(own); err != nil {
			t.Error(err)
		}
	}
}

// deniedScript has two tools fail; only the first one's failure is a denial.
const deniedScript = `{"title": "Denied", "description": "A write that fails.", "steps": [
	{"blocks": [{"type": "tool_use", "tool": "Read", "input": {"file_path": "` + readOnly + `"}}]},
	{"blocks": [{"type": "tool_use", "tool": "Write", "input": {"file_path": "` + readOnly + `", "content": "2\n"}}]},
	{"blocks": [{"type": "tool_use", "tool": "Bash", "input": {"command": "exit 3", "description": "Fail"}}]},
	{"blocks": [{"type": "text", "text": "Done."}]}]}`
