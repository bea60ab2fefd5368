package browser

import (
	"context"
	"fmt"
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

func TestWhatIsCutIsCopiedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		defer func() { _ = s.Close() }()
		v, f := watched(t, s)
		defer func() { _ = v.Close() }()
		marked := "some text"
		f.do = func(_ context.Context, _ core.BrowserAction) core.BrowserResult {
			if len(f.inputs) != 0 {
				t.Error("the text was cut before it was copied")
			}
			return core.BrowserResult{Result: marked}
		}
		v.Handle(core.BrowserCommand{Type: "copy"})
		_, _, rest := latest(t, v)
		if len(rest) != 1 || rest[0].Text != marked || len(f.inputs) != 0 {
			t.Fatalf("copied: %+v, keys %v", rest, f.inputs)
		}
		v.Handle(core.BrowserCommand{Type: "cut"})
		_, _, rest = latest(t, v)
		if len(rest) != 1 || rest[0].Text != marked || len(f.inputs) != 2 || f.inputs[0].Key != "x" {
			t.Fatalf("cut: %+v, keys %v", rest, f.inputs)
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
