package chrome

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/page"

	"loop/backend/core"
)

const (
	dialogPatience = 30 * time.Second // for an answer, before a dialog is dismissed
	dialogsInARow  = 5                // of a page that does nothing else; further ones are dismissed at once
	betweenDialogs = time.Second      // from one to the next, where a page does nothing else
	jamPatience    = time.Second      // for the page that comes next, while a dialog cannot be answered
	maxDialogText  = 2 << 10
)

// pageDialog is a question that a page stands still for.
type pageDialog struct {
	core.BrowserDialog
	typed string // by an agent, for a prompt
	has   bool   // typed was set
	ended chan struct{}
}

// dialogError is why a page does not answer.
type dialogError struct{ d core.BrowserDialog }

func (e *dialogError) Error() string {
	how := "computer with key Enter accepts it, Escape dismisses it"
	if e.d.Kind == "prompt" {
		how += ", and type gives the text to answer with"
	}
	return fmt.Sprintf("The page shows a dialog (%s: “%s”) and stands still until it is answered: %s.", e.d.Kind,
		line(e.d.Message, 300), how)
}

// Dialog is the question that the active page stands still for.
func (b *Browser) Dialog() (core.BrowserDialog, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.active == nil || b.active.dialog == nil {
		return core.BrowserDialog{}, false
	}
	return b.active.dialog.BrowserDialog, true
}

func (b *Browser) dialogOpened(e event) {
	var p struct {
		URL           string `json:"url"`
		Message       string
		Type          string
		DefaultPrompt string
	}
	if !b.decode(e, &p) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.sessions[e.session]
	if t == nil || t.dialog != nil {
		return
	}
	t.inARow++
	t.asked = time.Now()
	switch {
	case t.leaving > 0:
		b.answerDialog(t, p.Type == "beforeunload", "")
		return
	case t.inARow > dialogsInARow:
		b.note("The page shows one dialog after another; they are dismissed.")
		b.answerDialog(t, false, "")
		return
	}
	d := &pageDialog{BrowserDialog: core.BrowserDialog{
		Kind: clip(p.Type, 40), Message: clip(p.Message, maxDialogText), Default: clip(p.DefaultPrompt, maxDialogText), URL: clip(p.URL, maxURL),
	}, ended: make(chan struct{})}
	t.dialog = d
	t.hold()
	b.advance()
	b.wg.Go(func() { b.watchDialog(t, d) })
}

// watchDialog dismisses a dialog that nobody answers. It lasts as long as the dialog.
func (b *Browser) watchDialog(t *tab, d *pageDialog) {
	timer := time.NewTimer(dialogPatience)
	defer timer.Stop()
	select {
	case <-d.ended:
	case <-b.conn.ended:
	case <-timer.C:
		b.mu.Lock()
		defer b.mu.Unlock()
		if t.dialog == d {
			b.note("A dialog (%s: “%s”) was dismissed, as nobody answered it for %d seconds.", d.Kind, line(d.Message, 200),
				int(dialogPatience.Seconds()))
			b.endDialog(t)
			b.answerDialog(t, false, "")
		}
	}
}

// answerDialog sends an answer without waiting. The caller holds mu.
//
// Chromium takes no answer once the page that comes next is about to be shown. Where both
// pages have one renderer, that waits for the dialog, and the dialog for the answer.
func (b *Browser) answerDialog(t *tab, accept bool, text string) {
	before := t.navs
	b.conn.start(t.session, page.CommandHandleJavaScriptDialog, obj{"accept": accept, "promptText": text}, func(a answer) {
		var refused *protocolError
		if errors.As(a.err, &refused) && strings.Contains(refused.Message, "Not attached") {
			b.wg.Go(func() { b.watchJam(t, before) })
		}
	})
}

// watchJam finds out whether a tab comes to its next page although a dialog of the page
// before was not answered.
func (b *Browser) watchJam(t *tab, before int64) {
	ctx, stop := b.context(context.Background())
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, jamPatience)
	defer cancel()
	err := b.until(ctx, func() bool { return t.gone || t.crashed || t.navs > before })
	if errors.Is(err, context.DeadlineExceeded) {
		b.mu.Lock()
		defer b.mu.Unlock()
		t.jammed = true
		t.hold()
		b.advance()
	}
}

// navigateInstead opens an address in an empty tab, and closes the one that is jammed.
func (b *Browser) navigateInstead(ctx context.Context, t *tab, address string) (string, error) {
	b.mu.Lock()
	last := len(b.tabs) == 1
	b.note("The page kept asking while it was left, so its tab was closed, and another opened.")
	b.mu.Unlock()
	if err := b.closeTab(ctx, t); err != nil {
		return "", err
	}
	var fresh *tab
	var err error
	if last { // closeTab has opened one
		fresh, err = b.current()
	} else {
		fresh, err = b.openTab(ctx)
	}
	if err != nil {
		return "", err
	}
	return b.navigate(ctx, fresh, address)
}

func (b *Browser) dialogClosed(e event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.sessions[e.session]; t != nil {
		b.endDialog(t)
	}
}

// endDialog lets the page be asked again. The caller holds mu.
func (b *Browser) endDialog(t *tab) {
	if t.dialog == nil {
		return
	}
	t.asked = time.Now()
	t.dropDialog()
	t.release()
	b.advance()
}

// dropDialog forgets the dialog of a page, if there is one. The caller holds mu.
func (t *tab) dropDialog() {
	if t.dialog != nil {
		close(t.dialog.ended)
		t.dialog = nil
	}
}

// decideDialog answers the dialog of a tab; false if there is none.
func (b *Browser) decideDialog(ctx context.Context, t *tab, accept bool, text *string) (bool, error) {
	b.mu.Lock()
	d := t.dialog
	if d == nil {
		b.mu.Unlock()
		return false, nil
	}
	params := obj{"accept": accept}
	switch {
	case text != nil:
		params["promptText"] = *text
	case d.has:
		params["promptText"] = d.typed
	case accept && d.Kind == "prompt":
		params["promptText"] = d.Default
	}
	b.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := b.conn.call(ctx, nil, t.session, page.CommandHandleJavaScriptDialog, params, nil); err != nil {
		return true, err
	}
	return true, b.until(ctx, func() bool { return t.dialog != d })
}
