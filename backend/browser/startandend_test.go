package browser

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// watch opens a pane and waits for its browser.
func (s *stage) watch(t *testing.T) core.BrowserViewer {
	t.Helper()
	v, err := s.Watch(t.Context(), "c", firstView)
	if err != nil {
		t.Fatal(err)
	}
	<-time.After(2 * time.Second)
	return v
}

// TestResetForgetsTheProfile: what runs is ended first, and what only starts, too. Only a
// start that succeeded has forgotten it.
func TestResetForgetsTheProfile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		defer func() { _ = s.Close() }()
		v := s.watch(t)
		defer func() { _ = v.Close() }()
		first := s.chrome(t, 1)
		v.Handle(core.BrowserCommand{Type: "reset"})
		<-time.After(2 * time.Second)
		s.chrome(t, 2)
		if closed, _ := first.now(); closed != 1 || !slices.Equal(s.fresh, []bool{false, true}) {
			t.Errorf("closed %d times, starts %v", closed, s.fresh)
		}
		s.mu.Lock()
		s.fail = core.Fail(core.CodeNoEngine, nil, "Docker does not answer.", "Start it.")
		s.mu.Unlock()
		v.Handle(core.BrowserCommand{Type: "reset"})
		<-time.After(2 * time.Second)
		if st, _, rest := latest(t, v); st == nil || st.Phase != core.BrowserCrashed || len(rest) != 1 || !strings.Contains(rest[0].Message, "Docker does not answer") {
			t.Errorf("%+v %+v", st, rest)
		}
		s.mu.Lock()
		s.fail = nil
		s.mu.Unlock()
		v.Handle(core.BrowserCommand{Type: "restart"})
		<-time.After(500 * time.Millisecond)
		v.Handle(core.BrowserCommand{Type: "reset"}) // while it starts
		<-time.After(3 * time.Second)
		s.chrome(t, 4)
		if want := []bool{false, true, true, true, true}; !slices.Equal(s.fresh, want) {
			t.Errorf("starts %v, not %v", s.fresh, want)
		}
		v.Handle(core.BrowserCommand{Type: "restart"})
		<-time.After(2 * time.Second)
		if s.chrome(t, 5); s.fresh[5] {
			t.Error("a restart forgets the profile")
		}
	})
}

// TestCloseDuringStart: a Chromium that has come up while Loop closes is ended.
func TestCloseDuringStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		failed := make(chan core.BrowserResult, 1)
		go func() {
			res, _ := s.Agent(t.Context(), agent, act("read_page"))
			failed <- res
		}()
		synctest.Wait()
		if err := s.Close(); err != nil { // the launch of the stage does not look whether it is wanted
			t.Error(err)
		}
		if res := <-failed; !strings.Contains(res.Error, "closing") {
			t.Errorf("%+v", res)
		}
		if closed, _ := s.chrome(t, 1).now(); closed != 1 {
			t.Errorf("closed %d times", closed)
		}
	})
}

// TestStartWaitsForTheEnd: the next Chromium starts when the one before is gone, and with it
// the container that has the channel's name.
func TestStartWaitsForTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		defer func() { _ = s.Close() }()
		launch := s.o.Launch
		var mu sync.Mutex
		running := 0
		s.o.Launch = func(ctx context.Context, ch core.ChannelID, fresh bool, h Hooks) (Running, error) {
			mu.Lock()
			if running++; running > 1 {
				t.Error("two run at a time")
			}
			mu.Unlock()
			run, err := launch(ctx, ch, fresh, h)
			end := run.Close
			run.Close = func() error {
				<-time.After(5 * time.Second)
				mu.Lock()
				running--
				mu.Unlock()
				return end()
			}
			return run, err
		}
		v := s.watch(t)
		defer func() { _ = v.Close() }()
		close(s.chrome(t, 1).done)
		s.chromes[0].mu.Lock()
		s.chromes[0].closed = 1
		s.chromes[0].mu.Unlock()
		synctest.Wait() // it is being cleared away
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if res, err := s.Agent(t.Context(), agent, act("read_page")); err != nil || res.Error != "" {
					t.Errorf("%+v %v", res, err)
				}
			})
		}
		wg.Wait()
		s.chrome(t, 2)
	})
}

// TestRemovedChannel: its browser ends, whether it runs or starts, its panes end, and its
// profile goes.
func TestRemovedChannel(t *testing.T) {
	for _, after := range []time.Duration{500 * time.Millisecond, 2 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage()
			defer func() { _ = s.Close() }()
			v, err := s.Watch(t.Context(), "c", firstView)
			if err != nil {
				t.Fatal(err)
			}
			<-time.After(after)
			s.Forget(t.Context(), "c")
			if closed, _ := s.chrome(t, 1).now(); closed != 1 || !slices.Equal(s.forgot, []core.ChannelID{"c"}) {
				t.Errorf("closed %d times, forgot %v", closed, s.forgot)
			}
			if _, err := v.Next(t.Context()); err == nil {
				t.Error("the pane goes on")
			}
			v.Handle(core.BrowserCommand{Type: "act", ID: 1, Action: "reload"})
			v.Handle(core.BrowserCommand{Type: "restart"})
			synctest.Wait()
			s.chrome(t, 1)
			if err := v.Close(); err != nil {
				t.Error(err)
			}
			s.Forget(t.Context(), "never used")
			if len(s.forgot) != 2 {
				t.Errorf("forgot %v", s.forgot)
			}
		})
	}
}

// TestSwitchedOffWhileItRuns: it ends, panes say so, and nothing but the setting starts it.
func TestSwitchedOffWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		defer func() { _ = s.Close() }()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = s.Run(ctx) }()
		v := s.watch(t)
		defer func() { _ = v.Close() }()
		s.enable(false)
		<-time.After(sweepEvery)
		if st, _, _ := latest(t, v); st == nil || st.Phase != core.BrowserOff {
			t.Errorf("%+v", st)
		}
		v.Handle(core.BrowserCommand{Type: "restart"})
		v.Handle(core.BrowserCommand{Type: "act", ID: 7, Action: "reload"})
		<-time.After(time.Second)
		st, _, rest := latest(t, v)
		if st == nil || st.Phase != core.BrowserOff || len(rest) != 1 || !strings.Contains(rest[0].Result.Error, "switched off") {
			t.Errorf("%+v %+v", st, rest)
		}
		s.chrome(t, 1)
		s.enable(true)
		v.Handle(core.BrowserCommand{Type: "restart"})
		<-time.After(2 * time.Second)
		s.chrome(t, 2)
	})
}

// TestOpenedWhileSwitchedOff: the pane says why there is nothing, an agent is refused with the
// same sentence, nothing starts, and the pane shows the browser once it is switched on.
func TestOpenedWhileSwitchedOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		defer func() { _ = s.Close() }()
		s.enable(false)
		v := s.watch(t)
		defer func() { _ = v.Close() }()
		const why = "The browser is switched off for this channel. Set browser_enabled to true in the settings."
		if st, _, _ := latest(t, v); st == nil || st.Phase != core.BrowserOff || st.Failure == nil || sentence(st.Failure) != why {
			t.Errorf("%+v", st)
		}
		for _, action := range []string{"navigate", "read_page", "no such action"} {
			if res, err := s.Agent(t.Context(), agent, act(action)); err == nil || sentence(err) != why {
				t.Errorf("%s: %+v %v", action, res, err)
			}
		}
		<-time.After(time.Minute)
		s.enable(true)
		v.Handle(core.BrowserCommand{Type: "restart"})
		<-time.After(2 * time.Second)
		if st, _, _ := latest(t, v); st == nil || st.Phase != core.BrowserRunning || st.Failure != nil {
			t.Errorf("%+v", st)
		}
		s.chrome(t, 1) // and none before
	})
}

// TestPortsWhileAPaneLooks: they are looked at every three seconds, and never without a pane.
func TestPortsWhileAPaneLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		defer func() { _ = s.Close() }()
		if _, err := s.Agent(t.Context(), agent, act("read_page")); err != nil {
			t.Fatal(err)
		}
		looks := func() int {
			synctest.Wait()
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.looks
		}
		<-time.After(time.Minute)
		if n := looks(); n != 0 {
			t.Fatalf("%d looks without a pane", n)
		}
		v, w := s.watch(t), s.watch(t)
		port := core.BrowserPort{Port: 8080, URL: "http://localhost:8080/", Process: "node"}
		s.mu.Lock()
		s.ports = []core.BrowserPort{port}
		s.mu.Unlock()
		<-time.After(portsEvery + stateEvery)
		for _, v := range []core.BrowserViewer{v, w} {
			if st, _, _ := latest(t, v); st == nil || !slices.Equal(st.Ports, []core.BrowserPort{port}) {
				t.Errorf("%+v", st)
			}
		}
		<-time.After(time.Minute)
		if st, _, _ := latest(t, v); st != nil {
			t.Errorf("a state without a change: %+v", st)
		}
		_ = v.Close()
		before := looks()
		<-time.After(2 * portsEvery)
		if n := looks(); n != before+2 {
			t.Errorf("%d looks in six seconds for one pane of two", n-before)
		}
		_ = w.Close()
		before = looks()
		<-time.After(time.Minute)
		if n := looks(); n != before {
			t.Errorf("%d looks after the last pane", n-before)
		}
		v = s.watch(t)
		if looks() != before+1 {
			t.Error("no look for a pane that came later")
		}
		_ = v.Close()
	})
}

// TestWhoWaitedHearsWhyItDidNotStart: also where the person has begun anew before those who
// waited for the start have looked.
func TestWhoWaitedHearsWhyItDidNotStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		defer func() { _ = s.Close() }()
		c := s.session("c")
		c.mu.Lock()
		c.phase, c.ready, c.refused = core.BrowserStarting, make(chan struct{}), new(refusal)
		c.mu.Unlock()
		got := make(chan error, 1)
		go func() {
			_, err := c.ensure(t.Context())
			got <- err
		}()
		synctest.Wait()
		c.mu.Lock()
		c.phase, c.failure, c.refused.why = core.BrowserOff, errOff, errOff
		close(c.ready)
		c.phase, c.failure = core.BrowserIdle, nil // as shut does
		c.mu.Unlock()
		if err := <-got; core.AsFailure(err).Code != core.CodeOff {
			t.Error(err)
		}
	})
}
