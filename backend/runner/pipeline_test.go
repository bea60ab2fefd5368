package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

var storedKinds = []core.EventType{core.EventMessageCreated, core.EventThinking, core.EventToolUse, core.EventToolResult, core.EventActivity, core.EventRaw}

func TestPromptBecomesATimeline(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, plays(recording(t, "tools"), 0))
		r.why = core.Explanation{Skipped: []core.SkippedMount{{Text: "/gone:/gone", Reason: "it does not exist"}}, AddDirs: []string{"/extra"}}
		r.launch.DisallowedTools = []string{"A", "B"}
		r.launch.Model = "opus"
		r.start()
		defer r.quit()
		run := r.prompt("c", "Do the tools thing")
		if run.State != core.RunQueued || len(r.told(run.ID, core.EventMessageCreated)) != 1 {
			t.Fatalf("prompt is not stored when Prompt returns: %+v", run)
		}
		run = r.ended(run.ID, time.Minute)
		if run.State != core.RunDone || run.Outcome.Failure != nil || run.Outcome.Text != "All done." || run.Outcome.NumTurns != 8 || run.Outcome.CostUSD != 0.007 {
			t.Errorf("outcome %+v", run)
		}
		if got := fmt.Sprint(r.told(run.ID, core.EventStatus)); got != "[starting image starting container starting link starting agent running done]" {
			t.Errorf("steps %s", got)
		}
		if n := len(r.told(run.ID, core.EventToolUse)); n != 7 || len(r.told(run.ID, core.EventToolResult)) != 7 {
			t.Errorf("%d tool calls", n)
		}
		if got := r.told(run.ID, core.EventMessageCreated); len(got) != 3 || !strings.Contains(got[2], "All done.") {
			t.Errorf("messages %v", got)
		}
		if n := r.told(run.ID, core.EventNotice); len(n) != 1 || !strings.Contains(n[0], "Not in the container: /gone:/gone.") {
			t.Errorf("notices %v", n)
		}
		if c, _ := r.store.Channel(context.Background(), "c"); c.SessionID != run.Outcome.SessionID || c.SessionID == "" {
			t.Errorf("session %q of %q", c.SessionID, run.Outcome.SessionID)
		}
		if got := fmt.Sprint(r.boxes.calls); got != "[start box1 spawn in box1 forget release box1 for 5m0s stop box1]" {
			t.Errorf("calls %s", got)
		}
		if r.published(core.EventMessageStreaming) == 0 {
			t.Error("nothing was streamed")
		}
		if r.s.Live("c") != nil {
			t.Error("a live message is left")
		}
	})
}

func TestEndIsToldAfterTheContainerIsStopped(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, plays(goodResult, 0))
		bad := false
		publish := r.ports.Publish
		r.ports.Publish = func(evs ...core.Event) {
			for _, e := range evs {
				var st core.Status
				if e.Type == core.EventStatus && json.Unmarshal(e.Data, &st) == nil && st.State.Terminal() {
					bad = bad || r.boxes.all[0].running || r.boxes.all[0].after < 0
				}
			}
			publish(evs...)
		}
		r.start()
		defer r.quit()
		r.ended(r.prompt("c", "x").ID, time.Minute)
		if bad {
			t.Error("the end was told while the container ran")
		}
	})
}

func TestHowTheCLIIsStarted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		got := make(chan core.SpawnRequest, 1)
		r := newRig(t, func(p *proc) { got <- p.req; plays(goodResult, 0)(p) })
		r.why.AddDirs = []string{"/extra one"}
		r.launch = Launch{Model: "opus", Effort: "high", DisallowedTools: []string{"A", "B"}, OAuthToken: "tok", APIKey: "key",
			Upstream: core.ModelUpstream{BaseURL: "http://127.0.0.1:9"}, Env: []core.EnvVar{{Name: "DISABLE_AUTOUPDATER", Value: "0"}},
			MCPServers: map[string]MCPServer{"mine": {Command: "m"}}}
		r.store.channels["c"].SessionID = "old"
		r.start()
		defer r.quit()
		run, err := r.s.Prompt(context.Background(), core.Run{ID: "run1", ChannelID: "c", Prompt: "say 'hi'; $(x)", AuthorID: "me"})
		if err != nil {
			t.Fatal(err)
		}
		r.ended(run.ID, time.Minute)
		req := <-got
		want := "claude --mcp-config /run/loop/runs/" + string(req.ID) + "/mcp.json --model opus --effort high --dangerously-skip-permissions --resume old --add-dir /extra one --disallowedTools A,B --permission-prompt-tool mcp__loop__permission_prompt --print --verbose --include-partial-messages --input-format stream-json --output-format stream-json"
		if a := strings.Join(req.Argv, " "); a != want {
			t.Errorf("argv\n%s\nwant\n%s", a, want)
		}
		if prompt(req.Stdin) != "say 'hi'; $(x)" || req.Dir != "/repo" || req.Keep != core.KeepSpool || req.Stdio != core.StdioPipes {
			t.Errorf("request %+v", req)
		}
		env := map[string]string{}
		for _, e := range req.Env {
			env[e.Name] = e.Value
			if strings.Contains(e.Value, "tok") != e.Secret {
				t.Errorf("%s: secret is %v", e.Name, e.Secret)
			}
		}
		for name, value := range map[string]string{"CLAUDE_CODE_OAUTH_TOKEN": "tok", "ANTHROPIC_BASE_URL": "http://127.0.0.1:8222/runs/" + string(req.ID) + "/model", "IS_SANDBOX": "1", "DISABLE_AUTOUPDATER": "0"} {
			if env[name] != value {
				t.Errorf("%s=%q, want %q", name, env[name], value)
			}
		}
		if _, both := env["ANTHROPIC_API_KEY"]; both {
			t.Error("both credentials are set")
		}
		var mcp struct {
			MCPServers map[string]MCPServer `json:"mcpServers"`
		}
		if err := json.Unmarshal(req.Files[0].Data, &mcp); err != nil || mcp.MCPServers["mine"].Command != "m" ||
			fmt.Sprint(mcp.MCPServers["loop"]) != "{/opt/loop/bin/loop [mcp --channel-id c --api-url http://127.0.0.1:8222 --author-id me --dir /repo] map[]}" {
			t.Errorf("mcp %s %v", req.Files[0].Data, err)
		}
		if who := r.boxes.all[0].was[req.ID]; who.RunID != "run1" || who.ChannelID != "c" || who.Upstream.BaseURL != "http://127.0.0.1:9" {
			t.Errorf("identity %+v", who)
		}
		if left := r.boxes.all[0].admitted; len(left) > 0 {
			t.Errorf("the run has ended and %v may still ask", left)
		}
	})
}

func TestDemoGetsNoRealKey(t *testing.T) {
	env := fmt.Sprint(runModel(Launch{OAuthToken: "tok", APIKey: "sk-own", BaseURL: "http://real"}, core.Run{ID: "r", SpawnID: "s1", Demo: true}))
	if strings.Contains(env, "tok") || strings.Contains(env, "sk-own") || strings.Contains(env, "real") || !strings.Contains(env, "/runs/s1/model") {
		t.Errorf("demo environment %s", env)
	}
}

// TestDockerConfigIsBesideTheRunsFiles, and nowhere else, because it may hold a login.
func TestDockerConfigIsBesideTheRunsFiles(t *testing.T) {
	run := core.Run{ID: "r", SpawnID: "s1"}
	l := Launch{DockerConfig: []byte(`{"proxies":{}}`)}
	list := files(l, []byte("{}"))
	if len(list) != 2 || list[0].Name != mcpFile || list[1].Name != "config.json" || string(list[1].Data) != `{"proxies":{}}` {
		t.Errorf("%+v", list)
	}
	if env := fmt.Sprint(environ(l, run.SpawnID, nil)); !strings.Contains(env, "{DOCKER_CONFIG /run/loop/runs/s1 ") || strings.Contains(env, "proxies") {
		t.Errorf("environment %s", env)
	}
	if env := fmt.Sprint(environ(Launch{}, run.SpawnID, nil)); len(files(Launch{}, nil)) != 1 || strings.Contains(env, "DOCKER_CONFIG") {
		t.Errorf("without one: %s", env)
	}
}

func TestSessionIsResumedUnlessProvenAbsent(t *testing.T) {
	for _, tc := range []struct{ exists, known, resume bool }{{true, true, true}, {false, false, true}, {false, true, false}} {
		inBubble(t, func(t *testing.T) {
			got := make(chan core.SpawnRequest, 1)
			r := newRig(t, func(p *proc) { got <- p.req; plays(goodResult, 0)(p) })
			r.store.channels["c"].SessionID = "old"
			r.ports.Sessions = func(_ core.Channel, dir string, id core.SessionID) (bool, bool) {
				if dir != "/repo" || id != "old" {
					t.Errorf("asked for %s in %s", id, dir)
				}
				return tc.exists, tc.known
			}
			r.start()
			defer r.quit()
			run := r.ended(r.prompt("c", "x").ID, time.Minute)
			if has := slices.Contains((<-got).Argv, "--resume"); has != tc.resume {
				t.Errorf("exists %v, known %v: resumed %v", tc.exists, tc.known, has)
			}
			if n := len(r.told(run.ID, core.EventNotice)); (n == 1) == tc.resume {
				t.Errorf("%d notices", n)
			}
		})
	}
}

func TestLostSessionIsDropped(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, plays(recording(t, "error-no-conversation"), 1))
		r.store.channels["c"].SessionID = "old"
		r.start()
		defer r.quit()
		run := r.ended(r.prompt("c", "x").ID, time.Minute)
		if run.State != core.RunFailed || !strings.Contains(run.Outcome.Failure.Cause, "earlier conversation") {
			t.Errorf("%+v", run.Outcome.Failure)
		}
		if s := r.store.channels["c"].SessionID; s != "" {
			t.Errorf("session %q is kept", s)
		}
	})
}

func TestOneRunPerChannelManyChannels(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var order []string
		running, most := 0, 0
		r := newRig(t, nil)
		r.boxes.cli = func(p *proc) {
			r.mu.Lock()
			running++
			most = max(most, running)
			order = append(order, p.prompt())
			r.mu.Unlock()
			<-time.After(time.Second)
			r.mu.Lock()
			running--
			r.mu.Unlock()
			p.print(goodResult)
			p.end(0)
		}
		r.start()
		defer r.quit()
		var last core.Run
		for i := range 3 {
			r.prompt("c", fmt.Sprint("c", i))
			last = r.prompt("d", fmt.Sprint("d", i))
		}
		r.ended(last.ID, time.Minute)
		r.pass(2 * time.Second)
		if most != 2 {
			t.Errorf("%d ran at once, want one of each channel", most)
		}
		var c, d []string
		for _, o := range order {
			if o[0] == 'c' {
				c = append(c, o)
			} else {
				d = append(d, o)
			}
		}
		if fmt.Sprint(c, d) != "[c0 c1 c2] [d0 d1 d2]" {
			t.Errorf("order %v", order)
		}
	})
}

func TestParallelIsBounded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, plays(goodResult, 0))
		r.opts.Parallel = 1
		r.start()
		defer r.quit()
		a, b := r.prompt("c", "x"), r.prompt("d", "y")
		synctest.Wait()
		if x, y := r.get(a.ID).State, r.get(b.ID).State; (x == core.RunQueued) == (y == core.RunQueued) {
			t.Errorf("%s and %s, want one waiting in the queue", x, y)
		}
		r.ended(a.ID, time.Minute)
		r.ended(b.ID, time.Minute)
	})
}

// TestRunsTakenOverCount among those that are under way at once.
func TestRunsTakenOverCount(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, id := crashed(t, core.RunRunning, turn("one"))
		r.opts.Parallel = 1
		r.start()
		defer r.quit()
		next := r.prompt("d", "y").ID
		r.pass(time.Minute)
		if a, b := r.get(id).State, r.get(next).State; a != core.RunRunning || b != core.RunQueued {
			t.Errorf("%s and %s, want one waiting in the queue", a, b)
		}
		(spoolFiles{r.boxes}).find("spawn").end(0)
		r.ended(id, time.Minute)
		r.ended(next, time.Minute)
		if n := len(r.s.slots); n != 0 {
			t.Errorf("%d slots were not given back", n)
		}
	})
}

func TestDelayedRunWaits(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, plays(goodResult, 0))
		r.start()
		defer r.quit()
		run, err := r.s.Prompt(context.Background(), core.Run{ChannelID: "c", Prompt: "x", NotBefore: time.Now().Add(time.Minute)})
		if err != nil {
			t.Fatal(err)
		}
		r.pass(59 * time.Second)
		if s := r.get(run.ID).State; s != core.RunQueued {
			t.Errorf("is %s before it is due", s)
		}
		r.ended(run.ID, 5*time.Second)
	})
}

func TestPromptIsChecked(t *testing.T) {
	r := newRig(t, nil)
	r.s = New(r.ports, r.opts)
	for name, req := range map[string]core.Run{
		"empty":           {ChannelID: "c", Prompt: " \n"},
		"too long":        {ChannelID: "c", Prompt: strings.Repeat("x", MaxPrompt+1)},
		"NUL":             {ChannelID: "c", Prompt: "a\x00b"},
		"not UTF-8":       {ChannelID: "c", Prompt: "\xff"},
		"unknown channel": {ChannelID: "none", Prompt: "x"},
	} {
		_, err := r.s.Prompt(context.Background(), req)
		if f, ok := errors.AsType[*core.Failure](err); !ok || f.Remedy == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	first, err := r.s.Prompt(context.Background(), core.Run{ID: "i", ChannelID: "c", Prompt: "x"})
	again, err2 := r.s.Prompt(context.Background(), core.Run{ID: "i", ChannelID: "c", Prompt: "x"})
	if err != nil || err2 != nil || !reflect.DeepEqual(first, again) || len(r.store.events) != 1 {
		t.Errorf("same id twice: %v %v, %d events", err, err2, len(r.store.events))
	}
	if _, err := r.s.Prompt(context.Background(), core.Run{ID: "i", ChannelID: "c", Prompt: "y"}); core.AsFailure(err).Code != core.CodeConflict {
		t.Errorf("same id, other prompt: %v", err)
	}
}

func TestLiveShowsTheMessageBeingWritten(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		text := recording(t, "tools")
		cut := strings.Index(text, ` a command."}}`)
		cut += strings.Index(text[cut:], "\n") + 1
		more := make(chan struct{})
		r := newRig(t, func(p *proc) {
			p.print(text[:cut])
			<-more
			p.print(text[cut:])
			p.end(0)
		})
		r.start()
		defer r.quit()
		run := r.prompt("c", "x")
		r.until(run.ID, time.Minute, core.RunRunning)
		r.pass(time.Second)
		l := r.s.Live("c")
		if l == nil || l.RunID != run.ID || l.MsgID != "msg_tools_00" || fmt.Sprint(l.Blocks) != "[{thinking } {text I will run a command.}]" {
			t.Errorf("live %+v", l)
		}
		if r.s.Live("d") != nil {
			t.Error("another channel is live")
		}
		close(more)
		r.ended(run.ID, time.Minute)
	})
}
