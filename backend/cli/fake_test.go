package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"loop/backend/bind"
	"loop/backend/core"
	"loop/backend/leaktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

var fakeUsage = core.Usage{
	Cost:    core.Cost{CostUSD: 0.0123},
	Models:  []core.ModelUsage{{Model: "m", Tokens: core.Tokens{Input: 400, Output: 50, CacheRead: 3600}, CostUSD: 0.0123, Window: 10_000}},
	Context: core.Context{Used: 4200, Window: 10_000},
}

// fake is Loop with scripted answers. It serves as both kinds of Core: directly, and
// over HTTP behind fakeServer.
type fake struct {
	mu       sync.Mutex
	calls    []string
	request  bind.PromptRequest
	add      func(dir string) (core.Channel, error)
	prompt   func(f *fake, req bind.PromptRequest) error // called with the lock free
	cancel   func(f *fake, id core.RunID) error
	answers  map[string]any
	fails    map[string]error
	channels []map[string]any
	stored   []core.Event
	subs     map[chan []core.Event]bool
	seq      uint64
	closed   int
	opened   int
	idle     int                          // how often it was opened without working the queue
	last     map[string][]json.RawMessage // arguments of the last call, by method
	onCall   func(method string)          // called with the lock free, before the answer
	// handle answers before all that is scripted, with the lock free, unless ok is false.
	handle func(method string, args []json.RawMessage) (answer any, ok bool, err error)
}

func newFake() *fake {
	return &fake{subs: map[chan []core.Event]bool{}, answers: map[string]any{}, fails: map[string]error{}, last: map[string][]json.RawMessage{}}
}

// publish sends one event to every follower. A stored event also goes to the timeline.
func (f *fake) publish(t core.EventType, run core.RunID, stored bool, data any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seq++
	e := core.NewEvent(t, "ch1", run, time.Now(), data)
	e.Seq = f.seq
	if stored {
		e.ID = int64(len(f.stored) + 1)
		f.stored = append(f.stored, e)
	}
	for c := range f.subs {
		c <- []core.Event{e} // the buffer holds far more than a test sends
	}
}

// drop disconnects every follower, as Loop does with one that fell behind.
func (f *fake) drop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.subs {
		close(c)
		delete(f.subs, c)
	}
}

func (f *fake) called(method string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Contains(f.calls, method)
}

func (f *fake) Call(_ context.Context, method string, args ...any) (json.RawMessage, error) {
	f.mu.Lock()
	f.calls = append(f.calls, method)
	answer, fail, onCall, handle := f.answers[method], f.fails[method], f.onCall, f.handle
	f.last[method] = nil
	for _, arg := range args {
		raw, err := json.Marshal(arg)
		if err != nil {
			panic(err)
		}
		f.last[method] = append(f.last[method], raw)
	}
	given := f.last[method]
	f.mu.Unlock()
	if onCall != nil {
		onCall(method)
	}
	if fail != nil {
		return nil, fail
	}
	reply := func(v any) (json.RawMessage, error) {
		b, err := json.Marshal(v)
		return b, err
	}
	if handle != nil {
		if v, ok, err := handle(method, given); err != nil {
			return nil, err
		} else if ok {
			return reply(v)
		}
	}
	arg := func(i int, into any) {
		b, err := json.Marshal(args[i])
		if err == nil {
			err = json.Unmarshal(b, into)
		}
		if err != nil {
			panic(err)
		}
	}
	switch method {
	case "Channels.Add":
		var dir string
		arg(0, &dir)
		if f.add != nil {
			ch, err := f.add(dir)
			if err != nil {
				return nil, err
			}
			return reply(ch)
		}
		return reply(core.Channel{ID: "ch1", Dir: dir})
	case "Channels.Demo":
		return reply(core.Channel{ID: "ch1", Dir: "/loop/demo"})
	case "Channels.List":
		if f.channels == nil {
			return json.RawMessage("[]"), nil
		}
		return reply(f.channels)
	case "Channels.Timeline":
		f.mu.Lock()
		defer f.mu.Unlock()
		return reply(bind.TimelinePage{Events: slices.Clone(f.stored)})
	case "Runs.Prompt":
		var req bind.PromptRequest
		arg(0, &req)
		f.mu.Lock()
		f.request = req
		f.mu.Unlock()
		if err := f.prompt(f, req); err != nil {
			return nil, err
		}
		return reply(core.Run{ID: core.RunID(req.ClientID), ChannelID: core.ChannelID(req.ChannelID), Prompt: req.Prompt, State: core.RunQueued, Demo: req.Demo, Script: req.Script, CreatedAt: time.Now()})
	case "Files.Attach":
		var ch, name string
		var data []byte
		arg(0, &ch)
		arg(1, &name)
		arg(2, &data)
		if len(data) > core.MaxAttachmentBytes {
			return nil, core.Fail(core.CodeInvalid, nil, "The picture is too large.", "Make it smaller.")
		}
		return reply(core.Attachment{ID: ch + "/" + string(data), Name: name, Type: "image/png"})
	case "Runs.Cancel":
		var id core.RunID
		arg(0, &id)
		if err := f.cancel(f, id); err != nil {
			return nil, err
		}
		return json.RawMessage("null"), nil
	}
	if answer == nil {
		return nil, core.Fail(core.CodeNotFound, nil, "no call "+method, "")
	}
	return reply(answer)
}

func (f *fake) Events(ctx context.Context) (<-chan []core.Event, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := make(chan []core.Event, 1024)
	f.subs[c] = true
	context.AfterFunc(ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.subs[c] {
			delete(f.subs, c)
			close(c)
		}
	})
	return c, nil
}

func (f *fake) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed++
	return nil
}

// ends scripts a run: some text in pieces, a tool call, and the end in this state.
func ends(state core.RunState, failure *core.Failure) func(*fake, bind.PromptRequest) error {
	return func(f *fake, req bind.PromptRequest) error {
		id := core.RunID(req.ClientID)
		f.publish(core.EventMessageCreated, id, true, core.MessageCreated{MsgID: "u1", Content: req.Prompt})
		f.publish(core.EventStatus, id, true, core.Status{Status: "running", State: core.RunStarting, Step: "container"})
		f.publish(core.EventStatus, "other", true, core.Status{State: core.RunFailed})
		f.publish(core.EventMessageStreaming, id, false, core.MessageStreaming{MsgID: "m1", Kind: "text", Delta: "Hello "})
		f.publish(core.EventMessageStreaming, id, false, core.MessageStreaming{MsgID: "m1", Kind: "text", Offset: 6, Delta: "the"})
		f.publish(core.EventMessageCreated, id, true, core.MessageCreated{MsgID: "m1", Content: "Hello there.", IsBot: true})
		f.publish(core.EventToolUse, id, true, core.ToolUse{ToolUseID: "t1", Name: "Bash", Input: json.RawMessage(`{"description":"List","command":"ls\n-la"}`)})
		f.publish(core.EventToolResult, id, true, core.ToolResult{ToolUseID: "t1", Output: "one\ntwo\nthree"})
		f.publish(core.EventToolResult, id, true, core.ToolResult{ToolUseID: "t2", Output: "wrote", Files: []core.FileChange{{Path: "/w/a.md", Kind: "create", Added: 3}}})
		f.publish(core.EventToolResult, id, true, core.ToolResult{ToolUseID: "t3", Output: "exit 3", IsError: true})
		f.publish(core.EventNotice, id, true, core.Notice{Level: "warning", Text: "A mount was skipped."})
		f.publish(core.EventStatus, id, true, core.Status{Status: "completed", State: state, Result: "Hello there.", NumTurns: 2, DurationMs: 1500, Usage: fakeUsage, Model: "m", Failure: failure, SessionID: "s1"})
		return nil
	}
}

// rig is one invocation of the command line under test.
type rig struct {
	t          *testing.T
	fake       *fake
	home, dir  string
	in         string
	env        map[string]string
	deps       Deps
	interrupts chan os.Signal
	ctx        context.Context
	out, err   bytes.Buffer
	screen     *fakeScreen                            // what the command runs in; nil is no terminal
	terminal   func(context.Context, *websocket.Conn) // Loop's end of a terminal socket
	editor     func(context.Context, string) error    // nil: no person sits at a terminal
	now        func() time.Time
	times      times
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, fake: newFake(), home: t.TempDir(), dir: t.TempDir(), env: map[string]string{}, interrupts: make(chan os.Signal, 2), ctx: t.Context(), now: time.Now}
	// No test waits for a whole minute.
	r.times = times{startup: time.Minute, probe: time.Minute, first: 50 * time.Millisecond, quiet: 100 * time.Millisecond, reattach: time.Millisecond, stopping: time.Minute, log: time.Millisecond}
	r.fake.prompt = ends(core.RunDone, nil)
	r.deps = Deps{Version: "1.2.3", Home: r.home, Open: func(context.Context) (Core, error) {
		r.fake.mu.Lock()
		defer r.fake.mu.Unlock()
		r.fake.opened++
		return r.fake, nil
	}}
	r.deps.OpenIdle = func(context.Context) (Core, error) {
		r.fake.mu.Lock()
		defer r.fake.mu.Unlock()
		r.fake.idle++
		return r.fake, nil
	}
	return r
}

// app is one invocation whose standard input is in.
func (r *rig) app(in string) *app {
	r.out.Reset()
	r.err.Reset()
	env := func(n string) (string, bool) { v, ok := r.env[n]; return v, ok }
	r.deps.Env = env
	return &app{
		deps: r.deps, in: bytes.NewBufferString(in), out: newPrinter(&r.out, env), err: newPrinter(&r.err, env),
		interrupts: r.interrupts, restoreInterrupt: func() {}, screen: r.openScreen, editor: r.editor, now: r.now,
		times: r.times,
	}
}

func (r *rig) run(args ...string) int {
	r.t.Helper()
	a := r.app(r.in)
	code := a.main(r.ctx, args)
	r.t.Logf("loop %q: exit %d\nout: %s\nerr: %s", args, code, clipped(r.out.String()), clipped(r.err.String()))
	return code
}

func clipped(s string) string {
	if len(s) > 2000 {
		return s[:2000] + "…"
	}
	return s
}

// lines decodes what --json printed.
func (r *rig) lines() (all []map[string]any) {
	r.t.Helper()
	dec := json.NewDecoder(bytes.NewReader(r.out.Bytes()))
	for {
		var m map[string]any
		if err := dec.Decode(&m); err != nil {
			break
		}
		all = append(all, m)
	}
	if n := bytes.Count(r.out.Bytes(), []byte("\n")); n != len(all) {
		r.t.Errorf("%d lines, %d of them JSON", n, len(all))
	}
	return all
}

func (r *rig) file(name string) string {
	r.t.Helper()
	p := filepath.Join(r.dir, name)
	if err := os.WriteFile(p, []byte("x"), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return p
}

var errFake = errors.New("fake")

func (r *rig) wantIn(where, text string) {
	r.t.Helper()
	hay := r.out.String()
	if where == "err" {
		hay = r.err.String()
	}
	if !bytes.Contains([]byte(hay), []byte(text)) {
		r.t.Errorf("%s does not say %q:\n%s", where, text, fmt.Sprint(clipped(hay)))
	}
}
