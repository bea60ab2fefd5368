//go:build claude

package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/demo"
)

const childEnv = "LOOP_RUNNER_TEST_CHILD"

func init() {
	if os.Getenv(childEnv) == "mcp" { // this binary is the MCP server of a CLI
		permissionServer(os.Stdin, os.Stdout)
		os.Exit(0)
	}
}

// scripted is the demo model, with refusals that a test sets. The function refuse sees
// each request for a turn of the conversation and may answer it instead.
type scripted struct {
	mu     sync.Mutex
	turns  int
	refuse func(n int, body string, w http.ResponseWriter) bool
	model  http.Handler
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(io.LimitReader(r.Body, 8<<20))
	if err != nil {
		return
	}
	body := string(b)
	r.Body = io.NopCloser(strings.NewReader(body))
	if r.URL.Path == "/v1/messages" && strings.Contains(body, `"tools":[{`) && !strings.Contains(body, "Your task is to create a detailed summary") {
		s.mu.Lock()
		s.turns++
		n, refuse := s.turns, s.refuse
		s.mu.Unlock()
		if refuse != nil && refuse(n, body, w) {
			return
		}
	}
	s.model.ServeHTTP(w, r)
}

// asked returns how many turns were requested since the last cue.
func (s *scripted) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turns
}

// cue sets how the next turns are refused, counted from 1.
func (s *scripted) cue(refuse func(n int, body string, w http.ResponseWriter) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns, s.refuse = 0, refuse
}

func apiError(w http.ResponseWriter, status int, kind, message string) bool {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	b, _ := json.Marshal(map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": message}})
	_, _ = w.Write(b)
	return true
}

// firstFew refuses the first n turns.
func firstFew(n, status int, kind, message string) func(int, string, http.ResponseWriter) bool {
	return func(i int, _ string, w http.ResponseWriter) bool {
		return i <= n && apiError(w, status, kind, message)
	}
}

// real is a runner with the fake store and the real CLI.
type real struct {
	t     *testing.T
	store *memStore
	boxes *hostBoxes
	api   *scripted
	s     *Service
	opts  Options
	ports Ports
	quit  func()
	retry Retry
	extra []core.EnvVar
	token bool // uses a plan's account instead of an API key
	model string

	mu  sync.Mutex
	bus []core.Event
}

func newReal(t *testing.T) *real {
	r := &real{t: t, boxes: newHostBoxes(t), api: &scripted{model: demo.New(demo.Options{Pace: demo.Instant})}, retry: Retry{Base: 50 * time.Millisecond}, model: "demo-quick"}
	srv := httptest.NewServer(r.api)
	t.Cleanup(srv.Close)
	work := filepath.Join(t.TempDir(), "my project")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	r.store = newMemStore(core.Channel{ID: "c", Dir: work})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	makes := provisioner{r.boxes, func(run core.Run, ch core.Channel) (made, error) {
		model := r.model
		if run.Script != "" {
			model = demo.ModelPrefix + run.Script
		}
		l := Launch{
			BaseURL: srv.URL, APIKey: "x", Model: model, Retry: r.retry, Timeout: patience,
			MCPServers: map[string]MCPServer{"loop": {Command: self, Env: map[string]string{childEnv: "mcp"}}},
			Env:        append([]core.EnvVar{{Name: "CLAUDE_CODE_MAX_RETRIES", Value: "1"}}, r.extra...),
		}
		if r.token {
			l.OAuthToken, l.APIKey = "sk-ant-oat01-x", ""
		}
		return made{Spec: specOf(run, ch), Launch: l}, nil
	}}
	r.ports = Ports{
		Store: r.store, Containers: r.boxes, Links: r.boxes, Spools: noSpools{}, Sessions: unknownSession, Log: quiet,
		Provision: makes, Settings: makes,
		Publish: func(evs ...core.Event) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.bus = append(r.bus, evs...)
		},
	}
	r.start()
	t.Cleanup(func() { r.quit() })
	return r
}

func (r *real) start() {
	r.s = New(r.ports, r.opts)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = r.s.Run(ctx)
	}()
	r.quit = func() { cancel(); <-done }
}

func (r *real) run(run core.Run) core.Run {
	r.t.Helper()
	run.ChannelID = "c"
	got, err := r.s.Prompt(context.Background(), run)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.ended(got.ID)
}

func (r *real) say(prompt string) core.Run { r.t.Helper(); return r.run(core.Run{Prompt: prompt}) }

// patience bounds every wait. It is far more than a loaded machine takes.
const patience = 8 * time.Minute

// when waits until ok is true.
func (r *real) when(what string, ok func() bool) {
	r.t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-limit.C:
			r.t.Fatalf("%s did not happen", what)
		}
	}
}

func (r *real) ended(id core.RunID) (run core.Run) {
	r.t.Helper()
	r.when("the end of the run", func() bool {
		var err error
		run, err = r.store.Run(context.Background(), id)
		return err == nil && run.State.Terminal()
	})
	return run
}

// steps lists the kinds of tries of a run and the texts in it.
func (r *real) steps(id core.RunID) (kinds []core.AttemptKind, texts []string) {
	for _, e := range r.store.timeline(id) {
		switch e.Type {
		case core.EventAttempt:
			var a core.Attempt
			_ = json.Unmarshal(e.Data, &a)
			kinds = append(kinds, a.Kind)
		case core.EventMessageCreated:
			var m core.MessageCreated
			_ = json.Unmarshal(e.Data, &m)
			if m.IsBot {
				texts = append(texts, m.Content)
			}
		}
	}
	return kinds, texts
}

func (r *real) want(run core.Run, state core.RunState, kinds ...core.AttemptKind) {
	r.t.Helper()
	got, _ := r.steps(run.ID)
	if run.State != state || !slices.Equal(got, kinds) {
		var sb strings.Builder
		for _, e := range r.store.timeline(run.ID) {
			fmt.Fprintf(&sb, "%s %s\n", e.Type, e.Data)
		}
		r.t.Fatalf("ended %s after %q, want %s after %q: %+v\n%s", run.State, got, state, kinds, run.Outcome.Failure, sb.String())
	}
}

func TestClaudeBusy(t *testing.T) {
	for name, tc := range map[string]struct {
		status int
		kind   string
	}{"529": {529, "overloaded_error"}, "500": {500, "api_error"}, "429": {429, "rate_limit_error"}} {
		t.Run(name, func(t *testing.T) {
			r := newReal(t)
			r.api.cue(firstFew(2, tc.status, tc.kind, "Not now")) // two refused requests are one try of the CLI
			run := r.say("hello")
			r.want(run, core.RunDone, core.AttemptTransient)
			if !strings.Contains(run.Outcome.Text, "You said “hello”.") {
				t.Errorf("answered %q", run.Outcome.Text) // the conversation must have this prompt alone
			}
			r.api.cue(firstFew(4, tc.status, tc.kind, "Not now"))
			run = r.say("again")
			r.want(run, core.RunDone, core.AttemptTransient, core.AttemptTransient)
			if !strings.Contains(run.Outcome.Text, "“again”") {
				t.Errorf("answered %q", run.Outcome.Text)
			}
		})
	}
}

// TestClaudeBusyAfterWork: the next try knows of the work that was done before.
func TestClaudeBusyAfterWork(t *testing.T) {
	r := newReal(t)
	r.api.cue(func(n int, body string, w http.ResponseWriter) bool {
		return n >= 2 && n <= 3 && apiError(w, 529, "overloaded_error", "Overloaded")
	})
	run := r.run(core.Run{Prompt: "work", Script: "tools"})
	r.want(run, core.RunDone, core.AttemptTransient)
	if run.Outcome.SessionID == "" || run.Outcome.SessionID != r.store.channels["c"].SessionID {
		t.Errorf("session %q", run.Outcome.SessionID)
	}
}

func TestClaudeBusyForEver(t *testing.T) {
	r := newReal(t)
	r.retry.MaxAttempts = 3
	r.api.cue(firstFew(1000, 529, "overloaded_error", "Overloaded"))
	run := r.say("hello")
	r.want(run, core.RunFailed, core.AttemptTransient, core.AttemptTransient)
	if f := run.Outcome.Failure; f.Code != core.CodeModelOverloaded || !strings.Contains(f.Cause, "tried 3 times") {
		t.Errorf("%+v", f)
	}
}

func TestClaudeTooLong(t *testing.T) {
	r := newReal(t)
	first := r.say("remember the lighthouse")
	run := r.run(core.Run{Prompt: "go on", Script: "retry-too-long"})
	r.want(run, core.RunDone, core.AttemptCompact, core.AttemptCompacted)
	if !strings.Contains(run.Outcome.Text, "this is the answer to “go on”") || run.Outcome.SessionID != first.Outcome.SessionID {
		t.Errorf("answered %q in %s", run.Outcome.Text, run.Outcome.SessionID)
	}
	// The compacted conversation goes on.
	if after := r.say("and now"); !strings.Contains(after.Outcome.Text, "before that “go on”") {
		t.Errorf("answered %q", after.Outcome.Text)
	}
}

func TestClaudeTooLongForEver(t *testing.T) {
	r := newReal(t)
	r.say("remember the lighthouse")
	run := r.run(core.Run{Prompt: "go on", Script: "error-too-long"})
	r.want(run, core.RunFailed, core.AttemptCompact, core.AttemptCompacted)
	if !strings.Contains(run.Outcome.Failure.Cause, "too long") {
		t.Errorf("%+v", run.Outcome.Failure)
	}
}

func TestClaudeOtherFailure(t *testing.T) {
	r := newReal(t)
	r.api.cue(firstFew(1000, 400, "invalid_request_error", "messages: something is wrong with them"))
	r.want(r.say("without a session"), core.RunFailed)
	one := r.api.asked() // requests of one try; newer CLIs repeat some refusals by themselves
	r.api.cue(nil)
	r.say("remember the lighthouse")
	r.api.cue(firstFew(one, 400, "invalid_request_error", "messages: something is wrong with them"))
	r.want(r.say("go on"), core.RunDone, core.AttemptLatest)
	r.api.cue(func(n int, _ string, w http.ResponseWriter) bool {
		return apiError(w, 400, "invalid_request_error", fmt.Sprintf("messages: refusal %d.", n))
	})
	run := r.say("and on")
	r.want(run, core.RunFailed, core.AttemptLatest)
	f := run.Outcome.Failure
	if strings.Count(f.Detail, "API Error: 400 messages: refusal ") != 2 {
		t.Errorf("both tries are not told: %s", f.Detail)
	}
}

func TestClaudeLostSession(t *testing.T) {
	r := newReal(t)
	r.say("remember the lighthouse")
	if err := os.RemoveAll(filepath.Join(r.boxes.home, ".claude", "projects")); err != nil {
		t.Fatal(err)
	}
	run := r.say("go on")
	r.want(run, core.RunDone, core.AttemptLatest)
	if !strings.Contains(run.Outcome.Text, "You said “go on”.") {
		t.Errorf("answered %q", run.Outcome.Text)
	}
}

// TestClaudeTerminal: a failure that waiting does not mend is not tried again, with or
// without a session.
func TestClaudeTerminal(t *testing.T) {
	for name, tc := range map[string]struct {
		status        int
		kind, message string
		code          core.Code
	}{
		"credentials": {401, "authentication_error", "invalid x-api-key", core.CodeModelAuth},
		"forbidden":   {403, "permission_error", "not allowed", core.CodeModelAuth},
		"billing":     {400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.", core.CodeModelLimit},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReal(t)
			r.say("remember the lighthouse")
			r.api.cue(firstFew(1000, tc.status, tc.kind, tc.message))
			run := r.say("go on")
			r.want(run, core.RunFailed)
			if run.Outcome.Failure.Code != tc.code {
				t.Errorf("%+v", run.Outcome.Failure)
			}
		})
	}
}

// TestClaudeSessionLimit uses a plan's limits as the API reports them. The run is not
// tried again. After a session limit, a new run is queued for the time of its reset.
func TestClaudeSessionLimit(t *testing.T) {
	for claim, later := range map[string]bool{"five_hour": true, "seven_day": false} {
		t.Run(claim, func(t *testing.T) {
			r := newReal(t)
			r.token, r.model = true, "sonnet"
			r.retry.SessionLimitContinue = true
			r.say("remember the lighthouse")
			reset := time.Now().Add(90 * time.Minute).Truncate(time.Second)
			r.api.cue(func(_ int, _ string, w http.ResponseWriter) bool {
				for k, v := range map[string]string{
					"status": "rejected", "reset": fmt.Sprint(reset.Unix()), "representative-claim": claim,
					"overage-status": "rejected", "overage-disabled-reason": "org_level_disabled",
				} {
					w.Header().Set("anthropic-ratelimit-unified-"+k, v)
				}
				return apiError(w, 429, "rate_limit_error", "This request would exceed your account's rate limit.")
			})
			run := r.say("go on")
			r.want(run, core.RunFailed)
			if f := run.Outcome.Failure; f.Code != core.CodeModelLimit || !strings.Contains(f.Cause, "usage limit") {
				t.Errorf("%+v", f)
			}
			queue, _ := r.store.Queue(context.Background(), "c")
			switch {
			case !later && len(queue) > 0:
				t.Errorf("queued %+v", queue)
			case later && (len(queue) != 1 || queue[0].Trigger != TriggerContinue || !queue[0].NotBefore.Equal(reset.Add(resetSlack))):
				t.Errorf("queued %+v, reset %s", queue, reset)
			}
		})
	}
}

func TestClaudeAsk(t *testing.T) {
	r := newReal(t)
	run := r.run(core.Run{Prompt: "greet", Script: "ask"})
	r.want(run, core.RunDone)
	open, err := r.s.Questions(context.Background(), "c")
	if err != nil || len(open) != 1 || len(open[0].Questions) != 2 || run.Outcome.StopReason != "ask_user" {
		t.Fatalf("%+v %v %+v", open, err, run.Outcome)
	}
	r.quit() // another launch gets the answer
	r.start()
	q, err := r.s.Answer(context.Background(), open[0].ID, core.Answer{Action: core.AnswerGiven, Choices: [][]string{{"Good day"}, {"The date", "A list"}}})
	if err != nil {
		t.Fatal(err)
	}
	cont := r.continued(run.ID)
	r.want(cont, core.RunDone)
	for _, want := range []string{"Which greeting shall I use?", "Good day", "The date, A list"} {
		if !strings.Contains(cont.Outcome.Text, want) {
			t.Errorf("answered %q", cont.Outcome.Text)
		}
	}
	if cont.Outcome.SessionID != run.Outcome.SessionID || q.State != core.QuestionAnswered {
		t.Errorf("session %s after %s", cont.Outcome.SessionID, run.Outcome.SessionID)
	}
}

// continued waits for the end of the run that was queued to continue another.
func (r *real) continued(id core.RunID) core.Run {
	r.t.Helper()
	var next core.RunID
	r.when("the next run", func() bool {
		r.store.mu.Lock()
		defer r.store.mu.Unlock()
		i := slices.Index(r.store.order, id)
		if i+1 >= len(r.store.order) {
			return false
		}
		next = r.store.order[i+1]
		return true
	})
	return r.ended(next)
}

func TestClaudePlan(t *testing.T) {
	for _, flag := range []bool{true, false} { // the person asked for a plan, or the agent chose it by itself
		t.Run(fmt.Sprint(flag), func(t *testing.T) {
			r := newReal(t)
			answer := func(run core.Run, a core.Answer) core.Run {
				t.Helper()
				r.want(run, core.RunDone)
				open, err := r.s.Questions(context.Background(), "c")
				if err != nil || len(open) != 1 || run.Outcome.StopReason != "exit_plan" || !strings.Contains(open[0].Plan, "plan-from-loop.md") {
					t.Fatalf("%+v %v %+v", open, err, run.Outcome)
				}
				if _, err := r.s.Answer(context.Background(), open[0].ID, a); err != nil {
					t.Fatal(err)
				}
				return r.continued(run.ID)
			}
			file := filepath.Join(r.store.channels["c"].Dir, "plan-from-loop.md")
			run := answer(r.run(core.Run{Prompt: "leave a note", Script: "plan", Plan: flag}), core.Answer{Action: core.AnswerRevise, Text: "say please"})
			if _, err := os.Stat(file); err == nil {
				t.Error("a plan that was not approved was carried out")
			}
			run = answer(run, core.Answer{Action: core.AnswerApprove})
			r.want(run, core.RunDone)
			if b, err := os.ReadFile(file); err != nil || string(b) != "The plan was approved.\n" {
				t.Errorf("%q %v", b, err)
			}
		})
	}
}

func TestClaudeSessions(t *testing.T) {
	r := newReal(t)
	one := r.say("one")
	two := r.say("two")
	if two.Outcome.SessionID != one.Outcome.SessionID {
		t.Fatalf("sessions %s and %s", one.Outcome.SessionID, two.Outcome.SessionID)
	}
	var at string
	for _, e := range r.store.timeline(one.ID) {
		var m core.MessageCreated
		if e.Type == core.EventMessageCreated && json.Unmarshal(e.Data, &m) == nil && m.IsBot {
			at = m.UUID
		}
	}
	if at == "" {
		t.Fatal("the answer has no uuid")
	}
	// The order matters: resuming adds to the conversation that the others fork.
	for _, tc := range []struct {
		name  string
		start core.SessionStart
		want  string
		same  bool
	}{
		{"fork", core.SessionStart{Mode: core.SessionFork, SessionID: two.Outcome.SessionID}, "before that “two”", false},
		{"fork at", core.SessionStart{Mode: core.SessionFork, SessionID: two.Outcome.SessionID, At: at}, "before that “one”", false},
		{"fresh", core.SessionStart{Mode: core.SessionFresh}, "You said “three”.", false},
		{"resume", core.SessionStart{Mode: core.SessionResume, SessionID: two.Outcome.SessionID}, "before that “two”", true},
	} {
		run := r.run(core.Run{Prompt: "three", Session: tc.start})
		r.want(run, core.RunDone)
		if !strings.Contains(run.Outcome.Text, tc.want) || (run.Outcome.SessionID == two.Outcome.SessionID) != tc.same {
			t.Errorf("%s: answered %q in %s", tc.name, run.Outcome.Text, run.Outcome.SessionID)
		}
		if got := r.store.channels["c"].SessionID; got != run.Outcome.SessionID {
			t.Errorf("%s: the channel's session is %s", tc.name, got)
		}
	}
}

// TestClaudeInterrupt: the interrupting message continues the conversation of the
// stopped run, even a channel's first one.
func TestClaudeInterrupt(t *testing.T) {
	r := newReal(t)
	hang := make(chan struct{})
	defer close(hang)
	var known atomic.Bool
	r.api.cue(func(n int, body string, w http.ResponseWriter) bool {
		if n == 2 {
			<-hang
			return true
		}
		known.Store(n > 2 && strings.Contains(body, "the first task") && strings.Contains(body, "no, this"))
		return false
	})
	run, err := r.s.Prompt(context.Background(), core.Run{ChannelID: "c", Prompt: "the first task", Script: "tools"})
	if err != nil {
		t.Fatal(err)
	}
	r.when("the second turn", func() bool {
		r.api.mu.Lock()
		defer r.api.mu.Unlock()
		return r.api.turns >= 2
	})
	r.when("the conversation on disk", func() bool { // the CLI of this test is killed without notice
		files, _ := filepath.Glob(filepath.Join(r.boxes.home, ".claude", "projects", "*", "*.jsonl"))
		return slices.ContainsFunc(files, func(f string) bool {
			b, err := os.ReadFile(f)
			return err == nil && strings.Contains(string(b), "the first task")
		})
	})
	now, err := r.s.Interrupt(context.Background(), core.Run{ChannelID: "c", Prompt: "no, this", Script: "quick"})
	if err != nil {
		t.Fatal(err)
	}
	if first := r.ended(run.ID); first.State != core.RunCancelled {
		t.Errorf("ended %s", first.State)
	}
	second := r.ended(now.ID)
	r.want(second, core.RunDone)
	if !known.Load() {
		t.Errorf("answered %q without knowing the first task", second.Outcome.Text)
	}
}

func TestClaudeTodos(t *testing.T) {
	r := newReal(t)
	run := r.run(core.Run{Prompt: "x", Script: "tasks"})
	r.want(run, core.RunDone)
	var last string
	lacking := false
	for _, e := range r.store.timeline(run.ID) {
		switch e.Type {
		case core.EventTodos:
			last = string(e.Data)
		case core.EventToolResult:
			lacking = lacking || strings.Contains(string(e.Data), "No such tool available: TaskCreate")
		}
	}
	// Some versions of the CLI have no list of steps for a model that they do not know.
	// Then none may be shown.
	if want := 3; lacking && last != "" || !lacking && strings.Count(last, `"status":"completed"`) != want {
		t.Errorf("todos %s, the CLI lacks the tool: %v", last, lacking)
	}
}
