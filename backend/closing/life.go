// Package closing decides how a Loop with a window ends: which work goes on and which
// ends, what closing the window does, and when the process of a hidden one ends by
// itself. daemon and tests may import it.
package closing

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"loop/backend/bind"
)

const (
	// quietTime is how long nothing needs Loop and nobody looks before a hidden one
	// ends: the next command of a script, or a second start, comes sooner.
	quietTime = 10 * time.Second
	quietLook = 2 * time.Second
	// answerTime is how long the page has to ask the person; somebody who closed the
	// window sees nothing happen meanwhile.
	answerTime = 2 * time.Second
)

// toldOnce is the page's note that the person knows what closing the window does.
const toldOnce = "closing.told"

// Life is the life of a Loop. Its fields are set before its first use; without a
// Window only Begin and Begun may be called. Methods may be called from any
// goroutine.
type Life struct {
	Window bind.Native
	// Look says what becomes of everything under way if Loop ends now (Survey.Leaving).
	Look func(ctx context.Context) (bind.Leaving, error)
	// Clients is how many pages besides the window's are connected, and when the last
	// one left.
	Clients func() (connected int, left time.Time)
	Memory  bind.PageMemory
	Log     *slog.Logger

	closing atomic.Bool
	mu      sync.Mutex
	hidden  bool
	asked   chan struct{} // closed by Answered; nil while nothing is asked
}

var _ bind.Life = (*Life)(nil)

// Begin notes that Loop ends, whatever is running.
func (l *Life) Begin() { l.closing.Store(true) }

// Begun reports whether Loop ends.
func (l *Life) Begun() bool { return l.closing.Load() }

// needed reports whether something is under way that Loop stays for. Work that
// cannot be looked at counts.
func (l *Life) needed(ctx context.Context) bool {
	all, err := l.Look(ctx)
	if err != nil {
		l.Log.Error("look at what is under way", "err", err)
		return true
	}
	return all.Stays
}

// Requested decides what happens when the person closed the window (bind.AskClose)
// or the system's menu wants to quit (bind.AskQuit). True: end now. False: the
// window was hidden, or its page asks the person. It waits for the page for
// answerTime; without its answer nothing ends.
func (l *Life) Requested(ctx context.Context, what string) (end bool) {
	if l.closing.Load() {
		return true
	}
	if n, _ := l.Clients(); !l.needed(ctx) && (n == 0 || what == bind.AskQuit) {
		l.closing.Store(true)
		return true
	}
	if what == bind.AskQuit {
		l.Show() // the system's menu is there without a window
	}
	if what == bind.AskClose && l.Memory.All()[toldOnce] != "" || !l.ask(ctx, what) {
		l.Hide()
	}
	return l.closing.Load()
}

// ask has the page ask the person; false when it does not answer. Whoever closes
// the window a second time meanwhile is not kept waiting.
func (l *Life) ask(ctx context.Context, what string) bool {
	asked := make(chan struct{})
	l.mu.Lock()
	if l.asked != nil {
		l.mu.Unlock()
		return false
	}
	l.asked = asked
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		l.asked = nil
		l.mu.Unlock()
	}()
	l.Window.Ask(what)
	select {
	case <-asked:
	case <-time.After(answerTime):
		return false
	case <-ctx.Done():
		return false
	}
	if what == bind.AskClose {
		if err := l.Memory.Keep(toldOnce, "yes"); err != nil {
			l.Log.Warn("keep that closing was explained", "err", err) // then it is explained again
		}
	}
	return true
}

// Answered implements bind.Life.
func (l *Life) Answered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asked != nil {
		close(l.asked)
		l.asked = make(chan struct{}) // nobody waits for this one
	}
}

// Hide implements bind.Life.
func (l *Life) Hide() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hidden = true
	l.Window.Hide()
}

// Show implements bind.Life. A window is not shown any more once Loop ends.
func (l *Life) Show() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing.Load() {
		return false
	}
	l.hidden = false
	l.Window.Show()
	return true
}

// Quit implements bind.Life.
func (l *Life) Quit() {
	l.closing.Store(true)
	l.Window.Quit()
}

// Leaving implements bind.Life.
func (l *Life) Leaving(ctx context.Context) (bind.Leaving, error) { return l.Look(ctx) }

// Watch ends a hidden Loop that nothing has needed and nobody has looked at for
// quietTime. It returns then, or when ctx ends.
func (l *Life) Watch(ctx context.Context) {
	tick := time.NewTicker(quietLook)
	defer tick.Stop()
	var since time.Time // when it was first seen quiet
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if !l.quiet(ctx, now) {
				since = time.Time{}
			} else if since.IsZero() {
				since = now
			} else if now.Sub(since) >= quietTime && l.end() {
				l.Log.Info("nothing needs the hidden window")
				l.Window.Quit()
				return
			}
		}
	}
}

func (l *Life) quiet(ctx context.Context, now time.Time) bool {
	l.mu.Lock()
	hidden := l.hidden
	l.mu.Unlock()
	n, left := l.Clients()
	return hidden && n == 0 && now.Sub(left) > quietLook && !l.needed(ctx)
}

// end closes the door, unless the window was shown in this moment.
func (l *Life) end() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hidden {
		l.closing.Store(true)
	}
	return l.hidden
}
