//go:build docker

package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

// conversations are the transcripts that the agent has written, with their sizes.
func conversations(t *testing.T, d *Daemon, ch core.ChannelID) map[string]int64 {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(d.home, "channels", string(ch), "claude", "projects", "*", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(f), ".jsonl")] = info.Size()
	}
	return out
}

// TestOpenModesOfTheRealAgent: the typed command makes the real CLI resume the
// conversation that the mode names.
func TestOpenModesOfTheRealAgent(t *testing.T) {
	d, _ := started(t)
	ch, err := d.bound.channels.Demo()
	if err != nil {
		t.Fatal(err)
	}
	open := func(mode core.OpenMode) (core.TerminalInfo, *screenText) {
		t.Helper()
		i, err := d.terminals.Create(t.Context(), core.TerminalSpec{ChannelID: ch.ID, OpenMode: mode, Cols: 160, Rows: 40})
		if err != nil {
			t.Fatal(err)
		}
		v, err := d.terminals.Attach(t.Context(), i.ID, core.TerminalAttach{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(v.Close)
		s := &screenText{v: v}
		s.until(t, "for agents")
		return i, s
	}
	say := func(i core.TerminalInfo, s *screenText) {
		t.Helper()
		s.seen.Reset()
		if err := d.terminals.Input(t.Context(), i.ID, []byte("hello there\r")); err != nil {
			t.Fatal(err)
		}
		s.until(t, "real") // the scripted model's answer
	}
	in := func(i core.TerminalInfo, user, script string) string {
		t.Helper()
		out, err := exec.Command("docker", "exec", "-u", user, string(i.ContainerID), "sh", "-c", script).CombinedOutput()
		if err != nil {
			t.Fatalf("%v %s", err, out)
		}
		return string(out)
	}

	i, s := open(core.OpenLegacy)
	if strings.Contains(s.seen.String(), "--resume") {
		t.Error("a channel without a conversation resumed one")
	}
	say(i, s)
	await(t, "a transcript", func() bool { return len(conversations(t, d, ch.ID)) == 1 })
	var first string
	for id := range conversations(t, d, ch.ID) {
		first = id
	}
	if got := in(i, "0", "stat -c %a /run/loop/runs/"+string(i.ID)+"; ls /run/loop/runs/"+string(i.ID)); !strings.HasPrefix(got, "700\n") || strings.Contains(got, "key") {
		t.Errorf("%q", got)
	}
	if err := d.terminals.CloseSession(t.Context(), i.ID); err != nil {
		t.Fatal(err)
	}
	if got := in(i, "0", "ls /run/loop/runs"); got != "" {
		t.Errorf("left: %q", got)
	}
	if err := d.store.SetChannelSession(t.Context(), ch.ID, true, core.SessionID(first)); err != nil {
		t.Fatal(err)
	}

	i, s = open(core.OpenFork)
	s.until(t, "hello there")
	before := conversations(t, d, ch.ID)[first]
	say(i, s)
	await(t, "a copy", func() bool { return len(conversations(t, d, ch.ID)) == 2 })
	if after := conversations(t, d, ch.ID)[first]; after != before {
		t.Errorf("a copy was written into the conversation it is of: %d, %d", before, after)
	}
	if err := d.terminals.CloseSession(t.Context(), i.ID); err != nil {
		t.Fatal(err)
	}

	i, s = open(core.OpenFresh)
	if text := s.seen.String(); strings.Contains(text, "hello there") || strings.Contains(text, "--resume") {
		t.Errorf("%q", text)
	}
	if err := d.terminals.CloseSession(t.Context(), i.ID); err != nil {
		t.Fatal(err)
	}

	i, s = open(core.OpenResume)
	s.until(t, "hello there")
	say(i, s)
	await(t, "growth", func() bool { return conversations(t, d, ch.ID)[first] > before })
	if all := conversations(t, d, ch.ID); len(all) != 2 {
		t.Errorf("%v", all)
	}
	// The container is restarted before anything else is said.
	before = conversations(t, d, ch.ID)[first]
	docker(t, "restart", "-t", "1", string(i.ContainerID))
	s.past(t, "--continue")
	s.until(t, "hello there")
	await(t, "the session to run", func() bool {
		return slices.ContainsFunc(d.terminals.List(ch.ID), func(x core.TerminalInfo) bool { return x.ID == i.ID && x.State == core.TerminalRunning })
	})

	// This container has no conversation to resume.
	if err := d.terminals.Kill(t.Context(), ch.ID); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(d.home, "channels", string(ch.ID), "claude", "projects")); err != nil {
		t.Fatal(err)
	}
	i, s = open(core.OpenFresh)
	s.seen.Reset()
	docker(t, "restart", "-t", "1", string(i.ContainerID))
	s.past(t, "--dangerously-skip-permissions")
	s.until(t, "for agents")
	if strings.Contains(s.seen.String(), "No conversation") {
		t.Errorf("%q", s.seen.String())
	}
}
