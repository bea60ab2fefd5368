//go:build docker

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"loop/backend/core"
)

// gated is noting, but the run of number n waits until a file of that number exists.
const gated = `#!/usr/bin/env python3
import json, os, sys, time
fd = os.open("ran", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
os.write(fd, (json.dumps(json.loads(sys.stdin.read())["message"]["content"]) + "\n").encode())
n = os.pread(fd, 1 << 20, 0).count(b"\n")
while not os.path.exists("open-%d" % n):
    time.sleep(0.02)
print(json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": "ok", "session_id": "s", "num_turns": 1}), flush=True)
`

// opens lets the run of number n end.
func opens(t *testing.T, work string, n int) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(work, fmt.Sprint("open-", n)), nil, 0o600); err != nil {
		t.Error(err)
	}
}

// waits lists the prompts in the queue of a folder.
func (h *home) waits(work string) (texts []string) {
	h.t.Helper()
	for _, r := range answers[[]core.Run](h, "queue", "--dir", work, "--json") {
		texts = append(texts, r.Prompt)
	}
	return texts
}

// ok runs a command that must succeed.
func (h *home) ok(args ...string) result {
	h.t.Helper()
	r := h.run(args...)
	if r.code != 0 {
		h.t.Fatalf("%q: exit %d: %s", args, r.code, r.err)
	}
	return r
}

// TestQueueCommand: commands queue and change prompts. First no Loop runs, and none of
// the prompts starts; then a Loop works the queue. Each prompt runs once, with its last
// accepted text. A removed prompt does not run.
func TestQueueCommand(t *testing.T) {
	work := t.TempDir()
	bin := filepath.Join(work, "agent.py")
	if err := os.WriteFile(bin, []byte(gated), 0o755); err != nil {
		t.Fatal(err)
	}
	h := newHome(t, fmt.Sprintf(`{"claude_bin_path":%q,"anthropic_api_key":"k","container_keep_alive_sec":0}`, bin))
	in := []string{"--dir", work}
	queue := func(args ...string) result { t.Helper(); return h.ok(slices.Concat([]string{"queue"}, args, in)...) }

	var ids []string
	for n := range 6 {
		ids = append(ids, string(answers[core.Run](h, "queue", "add", "--json", "--dir", work, fmt.Sprintf("message %d as it was", n)).ID))
	}
	queue("move", ids[5], "first")
	h.in = "message 5 \x1b[31min red"
	queue("edit", "1", "-")
	h.in = ""
	queue("add", "--delay", "30m", "much later")
	if r := queue("remove", "7"); !strings.Contains(r.out, "much later") {
		t.Errorf("what was removed is not told: %s", r.out)
	}
	if r := queue("list"); strings.Contains(r.out, "\x1b") || !strings.Contains(r.out, "␛[31min red") {
		t.Errorf("the list: %q", r.out)
	}
	if got := h.waits(work); len(got) != 6 || got[0] != "message 5 \x1b[31min red" || got[1] != "message 0 as it was" {
		t.Errorf("%q", got)
	}
	if r := h.run("queue", "steer", ids[1]); r.code != 2 || !strings.Contains(r.err, "No Loop is running") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	for _, look := range [][]string{{"channels"}, {"sessions", "--dir", work}, {"answer", "--list"}, {"explain", "--dir", work}, {"ps"}} {
		h.ok(look...)
	}
	if n := len(h.containers()); n != 0 {
		t.Errorf("changing the queue made %d containers", n)
	}

	s := h.serve()
	ch := s.add(work)
	started := func(n int) {
		t.Helper()
		s.until(ch, fmt.Sprint("run ", n), func(timeline) bool {
			text, err := os.ReadFile(filepath.Join(work, "ran"))
			return err == nil && strings.Count(string(text), "\n") >= n
		})
	}
	var before timeline
	s.must("Channels.Timeline", &before, ch, 0, 1000)
	for _, e := range before.Events {
		if e.Type == core.EventNotice && strings.Contains(string(e.Data), "queued again") {
			t.Errorf("a look at the folder began a run: %s", e.Data)
		}
	}
	started(1) // message 5 runs and waits for its file
	if r := h.run("queue", "edit", "--dir", work, ids[5], "too late"); r.code != 2 {
		t.Errorf("a prompt that runs was edited: exit %d %s", r.code, r.err)
	}
	h.editor(work, ids[0], "message 0 as the editor left it")
	queue("remove", ids[4])

	// Every remaining prompt is edited until an edit is refused. Meanwhile another
	// client moves the prompts, and the queue is worked. Each command is a program of
	// its own; with a shorter pause they would take the processor from the runs.
	const pause = 300 * time.Millisecond
	taken := map[string]string{ids[0]: "message 0 as the editor left it"}
	refused := map[string]bool{}
	var mu sync.Mutex
	var clients sync.WaitGroup
	done := make(chan struct{})
	for n := 1; n < 4; n++ {
		clients.Go(func() {
			tick := time.NewTicker(pause)
			defer tick.Stop()
			for round := 0; ; round++ {
				<-tick.C
				text := fmt.Sprintf("message %d in round %d", n, round)
				r := h.run("queue", "edit", "--channel", string(ch), ids[n], text)
				mu.Lock()
				if r.code == 0 {
					taken[ids[n]] = text
				} else {
					refused[text] = true
				}
				mu.Unlock()
				if r.code != 0 {
					if r.code > 2 || !strings.Contains(r.err, "started") {
						t.Errorf("exit %d: %s", r.code, r.err)
					}
					return
				}
			}
		})
	}
	var movers sync.WaitGroup
	movers.Go(func() {
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for round := 0; ; round++ {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			// A move is refused of a prompt that has started, and of a queue that has
			// changed since the command read it.
			r := h.run("queue", "move", "--channel", string(ch), ids[1+round%3], []string{"first", "last", "up"}[round%3])
			refused := strings.Contains(r.err, "started") || strings.Contains(r.err, "changed meanwhile")
			if r.code > 2 || r.code != 0 && !refused {
				t.Errorf("exit %d: %s", r.code, r.err)
			}
		}
	})
	for n := 1; n <= 5; n++ {
		started(n)
		opens(t, work, n)
	}
	clients.Wait()
	close(done)
	movers.Wait()
	s.until(ch, "the end of every message", func(p timeline) bool {
		return len(p.Queue) == 0 && !slices.ContainsFunc(ids, func(id string) bool { return !ended(p, core.RunID(id)) })
	})
	got, want := ran(t, work), []string{"message 5 \x1b[31min red"}
	for n := range 4 {
		text := taken[ids[n]]
		if text == "" {
			text = fmt.Sprintf("message %d as it was", n)
		}
		want = append(want, text)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("ran %q, want %q", got, want)
	}
	for _, text := range got {
		if refused[text] {
			t.Errorf("%q was refused and ran", text)
		}
	}
	if r := h.ok("queue", "--dir", work); r.out != "Nothing waits.\n" {
		t.Errorf("%q", r.out)
	}
}

// editor edits a prompt in an editor in a terminal. The prompt is held while the editor
// is open.
func (h *home) editor(work, id, text string) {
	h.t.Helper()
	dir := h.t.TempDir()
	script := filepath.Join(dir, "editor")
	body := fmt.Sprintf("#!/bin/sh\n: > '%s/opened'\nwhile [ ! -e '%s/go' ]; do sleep 0.05; done\nprintf %%s '%s' > \"$1\"\n", dir, dir, text)
	if err := os.WriteFile(script, []byte(body), 0o755); err != nil {
		h.t.Fatal(err)
	}
	env := h.env
	h.env = append(slices.Clone(env), "EDITOR='"+script+"'", "VISUAL=")
	p := newPane(h.t, 100, 30)
	p.start(h, work, "queue", "edit", id[:8])
	h.env = env
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(filepath.Join(dir, "opened")); err == nil {
			break
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			h.t.Fatal("the editor was not opened")
		}
	}
	if r := h.ok("queue", "--dir", work); !strings.Contains(r.out, "held until") {
		h.t.Errorf("nothing is held while it is edited:\n%s", r.out)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		h.t.Fatal(err)
	}
	if code := p.code(); code != 0 {
		h.t.Errorf("the edit ended with %d: %s", code, p.text())
	}
}
