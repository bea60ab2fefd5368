package chrome

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/input"

	"loop/backend/backoff"
	"loop/backend/core"
)

type computerParams struct {
	Action   string   `json:"action" needs:"yes"`
	Ref      int      `json:"ref"`
	X        *float64 `json:"x"`
	Y        *float64 `json:"y"`
	Text     string   `json:"text"`
	DeltaX   float64  `json:"delta_x"`
	DeltaY   float64  `json:"delta_y"`
	Button   string   `json:"button"`
	Duration float64  `json:"duration"` // s
	StartX   *float64 `json:"start_x"`
	StartY   *float64 `json:"start_y"`
}

const maxWait = 20 // s

// clicks are the kinds of click: button and count.
var clicks = map[string]struct {
	button string
	count  int
	done   string
}{
	"click": {"", 1, "Clicked"}, "right_click": {"right", 1, "Right-clicked"},
	"double_click": {"left", 2, "Double-clicked"}, "triple_click": {"left", 3, "Triple-clicked"},
}

// computerTool is the mouse and the keyboard.
func computerTool(ctx context.Context, b *Browser, t *tab, p computerParams) (result, error) {
	if c, ok := clicks[p.Action]; ok {
		if c.button == "" {
			c.button = p.Button
		}
		button, err := buttonOf(c.button)
		if err != nil {
			return result{}, err
		}
		return t.clickOn(ctx, p.Ref, p.X, p.Y, button, c.count, c.done)
	}
	switch p.Action {
	case "type":
		if p.Text == "" {
			return result{}, missing("text", "type")
		}
		return t.typeText(ctx, p.Text)
	case "key":
		if p.Text == "" {
			return result{}, missing("text", "key")
		}
		return t.pressKey(ctx, p.Text)
	case "scroll":
		return t.scrollBy(ctx, p)
	case "scroll_to":
		if p.Ref == 0 {
			return result{}, missing("ref", "scroll_to")
		}
		return t.scrollTo(ctx, p.Ref)
	case "move", "hover":
		_, at, e, err := t.aim(ctx, p.Ref, p.X, p.Y)
		if err != nil {
			return result{}, err
		}
		x, y := at.center()
		err = t.perform(ctx, func(p *pointer) []command { return p.moveTo(x, y, 0) })
		return t.acted(ctx, "Moved the mouse to "+described(e, p.Ref, x, y)+".", e, p.Ref, at, err)
	case "screenshot":
		return b.screenshot(ctx, t)
	case "wait":
		if !(p.Duration >= 0 && p.Duration <= maxWait) {
			return result{}, core.Fail(core.CodeInvalid, nil, "The duration is from 0 to 20 seconds.", "Wait in pieces.")
		}
		if p.Duration == 0 {
			p.Duration = 1
		}
		if !backoff.Sleep(ctx, time.Duration(p.Duration*float64(time.Second))) {
			return result{}, context.Cause(ctx)
		}
		return say("Waited for %g seconds.", p.Duration), nil
	case "left_click_drag":
		if p.StartX == nil || p.StartY == nil || p.X == nil || p.Y == nil {
			return result{}, missing("start_x, start_y, x and y", "left_click_drag")
		}
		if err := t.inside(ctx, *p.StartX, *p.StartY); err != nil {
			return result{}, err
		}
		if err := t.inside(ctx, *p.X, *p.Y); err != nil {
			return result{}, err
		}
		err := t.dragFromTo(ctx, *p.StartX, *p.StartY, *p.X, *p.Y)
		return t.acted(ctx, fmt.Sprintf("Dragged from (%g, %g) to (%g, %g).", *p.StartX, *p.StartY, *p.X, *p.Y), nil, 0, box{*p.X,
			*p.Y, 0, 0}, err)
	}
	return result{}, core.Fail(core.CodeInvalid, nil, "The computer tool has no action “"+clip(p.Action, 60)+"”.",
		"Use click, right_click, double_click, triple_click, type, key, scroll, scroll_to, move, hover, screenshot, wait or left_click_drag.")
}

func missing(what, action string) error {
	return core.Fail(core.CodeInvalid, nil, "The action "+action+" needs "+what+".", "Nothing was done.")
}

// aim is the place that is meant: an element's, scrolled into view, or coordinates.
func (t *tab) aim(ctx context.Context, n int, x, y *float64) (int, box, *ref, error) {
	if n != 0 {
		e, at, err := t.show(ctx, n)
		return n, at, &e, err
	}
	if x == nil || y == nil {
		return 0, box{}, nil, core.Fail(core.CodeInvalid, nil, "Neither a ref nor x and y are given.",
			"Nothing was done; give a ref of read_page or find, or x and y.")
	}
	return 0, box{*x, *y, 0, 0}, nil, t.inside(ctx, *x, *y)
}

func described(e *ref, n int, x, y float64) string {
	if e != nil {
		return fmt.Sprintf("ref %d (%s “%s”)", n, e.role, e.name)
	}
	return fmt.Sprintf("(%g, %g)", x, y)
}

// called is an element as results name it. A page may have given it another name since it
// was read, as lists do that use their rows again.
func (t *tab) called(ctx context.Context, n int, e *ref) string {
	was := e.name
	if role, name, err := t.spoken(ctx, e.node); err == nil && role != "" && name != was {
		e.role, e.name = role, name
		return fmt.Sprintf("ref %d (%s “%s”, which was “%s” when it was read)", n, role, name, was)
	}
	return described(e, n, 0, 0)
}

func (t *tab) clickOn(ctx context.Context, n int, px, py *float64, button input.MouseButton, count int, done string) (result, error) {
	_, at, e, err := t.aim(ctx, n, px, py)
	if err != nil {
		return result{}, err
	}
	over := ""
	if e != nil {
		if at, over, err = t.uncover(ctx, n, *e, at); err != nil {
			return result{}, err
		}
	}
	x, y := at.center()
	on := described(nil, 0, x, y)
	if e != nil {
		on = t.called(ctx, n, e)
	}
	what := done + " " + on + "."
	if over != "" {
		what = fmt.Sprintf("%s at the place of %s, but %s, which got the click.", done, on, over)
	}
	return t.acted(ctx, what, e, n, at, t.click(ctx, x, y, button, count, 0))
}

// typeText types into what has the focus, or into the prompt that the page shows.
func (t *tab) typeText(ctx context.Context, text string) (result, error) {
	t.b.mu.Lock()
	if d := t.dialog; d != nil && d.Kind == "prompt" {
		d.typed, d.has = clip(text, maxDialogText), true
		t.b.mu.Unlock()
		return say("The prompt is answered with “%s” when key Enter accepts it.", clip(text, 200)), nil
	}
	t.b.mu.Unlock()
	n := len([]rune(text))
	return t.acted(ctx, fmt.Sprintf("Typed %d character%s.", n, map[bool]string{false: "s"}[n == 1]), nil, 0, box{}, t.write(ctx, text))
}

// pressKey presses a key, or answers the dialog that the page shows.
func (t *tab) pressKey(ctx context.Context, name string) (result, error) {
	k, modifiers, err := parseKeys(name)
	if err != nil {
		return result{}, err
	}
	if k.key == "Enter" || k.key == "Escape" {
		if had, err := t.b.decideDialog(ctx, t, k.key == "Enter", nil); had {
			if err != nil {
				return result{}, err
			}
			t.settle(ctx)
			return say("%s the dialog.", map[bool]string{true: "Accepted", false: "Dismissed"}[k.key == "Enter"]), nil
		}
	}
	return t.acted(ctx, "Pressed "+clip(name, 60)+".", nil, 0, box{}, t.press(ctx, k, modifiers))
}

func (t *tab) scrollBy(ctx context.Context, p computerParams) (result, error) {
	if p.DeltaX == 0 && p.DeltaY == 0 {
		return result{}, missing("delta_x or delta_y", "scroll")
	}
	var at box
	var e *ref
	if p.Ref == 0 && p.X == nil && p.Y == nil {
		t.b.mu.Lock()
		w, h := viewport(t.b.view)
		t.b.mu.Unlock()
		at = box{float64(w) / 2, float64(h) / 2, 0, 0}
	} else {
		var err error
		if _, at, e, err = t.aim(ctx, p.Ref, p.X, p.Y); err != nil {
			return result{}, err
		}
	}
	x, y := at.center()
	if err := t.ask(ctx, watchScrolls, nil, x, y); errors.Is(err, context.DeadlineExceeded) {
		return result{}, err
	}
	r, err := t.acted(ctx, fmt.Sprintf("Scrolled by %g, %g.", bounded(p.DeltaX), bounded(p.DeltaY)), e, p.Ref, at, t.scroll(ctx,
		x, y, p.DeltaX, p.DeltaY))
	if err == nil {
		// A page scrolls smoothly, so that it is not there yet.
		moved := true
		_ = t.ask(ctx, scrolled, &moved)
		if w, werr := t.where(ctx); werr == nil {
			r.Page = w
			r.Result += fmt.Sprintf(" The page is at %g, %g of %g×%g.", w.ScrollX, w.ScrollY, w.PageWidth, w.PageHeight)
		}
		if !moved {
			r.Result += " Nothing moved: there is no more that way at this place."
		}
	}
	return r, err
}

// watchScrolls begins to look whether something scrolls. What is within a frame or a shadow
// root does so unseen, and counts as if it did.
const watchScrolls = `(x, y) => {
	const e = document.elementFromPoint(x, y);
	globalThis.moved = !e || /-|^(i?frame|object|embed)$/.test(e.localName) || !!e.shadowRoot;
	addEventListener("scroll", () => globalThis.moved = true, {capture: true, once: true});
}`

// scrolled waits until the page has stood still for five frames, at most a second, and says
// whether something has moved.
const scrolled = `() => new Promise(done => {
	let last = "", still = 0;
	const look = () => {
		const at = scrollX + " " + scrollY;
		still = at === last ? still + 1 : 0;
		last = at;
		if (still === 5) done(globalThis.moved !== false);
		else requestAnimationFrame(look);
	};
	requestAnimationFrame(look);
	setTimeout(() => done(globalThis.moved !== false), 1000);
})`

func (t *tab) scrollTo(ctx context.Context, n int) (result, error) {
	e, at, err := t.show(ctx, n)
	if err != nil {
		return result{}, err
	}
	return t.acted(ctx, "Scrolled to "+described(&e, n, 0, 0)+".", &e, n, at, nil)
}
