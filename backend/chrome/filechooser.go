package chrome

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/dom"

	"loop/backend/core"
)

const (
	maxChosen = 20 // files at a time
	maxAccept = 500
)

// chooser is a file input that a page has asked about. Chromium shows nothing for it.
type chooser struct {
	core.BrowserChooser
	node
}

// Chooser says whether the active page waits for files.
func (b *Browser) Chooser() (core.BrowserChooser, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.active == nil || b.active.chooser == nil {
		return core.BrowserChooser{}, false
	}
	return b.active.chooser.BrowserChooser, true
}

// chooserOpened notes that a page asked for files.
func (b *Browser) chooserOpened(e event) {
	var p struct {
		FrameID       string `json:"frameId"`
		Mode          string
		BackendNodeID int64 `json:"backendNodeId"`
	}
	if !b.decode(e, &p) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.sessions[e.session]
	if t == nil {
		return
	}
	if p.BackendNodeID == 0 {
		b.note("The page asked for a file without a file input, which is not answered. Look for another way to give it the file.")
		return
	}
	c := &chooser{core.BrowserChooser{Multiple: p.Mode == "selectMultiple"}, node{e.session, p.FrameID, p.BackendNodeID}}
	t.chooser = c
	b.note("The page asked for a file. Give it one with form_input: ref %d, and a path in the workspace as value.",
		t.refs.number(ref{c.node, "button", "file input"}))
	b.changed()
	b.wg.Go(func() {
		ctx, cancel := b.context(context.Background())
		defer cancel()
		var accept string
		if t.askNode(ctx, c.node, `function() { return String(this.accept || "").slice(0, 500) }`, &accept) != nil {
			return // nothing is known of what it accepts
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		c.Accept = line(accept, maxAccept)
		b.changed()
	})
}

// chosen forgets a chooser that was answered, or cannot be any more. The caller holds mu.
func (t *tab) chosen(c *chooser) {
	if c != nil && t.chooser == c {
		t.chooser = nil
		t.b.changed()
	}
}

// chooseFiles gives a person's files to the page that asked for them.
func chooseFiles(ctx context.Context, b *Browser, t *tab, p struct {
	Paths []string `json:"paths" needs:"yes"`
}) (result, error) {
	b.mu.Lock()
	c := t.chooser
	b.mu.Unlock()
	switch {
	case c == nil:
		return result{}, core.Fail(core.CodeNotFound, nil, "The page waits for no file any more.", "Click what asks for it again.")
	case len(p.Paths) > maxChosen:
		return result{}, core.Fail(core.CodeTooMany, nil, fmt.Sprintf("At most %d files are given at a time.", maxChosen), "")
	case len(p.Paths) > 1 && !c.Multiple:
		return result{}, core.Fail(core.CodeInvalid, nil, "The page takes one file.", "Choose one.")
	}
	for _, at := range p.Paths {
		if b.o.Given == nil || !b.o.Given(at) {
			return result{}, core.Fail(core.CodeNotFound, nil, "The file is not there any more.", "Choose it again.")
		}
	}
	if len(p.Paths) == 0 {
		// Chromium tells nobody of a choice that it did not show.
		err := t.askNode(ctx, c.node, `function() { this.dispatchEvent(new Event("cancel", {bubbles: true})) }`, nil)
		b.mu.Lock()
		defer b.mu.Unlock()
		t.chosen(c)
		return say("Chose no file."), err
	}
	err := t.setFiles(ctx, c.node, p.Paths)
	if err == nil {
		t.settle(ctx)
	}
	return say("Chose %d file(s).", len(p.Paths)), err
}

// setFiles gives files to a file input, and answers the chooser that waits for them.
func (t *tab) setFiles(ctx context.Context, n node, paths []string) error {
	err := t.callIn(ctx, n.session, dom.CommandSetFileInputFiles, obj{"files": paths, "backendNodeId": n.backend}, nil)
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	if c := t.chooser; c != nil && c.session == n.session && c.backend == n.backend {
		t.chosen(c)
	}
	return err
}
