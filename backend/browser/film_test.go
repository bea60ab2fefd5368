package browser

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// reel is where the frames of a test go.
type reel struct {
	mu     sync.Mutex
	frames []core.TakenFrame
	over   bool // the run is
	fail   error
}

func (r *reel) Keep(_ context.Context, f core.TakenFrame) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.frames = append(r.frames, f)
	return !r.over, r.fail
}

// kept is what was kept since the last call, in words.
func (r *reel) kept() string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, f := range r.frames {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s%s", f.Kind, f.Driver, f.JPEG, f.Why)))
	}
	r.frames = nil
	return strings.Join(out, ", ")
}

func (f *fakeChrome) show(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shows = text
}

// does is what comes of every act from now on.
func (f *fakeChrome) does(do func() core.BrowserResult) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.do = func(context.Context, core.BrowserAction) core.BrowserResult { return do() }
}

// sends is a frame of the cast.
func (f *fakeChrome) sends(text string, sharp bool) {
	f.hooks.Frame(core.BrowserFrame{JPEG: []byte(text), Sharp: sharp, Time: time.Now().UnixMilli(), Ack: func() {}})
}

func filmStage(t *testing.T) (*stage, *fakeChrome) {
	t.Helper()
	s := newStage()
	if _, err := s.Agent(t.Context(), core.Caller{ChannelID: "c"}, act("read_page")); err != nil {
		t.Fatal(err)
	}
	return s, s.chrome(t, 1)
}

func mustAct(t *testing.T, s *stage, name string) {
	t.Helper()
	if res, err := s.Agent(t.Context(), agent, act(name)); err != nil || res.Error != "" {
		t.Fatalf("%+v %v", res, err)
	}
}

func TestEachActHasAPicture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := filmStage(t)
		defer func() { _ = s.Close() }()
		if got := s.reel.kept(); got != "" {
			t.Errorf("an agent in a terminal has no run: %s", got)
		}
		f.does(func() core.BrowserResult {
			f.show("form")
			return core.BrowserResult{Result: "Filled in.", Target: &core.BrowserTarget{Name: "Email", Width: 9}}
		})
		began := time.Now()
		if _, err := s.Agent(t.Context(), agent, core.BrowserAction{Action: "form_input", Params: []byte(`{"ref":1}`)}); err != nil || !time.Now().Equal(began) {
			t.Errorf("the answer took %v: %v", time.Since(began), err)
		}
		synctest.Wait()
		s.reel.mu.Lock()
		if n := len(s.reel.frames); n != 1 {
			t.Fatalf("%d frames", n)
		}
		got := s.reel.frames[0]
		s.reel.mu.Unlock()
		if got.ChannelID != "c" || got.RunID != "r" || got.Action != "form_input" || string(got.Params) != `{"ref":1}` || got.Deed != "filled in “Email”" ||
			got.Target.Width != 9 || got.URL != "http://localhost:8080/" || got.Ratio != 1 || !got.Began.Equal(began) || string(got.JPEG) != "form" {
			t.Errorf("%+v", got)
		}
		s.reel.kept()
		for _, c := range []struct {
			err  error
			want string
		}{
			{context.DeadlineExceeded, "The page did not answer in time."},
			{core.Fail(core.CodeConflict, nil, "The page has crashed.", ""), "The page has crashed."},
			{errors.New("x"), "Chromium took no picture."},
		} {
			f.mu.Lock()
			f.stillErr = c.err
			f.mu.Unlock()
			s.reel.mu.Lock()
			s.reel.fail = errors.New("the disk is full") // which is not the tool's trouble
			s.reel.mu.Unlock()
			mustAct(t, s, "read_page")
			if got := s.reel.kept(); got != "act agent "+c.want {
				t.Error(got)
			}
		}
	})
}

func TestACastPageIsNotAskedForPictures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := filmStage(t)
		defer func() { _ = s.Close() }()
		v, err := s.Watch(t.Context(), "c", firstView)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = v.Close() }()
		f.sends("before", false)
		<-time.After(time.Second)
		f.does(func() core.BrowserResult {
			f.sends("half", false)
			return core.BrowserResult{Result: "Done."}
		})
		mustAct(t, s, "navigate")
		<-time.After(100 * time.Millisecond)
		f.sends("whole", false)
		<-time.After(100 * time.Millisecond)
		if got := s.reel.kept(); got != "act agent whole" || f.stills != 0 {
			t.Errorf("%s, %d stills", got, f.stills)
		}
		mustAct(t, s, "navigate")
		f.sends("first", false)
		f.does(func() core.BrowserResult {
			f.sends("second", false)
			return core.BrowserResult{Result: "Done."}
		})
		mustAct(t, s, "navigate") // at once: the page of the one before is gone
		<-time.After(200 * time.Millisecond)
		if got := s.reel.kept(); got != "act agent first, act agent second" {
			t.Error(got)
		}
		f.sends("second, sharp", true)
		<-time.After(2 * time.Second)
		if got := s.reel.kept(); got != "" {
			t.Errorf("the page has not changed, and %s was kept", got)
		}
		for range 40 {
			<-time.After(100 * time.Millisecond)
			f.sends(fmt.Sprint("moving ", time.Now().UnixMilli()), false)
		}
		if n := strings.Count(s.reel.kept(), "page agent"); n < 3 || n > 5 {
			t.Errorf("%d frames in four seconds", n)
		}
	})
}

func TestAPageThatNobodyLooksAtIsLookedAtSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := filmStage(t)
		defer func() { _ = s.Close() }()
		f.show("a")
		mustAct(t, s, "navigate")
		s.reel.kept()
		<-time.After(time.Minute)
		if got := s.reel.kept(); got != "" || f.stills > 4 {
			t.Errorf("%s, %d stills", got, f.stills)
		}
		mustAct(t, s, "navigate")
		s.reel.kept()
		<-time.After(500 * time.Millisecond)
		f.show("b")
		<-time.After(600 * time.Millisecond)
		if got := s.reel.kept(); got != "page agent b" {
			t.Error(got)
		}
	})
}

func TestTakingOverAndGivingBackAreFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := filmStage(t)
		defer func() { _ = s.Close() }()
		v, err := s.Watch(t.Context(), "c", firstView)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = v.Close() }()
		take, give := core.BrowserCommand{Type: "take"}, core.BrowserCommand{Type: "give"}
		f.sends("page", false)
		v.Handle(take)
		v.Handle(give)
		if got := s.reel.kept(); got != "" {
			t.Errorf("no run has driven, and %s was kept", got)
		}
		mustAct(t, s, "read_page")
		<-time.After(time.Second)
		s.reel.kept()
		v.Handle(take)
		if got := s.reel.kept(); got != "take person page" {
			t.Error(got)
		}
		f.sends("typed", false)
		<-time.After(1100 * time.Millisecond)
		if got := s.reel.kept(); got != "page person typed" {
			t.Error(got)
		}
		<-time.After(30 * time.Second) // a pause gives it back
		if got := s.reel.kept(); got != "give nobody typed" {
			t.Error(got)
		}
		s.reel.mu.Lock()
		s.reel.over = true
		s.reel.mu.Unlock()
		v.Handle(take)
		s.reel.kept()
		v.Handle(give)
		s.reel.kept()
		v.Handle(take)
		if got := s.reel.kept(); got != "" {
			t.Errorf("the run is over, and %s was kept", got)
		}
	})
}

// TestTheTimelineSaysWhoDrives: one row for each change of hands of a run that uses the
// browser, and none for what no run sees.
func TestTheTimelineSaysWhoDrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := filmStage(t)
		defer func() { _ = s.Close() }()
		v, err := s.Watch(t.Context(), "c", firstView)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = v.Close() }()
		take, give := core.BrowserCommand{Type: "take"}, core.BrowserCommand{Type: "give"}
		const took, gave = "c r person You took over the browser.", "c r nobody You gave the browser back."
		says := func(when, want string) {
			t.Helper()
			if got := s.notices(); got != want {
				t.Errorf("%s: %q, want %q", when, got, want)
			}
		}
		v.Handle(take)
		says("no run has used the browser", "")
		done := make(chan struct{})
		go func() {
			defer close(done)
			mustAct(t, s, "navigate")
		}()
		says("a run comes to wait for the person", took)
		v.Handle(core.BrowserCommand{Type: "input", Input: &core.BrowserInput{Kind: core.InputDown, Button: "left"}})
		mustAct(t, s, "read_page")
		says("the person goes on", "")
		v.Handle(give)
		<-done
		says("given back", gave)
		v.Handle(take)
		says("taken again", took)
		<-time.After(personRest + time.Second)
		says("a pause", gave)
		s.mu.Lock()
		s.untold = errors.New("database is locked")
		s.mu.Unlock()
		v.Handle(take)
		says("a timeline that cannot be written", "")
		v.Handle(give)
		synctest.Wait()
		s.mu.Lock()
		s.untold = nil
		s.mu.Unlock()
		s.reel.mu.Lock()
		s.reel.over = true
		s.reel.mu.Unlock()
		v.Handle(take)
		v.Handle(give)
		says("the run is over", "")
	})
}
