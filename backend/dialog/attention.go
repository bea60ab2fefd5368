package dialog

import (
	"context"
	"sync"
	"time"
)

// Frame is Loop's window as the desktop has it. Any goroutine may call it.
type Frame interface {
	// Mark says whether something waits. While it does and no window of Loop is in front,
	// the desktop marks the window in its own way; it never comes to the front by that.
	// The next Mark after it has come to the front takes the mark away.
	Mark(waits bool)
	// InFront is whether the window, not a native dialog, had the keyboard at the last Mark.
	InFront() bool
	// TellsMinimised is whether this desktop tells a program that its window is minimised.
	TellsMinimised() bool
}

// Attention has the window marked while something waits. Run does the work; Changed may be
// called from anywhere.
type Attention struct {
	queue Queue
	frame Frame
	poke  chan struct{}
}

// NewAttention returns one that marks nothing before Run.
func NewAttention(queue Queue, frame Frame) *Attention {
	return &Attention{queue: queue, frame: frame, poke: make(chan struct{}, 1)}
}

// Changed says that approvals may have changed. It never blocks.
func (a *Attention) Changed() {
	select {
	case a.poke <- struct{}{}:
	default:
	}
}

// Run marks the window until ctx ends, which takes the mark away.
func (a *Attention) Run(ctx context.Context) {
	ticks := time.NewTicker(look)
	defer ticks.Stop()
	marked := false
	for ctx.Err() == nil {
		waits := len(a.queue.Waiting()) > 0
		if waits && !marked {
			ticks.Reset(look) // one of before would count at once
		}
		if waits || marked {
			a.frame.Mark(waits)
		}
		marked = waits
		tick := ticks.C
		if !waits {
			tick = nil
		}
		select {
		case <-ctx.Done():
		case <-a.poke:
		case <-tick:
		}
	}
	if marked {
		a.frame.Mark(false)
	}
}

// unfocused is how long a window may be without the keyboard, while something waits, until it
// counts as out of sight where the desktop does not tell what is minimised.
const unfocused = 20 * time.Second

// Watched is a window that counts as out of sight also where the desktop does not tell: when
// it has been without the keyboard for some time.
type Watched struct {
	Window
	frame Frame

	mu    sync.Mutex
	since time.Time // without the keyboard since then; zero: it has it
	asked time.Time // the last time
}

// NewWatched returns a window that is watched whenever Visible is called.
func NewWatched(w Window, f Frame) *Watched { return &Watched{Window: w, frame: f} }

// Visible implements Window. It is called about once a second while something waits; the
// time without the keyboard begins anew after a pause.
func (w *Watched) Visible() bool {
	if !w.Window.Visible() {
		return false
	}
	if w.frame.TellsMinimised() {
		return true
	}
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.frame.InFront() {
		w.since = time.Time{}
	} else if w.since.IsZero() || now.Sub(w.asked) > 5*look {
		w.since = now
	}
	w.asked = now
	return w.since.IsZero() || now.Sub(w.since) < unfocused
}
