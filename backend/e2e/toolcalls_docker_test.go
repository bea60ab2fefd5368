//go:build docker

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/soaktest"
)

// asks waits until n acts wait whose tool calls are known, and returns them by the file or
// the command of their calls.
func (s *server) asks(ch core.ChannelID, n int) map[string]core.Approval {
	s.h.t.Helper()
	found := map[string]core.Approval{}
	s.until(ch, "acts that wait", func(p timeline) bool {
		var list []core.Approval
		s.must("Gate.Pending", &list)
		clear(found)
		for _, a := range list {
			if of := called(p, a.ToolUseID); of != "" {
				found[of] = a
			}
		}
		return len(found) == n && len(list) == n
	})
	return found
}

// called is the file or the command of a tool call.
func called(p timeline, id string) string {
	for _, e := range p.Events {
		var use core.ToolUse
		if e.Type != core.EventToolUse || json.Unmarshal(e.Data, &use) != nil || use.ToolUseID != id {
			continue
		}
		var in struct {
			Command  string `json:"command"`
			FilePath string `json:"file_path"`
		}
		_ = json.Unmarshal(use.Input, &in)
		return in.Command + in.FilePath
	}
	return ""
}

// TestCallsOfOneMessage: of four Reads and a command in one message two are held, each
// under its own call. An answer once covers what the CLI repeats for the same call, and
// nothing else is asked.
func TestCallsOfOneMessage(t *testing.T) {
	t.Parallel() // mostly waits
	c := newCaller(t)
	dir := t.TempDir()
	rules := []map[string]any{{"id": "secret", "paths": []string{"/**/secret/**"}, "operations": []string{"read"}, "decision": "approve"}}
	config, err := json.Marshal(map[string]any{"anthropic_base_url": c.URL, "anthropic_api_key": "k",
		"gates": map[string]any{"agentgate": map[string]any{"file_rules": rules}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "secret"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "secret/a", "secret/b"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("this is "+name+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		c.steps["read"] = append(c.steps["read"], step{"Read", map[string]any{"file_path": filepath.Join(dir, name)}})
	}
	c.steps["read"] = append(c.steps["read"], bash("cat "+dir+"/a"))
	c.atOnce["read"] = true
	s := newHome(t, string(config)).serve()
	ch := s.add(dir)
	run := s.prompt(ch, "Do-read")
	held := s.asks(ch, 2)
	for name, allow := range map[string]bool{"secret/a": true, "secret/b": false} {
		a, ok := held[filepath.Join(dir, name)]
		if !ok || a.Target != filepath.Join(dir, name) {
			t.Fatalf("%s waits under the wrong call: %+v", name, held)
		}
		s.answers(a, allow)
	}
	p := s.finished(ch, run)
	if n := count(p, core.EventGateAsked, run); n != 2 {
		t.Errorf("%d questions", n)
	}
	list := toolResults(p, run)
	if len(list) != 5 {
		t.Fatalf("results %+v", list)
	}
	for _, r := range list {
		of := called(p, r.ToolUseID)
		if denied := strings.HasSuffix(of, "secret/b"); denied != r.IsError || !denied && !strings.Contains(r.Output, "this is ") {
			t.Errorf("%s: %+v", of, r)
		}
	}
}

// thinks is how long a person takes: three minutes, or at least longer than the tool.
func thinks() time.Duration {
	if soaktest.Whole() {
		return 3 * time.Minute
	}
	return 20 * time.Second
}

// TestAHeldCommandOutlivesItsTimeout: the model gives its command ten seconds, and the
// person takes longer. The CLI moves the command to the background; the question stays
// under its call, and what is allowed is done before the run ends.
func TestAHeldCommandOutlivesItsTimeout(t *testing.T) {
	t.Parallel() // mostly waits
	c := newCaller(t)
	c.steps["slow"] = []step{{"Bash", map[string]any{"command": "echo slow >>~/.bashrc && echo was written", "timeout": 10000}}}
	config, err := json.Marshal(map[string]any{"anthropic_base_url": c.URL, "anthropic_api_key": "k"})
	if err != nil {
		t.Fatal(err)
	}
	s := newHome(t, string(config)).serve()
	ch := s.add(t.TempDir())
	began := time.Now()
	run := s.prompt(ch, "Do-slow")
	q := s.held(ch, "")
	select {
	case <-time.After(thinks()):
	case <-t.Context().Done():
	}
	if again := s.held(ch, ""); again.ID != q.ID || again.ToolUseID != q.ToolUseID {
		t.Fatalf("asked anew: %+v, before %+v", again, q)
	}
	s.answers(q, true)
	p := s.finished(ch, run)
	if got := s.bashrc(ch); got != "slow\n" {
		t.Errorf("the file has %q", got)
	}
	if n := count(p, core.EventGateAsked, run); n != 1 {
		t.Errorf("%d questions", n)
	}
	if list := toolResults(p, run); len(list) == 0 || list[0].ToolUseID != q.ToolUseID || list[0].IsError {
		t.Errorf("results %+v", list)
	} else {
		t.Logf("the CLI said %q", list[0].Output)
	}
	if st, most := outcome(p, run), time.Since(began)-thinks(); st.DurationMs > most.Milliseconds() {
		t.Errorf("it is said to have worked for %d ms, which is more than the %v in which it was not held", st.DurationMs, most)
	}
}
