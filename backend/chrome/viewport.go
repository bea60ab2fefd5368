package chrome

import (
	"cmp"
	"context"
	"math"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"

	"loop/backend/core"
)

// Bounds of a view.
const (
	minSide = 100
	maxSide = 3840

	maxDevice = 5120 // pixels of the screen, wide or high, that Chromium draws
)

// viewport is the size of a page in its own CSS pixels: zooming in leaves it fewer.
func viewport(v core.BrowserView) (w, h int64) {
	zoom := cmp.Or(v.Zoom, 1)
	return max(int64(math.Round(float64(v.Width)/zoom)), 1), max(int64(math.Round(float64(v.Height)/zoom)), 1)
}

// SetView sets what all tabs are shown as soon, also those that open later. A zoom makes CSS
// pixels larger, so that the viewport has fewer of them. Errors are *core.Failure:
// invalid_input.
func (b *Browser) SetView(v core.BrowserView) error {
	if v.Scale == 0 {
		v.Scale = 1
	}
	if v.Zoom == 0 {
		v.Zoom = 1
	}
	switch {
	case v.Width < minSide || v.Width > maxSide || v.Height < minSide || v.Height > maxSide:
		return core.Fail(core.CodeInvalid, nil, "A viewport is 100 to 3840 pixels wide and high.", "Use sizes within that.")
	case !(v.Scale >= 1 && v.Scale <= 3):
		return core.Fail(core.CodeInvalid, nil, "The scale is from 1 to 3.", "Use one within that.")
	case !(v.Zoom >= 0.25 && v.Zoom <= 5):
		return core.Fail(core.CodeInvalid, nil, "The zoom is from 0.25 to 5.", "Use one within that.")
	case v.Network != "" && v.Network != "offline" && v.Network != "slow":
		return core.Fail(core.CodeInvalid, nil, "There is no network “"+clip(v.Network, 40)+"”.", "Use offline, slow or none.")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.view == v {
		return nil
	}
	b.view = v
	select {
	case b.views <- struct{}{}:
	default:
	}
	return nil
}

// showViews tells the tabs what they are shown as, until the connection ends. A pane that
// is resized names hundreds of sizes a second: the next one that is told is the newest
// when the active page has answered to the one before.
func (b *Browser) showViews() {
	ctx, cancel := b.context(context.Background())
	defer cancel()
	for {
		select {
		case <-b.views:
		case <-ctx.Done():
			return
		}
		b.mu.Lock()
		v, active := b.view, b.active
		for _, t := range b.tabs {
			b.emulate(t)
		}
		b.mu.Unlock()
		b.cast.again()
		if active != nil {
			short, done := context.WithTimeout(ctx, moveTimeout) // a page that hangs gets the next one nevertheless
			_ = active.call(short, page.CommandGetLayoutMetrics, nil, nil)
			done()
		}
		b.mu.Lock()
		b.shown = v
		b.advance()
		b.mu.Unlock()
	}
}

// View is what all tabs are shown as, since SetView or an agent's resize_window.
func (b *Browser) View() core.BrowserView {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.view
}

// resize is SetView with a viewport of another size in CSS pixels, and waits until the active
// page has it.
func (b *Browser) resize(ctx context.Context, t *tab, width, height int) error {
	v := b.View()
	zoom := cmp.Or(v.Zoom, 1)
	v.Width, v.Height = int(math.Round(float64(width)*zoom)), int(math.Round(float64(height)*zoom))
	if err := b.SetView(v); err != nil {
		return err
	}
	if err := b.until(ctx, func() bool { return b.shown == b.view }); err != nil {
		return err
	}
	return t.ask(ctx, `() => new Promise(r => { requestAnimationFrame(() => r()); setTimeout(r, 300) })`, nil)
}

// emulate tells a tab what it is shown as; one that has crashed when it is another page:
// Chromium itself would end. The caller holds mu.
func (b *Browser) emulate(t *tab) {
	if t.crashed {
		return
	}
	v := b.view
	w, h := viewport(v)
	v.Scale = max(min(v.Scale, maxDevice/float64(max(v.Width, v.Height))), 1)
	t.post(emulation.CommandSetDeviceMetricsOverride, &emulation.SetDeviceMetricsOverrideParams{
		Width: w, Height: h, DeviceScaleFactor: v.Scale * v.Zoom, Mobile: v.Mobile,
	})
	touch := obj{"enabled": v.Mobile}
	if v.Mobile {
		touch["maxTouchPoints"] = 5
	}
	t.post("Emulation.setTouchEmulationEnabled", touch)
	scheme := "light"
	if v.Dark {
		scheme = "dark"
	}
	t.post("Emulation.setEmulatedMedia", obj{"features": []obj{{"name": "prefers-color-scheme", "value": scheme}}})
	network := obj{"offline": v.Network == "offline", "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
	if v.Network == "slow" { // as DevTools has slow 3G
		network["latency"], network["downloadThroughput"], network["uploadThroughput"] = 2000, 50_000, 50_000
	}
	for _, s := range append([]string{t.session}, t.frameSessions()...) {
		b.conn.start(s, "Network.emulateNetworkConditions", network, nil)
	}
}

// frameSessions are the sessions of frames with a process of their own. The caller holds mu.
func (t *tab) frameSessions() []string {
	out := make([]string, 0, len(t.frames))
	for _, s := range t.frames {
		out = append(out, s)
	}
	return out
}
