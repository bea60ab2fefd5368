package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// fakeChrome is a Chromium in memory.
type fakeChrome struct {
	mu      sync.Mutex
	did     []string
	inputs  []core.BrowserInput
	views   []core.BrowserView
	cast    bool
	quality int
	path    string // of the page
	watched []bool
	closed  int
	done    chan struct{}
	hooks   Hooks
	do      func(ctx context.Context, a core.BrowserAction) core.BrowserResult
	console []core.BrowserLine

	marked   string // on the page
	copyErr  error
	shows    string // the page, to a still
	stills   int
	stillErr error
}

// agent is one in a run, whose frames are kept.
var agent = core.Caller{ChannelID: "c", RunID: "r"}

func (f *fakeChrome) Do(ctx context.Context, a core.BrowserAction) core.BrowserResult {
	f.mu.Lock()
	f.did = append(f.did, a.Action)
	do := f.do
	f.mu.Unlock()
	if do != nil {
		return do(ctx, a)
	}
	return core.BrowserResult{Result: "Done " + a.Action + "."}
}
func (f *fakeChrome) Input(in core.BrowserInput) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inputs = append(f.inputs, in)
}
func (f *fakeChrome) SetView(v core.BrowserView) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.views = append(f.views, v)
	return nil
}
func (f *fakeChrome) View() core.BrowserView {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.views) == 0 {
		return core.BrowserView{}
	}
	return f.views[len(f.views)-1]
}
func (f *fakeChrome) Copy(cut bool, done func(string, error)) {
	f.mu.Lock()
	f.did = append(f.did, fmt.Sprint("copy, cut ", cut))
	marked, err := f.marked, f.copyErr
	f.mu.Unlock()
	go done(marked, err)
}
func (f *fakeChrome) Cast(on bool, quality int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cast, f.quality = on, quality
}
func (f *fakeChrome) Still(context.Context, int) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stills++
	return []byte(f.shows), f.stillErr
}
func (f *fakeChrome) Done() <-chan struct{} { return f.done }
func (f *fakeChrome) Tabs() []core.BrowserTab {
	f.mu.Lock()
	defer f.mu.Unlock()
	return []core.BrowserTab{{ID: "t", URL: "http://localhost:8080/" + f.path, Active: true}}
}
func (f *fakeChrome) Chooser() (core.BrowserChooser, bool) { return core.BrowserChooser{}, false }
func (f *fakeChrome) Downloads() []core.BrowserDownload    { return nil }
func (f *fakeChrome) Popup() (core.BrowserPopup, bool)     { return core.BrowserPopup{}, false }
func (f *fakeChrome) Cursor() string                       { return "" }
func (f *fakeChrome) Dialog() (core.BrowserDialog, bool)   { return core.BrowserDialog{}, false }
func (f *fakeChrome) Console(after int64) (out []core.BrowserLine) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.console {
		if l.Seq > after {
			out = append(out, l)
		}
	}
	return out
}
func (f *fakeChrome) Requests(int64) []core.BrowserRequest { return nil }

// now is whether it was closed, how often, and whether it casts.
func (f *fakeChrome) now() (closed int, cast bool) {
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed, f.cast
}

// stage has one service whose Chromium is fake. Its time is synctest's.
type stage struct {
	*Service
	mu      sync.Mutex
	chromes []*fakeChrome
	fresh   []bool // of each start
	fail    error
	enabled bool
	byPath  bool
	saved   map[string][]byte
	unsaved error
	ports   []core.BrowserPort
	looks   int // at ports
	forgot  []core.ChannelID
	reel    reel
	asked   []string
	events  []core.Event
	untold  error // of the timeline
}

func (s *stage) publish(evs ...core.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, evs...)
}

// AddEvents stores nothing; who publishes what it returns is heard.
func (s *stage) AddEvents(_ context.Context, evs ...core.Event) ([]core.Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return evs, s.untold
}

// notices are those told since the last call, each with its run and driver.
func (s *stage) notices() string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	s.events = slices.DeleteFunc(s.events, func(e core.Event) bool {
		if e.Type == core.EventNotice {
			var n core.Notice
			_ = json.Unmarshal(e.Data, &n)
			out = append(out, fmt.Sprintf("%s %s %s %s", e.ChannelID, e.RunID, n.Driver, n.Text))
		}
		return e.Type == core.EventNotice
	})
	return strings.Join(out, ", ")
}

func newStage() *stage {
	s := &stage{enabled: true, saved: map[string][]byte{}}
	s.Service = New(Options{
		AgentActions: []string{"navigate", "read_page", "computer", "screenshot", "form_input", "resize_window"},
		Settings: func(context.Context, core.ChannelID) (Settings, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return Settings{Enabled: s.enabled, Idle: 5 * time.Minute, ByPath: s.byPath}, nil
		},
		Save: func(_ context.Context, ch core.ChannelID, name string, data []byte) (string, error) {
			s.saved[name] = data
			return "/shared/" + string(ch) + "/" + name, s.unsaved
		},
		Opens: func(_ context.Context, ch core.ChannelID, op core.BrowserOpening, by core.Caller, tool string) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.asked = append(s.asked, fmt.Sprint(ch, " ", op.URL, " ", by.RunID, " ", tool))
			return nil
		},
		Film: &s.reel, Timeline: s, Publish: s.publish, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Ports: func(context.Context, core.ChannelID) []core.BrowserPort {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.looks++
			return s.ports
		},
		Forget: func(_ context.Context, ch core.ChannelID) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.forgot = append(s.forgot, ch)
			return s.fail
		},
		Launch: func(_ context.Context, _ core.ChannelID, fresh bool, h Hooks) (Running, error) {
			<-time.After(time.Second)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.fresh = append(s.fresh, fresh)
			if s.fail != nil {
				return Running{}, s.fail
			}
			f := &fakeChrome{done: make(chan struct{}), hooks: h}
			s.chromes = append(s.chromes, f)
			return Running{
				Driver: f, Page: f, Prompts: f, Notices: []string{"A notice."}, PutFile: f.putFile,
				Watched: func(_ context.Context, on bool) error {
					f.mu.Lock()
					defer f.mu.Unlock()
					f.watched = append(f.watched, on)
					return nil
				},
				Close: func() error {
					f.mu.Lock()
					defer f.mu.Unlock()
					if f.closed++; f.closed == 1 {
						close(f.done)
					}
					return nil
				},
			}, nil
		},
	})
	return s
}

// enable writes the setting.
func (s *stage) enable(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enabled = on
}

func (s *stage) chrome(t *testing.T, n int) *fakeChrome {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.chromes) != n {
		t.Fatalf("%d Chromiums were started, not %d", len(s.chromes), n)
	}
	return s.chromes[n-1]
}

func act(name string) core.BrowserAction {
	return core.BrowserAction{Action: name, Params: json.RawMessage(`{}`)}
}

// latest takes what a pane has waiting and returns the newest state and the frames.
func latest(t *testing.T, v core.BrowserViewer) (st *core.BrowserState, frames []uint32, rest []core.BrowserUpdate) {
	t.Helper()
	synctest.Wait()
	for {
		ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
		u, err := v.Next(ctx)
		cancel()
		switch {
		case err != nil:
			return st, frames, rest
		case u.State != nil:
			st = u.State
		case u.Frame != nil:
			frames = append(frames, u.FrameID)
		default:
			rest = append(rest, u)
		}
	}
}

func TestStartsOnceForAllWhoAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		defer func() { _ = s.Close() }()
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				res, err := s.Agent(t.Context(), agent, act("read_page"))
				if err != nil || res.Error != "" {
					t.Errorf("%+v %v", res, err)
				}
			})
		}
		wg.Wait()
		if f := s.chrome(t, 1); len(f.did) != 10 {
			t.Errorf("%v", f.did)
		}
		if res, _ := s.Agent(t.Context(), agent, act("element_at")); !strings.Contains(res.Error, "no browser action") {
			t.Errorf("an act of panes alone: %+v", res)
		}
		s.enable(false)
		if _, err := s.Agent(t.Context(), agent, act("read_page")); core.AsFailure(err).Code != core.CodeOff {
			t.Errorf("switched off: %v", err)
		}
	})
}

func TestCrashIsOneErrorAndStartsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		defer func() { _ = s.Close() }()
		v, err := s.Watch(t.Context(), "c", firstView)
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Second)
		if st, _, _ := latest(t, v); st == nil || st.Phase != core.BrowserRunning || len(st.Notices) != 1 {
			t.Fatalf("%+v", st)
		}
		first := s.chrome(t, 1)
		first.mu.Lock()
		first.closed = 1 // Close would close done as well
		close(first.done)
		first.mu.Unlock()
		<-time.After(time.Second)
		if st, _, _ := latest(t, v); st == nil || st.Phase != core.BrowserCrashed || st.Failure == nil {
			t.Fatalf("%+v", st)
		}
		if res, _ := s.Agent(t.Context(), agent, act("read_page")); res.Error != "" {
			t.Fatalf("%+v", res)
		}
		s.chrome(t, 2)
		s.mu.Lock()
		s.fail = core.Fail(core.CodeNoEngine, errors.New("x"), "No engine.", "Start it.")
		s.mu.Unlock()
		v.Handle(core.BrowserCommand{Type: "restart"})
		<-time.After(2 * time.Second)
		if st, _, _ := latest(t, v); st == nil || st.Phase != core.BrowserCrashed || st.Failure.Cause != "No engine." {
			t.Fatalf("%+v", st)
		}
		if res, _ := s.Agent(t.Context(), agent, act("read_page")); res.Error != "No engine. Start it." {
			t.Fatalf("%+v", res)
		}
		_ = v.Close()
	})
}

func TestIdleEndsAndPanesKeepAwake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		defer func() { _ = s.Close() }()
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _ = s.Run(ctx) })
		defer wg.Wait()
		defer cancel()
		v, err := s.Watch(ctx, "c", firstView)
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Hour)
		f := s.chrome(t, 1)
		if closed, cast := f.now(); closed != 0 || !cast {
			t.Fatalf("closed %d, cast %v though a pane shows it", closed, cast)
		}
		_ = v.Close()
		<-time.After(4 * time.Minute)
		if _, err := s.Agent(ctx, agent, act("read_page")); err != nil {
			t.Fatal(err)
		}
		<-time.After(4 * time.Minute)
		if closed, cast := f.now(); closed != 0 || cast {
			t.Fatalf("closed %d, cast %v", closed, cast)
		}
		<-time.After(2 * time.Minute)
		if closed, _ := f.now(); closed != 1 {
			t.Fatal("nobody uses it, and it goes on")
		}
		synctest.Wait()
		if w := fmt.Sprint(f.watched); w != "[true false]" {
			t.Errorf("limits were %s", w)
		}
	})
}

func TestPersonTakesOverAndGivesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		defer func() { _ = s.Close() }()
		v, err := s.Watch(t.Context(), "c", firstView)
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Second)
		latest(t, v)
		v.Handle(core.BrowserCommand{Type: "input", Input: &core.BrowserInput{Kind: core.InputMove}})
		<-time.After(time.Second)
		if st, _, _ := latest(t, v); st != nil && st.Driver == core.DriverPerson {
			t.Fatal("a movement of the mouse took over")
		}
		control := core.BrowserCommand{Type: "input", Input: &core.BrowserInput{Kind: core.InputKey, Key: "Control"}}
		f := s.chrome(t, 1)
		f.mu.Lock()
		n := len(f.inputs)
		f.mu.Unlock()
		v.Handle(control)
		<-time.After(time.Second)
		f.mu.Lock()
		if st, _, _ := latest(t, v); st != nil && st.Driver == core.DriverPerson || len(f.inputs) != n {
			t.Error("a modifier, as before keys of Loop's, took over")
		}
		f.mu.Unlock()
		v.Handle(core.BrowserCommand{Type: "input", Input: &core.BrowserInput{Kind: core.InputDown, Button: "left"}})
		var res core.BrowserResult
		var wg sync.WaitGroup
		wg.Go(func() { res, _ = s.Agent(t.Context(), agent, act("navigate")) })
		<-time.After(10 * time.Second)
		v.Handle(control)
		f.mu.Lock()
		if got := f.inputs[len(f.inputs)-1].Key; got != "Control" {
			t.Errorf("the page did not get the modifier of who drives, but %q", got)
		}
		f.mu.Unlock()
		st, _, _ := latest(t, v)
		if st == nil || st.Driver != core.DriverPerson || st.WaitingMs < 8000 {
			t.Fatalf("%+v", st)
		}
		if !s.Held("c") || s.Held("other") {
			t.Error("nobody is said to wait for the person")
		}
		if look, _ := s.Agent(t.Context(), agent, act("read_page")); look.Error != "" {
			t.Errorf("looking needs no turn: %+v", look)
		}
		v.Handle(core.BrowserCommand{Type: "give"})
		wg.Wait()
		if !strings.Contains(res.Result, "person has driven") || !strings.Contains(res.Result, "Done navigate") {
			t.Errorf("%+v", res)
		}
		<-time.After(time.Second)
		s.notices()
		s.mu.Lock()
		told := fmt.Sprint(s.Held("c"))
		for _, e := range s.events {
			told += fmt.Sprint(" ", e.Type, e.ChannelID, string(e.Data))
		}
		s.mu.Unlock()
		if told != `false browser.heldc{"held":true} browser.heldc{"held":false}` {
			t.Error(told)
		}
		v.Handle(core.BrowserCommand{Type: "take"})
		wg.Go(func() { res, _ = s.Agent(t.Context(), agent, act("navigate")) })
		for range 15 { // whoever goes on acting keeps it
			<-time.After(10 * time.Second)
			v.Handle(core.BrowserCommand{Type: "input", Input: &core.BrowserInput{Kind: core.InputKey, Key: "a"}})
		}
		wg.Wait()
		if !strings.Contains(res.Error, "person is driving") {
			t.Errorf("%+v", res)
		}
		<-time.After(31 * time.Second) // a pause gives it back
		if res, _ := s.Agent(t.Context(), agent, act("navigate")); res.Error != "" {
			t.Errorf("%+v", res)
		}
		_ = v.Close()
	})
}

func TestNewestFrameWinsAndIsAcknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		defer func() { _ = s.Close() }()
		a, err := s.Watch(t.Context(), "c", firstView)
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.Watch(t.Context(), "c", firstView)
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Second)
		latest(t, a)
		f := s.chrome(t, 1)
		acked := map[int]int{}
		frame := func(n int) { f.hooks.Frame(core.BrowserFrame{JPEG: []byte{byte(n)}, Ack: func() { acked[n]++ }}) }
		frame(1)
		if _, got, _ := latest(t, a); len(got) != 1 || got[0] != 1 || acked[1] != 0 {
			t.Fatalf("%v %v", got, acked)
		}
		frame(2)
		if _, got, _ := latest(t, a); len(got) != 1 || got[0] != 2 {
			t.Fatalf("%v", got)
		}
		for n := 3; n <= 100; n++ { // neither pane paints
			frame(n)
		}
		if _, got, _ := latest(t, a); len(got) != 0 {
			t.Fatalf("a pane got frames %v before it had painted", got)
		}
		a.Handle(core.BrowserCommand{Type: "painted", ID: 1})
		if acked[1] != 1 {
			t.Errorf("%v", acked)
		}
		if _, got, _ := latest(t, a); len(got) != 1 || got[0] != 100 {
			t.Fatalf("not the newest: %v", got)
		}
		a.Handle(core.BrowserCommand{Type: "painted", ID: 100})
		_ = a.Close()
		_ = b.Close()
		for n := 1; n <= 100; n++ {
			if acked[n] != 1 {
				t.Errorf("frame %d was acknowledged %d times", n, acked[n])
			}
		}
		frame(101)
		if acked[101] != 1 {
			t.Error("nobody looks, and a frame waits for them")
		}
	})
}

// TestHostileCommands sends what no pane of ours would.
func TestHostileCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		defer func() { _ = s.Close() }()
		v, err := s.Watch(t.Context(), "c", core.BrowserView{Width: -5, Height: 1 << 30, Scale: 99, Zoom: -1, Network: "x"})
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Second)
		f := s.chrome(t, 1)
		if got, want := f.views[len(f.views)-1], (core.BrowserView{Width: 160, Height: 2400, Scale: 3, Zoom: 0.25}); got != want {
			t.Errorf("%+v", got)
		}
		hang := make(chan struct{})
		f.mu.Lock()
		f.do = func(ctx context.Context, _ core.BrowserAction) core.BrowserResult {
			<-hang
			return core.BrowserResult{}
		}
		f.mu.Unlock()
		for range 1000 {
			for _, m := range []core.BrowserCommand{{}, {Type: "?"}, {Type: "view"}, {Type: "input"}, {Type: "painted", ID: 7}, {Type: "act"}, {Type: "drawer"}, {Type: "start"}} {
				v.Handle(m)
			}
		}
		_, _, rest := latest(t, v)
		if len(rest) == 0 || len(rest) > maxAnswers {
			t.Errorf("%d answers", len(rest))
		}
		close(hang)
		_ = v.Close()
	})
}

// TestWhoOpensPages: pages of an agent and of no person are asked about, and a person's not.
func TestWhoOpensPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		defer func() { _ = s.Close() }()
		v, err := s.Watch(t.Context(), "c", firstView)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = v.Close() }()
		<-time.After(2 * time.Second)
		hooks := s.chrome(t, 1).hooks
		navigate := act("navigate")
		by := core.Caller{ChannelID: "c", RunID: "run1"}
		navigate.Caller = by
		opens := func(what, want string, under *core.BrowserAction) {
			t.Helper()
			if err := hooks.Opens(t.Context(), core.BrowserOpening{URL: what, Act: under}); err != nil {
				t.Error(err)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			got := strings.Join(s.asked, "; ")
			if s.asked = nil; got != want {
				t.Errorf("%s: asked %q, want %q", what, got, want)
			}
		}
		opens("first", "c first  ", nil) // before anybody drove
		if _, err := s.Agent(t.Context(), by, navigate); err != nil {
			t.Fatal(err)
		}
		opens("tool", "c tool run1 navigate", &navigate)
		opens("page", "c page run1 ", nil)
		look := act("read_page")
		opens("look", "c look run1 ", &look)
		v.Handle(core.BrowserCommand{Type: "take"})
		opens("mine", "", nil)
		opens("mine too", "", &look)
		opens("theirs", "c theirs run1 navigate", &navigate) // which began before the person took over
		bar := act("navigate")
		bar.ByPerson = true
		opens("bar", "", &bar)
		<-time.After(personRest + time.Second)
		opens("again", "c again run1 ", nil)
	})
}
