//go:build claude

package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"loop/agentimage/guest/mcp"
	"loop/backend/core"
	"loop/backend/demo"
	"loop/backend/provision"
)

// hostChild has this binary run a Loop that is killed, with that prompt.
const hostChild = "LOOP_TEST_HOST_PROMPT"

func init() {
	if len(os.Args) > 1 && os.Args[1] == "mcp" { // this binary is Loop's program here
		os.Exit(mcp.Main(context.Background(), os.Args[2:], "test"))
	}
	if prompt := os.Getenv(hostChild); prompt != "" {
		d, err := OpenLocal(context.Background(), Options{Frontend: fstest.MapFS{}})
		if err == nil {
			_, err = d.runner.Prompt(context.Background(), core.Run{ID: "r1", ChannelID: "a", Prompt: prompt})
		}
		fmt.Println("prompted", err)
		select {}
	}
}

// hostScripts are played by the model of these tests. The gates are files of the project.
var hostScripts = map[string]string{
	"waits": `{"title": "Waits", "description": "Waits for a file.", "steps": [
		{"blocks": [{"type": "text", "text": "Before the crash."}, {"type": "tool_use", "tool": "Bash", "input": {"description": "Wait", "command": "echo $$ > began; while [ ! -e go ]; do sleep 0.05; done; echo went on"}}]},
		{"blocks": [{"type": "text", "text": "After the crash."}]}]}`,
	"calls": `{"title": "Calls", "description": "Calls Loop.", "steps": [
		{"blocks": [{"type": "tool_use", "tool": "mcp__loop__send_message", "input": {"content": "From the tool."}}, {"type": "tool_use", "tool": "Bash", "input": {"description": "Look", "command": "echo here=$PWD; env > env.txt"}}]},
		{"blocks": [{"type": "text", "text": "Called."}]}]}`,
}

// hostRig is a Loop on a folder of its own, with no engine and a model of the test's.
type hostRig struct {
	t       *testing.T
	home    string
	project string
	d       *Daemon
}

// hostPatience bounds every wait.
const hostPatience = 3 * time.Minute

func newHostRig(t *testing.T, script string, more string) *hostRig {
	t.Helper()
	claude := os.Getenv("LOOP_CLAUDE_BIN")
	if claude == "" {
		t.Fatal("LOOP_CLAUDE_BIN does not name the agent CLI, or leave out the build tag claude")
	}
	scripts := fstest.MapFS{}
	for name, text := range hostScripts {
		scripts[name+".json"] = &fstest.MapFile{Data: []byte(text)}
	}
	lib, err := demo.LoadDir(scripts)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range demo.Builtin() {
		lib[name] = s
	}
	model := httptest.NewServer(demo.New(demo.Options{Library: lib, Pace: demo.Instant}))
	t.Cleanup(model.Close)
	r := &hostRig{t: t, home: t.TempDir(), project: filepath.Join(t.TempDir(), "my project")}
	if more == "" {
		more = fmt.Sprintf(`"claude_bin_path": %q`, claude)
	}
	text := fmt.Sprintf(`{"anthropic_base_url": %q, "claude_model": "demo-%s",
		"agents": {"defaults": {"sandbox": {"mode": "off"}}}, %s}`, model.URL, script, more)
	if err := os.WriteFile(filepath.Join(r.home, "config.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(r.project, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LOOP_HOME", r.home)
	t.Setenv("LOOP_KEYRING", "file")
	t.Setenv("DOCKER_HOST", "unix://"+filepath.Join(t.TempDir(), "none.sock"))
	r.open()
	if err := r.d.store.AddChannel(t.Context(), core.Channel{ID: "a", Kind: core.KindProject, Name: "a", Dir: r.project, CreatedAt: time.Now()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.close() })
	return r
}

func (r *hostRig) open() {
	r.t.Helper()
	var err error
	if r.d, err = OpenLocal(r.t.Context(), Options{Frontend: fstest.MapFS{}}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *hostRig) close() {
	r.t.Helper()
	if r.d == nil {
		return
	}
	if err := r.d.Close(); err != nil {
		r.t.Error(err)
	}
	r.d = nil
}

func (r *hostRig) when(what string, is func() bool) {
	r.t.Helper()
	limit, tick := time.After(hostPatience), time.NewTicker(10*time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-limit:
			r.t.Fatalf("%s did not happen", what)
		}
	}
}

func (r *hostRig) prompt(run core.Run) core.RunID {
	r.t.Helper()
	run.ChannelID = "a"
	got, err := r.d.runner.Prompt(r.t.Context(), run)
	if err != nil {
		r.t.Fatal(err)
	}
	return got.ID
}

// ended waits for a run's end, and for what is cleaned up after it.
func (r *hostRig) ended(id core.RunID) (run core.Run) {
	r.t.Helper()
	r.when("the run's end", func() bool {
		var err error
		run, err = r.d.store.Run(r.t.Context(), id)
		return err == nil && run.State.Terminal()
	})
	r.when("the end of what was begun", func() bool {
		left, _ := os.ReadDir(filepath.Join(r.home, "run", "host"))
		return len(left) == 0
	})
	return run
}

// timeline is the agent's words, and the notices, each with its level.
func (r *hostRig) timeline(id core.RunID) (said, notices []string) {
	r.t.Helper()
	evs, err := r.d.store.RunEvents(r.t.Context(), id, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, e := range evs {
		var m core.MessageCreated
		var n core.Notice
		switch {
		case e.Type == core.EventMessageCreated && json.Unmarshal(e.Data, &m) == nil && m.IsBot:
			said = append(said, m.Content)
		case e.Type == core.EventNotice && json.Unmarshal(e.Data, &n) == nil:
			notices = append(notices, n.Level+": "+n.Text)
		}
	}
	return said, notices
}

// done checks a run that went well, and that it said first what does not hold.
func (r *hostRig) done(id core.RunID, words ...string) {
	r.t.Helper()
	run := r.ended(id)
	said, notices := r.timeline(id)
	if run.State != core.RunDone || !run.ContainerID.OnHost() || !slices.Equal(said, words) {
		r.t.Fatalf("%s in %s, said %q, %q: %+v", run.State, run.ContainerID, said, notices, run.Outcome.Failure)
	}
	if len(notices) == 0 || notices[0] != "warning: "+provision.HostNotice {
		r.t.Errorf("notices %q", notices)
	}
}

// marked lists processes that carry a run's marker, which nobody else has.
func (r *hostRig) marked() (pids []string) {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environs {
		b, err := os.ReadFile(path)
		if err == nil && strings.Contains("\x00"+string(b), "\x00CLAUDE_CONFIG_DIR="+r.home) {
			pids = append(pids, path)
		}
	}
	return pids
}

// TestRunOnHost: without any engine the CLI works here, in the project's folder, with
// Loop's tools; the next run goes on with its conversation, and nothing stays behind.
func TestRunOnHost(t *testing.T) {
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9") // of the person's shell: Loop's settings count
	r := newHostRig(t, "calls", "")
	first := r.prompt(core.Run{Prompt: "call"})
	r.done(first, "From the tool.", "Called.")
	env, err := os.ReadFile(filepath.Join(r.project, "env.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"LOOP_API_TOKEN=", "LOOP_HOME=", "LOOP_KEYRING="} {
		if strings.Contains("\n"+string(env), "\n"+name) {
			t.Errorf("the agent's programs have %s", name)
		}
	}
	if !strings.Contains(string(env), "CHANNEL_ID=a\n") {
		t.Errorf("%s", env)
	}
	second := r.prompt(core.Run{Prompt: "again"})
	r.done(second, "From the tool.", "Called.")
	a, b := r.ended(first), r.ended(second)
	if a.Outcome.SessionID == "" || a.Outcome.SessionID != b.Outcome.SessionID {
		t.Errorf("sessions %q and %q", a.Outcome.SessionID, b.Outcome.SessionID)
	}
	if left, _ := os.ReadDir(filepath.Join(r.home, "channels", "a", "spool")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	if pids := r.marked(); len(pids) > 0 {
		t.Errorf("left %v", pids)
	}
}

// TestDemoOnHost gets its model from Loop's listener, by the run's token.
func TestDemoOnHost(t *testing.T) {
	r := newHostRig(t, "quick", "")
	id := r.prompt(core.Run{Prompt: "hello", Demo: true, Script: "quick"})
	run := r.ended(id)
	if run.State != core.RunDone || !strings.Contains(run.Outcome.Text, "hello") {
		_, notices := r.timeline(id)
		t.Fatalf("%s %q %q: %+v", run.State, run.Outcome.Text, notices, run.Outcome.Failure)
	}
}

// TestStopOnHost ends the CLI with the command that it runs; a prompt that interrupts goes
// on with the conversation.
func TestStopOnHost(t *testing.T) {
	r := newHostRig(t, "waits", "")
	began := func() bool { _, err := os.Stat(filepath.Join(r.project, "began")); return err == nil }
	id := r.prompt(core.Run{Prompt: "wait"})
	r.when("the command", began)
	if err := r.d.runner.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if run := r.ended(id); run.State != core.RunCancelled {
		t.Errorf("%s: %+v", run.State, run.Outcome.Failure)
	}
	if pids := r.marked(); len(pids) > 0 {
		t.Errorf("left %v", pids)
	}
	_ = os.Remove(filepath.Join(r.project, "began"))
	id = r.prompt(core.Run{Prompt: "wait again"})
	r.when("the command", began)
	next, err := r.d.runner.Interrupt(t.Context(), core.Run{ChannelID: "a", Prompt: "now this"})
	if err != nil {
		t.Fatal(err)
	}
	r.when("the end of the run before", func() bool {
		run, err := r.d.store.Run(t.Context(), id)
		return err == nil && run.State == core.RunCancelled
	})
	if err := os.WriteFile(filepath.Join(r.project, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if run := r.ended(next.ID); run.State != core.RunDone {
		t.Errorf("%s: %+v", run.State, run.Outcome.Failure)
	}
}

// crash runs a prompt in a Loop that is killed once the agent's command runs.
func (r *hostRig) crash() {
	r.t.Helper()
	r.close()
	self, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), hostChild+"=wait")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "prompted <nil>\n" {
		r.t.Fatalf("%q, %v", line, err)
	}
	r.when("the command", func() bool { _, err := os.Stat(filepath.Join(r.project, "began")); return err == nil })
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		r.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait() // it was killed
}

// TestCrashOnHost: the CLI goes on while no Loop runs, and the next takes the run over,
// whether it still runs or has ended meanwhile. Nothing is lost, and nothing told twice.
func TestCrashOnHost(t *testing.T) {
	for name, meanwhile := range map[string]bool{"still runs": false, "ended meanwhile": true} {
		t.Run(name, func(t *testing.T) {
			r := newHostRig(t, "waits", "")
			r.crash()
			goOn := func() {
				if err := os.WriteFile(filepath.Join(r.project, "go"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if meanwhile {
				goOn()
				r.when("the end of the CLI", func() bool { return len(r.marked()) == 0 })
			}
			r.open()
			if !meanwhile {
				r.when("that it is taken over", func() bool {
					_, notices := r.timeline("r1")
					return slices.ContainsFunc(notices, func(n string) bool { return strings.Contains(n, "has re-attached") })
				})
				goOn()
			}
			r.done("r1", "Before the crash.", "After the crash.")
		})
	}
}

// TestStopAfterCrashOnHost: a run that was taken over can be stopped with its tree.
func TestStopAfterCrashOnHost(t *testing.T) {
	r := newHostRig(t, "waits", "")
	r.crash()
	if len(r.marked()) == 0 {
		t.Fatal("nothing goes on")
	}
	r.open()
	if err := r.d.runner.Cancel(t.Context(), "r1"); err != nil {
		t.Fatal(err)
	}
	if run := r.ended("r1"); run.State != core.RunCancelled {
		t.Errorf("%s: %+v", run.State, run.Outcome.Failure)
	}
	if pids := r.marked(); len(pids) > 0 {
		t.Errorf("left %v", pids)
	}
}

// TestBadProgramOnHost: one that is missing is said with how to get it; one that fails
// shows what it said.
func TestBadProgramOnHost(t *testing.T) {
	r := newHostRig(t, "quick", `"claude_bin_path": "no-such-claude"`)
	run := r.ended(r.prompt(core.Run{Prompt: "hello"}))
	if f := run.Outcome.Failure; run.State != core.RunFailed || f.Code != core.CodeNotFound || !strings.Contains(f.Remedy, "npm install -g @anthropic-ai/claude-code") {
		t.Errorf("%s: %+v", run.State, run.Outcome.Failure)
	}
	bad := filepath.Join(t.TempDir(), "claude")
	if err := os.WriteFile(bad, []byte("#!/bin/sh\necho it is broken >&2\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r = newHostRig(t, "quick", fmt.Sprintf(`"claude_bin_path": %q`, bad))
	run = r.ended(r.prompt(core.Run{Prompt: "hello"}))
	if f := run.Outcome.Failure; run.State != core.RunFailed || f.Code != core.CodeNoResult || !strings.Contains(f.Detail, "it is broken") {
		t.Errorf("%s: %+v", run.State, run.Outcome.Failure)
	}
}

// TestAgentsStartNothingOnHost: what an agent started, or that continues in its name, needs
// a container, which cannot be had here.
func TestAgentsStartNothingOnHost(t *testing.T) {
	r := newHostRig(t, "quick", "")
	for name, run := range map[string]core.Run{
		"queued": {Prompt: "x", Trigger: "agent", AuthorID: core.AuthorAgent + "r0"}, "repeated": {Prompt: "x", AuthorID: core.AuthorAgent + "r0"},
		"answered": {Prompt: "x", Trigger: "answer", AuthorID: core.AuthorAgent + "r0"},
	} {
		got := r.ended(r.prompt(run))
		if got.State != core.RunFailed || got.ContainerID.OnHost() || got.Outcome.Failure.Code != core.CodeNoEngine {
			t.Errorf("%s: %s in %q: %+v", name, got.State, got.ContainerID, got.Outcome.Failure)
		}
	}
}

// TestStateOfContainersOnHost: what an agent in a container may have left in the channel's
// state for the CLI to start, is not started here.
func TestStateOfContainersOnHost(t *testing.T) {
	r := newHostRig(t, "quick", "")
	claude := filepath.Join(r.home, "channels", "a", "claude")
	planted := func(name string) string { return "touch " + filepath.Join(r.project, name) }
	settings, _ := json.Marshal(map[string]any{
		"env":          map[string]string{"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"},
		"apiKeyHelper": planted("helper"),
		"hooks":        map[string]any{"SessionStart": []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": planted("hook")}}}}},
	})
	servers, _ := json.Marshal(map[string]any{"mcpServers": map[string]any{"x": map[string]any{"command": "sh", "args": []string{"-c", planted("server")}}}})
	if err := os.MkdirAll(claude, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"settings.json": settings, ".claude.json": servers} {
		if err := os.WriteFile(filepath.Join(claude, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := r.ended(r.prompt(core.Run{Prompt: "hello"}))
	if run.State != core.RunDone {
		t.Errorf("%s: %+v", run.State, run.Outcome.Failure)
	}
	if made, _ := os.ReadDir(r.project); len(made) > 0 {
		t.Errorf("started: %v", made)
	}
}

// TestPlanOnHost plans by the CLI's own manners, and says so.
func TestPlanOnHost(t *testing.T) {
	r := newHostRig(t, "plan", "")
	id := r.prompt(core.Run{Prompt: "plan", Plan: true})
	run := r.ended(id)
	_, notices := r.timeline(id)
	if run.State != core.RunDone || run.Outcome.StopReason != "exit_plan" || len(notices) < 2 || !strings.Contains(notices[1], "only the agent's own plan mode") {
		t.Errorf("%s %q, %q: %+v", run.State, run.Outcome.StopReason, notices, run.Outcome.Failure)
	}
}
