package chrome

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/input"

	"loop/backend/core"
)

type mouseParams struct {
	X          *float64 `json:"x" needs:"yes"`
	Y          *float64 `json:"y" needs:"yes"`
	Button     string   `json:"button"`
	ClickCount int      `json:"click_count"`
}

// wireActions are the names that the original's clients use.
var wireActions = []action{
	{name: "get_page_info", run: on(pageInfoTool)},
	{name: "get_element_refs", run: on(readPageTool)},
	{name: "mouse_click", acts: true, run: on(func(ctx context.Context, _ *Browser, t *tab, p mouseParams) (result, error) {
		button, err := buttonOf(p.Button)
		if err != nil {
			return result{}, err
		}
		return t.clickOn(ctx, 0, p.X, p.Y, button, min(max(p.ClickCount, 1), 3), "Clicked")
	})},
	{name: "mouse_move", acts: true, run: mouseAct("Moved the mouse", func(p *pointer, x, y float64, _ input.MouseButton, _ int) []command {
		return p.moveTo(x, y, 0)
	})},
	{name: "mouse_down", acts: true, run: mouseAct("Pressed the button", func(p *pointer, x, y float64, button input.MouseButton,
		count int) []command {
		return p.press(x, y, button, count, 0)
	})},
	{name: "mouse_up", acts: true, run: mouseAct("Let the button go", func(p *pointer, x, y float64, button input.MouseButton,
		count int) []command {
		return p.lift(x, y, button, count, 0)
	})},
	{name: "mouse_scroll", acts: true, run: on(func(ctx context.Context, _ *Browser, t *tab, p struct {
		X      *float64 `json:"x"`
		Y      *float64 `json:"y"`
		DeltaX float64  `json:"delta_x"`
		DeltaY float64  `json:"delta_y"`
	}) (result, error) {
		return t.scrollBy(ctx, computerParams{X: p.X, Y: p.Y, DeltaX: p.DeltaX, DeltaY: p.DeltaY})
	})},
	{name: "key_press", acts: true, run: on(func(ctx context.Context, _ *Browser, t *tab, p struct {
		Key string `json:"key" needs:"yes"`
	}) (result, error) {
		return t.pressKey(ctx, p.Key)
	})},
	{name: "type_text", acts: true, run: on(func(ctx context.Context, _ *Browser, t *tab, p struct {
		Text string `json:"text" needs:"yes"`
	}) (result, error) {
		return t.typeText(ctx, p.Text)
	})},
	{name: "click_ref", acts: true, run: on(func(ctx context.Context, _ *Browser, t *tab, p struct {
		Ref      int                   `json:"ref"`
		Refs     []core.BrowserElement `json:"refs"`
		RefIndex int                   `json:"ref_index"`
	}) (result, error) {
		n := p.Ref
		switch {
		case n == 0 && len(p.Refs) > 0 && p.RefIndex >= 1 && p.RefIndex <= len(p.Refs):
			n = p.Refs[p.RefIndex-1].Ref
		case n == 0 && len(p.Refs) == 0:
			n = p.RefIndex
		}
		if n == 0 {
			return result{}, missing("ref, or refs and ref_index", "click_ref")
		}
		return t.clickOn(ctx, n, nil, nil, input.MouseButtonLeft, 1, "Clicked")
	})},
	{name: "evaluate_js", acts: true, run: on(evaluateTool)},
	{name: "scroll_into_view", acts: true, run: on(func(ctx context.Context, _ *Browser, t *tab, p struct {
		Ref     int   `json:"ref"`
		Backend int64 `json:"backend_node_id"`
	}) (result, error) {
		if p.Ref != 0 {
			return t.scrollTo(ctx, p.Ref)
		}
		if p.Backend <= 0 {
			return result{}, missing("ref or backend_node_id", "scroll_into_view")
		}
		if err := t.call(ctx, "DOM.scrollIntoViewIfNeeded", obj{"backendNodeId": p.Backend}, nil); err != nil {
			return result{}, core.Fail(core.CodeNotFound, err, fmt.Sprintf("There is no visible element %d.", p.Backend),
				"Call read_page and use a ref.")
		}
		return say("Scrolled to the element."), nil
	})},
	{name: "read_console", run: on(consoleTool)},
	{name: "read_network", run: on(networkTool)},
}

// mouseAct is an action that does one thing with the mouse.
func mouseAct(done string, do func(p *pointer, x, y float64, button input.MouseButton,
	count int) []command) func(context.Context, *Browser, paramText) (result, error) {
	return on(func(ctx context.Context, b *Browser, t *tab, p mouseParams) (result, error) {
		button, err := buttonOf(p.Button)
		if err != nil {
			return result{}, err
		}
		if err := t.inside(ctx, *p.X, *p.Y); err != nil {
			return result{}, err
		}
		err = t.perform(ctx, func(m *pointer) []command { return do(m, *p.X, *p.Y, button, min(max(p.ClickCount, 1), 3)) })
		return t.acted(ctx, fmt.Sprintf("%s at (%g, %g).", done, *p.X, *p.Y), nil, 0, box{*p.X, *p.Y, 0, 0}, err)
	})
}
