package chrome

import (
	"context"
	"sync"
	"time"
	"unicode/utf16"

	"github.com/chromedp/cdproto/input"

	"loop/backend/core"
)

// Bounds of a person's input.
const (
	maxQueued     = 256 // movements that wait; further ones are dropped
	maxUnanswered = 128 // of a tab, that Chromium has not answered; further ones wait
	moveTimeout   = time.Second
	overTimeout   = 300 * time.Millisecond // to find the frame that a drag is over
	maxDelta      = 10_000
)

// inputLane sends what a person's hand does. Moves are sent one at a time, the newest
// wins; scrolls that wait are summed. Clicks and keys are never dropped for them and keep
// their order.
type inputLane struct {
	b    *Browser
	wake chan struct{}

	mu         sync.Mutex
	queue      []laneItem
	unanswered int
	calm       chan struct{} // closed when nothing is unanswered; nil if nobody waits for it
	moving     chan struct{} // closed when the move under way was answered; nil if none is
	answer     chan struct{} // closed at the next answer; nil if nobody waits for it
	lifted     chan struct{} // closed when the person's button is up; nil if it is
}

// laneItem is a movement, or something else that is done after those before it.
type laneItem struct {
	core.BrowserInput
	t    *tab // the active one when it was pushed; nil for none
	do   func()
	turn bool // do is an act's turn, which waits for no answers
}

func newInputLane(b *Browser) *inputLane { return &inputLane{b: b, wake: make(chan struct{}, 1)} }

// Input queues a movement of a person's hand for the active tab. What does not fit, or
// comes while a dialog is open, is dropped.
func (b *Browser) Input(in core.BrowserInput) { b.input.push(in) }

func (l *inputLane) push(in core.BrowserInput) {
	most := maxTyped
	if in.Kind == core.InputPaste {
		most = core.MaxBrowserPaste
	}
	if len(in.Text) > most || len(in.Key) > 64 || len(in.Code) > 64 || place(in.X, in.Y) != nil {
		return
	}
	if in.Kind == core.InputPaste {
		l.after(func() { l.b.paste(in.Text) }, func() {})
		return
	}
	in.DeltaX, in.DeltaY = bounded(in.DeltaX), bounded(in.DeltaY)
	l.b.mu.Lock()
	t := l.b.active
	l.b.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.queue); n > 0 {
		last := &l.queue[n-1]
		if last.do == nil && last.t == t && last.Kind == in.Kind && last.Modifiers == in.Modifiers {
			switch {
			case in.Kind == core.InputMove, in.Kind == core.InputTouch && in.Button == "move" && last.Button == "move":
				last.BrowserInput = in
				return
			case in.Kind == core.InputScroll:
				in.DeltaX, in.DeltaY = bounded(in.DeltaX+last.DeltaX), bounded(in.DeltaY+last.DeltaY)
				last.BrowserInput = in
				return
			}
		}
		if n >= maxQueued {
			return
		}
	}
	l.presses(in)
	l.queue = append(l.queue, laneItem{BrowserInput: in, t: t})
	l.signal()
}

// after does something when what was pushed before is done. do runs on the lane's goroutine;
// full is called instead if there is no room.
func (l *inputLane) after(do, full func()) {
	l.mu.Lock()
	room := len(l.queue) < maxQueued
	if room {
		l.queue = append(l.queue, laneItem{do: do})
		l.signal()
	}
	l.mu.Unlock()
	if !room {
		full()
	}
}

// answered waits until Chromium has answered to what was sent, and for moveTimeout at most.
func (l *inputLane) answered() {
	l.mu.Lock()
	if l.unanswered == 0 {
		l.mu.Unlock()
		return
	}
	calm := make(chan struct{})
	l.calm = calm
	l.mu.Unlock()
	late := time.NewTimer(moveTimeout)
	defer late.Stop()
	select {
	case <-calm:
	case <-late.C: // a page that hangs
	case <-l.b.conn.ended:
	}
}

func bounded(d float64) float64 {
	if d != d { // NaN
		return 0
	}
	return min(max(d, -maxDelta), maxDelta)
}

func (l *inputLane) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// coalesces says whether later movements of the kind may take the place of this one.
func coalesces(in laneItem) bool {
	return in.Kind == core.InputMove || in.Kind == core.InputScroll || in.Kind == core.InputTouch && in.Button == "move"
}

// run sends what is queued until the connection ends.
func (l *inputLane) run() {
	for {
		in, wait, ok := l.next()
		switch {
		case ok && in.do != nil:
			if !in.turn {
				l.answered()
			}
			in.do()
			continue
		case ok:
			l.send(in)
			continue
		}
		select {
		case <-l.wake:
		case <-wait:
		case <-l.b.conn.ended:
			return
		}
	}
}

// next takes what is to be sent now. A move waits while another one is under way, unless
// a click or key waits behind it.
func (l *inputLane) next() (in laneItem, wait <-chan struct{}, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		return in, nil, false
	}
	in = l.queue[0]
	if l.moving != nil && coalesces(in) {
		urgent := false
		for _, later := range l.queue[1:] {
			urgent = urgent || !coalesces(later)
		}
		if !urgent {
			return in, l.moving, false
		}
	}
	l.queue = l.queue[1:]
	return in, nil, true
}

func (l *inputLane) send(in laneItem) {
	b := l.b
	b.mu.Lock()
	t := b.active
	if t == nil || t != in.t || t.standing() != nil {
		b.mu.Unlock()
		return
	}
	if in.Kind == core.InputDown || in.Kind == core.InputScroll {
		t.dismiss()
	}
	if t.pointer.drag != nil && (in.Kind == core.InputMove || in.Kind == core.InputUp) {
		b.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), overTimeout)
		t.draggedOver(ctx, in.X, in.Y)
		cancel()
		b.mu.Lock()
	}
	commands := t.movement(in.BrowserInput)
	session := t.session
	b.mu.Unlock()
	for i, c := range commands {
		if d, ok := c.params.(*input.DispatchDragEventParams); ok && d.Type == "dragCancel" {
			l.answered() // the drag ends after the drop
		}
		if !l.room(t) {
			return
		}
		l.mu.Lock()
		var moved chan struct{}
		if coalesces(in) && i == len(commands)-1 {
			moved = make(chan struct{})
			l.moving = moved
		}
		l.mu.Unlock()
		var timer *time.Timer
		over := sync.OnceFunc(func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			if moved != nil {
				if l.moving == moved {
					l.moving = nil
				}
				close(moved)
			}
		})
		if moved != nil {
			timer = time.AfterFunc(moveTimeout, over) // a page that hangs must not hold the next move forever
		}
		b.conn.start(session, c.method, c.params, func(answer) {
			if timer != nil {
				timer.Stop()
			}
			over()
			l.mu.Lock()
			l.heard(t)
			l.mu.Unlock()
		})
	}
}

// movement says what a movement sends. The caller holds the Browser's mu.
func (t *tab) movement(in core.BrowserInput) []command {
	button, err := buttonOf(in.Button)
	if err != nil && in.Kind != core.InputTouch {
		return nil
	}
	modifiers := in.Modifiers & 15
	count := min(max(in.ClickCount, 1), 3)
	switch in.Kind {
	case core.InputMove:
		return t.pointer.moveTo(in.X, in.Y, modifiers)
	case core.InputDown:
		return t.pointer.press(in.X, in.Y, button, count, modifiers)
	case core.InputUp:
		return t.pointer.lift(in.X, in.Y, button, count, modifiers)
	case core.InputScroll:
		return []command{wheel(in.X, in.Y, in.DeltaX, in.DeltaY, modifiers)}
	case core.InputKey, core.InputKeyUp:
		e := key{in.Key, in.Code, int64(in.KeyCode), in.Text, 0}.events(modifiers)
		if in.Kind == core.InputKeyUp {
			return []command{{input.CommandDispatchKeyEvent, e[1]}}
		}
		return []command{{input.CommandDispatchKeyEvent, e[0]}}
	case core.InputText:
		if in.Text == "" {
			return nil
		}
		return []command{{input.CommandInsertText, obj{"text": in.Text}}}
	case core.InputCompose:
		n := len(utf16.Encode([]rune(in.Text)))
		return []command{{"Input.imeSetComposition", obj{"text": in.Text, "selectionStart": n, "selectionEnd": n}}}
	case core.InputTouch:
		points := []obj{{"x": in.X, "y": in.Y}}
		kind := map[string]string{"start": "touchStart", "move": "touchMove", "end": "touchEnd"}[in.Button]
		if kind == "" {
			return nil
		}
		if kind == "touchEnd" {
			points = []obj{}
		}
		return []command{{input.CommandDispatchTouchEvent, obj{"type": kind, "touchPoints": points, "modifiers": modifiers}}}
	}
	return nil
}

// scroll turns the wheel over a place.
func (t *tab) scroll(ctx context.Context, x, y, dx, dy float64) error {
	return t.perform(ctx, func(*pointer) []command {
		return []command{wheel(x, y, bounded(dx), bounded(dy), 0)}
	})
}

// wheel turns the wheel. cdproto's type leaves out a zero, which Chromium insists on here.
func wheel(x, y, dx, dy float64, modifiers int) command {
	return command{input.CommandDispatchMouseEvent, obj{"type": "mouseWheel", "x": x, "y": y, "deltaX": dx, "deltaY": dy,
		"modifiers": modifiers}}
}
