package chrome

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/page"

	"loop/backend/core"
)

const (
	maxPNG    = 4 << 20 // bytes; a larger picture is a JPEG
	maxPixels = 4096    // of a side
)

// screenshot is a picture of what the viewport shows.
func (b *Browser) screenshot(ctx context.Context, t *tab) (core.BrowserResult, error) {
	params := obj{"format": "png", "optimizeForSpeed": true}
	b.mu.Lock()
	p, sending := b.known(t), t.sending() != nil
	b.mu.Unlock()
	if !sending {
		var err error
		if p, err = t.where(ctx); err != nil {
			return core.BrowserResult{}, err
		}
	}
	b.mu.Lock()
	scale := b.view.Scale * b.view.Zoom
	b.mu.Unlock()
	if most := max(p.Width, p.Height) * scale; most > maxPixels {
		params["clip"] = obj{"x": p.ScrollX, "y": p.ScrollY, "width": p.Width, "height": p.Height, "scale": maxPixels / most / 1.001}
	}
	var got page.CaptureScreenshotResult
	if err := t.call(ctx, page.CommandCaptureScreenshot, params, &got); err != nil {
		return core.BrowserResult{}, err
	}
	if len(got.Data) > maxPNG {
		params["format"], params["quality"] = "jpeg", 80
		delete(params, "optimizeForSpeed")
		if err := t.call(ctx, page.CommandCaptureScreenshot, params, &got); err != nil {
			return core.BrowserResult{}, err
		}
	}
	r := core.BrowserResult{Page: p, Result: fmt.Sprintf("A picture of %s, %g×%g CSS pixels.", p.URL, p.Width, p.Height)}
	r.Image = got.Data
	return r, nil
}

// known is what is known of a page without its help. The caller holds mu.
func (b *Browser) known(t *tab) *core.BrowserPage {
	return &core.BrowserPage{URL: t.url, Title: t.title, Width: float64(b.view.Width), Height: float64(b.view.Height)}
}

// where says where a page is and how large.
func (t *tab) where(ctx context.Context) (*core.BrowserPage, error) {
	got, err := t.metrics(ctx, t.session)
	if err != nil {
		return nil, err
	}
	t.remember(ctx) // a script may have changed the title
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	return &core.BrowserPage{
		URL: t.url, Title: t.title, Width: got.CSSLayoutViewport.ClientWidth, Height: got.CSSLayoutViewport.ClientHeight,
		PageWidth: got.CSSContentSize.Width, PageHeight: got.CSSContentSize.Height,
		ScrollX: got.CSSVisualViewport.PageX, ScrollY: got.CSSVisualViewport.PageY,
	}, nil
}

// metrics are the sizes of a page, in its own CSS pixels.
type metrics struct {
	CSSLayoutViewport struct{ PageX, PageY, ClientWidth, ClientHeight float64 }
	CSSVisualViewport struct{ PageX, PageY, ClientWidth, ClientHeight float64 }
	CSSContentSize    struct{ Width, Height float64 }
}

// metrics asks for the sizes of a session's page.
func (t *tab) metrics(ctx context.Context, session string) (m metrics, err error) {
	var raw rawObject
	if err = t.callIn(ctx, session, page.CommandGetLayoutMetrics, nil, &raw); err == nil {
		err = raw.into(&m)
	}
	return m, err
}
