package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// watched is a pane on a browser that runs.
func watched(t *testing.T, s *stage) (core.BrowserViewer, *fakeChrome) {
	t.Helper()
	v, err := s.Watch(t.Context(), "c", firstView)
	if err != nil {
		t.Fatal(err)
	}
	<-time.After(2 * time.Second)
	latest(t, v)
	return v, s.chrome(t, 1)
}

func TestADrawerIsFilledWithoutAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		defer func() { _ = s.Close() }()
		v, f := watched(t, s)
		defer func() { _ = v.Close() }()
		write := func(seq int64) {
			f.mu.Lock()
			f.console = append(f.console, core.BrowserLine{Seq: seq, Text: fmt.Sprint("line ", seq)})
			f.mu.Unlock()
			f.hooks.Changed()
			<-time.After(time.Second)
		}
		lines := func() (seqs []int64) {
			_, _, rest := latest(t, v)
			for _, u := range rest {
				for _, l := range u.Lines {
					seqs = append(seqs, l.Seq)
				}
			}
			return seqs
		}
		write(1)
		if got := lines(); len(got) != 0 {
			t.Fatalf("lines while the drawer is closed: %v", got)
		}
		zero := int64(0)
		v.Handle(core.BrowserCommand{Type: "drawer", ConsoleAfter: &zero})
		write(2)
		write(3)
		if got := lines(); fmt.Sprint(got) != "[1 2 3]" {
			t.Fatalf("lines of the open drawer: %v", got)
		}
		<-time.After(time.Minute)
		if st, _, rest := latest(t, v); st != nil || len(rest) != 0 {
			t.Fatalf("a page at rest costs %v and %v", st, rest)
		}
		v.Handle(core.BrowserCommand{Type: "drawer"})
		write(4)
		if got := lines(); len(got) != 0 {
			t.Fatalf("lines after it was closed: %v", got)
		}
	})
}

func TestCopyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		defer func() { _ = s.Close() }()
		v, f := watched(t, s)
		defer func() { _ = v.Close() }()
		driver := func() core.BrowserDriver {
			c := s.session("c")
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.baton.driver
		}
		says := func(kind string) string {
			t.Helper()
			v.Handle(core.BrowserCommand{Type: kind})
			<-time.After(time.Second)
			_, _, rest := latest(t, v)
			if len(rest) != 1 {
				return fmt.Sprint(rest)
			}
			return rest[0].Type + ": " + rest[0].Text + rest[0].Message
		}
		f.marked = `"quoted", as JSON is`
		if got := says("copy"); got != `clipboard: "quoted", as JSON is` || driver() == core.DriverPerson {
			t.Fatalf("copy: %s; %s drives", got, driver())
		}
		if got := says("cut"); got != `clipboard: "quoted", as JSON is` || driver() != core.DriverPerson {
			t.Fatalf("cut: %s; %s drives", got, driver())
		}
		f.marked = ""
		if got := says("copy"); got != "[]" {
			t.Fatalf("nothing marked: %s", got)
		}
		f.copyErr = core.Fail(core.CodeTooMany, nil, "Too much.", "Mark less.")
		if got := says("cut"); got != "error: Too much. Mark less." {
			t.Fatalf("too much: %s", got)
		}
		if got := fmt.Sprint(f.did); got != "[copy, cut false copy, cut true copy, cut false copy, cut true]" {
			t.Fatal(got)
		}
	})
}

func TestTooLongAPasteIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		defer func() { _ = s.Close() }()
		v, f := watched(t, s)
		defer func() { _ = v.Close() }()
		v.Handle(core.BrowserCommand{Type: "input", Input: &core.BrowserInput{Kind: core.InputPaste, Text: strings.Repeat("x", core.MaxBrowserPaste)}})
		v.Handle(core.BrowserCommand{Type: "input", Input: &core.BrowserInput{Kind: core.InputPaste, Text: strings.Repeat("y", core.MaxBrowserPaste+1)}})
		_, _, rest := latest(t, v)
		if len(rest) != 1 || rest[0].Type != "error" || len(f.inputs) != 1 || f.inputs[0].Text[0] != 'x' {
			t.Fatalf("%+v, %d inputs", rest, len(f.inputs))
		}
	})
}

func TestAPaneOutOfSight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		defer func() { _ = s.Close() }()
		v, f := watched(t, s)
		defer func() { _ = v.Close() }()
		acks := 0
		frame := func() { f.hooks.Frame(core.BrowserFrame{JPEG: []byte{1}, Ack: func() { acks++ }}) }
		frame()
		v.Handle(core.BrowserCommand{Type: "away"})
		v.Handle(core.BrowserCommand{Type: "away"})
		<-time.After(time.Second)
		if acks != 1 || f.cast {
			t.Fatalf("away with a frame: %d painted, cast %v", acks, f.cast)
		}
		frame()
		v.Handle(core.BrowserCommand{Type: "take"})
		<-time.After(time.Second)
		st, ids, _ := latest(t, v)
		if acks != 2 || len(ids) != 0 || st == nil || st.Driver != core.DriverPerson {
			t.Fatalf("away: frames %v, %d painted, state %+v", ids, acks, st)
		}
		v.Handle(core.BrowserCommand{Type: "back"})
		<-time.After(time.Second)
		if _, ids, _ := latest(t, v); len(ids) != 1 || !f.cast {
			t.Fatalf("back: frames %v, cast %v", ids, f.cast)
		}
		v.Handle(core.BrowserCommand{Type: "away"})
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go func() { _ = s.Run(ctx) }()
		<-time.After(time.Hour)
		if st, _, _ := latest(t, v); st == nil || st.Phase != core.BrowserRunning || f.closed != 0 {
			t.Fatalf("an hour out of sight, where a form may be half filled in: %+v", st)
		}
	})
}

func TestAnAgentsSizeIsThatOfThePanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		defer func() { _ = s.Close() }()
		v, f := watched(t, s)
		defer func() { _ = v.Close() }()
		f.do = func(context.Context, core.BrowserAction) core.BrowserResult {
			small := firstView
			small.Width = 500
			_ = f.SetView(small)
			return core.BrowserResult{Result: "The viewport is 500×800 now."}
		}
		if _, err := s.Agent(t.Context(), agent, core.BrowserAction{Action: "resize_window"}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Second)
		if st, _, _ := latest(t, v); st == nil || st.View.Width != 500 {
			t.Fatalf("state %+v", st)
		}
		v.Handle(core.BrowserCommand{Type: "view", View: &firstView}) // which is what the pane said last
		<-time.After(time.Second)
		if st, _, _ := latest(t, v); st == nil || st.View.Width != firstView.Width || f.View().Width != firstView.Width {
			t.Fatalf("state %+v", st)
		}
	})
}

func TestASlowPaneGetsSmallerPictures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		defer func() { _ = s.Close() }()
		v, f := watched(t, s)
		defer func() { _ = v.Close() }()
		play := func(frames int, age time.Duration) int {
			for range frames {
				f.hooks.Frame(core.BrowserFrame{JPEG: []byte{1}, Ack: func() {}})
				<-time.After(age)
				_, ids, _ := latest(t, v)
				v.Handle(core.BrowserCommand{Type: "painted", ID: ids[len(ids)-1]})
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			return f.quality
		}
		if q := play(100, 20*time.Millisecond); q != 60 {
			t.Fatalf("quality %d for a quick pane", q)
		}
		if q := play(100, 150*time.Millisecond); q != 20 {
			t.Fatalf("quality %d for a slow pane", q)
		}
		for range 100 {
			f.hooks.Frame(core.BrowserFrame{JPEG: []byte{1}, Sharp: true, Ack: func() {}})
			_, ids, _ := latest(t, v)
			v.Handle(core.BrowserCommand{Type: "painted", ID: ids[len(ids)-1]})
		}
		if q := play(1, time.Millisecond); q != 20 {
			t.Fatalf("quality %d after stills, which say nothing", q)
		}
		if q := play(1000, 20*time.Millisecond); q != 60 {
			t.Fatalf("quality %d for a pane that is quick again", q)
		}
	})
}

func TestWhatWasActedOnIsOnThePageThatItWasOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		defer func() { _ = s.Close() }()
		v, f := watched(t, s)
		defer func() { _ = v.Close() }()
		leaves := false
		f.do = func(context.Context, core.BrowserAction) core.BrowserResult {
			if leaves {
				f.mu.Lock()
				f.path = "elsewhere"
				f.mu.Unlock()
			}
			return core.BrowserResult{Target: &core.BrowserTarget{Name: "Continue", Width: 10}}
		}
		click := core.BrowserAction{Action: "computer", Params: []byte(`{"action":"click"}`)}
		for _, leaves = range []bool{false, true} {
			if _, err := s.Agent(t.Context(), core.Caller{ChannelID: "c"}, click); err != nil {
				t.Fatal(err)
			}
			<-time.After(time.Second)
			st, _, _ := latest(t, v)
			if st == nil || st.Deed == nil || st.Deed.Text != "clicked “Continue”" || (st.Deed.Target == nil) != leaves {
				t.Fatalf("leaves %v: %+v", leaves, st)
			}
		}
	})
}
