//go:build docker

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"loop/backend/core"
)

// soon bounds answers of the page's API, which must not wait for an engine. It is less
// than the 30 s after which Loop gives a hanging engine up.
const soon = 25 * time.Second

// stranger is a user id that may not open the engine's socket.
const stranger = 54321

type snapshot struct {
	Engine core.EngineStatus `json:"engine"`
	Image  core.ImageStatus  `json:"image"`
}

func (s *server) add(dir string) core.ChannelID {
	s.h.t.Helper()
	var ch core.Channel
	s.must("Channels.Add", &ch, dir, "")
	return ch.ID
}

func (s *server) prompt(ch core.ChannelID, text string) core.RunID {
	s.h.t.Helper()
	var run core.Run
	s.must("Runs.Prompt", &run, map[string]any{"client_id": core.NewID(), "channel_id": ch, "prompt": text})
	return run.ID
}

// within fails when f takes longer than d.
func within(t testing.TB, d time.Duration, what string, f func()) {
	t.Helper()
	began := time.Now()
	f()
	took := time.Since(began)
	if took > d {
		t.Errorf("%s took %v, more than %v", what, took, d)
	} else if took > d/4 {
		t.Logf("%s took %v", what, took)
	}
}

// engineIs waits until the page shows the engine as available or not.
func (s *server) engineIs(ok bool) core.EngineStatus {
	s.h.t.Helper()
	return s.engineBecomes(ok, func() {})
}

// engineBecomes waits as engineIs does, and calls meanwhile again and again.
func (s *server) engineBecomes(ok bool, meanwhile func()) core.EngineStatus {
	s.h.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		meanwhile()
		var snap snapshot
		within(s.h.t, soon, "System.Snapshot", func() { s.must("System.Snapshot", &snap) })
		if snap.Engine.OK == ok {
			return snap.Engine
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			s.h.t.Fatalf("the engine did not become ok=%v: %+v\n%s", ok, snap.Engine, s.log)
		}
	}
}

// listen returns the events that the page would get, until the test ends.
func (s *server) listen() <-chan core.Event {
	s.h.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	conn, _, err := websocket.Dial(ctx, s.url+"api/ws", &websocket.DialOptions{Subprotocols: []string{"loop", "loop.token." + s.token}})
	if err != nil {
		s.h.t.Fatal(err)
	}
	conn.SetReadLimit(64 << 20)
	out, done := make(chan core.Event, 4096), make(chan struct{})
	go func() {
		defer close(done)
		for {
			_, data, err := conn.Read(ctx)
			if err != nil {
				return
			}
			var batch []core.Event
			if json.Unmarshal(data, &batch) != nil {
				return
			}
			for _, e := range batch {
				select {
				case out <- e:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	s.h.t.Cleanup(func() { cancel(); <-done; _ = conn.CloseNow() })
	return out
}

// said waits for an event that holds text. A test that needs the event while the engine
// is away calls said before the engine is back.
func said(t testing.TB, events <-chan core.Event, typ core.EventType, text string) {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case e := <-events:
			if e.Type == typ && strings.Contains(string(e.Data), text) {
				return
			}
		case <-deadline:
			t.Fatalf("no %s event said %q within %v", typ, text, patience)
		}
	}
}

func outcome(p timeline, run core.RunID) (last core.Status) {
	for _, e := range p.Events {
		var st core.Status
		if e.Type == core.EventStatus && e.RunID == run && json.Unmarshal(e.Data, &st) == nil {
			last = st
		}
	}
	return last
}

// TestEngineRefused: a socket that this user may not open is not reported as missing.
// The engine works as soon as the socket may be opened.
func TestEngineRefused(t *testing.T) {
	t.Parallel() // mostly waits
	p := newEngineProxy(t)
	h := newHome(t, "{"+p.config()+"}")
	if err := os.Chmod(p.path, 0); err != nil {
		t.Fatal(err)
	}
	work := h.giveAway()
	r := h.runJSON("--demo", "--dir", work, "Hello")
	if r.code != 1 || !strings.Contains(r.err, "refuses") || !strings.Contains(r.err, "docker group") && !strings.Contains(r.err, "usermod") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if doc := h.run("doctor", "--json"); doc.code != 1 || !strings.Contains(doc.out, "refuses") || strings.Contains(doc.err, "panic") {
		t.Errorf("exit %d: %s %s", doc.code, doc.out, doc.err)
	}
	s := h.serve()
	if st := s.engineIs(false); st.Failure == nil || st.Failure.Code != core.CodeEngineDenied || st.Failure.Remedy == "" {
		t.Errorf("%+v", st)
	}
	if err := os.Chmod(p.path, 0o666); err != nil {
		t.Fatal(err)
	}
	s.engineIs(true)
	// A later refusal is reported as a refusal too.
	if err := os.Chmod(p.path, 0); err != nil {
		t.Fatal(err)
	}
	// drop also ends a connection that was being opened meanwhile.
	if st := s.engineBecomes(false, p.drop); st.Failure == nil || st.Failure.Code != core.CodeEngineDenied {
		t.Errorf("%+v", st.Failure)
	}
}

// giveAway gives the home and the project folder that it returns to a user who may not
// use the engine. Root may open every socket, so as root the test runs Loop as another
// user.
func (h *home) giveAway() (work string) {
	h.t.Helper()
	check := func(err error) {
		h.t.Helper()
		if err != nil {
			h.t.Fatal(err)
		}
	}
	root, err := os.MkdirTemp("", "loop-e2e-") // t.TempDir is closed to other users
	check(err)
	h.t.Cleanup(func() { _ = os.RemoveAll(root) })
	check(os.Chmod(root, 0o755))
	work, bin, dir := filepath.Join(root, "work"), filepath.Join(root, "loop"), filepath.Join(root, "home")
	check(os.Mkdir(work, 0o755))
	check(os.CopyFS(dir, os.DirFS(h.dir)))
	program, err := os.ReadFile(h.bin)
	check(err)
	check(os.WriteFile(bin, program, 0o755))
	h.dir, h.bin = dir, bin
	h.env = append(h.env, "LOOP_HOME="+dir)
	if os.Getuid() == 0 {
		for _, path := range []string{dir, filepath.Join(dir, "config.json"), work} {
			check(os.Chown(path, stranger, stranger))
		}
		h.env = append(h.env, "HOME="+root, "USER=stranger")
		h.as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: stranger}}
	}
	return work
}

// TestEngineAwayForAWhile: the engine stops answering in the middle of a run and comes
// back. The run finishes, and nothing is lost or said twice.
func TestEngineAwayForAWhile(t *testing.T) {
	t.Parallel() // mostly waits
	t.Run("while the model thinks", func(t *testing.T) {
		p, m := newEngineProxy(t), newModel(t, "127.0.0.1:0")
		m.hold = make(chan struct{})
		h := newHome(t, fmt.Sprintf(`{"anthropic_base_url":"http://127.0.0.1:%s","anthropic_api_key":"k",%s}`, m.port, p.config()))
		s := h.serve()
		ch := s.add(t.TempDir())
		run := s.prompt(ch, "Write the file")
		s.until(ch, "a tool result", func(p timeline) bool { return count(p, core.EventToolResult, run) == 1 })
		events := s.listen()
		p.cut()
		said(t, events, core.EventNotice, "container engine does not answer")
		s.engineIs(false)
		p.restore()
		close(m.hold)
		page := s.until(ch, "the end of the run", func(p timeline) bool { return ended(p, run) })
		if st := outcome(page, run); st.State != core.RunDone {
			t.Errorf("%+v", st)
		}
		for typ, want := range map[core.EventType]int{core.EventToolUse: 1, core.EventToolResult: 1, core.EventMessageCreated: 2} {
			if n := count(page, typ, run); n != want {
				t.Errorf("%d of %s, want %d", n, typ, want)
			}
		}
		s.engineIs(true)
	})
	t.Run("while output flows", func(t *testing.T) {
		const lines = 3000
		p := newEngineProxy(t)
		work := t.TempDir()
		// The program waits for the test at some lines, so that each cut is in the
		// middle of its output.
		script := fmt.Sprintf(`#!/usr/bin/env python3
import json, os, sys, time
for n in range(%d):
    print(json.dumps({"type":"assistant","message":{"id":"m%%d"%%n,"role":"assistant","content":[{"type":"text","text":"<%%d>"%%n+"x"*400}]}}), flush=True)
    while n %% 500 == 250 and not os.path.exists("go%%d"%%n): time.sleep(0.01)
print(json.dumps({"type":"result","subtype":"success","is_error":False,"result":"ok","session_id":"s","num_turns":1}), flush=True)
`, lines)
		bin := filepath.Join(work, "cli.py")
		if err := os.WriteFile(bin, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		h := newHome(t, fmt.Sprintf(`{"claude_bin_path":%q,"anthropic_api_key":"k",%s}`, bin, p.config()))
		s := h.serve()
		ch := s.add(work)
		run := s.prompt(ch, "Talk")
		for n := 250; n < lines; n += 500 {
			s.until(ch, fmt.Sprintf("line %d", n), func(p timeline) bool { return strings.Contains(texts(p.Events), fmt.Sprintf("<%d>", n)) })
			if n%1000 == 250 {
				p.cut()
			} else {
				p.drop()
			}
			if err := os.WriteFile(filepath.Join(work, fmt.Sprintf("go%d", n)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if n%1000 == 250 {
				s.engineIs(false)
				p.restore()
			}
		}
		s.until(ch, "the end of the run", func(p timeline) bool { return ended(p, run) })
		var all []string
		for before := int64(0); ; {
			var page struct {
				Events  []core.Event `json:"events"`
				HasMore bool         `json:"has_more"`
			}
			s.must("Channels.Timeline", &page, ch, before, 500)
			all = append(strings.Split(strings.TrimSpace(texts(page.Events)), "\n"), all...)
			if !page.HasMore {
				break
			}
			before = page.Events[0].ID
		}
		all = slices.DeleteFunc(all, func(s string) bool { return !strings.HasPrefix(s, "<") })
		if len(all) != lines {
			t.Errorf("%d messages, want %d", len(all), lines)
		}
		for n, text := range all {
			if !strings.HasPrefix(text, fmt.Sprintf("<%d>", n)) {
				t.Fatalf("message %d is %.20s", n, text)
			}
		}
	})
}

// TestEngineGone: the engine stops in the middle of a run and does not come back by
// itself. The rest of the app answers, and the person hears of it. A run that is
// stopped meanwhile ends as soon as the engine is back.
func TestEngineGone(t *testing.T) {
	t.Parallel() // mostly waits
	p, m := newEngineProxy(t), newModel(t, "127.0.0.1:0")
	m.hold = make(chan struct{})
	defer close(m.hold)
	h := newHome(t, fmt.Sprintf(`{"anthropic_base_url":"http://127.0.0.1:%s","anthropic_api_key":"k",%s}`, m.port, p.config()))
	s := h.serve()
	ch, other := s.add(t.TempDir()), s.add(t.TempDir())
	run := s.prompt(ch, "Write the file")
	s.until(ch, "a tool result", func(p timeline) bool { return count(p, core.EventToolResult, run) == 1 })
	events := s.listen()
	p.cut()
	said(t, events, core.EventNotice, "container engine does not answer")
	if st := s.engineIs(false); st.Failure == nil || st.Failure.Cause == "" || st.Failure.Remedy == "" {
		t.Errorf("%+v", st.Failure)
	}

	// A run in another channel fails with the reason, and the channel's timeline can be
	// read.
	second := s.prompt(other, "Write the file")
	page := s.until(other, "the other run's end", func(p timeline) bool { return ended(p, second) })
	if st := outcome(page, second); st.State != core.RunFailed || st.Failure == nil ||
		(st.Failure.Code != core.CodeEngineLost && st.Failure.Code != core.CodeNoEngine) || st.Failure.Remedy == "" {
		t.Errorf("%+v %+v", st, st.Failure)
	}

	// Cancel answers only when the end of the run is certain.
	stopped := make(chan error, 1)
	go func() { stopped <- s.call("Runs.Cancel", nil, run) }()
	select {
	case err := <-stopped:
		t.Errorf("Runs.Cancel answered %v without an engine to ask", err)
	case <-time.After(2 * time.Second):
	}
	within(t, soon, "Channels.List", func() { s.must("Channels.List", nil) })
	p.restore()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	page = s.until(ch, "the end", func(p timeline) bool { return ended(p, run) })
	if st := outcome(page, run); st.State != core.RunCancelled {
		t.Errorf("%+v %+v", st, st.Failure)
	}
	h.nothingRuns()

	// And a new run works.
	m.release()
	third := s.prompt(ch, "Write the file")
	page = s.until(ch, "the next run's end", func(p timeline) bool { return ended(p, third) })
	if st := outcome(page, third); st.State != core.RunDone {
		t.Errorf("%+v %+v", st, st.Failure)
	}
}

// TestEngineHangs: an engine that accepts connections and never answers delays only the
// run that needs it.
func TestEngineHangs(t *testing.T) {
	t.Parallel() // mostly waits
	p, m := newEngineProxy(t), newModel(t, "127.0.0.1:0")
	h := newHome(t, fmt.Sprintf(`{"anthropic_base_url":"http://127.0.0.1:%s","anthropic_api_key":"k",%s}`, m.port, p.config()))
	s := h.serve()
	ch := s.add(t.TempDir())
	s.engineIs(true)
	p.suspend()
	if st := s.engineIs(false); st.Failure == nil || st.Failure.Cause == "" || st.Failure.Remedy == "" {
		t.Errorf("%+v", st.Failure)
	}
	within(t, soon, "Channels.Timeline", func() { s.must("Channels.Timeline", nil, ch, 0, 10) })
	within(t, soon, "System.ImageStatus", func() { s.must("System.ImageStatus", nil) })
	p.resume()
	s.engineIs(true)
	run := s.prompt(ch, "Write the file")
	page := s.until(ch, "the run's end", func(p timeline) bool { return ended(p, run) })
	if st := outcome(page, run); st.State != core.RunDone {
		t.Errorf("%+v %+v", st, st.Failure)
	}
	h.nothingRuns() // and the container, which the end of Loop stops, cannot be stopped
	p.suspend()
	within(t, soon, "closing", s.stop)
	p.resume()
}

// TestNoHello: when a container's loop init does not answer, the run ends in time with
// that as the reason, and the container does not stay running. A paused container is
// resumed, since an interrupted start may have paused it.
func TestNoHello(t *testing.T) {
	t.Parallel() // mostly waits
	for _, tc := range []struct {
		name string
		do   []string
		want []string // one of these; none: the run is done
	}{
		// PID 1 ignores signals from its own namespace, but not those of the engine.
		{"init stopped", []string{"kill", "-s", "STOP"}, []string{"loop init did not", "could not start its link process"}}, // the message depends on the engine's speed
		{"container paused", []string{"pause"}, nil},
		{"init killed", []string{"kill"}, []string{"not running"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel() // the test mostly waits
			p, m := newEngineProxy(t), newModel(t, "127.0.0.1:0")
			p.started = func(id core.ContainerID) {
				if out, err := docker(context.Background(), append(tc.do, string(id))...); err != nil {
					t.Errorf("%s %v", out, err)
				}
			}
			h := newHome(t, fmt.Sprintf(`{"anthropic_base_url":"http://127.0.0.1:%s","anthropic_api_key":"k","on_app_exit":"stop",%s}`, m.port, p.config()))
			began := time.Now()
			r := h.runJSON("--dir", t.TempDir(), "Write the file")
			var run core.Run
			b, _ := json.Marshal(r.last)
			if err := json.Unmarshal(b, &run); err != nil {
				t.Fatal(err)
			}
			f := run.Outcome.Failure
			if tc.want == nil {
				if r.code != 0 || run.State != core.RunDone {
					t.Errorf("exit %d, %s %+v\n%s", r.code, run.State, f, r.err)
				}
			} else if r.code != 1 || run.State != core.RunFailed || f == nil || f.Code != core.CodeNoLink || f.Remedy == "" ||
				!strings.Contains(r.err, f.Cause) || !slices.ContainsFunc(tc.want, func(want string) bool { return strings.Contains(f.Cause+f.Detail, want) }) {
				t.Errorf("exit %d, %+v\n%s", r.code, f, r.err)
			}
			t.Logf("%v: %s", time.Since(began).Round(time.Millisecond), strings.TrimSpace(r.err))
			for _, c := range h.containers() {
				if c.State.Running {
					t.Errorf("%s still runs", c.Name)
				}
			}
		})
	}
}
