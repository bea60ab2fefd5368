package chrome

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"loop/backend/core"
)

type noParams struct{}

type urlParams struct {
	URL string `json:"url" needs:"yes"`
}

type tabParams struct {
	TargetID string `json:"target_id" needs:"yes"`
}

type scriptParams struct {
	Expression string `json:"expression" needs:"yes"`
}

type logParams struct {
	Pattern    string `json:"pattern"`
	OnlyErrors bool   `json:"onlyErrors"`
	Clear      bool   `json:"clear"`
	Limit      *int   `json:"limit"`
}

type networkParams struct {
	Pattern string `json:"pattern"`
	Clear   bool   `json:"clear"`
	Limit   *int   `json:"limit"`
}

type result = core.BrowserResult

// tools are the nineteen that agents have by name.
var tools = []action{
	{name: "navigate", run: on(func(ctx context.Context, b *Browser, t *tab, p urlParams) (result, error) {
		s, err := b.navigate(ctx, t, p.URL)
		return result{Result: s}, err
	})},
	{name: "new_tab", run: on(func(ctx context.Context, b *Browser, _ *tab, p struct {
		URL string `json:"url"`
	}) (result, error) {
		if p.URL == "" {
			p.URL = "about:blank"
		}
		if _, err := navAddress(p.URL); err != nil {
			return result{}, err
		}
		t, err := b.openTab(ctx)
		if err != nil {
			return result{}, err
		}
		s := "Opened an empty tab."
		if p.URL != "about:blank" {
			if s, err = b.navigate(ctx, t, p.URL); errors.Is(err, errAsked) {
				return result{Result: "The tab is " + t.id + ".", Tabs: b.Tabs()}, err
			} else if err != nil {
				return result{}, fmt.Errorf("%w", core.Fail(core.AsFailure(err).Code, nil, "The tab "+t.id+" is open, but: "+sentence(err), ""))
			}
		}
		return result{Result: s + " The tab is " + t.id + ".", Tabs: b.Tabs()}, nil
	})},
	{name: "switch_tab", run: on(func(_ context.Context, b *Browser, _ *tab, p tabParams) (result, error) {
		t, err := b.byID(p.TargetID)
		if err != nil {
			return result{}, err
		}
		b.mu.Lock()
		b.activate(t)
		s := fmt.Sprintf("Switched to “%s” (%s).", t.title, t.url)
		b.mu.Unlock()
		return result{Result: s, Tabs: b.Tabs()}, nil
	})},
	{name: "close_tab", run: on(func(ctx context.Context, b *Browser, _ *tab, p tabParams) (result, error) {
		t, err := b.byID(p.TargetID)
		if err != nil {
			return result{}, err
		}
		if err := b.closeTab(ctx, t); err != nil {
			return result{}, err
		}
		return result{Result: "Closed the tab.", Tabs: b.Tabs()}, nil
	})},
	{name: "evaluate", acts: true, run: on(evaluateTool)},
	{name: "find", run: on(findTool)},
	{name: "form_input", acts: true, run: on(func(ctx context.Context, b *Browser, t *tab, p struct {
		Ref   int     `json:"ref" needs:"yes"`
		Value *string `json:"value" needs:"yes"`
	}) (result, error) {
		s, err := b.formInput(ctx, t, p.Ref, *p.Value)
		r := result{Result: s}
		if e, at, gone := t.show(ctx, p.Ref); gone == nil {
			r.Target = &core.BrowserTarget{Role: e.role, Name: e.name, Ref: p.Ref, X: at.x, Y: at.y, Width: at.w, Height: at.h}
		}
		return r, err
	})},
	{name: "read_console_messages", run: on(consoleTool)},
	{name: "read_network_requests", run: on(networkTool)},
	{name: "resize_window", run: on(func(ctx context.Context, b *Browser, t *tab, p struct {
		Width  int `json:"width" needs:"yes"`
		Height int `json:"height" needs:"yes"`
	}) (result, error) {
		if err := b.resize(ctx, t, p.Width, p.Height); err != nil {
			return result{}, err
		}
		return say("The viewport is %d×%d now.", p.Width, p.Height), nil
	})},
	{name: "computer", acts: true, run: on(computerTool)},
	{name: "read_page", run: on(readPageTool)},
	{name: "screenshot", run: on(func(ctx context.Context, b *Browser, t *tab, _ noParams) (result, error) { return b.screenshot(ctx, t) })},
	{name: "go_back", run: on(func(ctx context.Context, b *Browser, t *tab, _ noParams) (result, error) {
		s, err := b.step(ctx, t, -1)
		return result{Result: s}, err
	})},
	{name: "go_forward", run: on(func(ctx context.Context, b *Browser, t *tab, _ noParams) (result, error) {
		s, err := b.step(ctx, t, 1)
		return result{Result: s}, err
	})},
	{name: "reload", run: on(func(ctx context.Context, b *Browser, t *tab, _ noParams) (result, error) {
		s, err := b.reload(ctx, t)
		return result{Result: s}, err
	})},
	{name: "list_tabs", run: on(func(_ context.Context, b *Browser, _ *tab, _ noParams) (result, error) {
		var s strings.Builder
		all := b.Tabs()
		for _, t := range all {
			mark := " "
			if t.Active {
				mark = "*"
			}
			fmt.Fprintf(&s, "%s %s “%s” %s", mark, t.ID, t.Title, clip(t.URL, 300))
			if t.Loading {
				s.WriteString(" (loading)")
			}
			if t.Crashed {
				s.WriteString(" (crashed)")
			}
			s.WriteByte('\n')
		}
		return result{Result: s.String(), Tabs: all}, nil
	})},
	{name: "page_info", run: on(pageInfoTool)},
	{name: "get_page_text", run: on(pageTextTool)},
}

func evaluateTool(ctx context.Context, b *Browser, t *tab, p scriptParams) (result, error) {
	b.mu.Lock()
	before := t.navs
	b.mu.Unlock()
	floods := t.floods()
	s, err := b.evaluate(ctx, t, p.Expression)
	if err != nil && t.floods() > floods {
		err = errFlood
		t.returned(ctx)
	}
	short, cancel := context.WithTimeout(ctx, 60*time.Millisecond) // a script may have the page go somewhere
	defer cancel()
	if b.until(short, func() bool { return t.requested || t.opening != nil || t.navs > before }) == nil {
		t.settle(ctx)
	}
	return result{Result: s}, err
}

func findTool(ctx context.Context, _ *Browser, t *tab, p struct {
	Query string `json:"query" needs:"yes"`
}) (result, error) {
	const most = 20
	q := strings.ToLower(strings.TrimSpace(p.Query))
	if q == "" || len(q) > 1000 {
		return result{}, core.Fail(core.CodeInvalid, nil, "The query is empty or longer than 1000 bytes.",
			"Give a part of a role, name or description.")
	}
	has := func(s string) bool { return strings.Contains(strings.ToLower(s), q) }
	s, elements, err := t.snapshot(ctx, func(role, name, description string) bool {
		return role != "RootWebArea" && (has(role) || has(name) || has(description))
	}, most)
	if err != nil {
		return result{}, err
	}
	if len(elements) == 0 {
		return say("Nothing on the page has “%s” in its role, name or description. read_page shows what there is.", clip(p.Query, 100)), nil
	}
	return result{Result: s, Elements: elements}, nil
}

func readPageTool(ctx context.Context, _ *Browser, t *tab, _ noParams) (result, error) {
	s, elements, err := t.snapshot(ctx, nil, 0)
	if err != nil {
		return result{}, err
	}
	p, err := t.where(ctx)
	if err != nil {
		return result{}, err
	}
	head := fmt.Sprintf("%s “%s”, viewport %g×%g", clip(p.URL, 500), p.Title, p.Width, p.Height)
	if p.PageHeight > p.Height {
		head += fmt.Sprintf(", at %g of %g pixels from the top", p.ScrollY, p.PageHeight)
	}
	if strings.Count(s, "\n") < 2 && len(elements) == 0 {
		var kind string
		if t.ask(ctx, `() => document.contentType`, &kind) == nil {
			s += "Nothing else is there to read." + noText(kind) + "\n"
		}
	}
	return result{Result: head + "\n" + s, Elements: elements, Page: p}, nil
}

func pageInfoTool(ctx context.Context, b *Browser, t *tab, _ noParams) (result, error) {
	p, err := t.where(ctx)
	if err != nil {
		return result{}, err
	}
	b.mu.Lock()
	loading := t.loading
	b.mu.Unlock()
	s := fmt.Sprintf("%s “%s”, viewport %g×%g, page %g×%g, scrolled to %g, %g.", p.URL, p.Title, p.Width, p.Height,
		p.PageWidth, p.PageHeight, p.ScrollX, p.ScrollY)
	if loading {
		s += " It still loads."
	}
	return result{Result: s, Page: p}, nil
}

// limitOf is a limit that was given, or its default.
func limitOf(given *int, usual int) (int, error) {
	if given == nil {
		return usual, nil
	}
	if *given < 1 {
		return 0, core.Fail(core.CodeInvalid, nil, "The limit is less than 1.", "Leave it out, or give a greater one.")
	}
	return min(*given, 500), nil
}

func consoleTool(_ context.Context, b *Browser, t *tab, p logParams) (result, error) {
	re, err := pattern(p.Pattern)
	if err != nil {
		return result{}, err
	}
	limit, err := limitOf(p.Limit, 100)
	if err != nil {
		return result{}, err
	}
	return result{Result: b.readConsole(t, re, p.OnlyErrors, p.Clear, limit)}, nil
}

func networkTool(_ context.Context, b *Browser, t *tab, p networkParams) (result, error) {
	re, err := pattern(p.Pattern)
	if err != nil {
		return result{}, err
	}
	limit, err := limitOf(p.Limit, 50)
	if err != nil {
		return result{}, err
	}
	return result{Result: b.readNetwork(t, re, p.Clear, limit)}, nil
}

// acted waits for what an act began and says what it was on.
func (t *tab) acted(ctx context.Context, what string, e *ref, n int, at box, err error) (result, error) {
	if errors.Is(err, errGone) { // by the act itself, before Chromium answered to it
		return result{Result: what}, nil
	}
	if err != nil {
		if _, is := isDialog(err); !is {
			return result{}, err
		}
	} else {
		t.settle(ctx)
		t.remember(ctx)
		what += t.opened(ctx)
	}
	r := result{Result: what, Target: &core.BrowserTarget{Ref: n, X: at.x, Y: at.y, Width: at.w, Height: at.h}}
	if e != nil {
		r.Target.Role, r.Target.Name = e.role, e.name
	}
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	if err == nil && t.dialog != nil {
		err = t.standing()
	}
	return r, err
}

// opened waits for the tab that an act on this one has opened, and says what it shows; empty
// if there is none.
func (t *tab) opened(ctx context.Context) string {
	b := t.b
	b.mu.Lock()
	fresh := b.active
	b.mu.Unlock()
	if fresh == nil || fresh == t || fresh.opener != t.id {
		return ""
	}
	begun, cancel := context.WithTimeout(ctx, time.Second) // an empty one never begins
	_ = b.until(begun, func() bool {
		return fresh.gone || fresh.dialog != nil || fresh.opening != nil || fresh.navs > 0
	})
	cancel()
	fresh.settle(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	if fresh.gone || fresh.asks() || fresh.url == "" {
		return ""
	}
	return " The new tab shows " + clip(fresh.url, 300) + "."
}
