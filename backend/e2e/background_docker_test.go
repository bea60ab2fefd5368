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

const backgroundFile = "loop-demo-background.txt" // what the script's command writes at its end

// kept returns the stored events of one type and run, as text.
func kept(p timeline, run core.RunID, typ core.EventType) (out []string) {
	for _, e := range p.Events {
		if e.RunID == run && e.Type == typ {
			out = append(out, string(e.Data))
		}
	}
	return out
}

// TestBackgroundCommandIsWaitedFor: at its time-out, the CLI moves a command to the
// background and ends its turn. The run ends with the command. This takes longer than
// Loop would wait for a CLI that hangs after its first result.
func TestBackgroundCommandIsWaitedFor(t *testing.T) {
	t.Parallel() // mostly waits
	h := newHome(t, "")
	work := t.TempDir()
	r := h.runJSON("--demo", "--script", "background", "--dir", work, "Take your time")
	if r.code != 0 || r.last["state"] != string(core.RunDone) {
		t.Fatalf("exit %d, %v\n%s\n%s", r.code, r.last["state"], r.err, r.out)
	}
	if b, err := os.ReadFile(filepath.Join(work, backgroundFile)); err != nil || len(b) == 0 {
		t.Errorf("the command did not get to its end: %q %v", b, err)
	}
	if text := texts(r.events); !strings.Contains(text, "goes on in the background") || !strings.Contains(text, "It has ended") {
		t.Errorf("the agent said %q", text)
	}
	waited := false
	for _, e := range r.events {
		var b core.Background
		if e.Type == core.EventBackground && json.Unmarshal(e.Data, &b) == nil && b.Waiting && len(b.Tasks) == 1 {
			waited = strings.HasPrefix(b.Tasks[0].What, "for n in $(seq 20)")
		}
		if e.Type == core.EventNotice && strings.Contains(string(e.Data), "Ended with") {
			t.Errorf("notice: %s", e.Data)
		}
	}
	if !waited {
		t.Error("no event says which command is waited for")
	}
}

// waitsFor starts the script whose command goes on in the background. It returns when
// the run waits for that command only.
func (s *server) waitsFor(ch core.ChannelID) core.RunID {
	s.h.t.Helper()
	run := s.demo(ch, "background")
	s.until(ch, "the run to wait for its background task", func(p timeline) bool {
		list := kept(p, run, core.EventBackground)
		return len(list) > 0 && strings.Contains(list[len(list)-1], `"waiting":true`)
	})
	return run
}

func (s *server) demo(ch core.ChannelID, script string) core.RunID {
	s.h.t.Helper()
	var run core.Run
	s.must("Runs.Prompt", &run, map[string]any{"client_id": core.NewID(), "channel_id": ch, "prompt": "x", "demo": true, "script": script})
	return run.ID
}

// TestStopNamesBackgroundTasks: stopping a run names the background tasks that end with
// it. The answer that was given before stays. Loop was killed and started again in
// between.
func TestStopNamesBackgroundTasks(t *testing.T) {
	t.Parallel() // mostly waits
	h := newHome(t, "")
	s := h.serve()
	work := t.TempDir()
	ch := s.add(work)
	run := s.waitsFor(ch)
	s.kill()
	s = h.serve()
	s.until(ch, "the run to be taken over", func(p timeline) bool {
		return strings.Contains(strings.Join(kept(p, run, core.EventNotice), ""), "re-attached")
	})
	s.must("Runs.Cancel", nil, run)
	p := s.until(ch, "its end", func(p timeline) bool { return ended(p, run) })
	end := outcome(p, run)
	notices := strings.Join(kept(p, run, core.EventNotice), "\n")
	if end.State != core.RunDone || !strings.Contains(end.Result, "goes on in the background") {
		t.Errorf("ended as %s with %q", end.State, end.Result)
	}
	if strings.Count(notices, "Ended with the run: for n in $(seq 20)") != 1 {
		t.Errorf("notices:\n%s", notices)
	}
	if _, err := os.Stat(filepath.Join(work, backgroundFile)); err == nil {
		t.Error("the command went on to its end")
	}
}

// TestStopKeepsWhatWasSaid: the script says half a sentence and hangs. Loop is killed
// and started again, and the run is stopped. The timeline has the half sentence once,
// marked as cut off.
func TestStopKeepsWhatWasSaid(t *testing.T) {
	h := newHome(t, "")
	s := h.serve()
	ch := s.add(t.TempDir())
	events := s.listen()
	run := s.demo(ch, "error-hang")
	said(t, events, core.EventMessageStreaming, "sentence")
	s.kill()
	s = h.serve()
	s.until(ch, "the run to be taken over", func(p timeline) bool {
		return strings.Contains(strings.Join(kept(p, run, core.EventNotice), ""), "re-attached")
	})
	s.must("Runs.Cancel", nil, run)
	p := s.until(ch, "its end", func(p timeline) bool { return ended(p, run) })
	var cut []core.MessageCreated
	for _, data := range kept(p, run, core.EventMessageCreated) {
		var m core.MessageCreated
		if json.Unmarshal([]byte(data), &m) == nil && m.IsBot {
			cut = append(cut, m)
		}
	}
	if len(cut) != 1 || !cut[0].Cut || !strings.HasPrefix(cut[0].Content, "This sentence") {
		t.Errorf("kept: %+v", cut)
	}
	if end := outcome(p, run); end.State != core.RunCancelled {
		t.Errorf("ended as %s", end.State)
	}
}

// TestWhatTheAgentLetGoIsNamed: a run does not wait for a process that the agent
// detached. The process ends with the run and is named. The CLI's own helpers end too,
// unnamed.
func TestWhatTheAgentLetGoIsNamed(t *testing.T) {
	m := newModel(t, "127.0.0.1:0")
	m.command = "nohup sleep 7000 >/dev/null 2>&1 & echo begun > agent.txt"
	h := newHome(t, fmt.Sprintf(`{"anthropic_base_url": "http://127.0.0.1:%s", "anthropic_api_key": "x"}`, m.port))
	r := h.runJSON("--dir", t.TempDir(), "Start it")
	var said []string
	for _, e := range r.events {
		if e.Type == core.EventNotice && strings.Contains(string(e.Data), "Ended with") {
			said = append(said, string(e.Data))
		}
	}
	want := `{"level":"warning","text":"Ended with the run: sleep 7000"}`
	if r.code != 0 || len(said) != 1 || said[0] != want {
		t.Errorf("exit %d, said %q, want %s\n%s", r.code, said, want, r.err)
	}
}
