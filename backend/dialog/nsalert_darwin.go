//go:build desktop

package dialog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ebitengine/purego/objc"
)

// What AppKit's headers call these.
const (
	eventKeyDown    = 10                     // NSEventTypeKeyDown
	maskClickAndKey = 1<<1 | 1<<eventKeyDown // NSEventMaskLeftMouseDown, NSEventMaskKeyDown
	scrollerAlways  = 0                      // NSScrollerStyleLegacy
	modalLevel      = 8                      // NSModalPanelWindowLevel
)

// tick is how many seconds pass between two looks at an alert.
const tick = 0.1

var errNobody = errors.New("the alert was closed, and nobody has answered in it")

// New returns the asker of this desktop, which a program needs once: it registers a class. It
// shows nothing until the main thread's loop runs; Ask never waits for that longer than its
// context.
func New() Asker {
	a := &alerts{one: make(chan struct{}, 1)}
	a.cocoa, a.failed = newCocoa()
	if a.failed != nil {
		return a
	}
	chose := objc.MethodDef{Cmd: sel("loopChose:"), Fn: func(_ objc.ID, _ objc.SEL, button objc.ID) { a.chose(button) }}
	of, err := objc.RegisterClass("LoopAlertTarget", objc.GetClass("NSObject"), nil, nil, []objc.MethodDef{chose})
	if err != nil {
		a.failed = fmt.Errorf("register the class that hears of an alert's buttons: %w: %w", ErrUnavailable, err)
		return a
	}
	a.target = objc.ID(of).Send(sel("new"))
	return a
}

type alerts struct {
	one    chan struct{} // filled while an alert exists
	cocoa  *cocoa
	target objc.ID
	failed error
	shown  *alert // of the main thread
}

func (a *alerts) Ask(ctx context.Context, r Request) (Choice, error) {
	if a.failed != nil {
		return Deny, a.failed
	}
	select {
	case a.one <- struct{}{}:
	case <-ctx.Done():
		return Deny, ctx.Err()
	}
	f := faceOf(r)
	ended := make(chan int, 1)
	a.cocoa.do(func() {
		if ctx.Err() != nil {
			<-a.one
			return
		}
		a.shown = &alert{ctx: ctx, noAllow: f.noAllow, ended: ended, one: a.one}
		a.shown.open(f, a.target)
	})
	select {
	case response := <-ended:
		if ctx.Err() != nil {
			break
		}
		if c, chosen := choiceOf(response, f.noAllow); chosen {
			return c, nil
		}
		return Deny, errNobody
	case <-ctx.Done():
	}
	return Deny, ctx.Err()
}

// chose is the action of every button, whose tag is what runModal would return. A button of an
// alert before may be pressed late.
func (a *alerts) chose(button objc.ID) {
	if d := a.shown; d.look() && button.Send(sel("window")) == d.window {
		d.end(objc.Send[int](button, sel("tag")))
	}
}

// alert is one NSAlert, of the main thread.
//
// It is shown without runModal. That would make the window deaf and take the keyboard from it.
// Loop could not quit either: Wails calls [NSApp stop:], which in a modal loop ends that alone.
type alert struct {
	ctx            context.Context // the loop's callbacks have no other way to it
	noAllow        bool
	ended          chan<- int // of one
	one            <-chan struct{}
	alert, window  objc.ID // the window is the alert's
	buttons        map[Choice]objc.ID
	arming         arming
	armed          bool
	closed         bool
	timer, monitor objc.ID
}

func (d *alert) open(f face, target objc.ID) {
	a := class("NSAlert").Send(sel("new"))
	d.alert, d.window = a, a.Send(sel("window"))
	a.Send(sel("setMessageText:"), text(f.title))
	a.Send(sel("setInformativeText:"), text(f.note))
	a.Send(sel("setAccessoryView:"), scrolled(f.content()+"\n\n"+f.full))
	words := map[Choice]string{AllowOnce: allowText, Deny: denyText, Review: reviewText}
	d.buttons = map[Choice]objc.ID{}
	for _, c := range alertButtons() {
		b := a.Send(sel("addButtonWithTitle:"), text(words[c]))
		key := "" // the first one would have Return
		if c == Deny {
			key = "\r"
		}
		b.Send(sel("setKeyEquivalent:"), text(key))
		b.Send(sel("setRefusesFirstResponder:"), c == AllowOnce) // Space presses what has the focus
		b.Send(sel("setEnabled:"), false)
		b.Send(sel("setTag:"), responseOf(c))
		b.Send(sel("setTarget:"), target)
		b.Send(sel("setAction:"), sel("loopChose:"))
		d.buttons[c] = b
	}
	a.Send(sel("layout"))
	d.window.Send(sel("setTitle:"), text(titleText))
	d.window.Send(sel("setCanHide:"), false) // it asks while Loop is hidden
	d.window.Send(sel("setHidesOnDeactivate:"), false)
	d.window.Send(sel("setLevel:"), modalLevel)
	d.window.Send(sel("center"))

	ticks := objc.NewBlock(func(objc.Block, objc.ID) { d.tick() })
	defer ticks.Release()
	d.timer = class("NSTimer").Send(sel("timerWithTimeInterval:repeats:block:"), tick, true, ticks)
	class("NSRunLoop").Send(sel("currentRunLoop")).Send(sel("addTimer:forMode:"), d.timer, text(commonModes))
	events := objc.NewBlock(func(_ objc.Block, event objc.ID) objc.ID { return d.event(event) })
	defer events.Release()
	d.monitor = class("NSEvent").Send(sel("addLocalMonitorForEventsMatchingMask:handler:"), uint(maskClickAndKey), events).
		Send(sel("retain"))

	d.look()
	d.window.Send(sel("orderFrontRegardless")) // above other windows; the keyboard stays where it is
}

// tick closes the alert of a question that is taken back, or that nobody sees.
func (d *alert) tick() {
	if d.ctx.Err() != nil || !objc.Send[bool](d.window, sel("isVisible")) {
		d.end(modalAborted)
		return
	}
	d.look()
}

// look has the buttons take answers, or not, and reports which.
func (d *alert) look() bool {
	if d.closed {
		return false
	}
	armed := d.arming.look(objc.Send[bool](d.window, sel("isKeyWindow")), time.Now())
	if armed != d.armed {
		d.armed = armed
		for c, b := range d.buttons {
			b.Send(sel("setEnabled:"), armed && (c != AllowOnce || !d.noAllow))
		}
	}
	return armed
}

// event sees what is about to be sent to a window, and returns what is to be sent.
func (d *alert) event(e objc.ID) objc.ID {
	if d.closed || e.Send(sel("window")) != d.window {
		return e
	}
	armed := d.look() // a click may come before the tick that sees the alert in front
	if objc.Send[uint](e, sel("type")) != eventKeyDown {
		return e
	}
	denies, kept := keyOf(objc.Send[uint16](e, sel("keyCode")), objc.Send[uint](e, sel("modifierFlags")))
	if !kept {
		return e
	}
	if denies && armed {
		d.end(responseOf(Deny))
	}
	return 0
}

// end closes the alert. The first response counts. What AppKit still uses, as a button that is
// being pressed, lasts until the event is over.
func (d *alert) end(response int) {
	if d.closed {
		return
	}
	d.closed = true
	d.timer.Send(sel("invalidate"))
	class("NSEvent").Send(sel("removeMonitor:"), d.monitor)
	d.monitor.Send(sel("autorelease"))
	d.window.Send(sel("orderOut:"), objc.ID(0))
	d.alert.Send(sel("autorelease"))
	d.ended <- response
	<-d.one
}

// size is NSSize.
type size struct{ Width, Height float64 }

// scrolled is a text in a list of its own, so that the buttons stay on the screen.
func scrolled(s string) objc.ID {
	list := class("NSTextView").Send(sel("scrollableTextView"))
	list.Send(sel("setFrameSize:"), size{480, 260})
	list.Send(sel("setScrollerStyle:"), scrollerAlways) // that there is more must be seen
	view := list.Send(sel("documentView"))
	view.Send(sel("setRichText:"), false)
	view.Send(sel("setEditable:"), false)
	view.Send(sel("setSelectable:"), false)
	view.Send(sel("setString:"), text(s))
	return list
}
