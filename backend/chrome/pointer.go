package chrome

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/chromedp/cdproto/input"

	"loop/backend/core"
)

// maxPlace bounds coordinates: a page may be long, but the viewport is not.
const maxPlace = 100_000

// pointer is where a tab's mouse is. Its fields are guarded by the Browser's mu.
type pointer struct {
	down input.MouseButton // that is pressed; empty if none
	x, y float64           // where it was pressed
	drag *input.DragData   // of a drag that the page has begun
	over bool              // the drag has entered the frame that it is over
	// source and in are the sessions of the frames that the drag comes from and is over;
	// empty where the page has no frame of another site.
	source, in string
}

// lost forgets what was pressed: the page it was pressed on has gone.
func (p *pointer) lost() { *p = pointer{} }

var buttonBits = map[input.MouseButton]int64{input.MouseButtonLeft: 1, input.MouseButtonRight: 2, input.MouseButtonMiddle: 4}

// command is what is sent for one movement.
type command struct {
	method string
	params any
}

// moveTo says what moves the mouse. The caller holds mu.
func (p *pointer) moveTo(x, y float64, modifiers int) []command {
	if p.drag != nil {
		kind := input.DispatchDragEventType("dragOver")
		var out []command
		if !p.over {
			p.over = true
			out = append(out, dragCommand("dragEnter", x, y, p.drag, modifiers))
		}
		return append(out, dragCommand(kind, x, y, p.drag, modifiers))
	}
	m := &input.DispatchMouseEventParams{Type: "mouseMoved", X: x, Y: y, Modifiers: int64(modifiers), Button: input.MouseButtonNone}
	if p.down != "" {
		m.Button, m.Buttons = p.down, buttonBits[p.down]
	}
	return []command{{input.CommandDispatchMouseEvent, m}}
}

// press says what presses a button. The caller holds mu.
func (p *pointer) press(x, y float64, button input.MouseButton, count, modifiers int) []command {
	*p = pointer{down: button, x: x, y: y}
	return []command{{input.CommandDispatchMouseEvent, &input.DispatchMouseEventParams{
		Type: "mousePressed", X: x, Y: y, Button: button, Buttons: buttonBits[button], ClickCount: int64(count), Modifiers: int64(modifiers),
	}}}
}

// lift says what lets a button go. The caller holds mu.
func (p *pointer) lift(x, y float64, button input.MouseButton, count, modifiers int) []command {
	var out []command
	if p.drag != nil {
		out = append(p.moveTo(x, y, modifiers), dragCommand("drop", x, y, p.drag, modifiers))
		if p.source != p.in { // Chromium ends the drag in the frame of the drop alone
			out = append(out, dragCommand("dragCancel", p.x, p.y, p.drag, modifiers))
		}
	}
	p.lost()
	return append(out, command{input.CommandDispatchMouseEvent, &input.DispatchMouseEventParams{
		Type: "mouseReleased", X: x, Y: y, Button: button, ClickCount: int64(count), Modifiers: int64(modifiers),
	}})
}

// perform is send in a turn of its own.
func (t *tab) perform(ctx context.Context, make func(p *pointer) []command) error {
	over, err := t.b.input.turn(ctx)
	if err != nil {
		return err
	}
	defer over()
	return t.send(ctx, make)
}

// send sends the commands that make says, one after the other. The caller has the turn.
func (t *tab) send(ctx context.Context, make func(p *pointer) []command) error {
	t.b.mu.Lock()
	all := make(&t.pointer)
	t.b.mu.Unlock()
	// A page that opened another tab is hidden then, and answers late or never.
	away, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() {
		if t.b.until(away, func() bool { return t.b.active != t }) == nil {
			cancel()
		}
	})
	for _, c := range all {
		if err := t.call(away, c.method, c.params, nil); err != nil {
			if away.Err() != nil && ctx.Err() == nil { // it was sent, and those after it still are
				continue
			}
			return err
		}
	}
	return nil
}

func buttonOf(name string) (input.MouseButton, error) {
	switch name {
	case "", "left":
		return input.MouseButtonLeft, nil
	case "right":
		return input.MouseButtonRight, nil
	case "middle":
		return input.MouseButtonMiddle, nil
	}
	return "", core.Fail(core.CodeInvalid, nil, "There is no button “"+clip(name, 40)+"”.", "Use left, middle or right.")
}

// place checks coordinates that somebody gave.
func place(x, y float64) error {
	if math.IsNaN(x) || math.IsNaN(y) || math.Abs(x) > maxPlace || math.Abs(y) > maxPlace {
		return core.Fail(core.CodeInvalid, nil, "The coordinates are outside of any page.",
			"Use CSS pixels of the viewport; page_info says how large it is.")
	}
	if x < 0 || y < 0 {
		return core.Fail(core.CodeInvalid, nil, "The coordinates are outside of the viewport.",
			"Use CSS pixels from its upper left corner, or scroll first.")
	}
	return nil
}

// viewport is what can be seen of a page, in its own CSS pixels. A page that is wider than
// a phone is shrunk there.
func (t *tab) viewport(ctx context.Context) (w, h float64) {
	t.b.mu.Lock()
	vw, vh := viewport(t.b.view)
	mobile := t.b.view.Mobile
	t.b.mu.Unlock()
	w, h = float64(vw), float64(vh)
	if mobile {
		if m, err := t.metrics(ctx, t.session); err == nil {
			w, h = max(w, m.CSSVisualViewport.ClientWidth), max(h, m.CSSVisualViewport.ClientHeight)
		}
	}
	return w, h
}

// inside checks that a place can be seen, so that an act on it would be one on the page.
func (t *tab) inside(ctx context.Context, x, y float64) error {
	if err := place(x, y); err != nil {
		return err
	}
	if w, h := t.viewport(ctx); x >= w || y >= h {
		return core.Fail(core.CodeInvalid, nil, fmt.Sprintf("The place (%g, %g) is outside of the viewport of %g×%g.", x, y, w, h),
			"Scroll first, or use a ref.")
	}
	return nil
}

// click presses and lets go count times, as a hand does.
func (t *tab) click(ctx context.Context, x, y float64, button input.MouseButton, count, modifiers int) error {
	over, err := t.b.input.turn(ctx)
	if err != nil {
		return err
	}
	defer over()
	if err := t.send(ctx, func(p *pointer) []command { return p.moveTo(x, y, modifiers) }); err != nil {
		return err
	}
	for n := 1; n <= count; n++ {
		err := t.send(ctx, func(p *pointer) []command {
			return append(p.press(x, y, button, n, modifiers), p.lift(x, y, button, n, modifiers)...)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// isDialog reports whether an act ended in a dialog, which is then what it came to.
func isDialog(err error) (*dialogError, bool) { return errors.AsType[*dialogError](err) }
