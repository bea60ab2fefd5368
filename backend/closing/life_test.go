package closing

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/bind"
)

// pretend is a window, the work in Loop, and the viewers of it.
type pretend struct {
	bind.Native
	life *Life

	mu      sync.Mutex
	visible bool
	dead    bool // the page does not answer
	asked   []string
	gone    time.Time

	stays    bool
	err      error
	browsers int
	left     time.Time
	kept     map[string]string
}

func (p *pretend) do(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

func (p *pretend) Show()         { p.do(func() { p.visible = true }) }
func (p *pretend) Hide()         { p.do(func() { p.visible = false }) }
func (p *pretend) Quit()         { p.do(func() { p.gone = time.Now() }) }
func (p *pretend) Visible() bool { return true }

func (p *pretend) Ask(what string) {
	p.do(func() { p.asked = append(p.asked, what) })
	if !p.dead {
		go p.life.Answered()
	}
}
func (p *pretend) All() map[string]string { return p.kept }
func (p *pretend) Keep(k, v string) error { p.kept[k] = v; return nil }

func (p *pretend) Leaving(context.Context) (l bind.Leaving, err error) {
	p.do(func() { l.Stays, err = p.stays, p.err })
	return
}

func (p *pretend) Clients() (n int, left time.Time) {
	p.do(func() { n, left = p.browsers, p.left })
	return
}

func newPretend() *pretend {
	p := &pretend{visible: true, kept: map[string]string{}}
	p.life = &Life{Window: p, Memory: p, Look: p.Leaving, Clients: p.Clients, Log: slog.New(slog.DiscardHandler)}
	return p
}

// closes is the person closing the window.
func (p *pretend) closes(t *testing.T) (ended bool) {
	return p.life.Requested(t.Context(), bind.AskClose)
}

func TestClosingTheWindow(t *testing.T) {
	for name, c := range map[string]struct {
		change                func(*pretend)
		ends, visible, asking bool
	}{
		"nothing is under way":                 {ends: true, visible: true},
		"the first time with something":        {change: func(p *pretend) { p.stays = true }, visible: true, asking: true},
		"it was explained before":              {change: func(p *pretend) { p.stays = true; p.kept[toldOnce] = "yes" }},
		"the page does not answer":             {change: func(p *pretend) { p.stays, p.dead = true, true }, asking: true},
		"what is under way cannot be seen":     {change: func(p *pretend) { p.err = errors.New("disk"); p.kept[toldOnce] = "yes" }},
		"somebody looks in a browser":          {change: func(p *pretend) { p.browsers = 1; p.kept[toldOnce] = "yes" }},
		"Loop was told to end":                 {change: func(p *pretend) { p.stays = true; p.life.closing.Store(true) }, ends: true, visible: true},
		"a command line was there a while ago": {change: func(p *pretend) { p.left = time.Now() }, ends: true, visible: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPretend()
				if c.change != nil {
					c.change(p)
				}
				if got := p.closes(t); got != c.ends || p.visible != c.visible || len(p.asked) > 0 != c.asking {
					t.Errorf("ends %v, visible %v, asked %v", got, p.visible, p.asked)
				}
				if told := p.kept[toldOnce] != ""; c.asking && told == p.dead {
					t.Errorf("kept as explained: %v", told)
				}
			})
		})
	}
}

// TestClosingTwice: a second close explains nothing, even when the page has not
// answered the first.
func TestClosingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPretend()
		p.stays = true
		if p.closes(t) || !p.visible || p.closes(t) || p.visible || len(p.asked) != 1 {
			t.Errorf("visible %v, asked %v", p.visible, p.asked)
		}
		p = newPretend()
		p.stays, p.dead = true, true
		go p.closes(t)
		synctest.Wait()
		if begun := time.Now(); p.closes(t) || p.visible || time.Since(begun) > 0 {
			t.Errorf("visible %v after %v", p.visible, time.Since(begun))
		}
		p.life.Answered() // a late answer does no harm
		<-time.After(answerTime)
	})
}

// TestQuitByTheMenu asks when work is under way, whoever else looks at Loop.
func TestQuitByTheMenu(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPretend()
		p.browsers = 1
		if !p.life.Requested(t.Context(), bind.AskQuit) {
			t.Error("nothing is under way, and it does not quit")
		}
		p = newPretend()
		p.stays = true
		if p.life.Requested(t.Context(), bind.AskQuit) || len(p.asked) != 1 || p.asked[0] != bind.AskQuit || len(p.kept) > 0 {
			t.Errorf("asked %v, kept %v", p.asked, p.kept)
		}
		p.life.Quit()
		if p.gone.IsZero() || p.life.Show() {
			t.Error("it does not quit when told to")
		}
	})
}

// TestTheHiddenLoopEnds once nothing needs it and nobody looks at it, and not before.
func TestTheHiddenLoopEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPretend()
		p.stays, p.kept[toldOnce] = true, "yes"
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		watching := make(chan struct{})
		go func() { defer close(watching); p.life.Watch(ctx) }()
		lives := func(d time.Duration, what string) {
			t.Helper()
			<-time.After(d)
			synctest.Wait()
			if !p.gone.IsZero() {
				t.Fatalf("it ended: %s", what)
			}
		}
		p.do(func() { p.stays = false })
		lives(time.Hour, "the window is there")
		p.do(func() { p.stays = true })
		p.closes(t)
		lives(time.Hour, "a run goes on")
		p.do(func() { p.stays = false })
		lives(quietTime-2*quietLook, "it may be needed again at once")
		p.do(func() { p.stays = true })
		lives(2*quietLook, "it is needed again")
		p.do(func() { p.stays, p.browsers = false, 1 })
		lives(time.Hour, "a browser looks")
		p.do(func() { p.browsers = 0 })
		for range 20 { // calls that come between two checks
			p.do(func() { p.left = time.Now() })
			lives(quietLook, "a command line asks again and again")
		}
		lives(quietTime-2*quietLook, "the last one has just asked")
		if !p.life.Show() || !p.visible {
			t.Fatal("it is not shown")
		}
		lives(time.Hour, "the window was shown again")
		p.do(func() { p.stays = true })
		p.closes(t)
		p.do(func() { p.stays, p.err = false, errors.New("disk") })
		lives(time.Hour, "nobody knows what is under way")
		p.do(func() { p.err = nil })
		quiet := time.Now()
		<-watching
		if took := p.gone.Sub(quiet); took < quietTime || took > quietTime+2*quietLook {
			t.Errorf("it ended after %v", took)
		}
		if p.life.Show() {
			t.Error("a window that goes was shown")
		}
	})
}

// TestAnEndIsNotTornByAStart: a call for the window while Loop ends either shows the
// window or tells the caller to start again.
func TestAnEndIsNotTornByAStart(t *testing.T) {
	for range 200 {
		p := newPretend()
		p.life.Hide()
		shown := make(chan bool, 1)
		go func() { shown <- p.life.Show() }()
		if ended := p.life.end(); ended == <-shown {
			t.Fatalf("ended and shown are both %v", ended)
		}
	}
}
