//go:build docker

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

// stopReason is the reason why the last run in a --json output ended.
func (r result) stopReason() string {
	outcome, _ := r.last["outcome"].(map[string]any)
	s, _ := outcome["stop_reason"].(string)
	return s
}

// questions lists the open questions, with a command of its own.
func (h *home) questions() (list []core.Question) {
	h.t.Helper()
	r := h.run("answer", "--list", "--json")
	if err := json.Unmarshal([]byte(r.out), &list); r.code != 0 || err != nil {
		h.t.Fatalf("exit %d, %v\n%s\n%s", r.code, err, r.out, r.err)
	}
	return list
}

// TestQuestionAcrossProcesses: an agent asks and Loop ends. The answer goes to another
// process, which continues the same conversation.
func TestQuestionAcrossProcesses(t *testing.T) {
	t.Parallel()
	h := newHome(t, "")
	work := t.TempDir()
	r := h.runJSON("--demo", "--script", "ask", "--dir", work, "Greet somebody")
	if r.code != 0 || r.stopReason() != "ask_user" {
		t.Fatalf("exit %d, stopped because of %q\n%s\n%s", r.code, r.stopReason(), r.err, r.out)
	}
	if !slices.ContainsFunc(r.events, func(e core.Event) bool { return e.Type == core.EventAskUser }) {
		t.Error("the question is not among the events")
	}
	open := h.questions()
	if len(open) != 1 || len(open[0].Questions) != 2 {
		t.Fatalf("open questions %+v", open)
	}
	if r := h.run("answer", "--choose", "9"); r.code != 2 {
		t.Errorf("an option that is not there: exit %d %s", r.code, r.err)
	}
	a := h.run("answer", "--question", open[0].ID, "--choose", "2", "--choose", "1,3")
	if a.code != 0 || !strings.Contains(a.out, "Good day") || !strings.Contains(a.out, "The date, A list") {
		t.Errorf("exit %d\n%s\n%s", a.code, a.err, a.out)
	}
	if a := h.run("answer", "--question", open[0].ID, "--decline"); a.code == 0 {
		t.Error("the question was resolved twice")
	}
	if left := h.questions(); len(left) > 0 {
		t.Errorf("still open: %+v", left)
	}
}

func TestPlanAcrossProcesses(t *testing.T) {
	t.Parallel()
	h := newHome(t, "")
	work := t.TempDir()
	r := h.runJSON("--demo", "--script", "plan", "--plan", "--dir", work, "Leave a note")
	if r.code != 0 || r.stopReason() != "exit_plan" {
		t.Fatalf("exit %d, stopped because of %q\n%s\n%s", r.code, r.stopReason(), r.err, r.out)
	}
	note := filepath.Join(work, "plan-from-loop.md")
	if r := h.run("answer", "--revise", "Be polite"); r.code != 0 || !strings.Contains(r.out+r.err, "as you said") {
		t.Fatalf("exit %d\n%s\n%s", r.code, r.err, r.out)
	}
	if _, err := os.Stat(note); err == nil {
		t.Error("a plan that was not approved was carried out")
	}
	if r := h.run("answer", "--approve"); r.code != 0 {
		t.Fatalf("exit %d\n%s\n%s", r.code, r.err, r.out)
	}
	if b, err := os.ReadFile(note); err != nil || string(b) != "The plan was approved.\n" {
		t.Errorf("%q %v", b, err)
	}
}

// TestRunSaysWhyItWaits: a prompt to a channel with an open question says at once why
// it waits, and names the command for the answer. It runs after the answer.
func TestRunSaysWhyItWaits(t *testing.T) {
	t.Parallel() // mostly waits
	h := newHome(t, "")
	work := t.TempDir()
	s := h.serve()
	h.ok("run", "--demo", "--script", "ask", "--dir", work, "Greet somebody")
	q := h.questions()[0]
	said := &words{}
	cmd := exec.CommandContext(t.Context(), h.bin, "run", "--demo", "--script", "quick", "--dir", work, "Hello")
	cmd.Env, cmd.SysProcAttr, cmd.Stderr = h.env, h.as, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	const why = "This prompt waits for your answer to the agent's question."
	s.until(q.ChannelID, "a reason", func(timeline) bool {
		return strings.Contains(said.String(), why+" Answer it with: loop answer --question "+q.ID)
	})
	page := s.until(q.ChannelID, "the queue", func(p timeline) bool { return len(p.Queue) == 1 })
	if w := page.Queue[0].WaitsFor; w.Reason != core.WaitQuestion || w.QuestionID != q.ID {
		t.Errorf("the queue says %+v", w)
	}
	r := h.ok("queue", "--dir", work)
	if !strings.Contains(r.out, "after your answer") || !strings.Contains(r.err, "loop answer --question "+q.ID) {
		t.Errorf("loop queue: %s%s", r.out, r.err)
	}
	h.ok("answer", "--question", q.ID, "--decline")
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, said)
	}
	if n := strings.Count(said.String(), why); n != 1 {
		t.Errorf("said %d times: %s", n, said)
	}
}

// TestTooLongInContainer: a conversation is too long, /compact shortens it, and the
// answer comes, all in one container.
func TestTooLongInContainer(t *testing.T) {
	t.Parallel()
	h := newHome(t, "")
	work := t.TempDir()
	if r := h.runJSON("--demo", "--script", "quick", "--dir", work, "Remember the lighthouse"); r.code != 0 {
		t.Fatalf("exit %d\n%s\n%s", r.code, r.err, r.out)
	}
	r := h.runJSON("--demo", "--script", "retry-too-long", "--dir", work, "Go on")
	if r.code != 0 || !strings.Contains(texts(r.events), "this is the answer to “Go on”") {
		t.Fatalf("exit %d\n%s\n%s", r.code, r.err, r.out)
	}
	var kinds []core.AttemptKind
	for _, e := range r.events {
		var a core.Attempt
		if e.Type == core.EventAttempt && json.Unmarshal(e.Data, &a) == nil {
			kinds = append(kinds, a.Kind)
		}
	}
	if !slices.Equal(kinds, []core.AttemptKind{core.AttemptCompact, core.AttemptCompacted}) {
		t.Errorf("attempts %q", kinds)
	}
	if n := len(h.containers()); n != 1 { // the first prompt's, too
		t.Errorf("%d containers", n)
	}
}
