//go:build docker

package e2e

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/core"
)

// held waits until exactly one act of a channel waits for an answer, and returns it.
func (s *server) held(ch core.ChannelID, after string) core.Approval {
	s.h.t.Helper()
	var found core.Approval
	s.until(ch, "an act that waits", func(p timeline) bool {
		var list []core.Approval
		s.must("Gate.Pending", &list)
		if len(list) > 1 {
			s.h.t.Fatalf("%d acts wait: %+v", len(list), list)
		}
		// A quick program asks before its agent has said which tool it calls.
		if len(list) == 1 && list[0].ID != after && (list[0].ToolUseID != "" || list[0].RunID == "") {
			found = list[0]
		}
		return found.ID != ""
	})
	return found
}

// answers allows or denies an act once, as a person at the window would.
func (s *server) answers(a core.Approval, allow bool) {
	s.h.t.Helper()
	s.must("Gate.Answer", nil, a.ID, core.ApprovalAnswer{Allow: allow, Scope: core.ScopeOnce, Digest: a.Digest, By: "window"})
}

// bashrc is the start-up file in the channel's home, which the container has no copy of.
func (s *server) bashrc(ch core.ChannelID) string {
	data, err := os.ReadFile(filepath.Join(s.h.dir, "channels", string(ch), "home", ".bashrc"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.h.t.Fatal(err)
	}
	return string(data)
}

// toolResults are the outputs of a run's tool calls, in order.
func toolResults(p timeline, run core.RunID) (list []core.ToolResult) {
	for _, text := range kept(p, run, core.EventToolResult) {
		var r core.ToolResult
		if json.Unmarshal([]byte(text), &r) == nil {
			list = append(list, r)
		}
	}
	return list
}

// TestGateAsksBeforeAWrite: the real CLI's Write makes a file beside ~/.bashrc and
// renames it, and a command adds a line. Each stops once and shows what it would change.
// What is denied fails readably and leaves nothing; what is allowed is performed exactly.
// Nothing else of the run asks.
func TestGateAsksBeforeAWrite(t *testing.T) {
	const written, added = "# written by the demo\nalias ll='ls -l'\n", "export EDITOR=vim\n"
	for name, c := range map[string]struct {
		write, add bool
		want       string
	}{
		"deny, allow": {false, true, added},
		"allow, deny": {true, false, written},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // mostly waits
			s := newHome(t, "").serve()
			ch := s.add(t.TempDir())
			run := s.demo(ch, "gate")

			first := s.held(ch, "")
			if first.Kind != core.ApprovalFile || filepath.Base(first.Target) != ".bashrc" || first.RunID != run || first.ToolUseID == "" ||
				!strings.Contains(first.Diff, "+alias ll='ls -l'") || first.Call == "" || len(first.Processes) == 0 || first.Deadline.IsZero() {
				t.Errorf("the rename asks as %+v", first)
			}
			if s.bashrc(ch) != "" {
				t.Error("it was written before the answer")
			}
			s.answers(first, c.write)

			second := s.held(ch, first.ID)
			if filepath.Base(second.Target) != ".bashrc" || second.ToolUseID == first.ToolUseID || !second.InPlace || second.Diff != "" {
				t.Errorf("the command asks as %+v", second)
			}
			s.answers(second, c.add)

			p := s.finished(ch, run)
			if got := s.bashrc(ch); got != c.want {
				t.Errorf("the file has %q, not %q", got, c.want)
			}
			list := toolResults(p, run)
			if len(list) < 2 {
				t.Fatalf("results %+v", list)
			}
			for i, allowed := range []bool{c.write, c.add} {
				r := list[len(list)-2+i]
				refused := r.IsError && (strings.Contains(r.Output, "EACCES") || strings.Contains(r.Output, "Permission denied"))
				if allowed == refused || allowed && r.IsError {
					t.Errorf("call %d, allowed %v, ended with %+v", i, allowed, r)
				}
			}
			if n, m := count(p, core.EventGateAsked, run), count(p, core.EventGateResolved, run); n != 2 || m != 2 {
				t.Errorf("%d questions and %d answers stand in the timeline", n, m)
			}
			if left, _ := filepath.Glob(filepath.Join(s.h.dir, "channels", string(ch), "home", "*.tmp.*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestGateWithoutAnAnswer: what waits is denied when its time is up, when the run is
// stopped, and when Loop ends. A late answer does nothing, and nothing is remembered.
func TestGateWithoutAnAnswer(t *testing.T) {
	t.Parallel() // mostly waits
	h := newHome(t, `{"gates": {"agentgate": {"timeout_sec": 10}}}`)
	s := h.serve()
	ch := s.add(t.TempDir())
	run := s.demo(ch, "gate")
	first := s.held(ch, "")
	second := s.held(ch, first.ID) // ten seconds later
	if err := s.call("Gate.Answer", nil, first.ID, core.ApprovalAnswer{Allow: true, Scope: core.ScopeOnce, Digest: first.Digest}); err == nil {
		t.Error("a late answer was taken")
	}
	s.must("Runs.Cancel", nil, run)
	p := s.until(ch, "its end", func(p timeline) bool { return ended(p, run) })
	states := map[string]core.ApprovalState{}
	for _, text := range kept(p, run, core.EventGateResolved) {
		var a core.Approval
		if json.Unmarshal([]byte(text), &a) == nil {
			states[a.ID] = a.State
		}
	}
	if states[first.ID] != core.ApprovalExpired || states[second.ID] == "" || states[second.ID] == core.ApprovalAllowed {
		t.Errorf("they ended as %v", states)
	}

	run = s.demo(ch, "gate")
	third := s.held(ch, second.ID)
	s.kill()
	s = h.serve()
	s.until(ch, "the end of the run", func(p timeline) bool { return ended(p, run) })
	if got := s.bashrc(ch); got != "" {
		t.Errorf("the file has %q", got)
	}
	var list []core.Approval
	s.must("Gate.Pending", &list)
	for _, a := range list {
		if a.ID == third.ID {
			t.Errorf("it waits still: %+v", a)
		}
	}
}

// TestGateAsksNothingNeedless: the scripts of an ordinary day ask for nothing.
func TestGateAsksNothingNeedless(t *testing.T) {
	t.Parallel() // mostly waits
	s := newHome(t, "").serve()
	ch := s.add(t.TempDir())
	for _, script := range []string{"tour", "tools"} {
		run := s.demo(ch, script)
		p := s.finished(ch, run)
		if asked := kept(p, run, core.EventGateAsked); len(asked) > 0 {
			t.Errorf("%s asks %s", script, asked)
		}
	}
}

// TestARuleReachesARunningAgent: a rule that the person adds while an agent runs denies
// what the agent was asked about before.
func TestARuleReachesARunningAgent(t *testing.T) {
	s := newHome(t, "").serve()
	ch := s.add(t.TempDir())
	run := s.demo(ch, "gate")
	first := s.held(ch, "")
	const why = "Nobody changes it today."
	s.must("Settings.Set", nil, "global", "", "gates.agentgate.file_rules", []map[string]any{
		{"paths": []string{"/**/.bashrc"}, "operations": []string{"write", "create"}, "decision": "deny", "message": why},
	})
	box := s.h.containers()[0].ID
	s.until(ch, "the rule in the container", func(timeline) bool {
		out, _ := docker(t.Context(), "exec", "-u", "0", box, "sh", "-c", "cat /run/loop/gate/*.json") // it is replaced meanwhile
		return strings.Contains(out, why)
	})
	s.answers(first, false)
	p := s.finished(ch, run)
	list := toolResults(p, run)
	if len(list) < 2 || !list[len(list)-1].IsError || !strings.Contains(list[len(list)-1].Output, why) {
		t.Errorf("the second write ended with %+v", list)
	}
	if got := s.bashrc(ch); got != "" {
		t.Errorf("the file has %q", got)
	}
}
