package chrome

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"

	"loop/backend/core"
)

// Bounds of tabs.
const (
	maxTabs   = 20
	maxFrames = 64 // frames of a tab that have a process of their own
	maxURL    = 2 << 10
	maxTitle  = 300
)

// tab is one page. Its id is also that of its main frame. Fields are guarded by the
// Browser's mu, but for id, session and opener, which do not change.
type tab struct {
	b           *Browser
	id, session string
	opener      string // the id of the tab that opened it; empty for none

	title, url, icon string
	loading, crashed bool
	requested        bool // the page is about to go somewhere
	endless          bool // an action has waited in vain for it to load
	fetchWaits       bool // an action waits for what scripts of the page have asked for
	back, forward    bool
	gone             bool
	loader           string // of the main document that was committed
	navs             int64  // main documents, and moves inside one, so far
	status           int    // of HTTP, of the document statusOf
	statusOf         string
	frames           map[string]string // sessions of frames with a process of their own, by frame
	held             chan struct{}     // closed when the page stands still: a dialog, a crash, its end

	dialog   *pageDialog
	chooser  *chooser
	group    string    // of the tabs of a person's Chromium that came of one, and may be in one window
	inARow   int       // dialogs without anything else between them
	asked    time.Time // when the last one opened or ended
	jammed   bool      // a dialog that cannot be answered keeps the next page from being shown
	leaving  int       // actions under way for which a page may not ask whether to stay
	refs     refTable
	console  consoleLog
	network  networkLog
	pointer  pointer
	hand     hand
	popup    *popup // that the page would show in a window of its own
	cursor   string
	scouting bool // a goroutine looks at history and icon
	again    bool // and shall look again

	site      string     // of the page that is shown; empty for an error's
	letIn     core.RunID // for whom it was let in, by Caller.Origin; empty: for anybody
	letNext   core.RunID // the same of what was let in last
	opening   *opening   // a page that is held for this tab
	earlier   []*opening // ones of the same site before it, whose question is the same
	pass      pageAllowed
	interrupt context.CancelCauseFunc // ends the wait of the tool navigate
	sent      bool                    // it is under way, and nothing was requested yet
	byTool    bool                    // what was requested last is of that tool
	heldAs    string                  // the loader of the document that was held last
	setAside  string                  // the address of a page that comes again after an empty one
	flood     flood
}

var (
	errCrashed = core.Fail(core.CodeConflict, nil, "The page has crashed.", "Reload it or open another.")
	errJammed  = core.Fail(core.CodeConflict, nil, "The page asked while it was left, and cannot be answered any more.",
		"Close the tab, and open another.")
	errGone = core.Fail(core.CodeNotFound, nil, "The tab was closed.", "Call list_tabs to see which are open.")
)

// standing says why a page cannot answer; nil if it can. The caller holds mu.
func (t *tab) standing() error {
	switch {
	case t.gone:
		return errGone
	case t.crashed:
		return errCrashed
	case t.jammed:
		return errJammed
	case t.dialog != nil:
		return &dialogError{t.dialog.BrowserDialog}
	}
	return nil
}

// hold wakes the calls that wait for the page. The caller holds mu.
func (t *tab) hold() {
	select {
	case <-t.held:
	default:
		close(t.held)
	}
}

// release lets calls wait for the page again. The caller holds mu.
func (t *tab) release() {
	select {
	case <-t.held:
		if t.standing() == nil {
			t.held = make(chan struct{})
		}
	default:
	}
}

// call sends a command to the page and waits for the answer, at most callTimeout, and not
// while the page stands still.
func (t *tab) call(ctx context.Context, method string, params, result any) error {
	return t.callIn(ctx, t.session, method, params, result)
}

// callIn is call for a frame of the page that has a session of its own.
func (t *tab) callIn(ctx context.Context, session, method string, params, result any) error {
	t.b.mu.Lock()
	err, held, patience := t.standing(), t.held, t.b.patience
	if err == nil && !slices.Contains(byBrowser, method) {
		err = t.sending()
	}
	t.b.mu.Unlock()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = t.b.conn.call(ctx, held, session, method, params, result)
	if errors.Is(err, errStopped) {
		t.b.mu.Lock()
		why := t.standing()
		t.b.mu.Unlock()
		if why != nil {
			return why
		}
	}
	return err
}

// post sends a command whose answer does not matter.
func (t *tab) post(method string, params any) { t.b.conn.start(t.session, method, params, nil) }

// Tabs returns the tabs in the order they were opened.
func (b *Browser) Tabs() []core.BrowserTab {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.list()
}

// list is Tabs with mu held.
func (b *Browser) list() []core.BrowserTab {
	out := make([]core.BrowserTab, 0, len(b.tabs))
	for _, t := range b.tabs {
		out = append(out, core.BrowserTab{
			ID: t.id, Title: t.title, URL: t.url, Icon: t.icon, Active: t == b.active,
			Loading: t.loading, Crashed: t.crashed, Back: t.back, Forward: t.forward,
		})
	}
	return out
}

// current is the active tab.
func (b *Browser) current() (*tab, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.active == nil {
		return nil, core.Fail(core.CodeNotFound, nil, "No tab is open.", "Call new_tab.")
	}
	return b.active, nil
}

func (b *Browser) byID(id string) (*tab, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.find(id); t != nil {
		return t, nil
	}
	return nil, core.Fail(core.CodeNotFound, nil, "There is no tab “"+clip(id, 80)+"”.", "Call list_tabs for the ids.")
}

// attached takes on what Chromium attached: a page as a tab, or a frame of one.
func (b *Browser) attached(e event) {
	var p struct {
		SessionID  string
		TargetInfo struct {
			TargetID string `json:"targetId"`
			Type     string
			Title    string
			URL      string `json:"url"`
			OpenerID string `json:"openerId"`
		} `json:"targetInfo"`
	}
	if !b.decode(e, &p) || p.SessionID == "" {
		return
	}
	info := p.TargetInfo
	b.mu.Lock()
	defer b.mu.Unlock()
	if parent := b.sessions[e.session]; parent != nil {
		if len(parent.frames) >= maxFrames || info.Type != "iframe" {
			b.conn.start(e.session, target.CommandDetachFromTarget, obj{"sessionId": p.SessionID}, nil)
			return
		}
		parent.frames[info.TargetID] = p.SessionID
		b.sessions[p.SessionID] = parent
		b.prepareFrame(p.SessionID)
		return
	}
	if info.Type != "page" || slices.ContainsFunc(b.tabs, func(t *tab) bool { return t.id == info.TargetID }) {
		return // also the session that a cast has of a tab
	}
	group, ok := b.own[info.TargetID]
	if b.shared() && !ok {
		return
	}
	if len(b.tabs) >= maxTabs {
		b.holdPages(p.SessionID)
		b.conn.start(p.SessionID, "Runtime.runIfWaitingForDebugger", nil, nil) // or its opener stands still
		b.conn.start("", target.CommandCloseTarget, obj{"targetId": info.TargetID}, nil)
		b.note("The page opened more than %d tabs; the newest were closed.", maxTabs)
		b.surplus(info.OpenerID)
		return
	}
	t := &tab{
		b: b, id: info.TargetID, session: p.SessionID, title: line(info.Title, maxTitle), url: clip(info.URL, maxURL),
		frames: map[string]string{}, held: make(chan struct{}), group: group, opener: info.OpenerID,
	}
	if i := slices.IndexFunc(b.tabs, func(o *tab) bool { return o.id == info.OpenerID }); i >= 0 {
		t.site, t.letIn, t.letNext = b.tabs[i].site, b.tabs[i].letIn, b.tabs[i].letIn
	}
	b.sessions[t.session] = t
	b.tabs = append(b.tabs, t)
	b.attaches++
	b.prepareTab(t)
	if info.OpenerID != "" && b.active != nil {
		b.note("The page opened a new tab (%s), which is the active one now; switch_tab goes back.", t.id)
	}
	switch {
	case b.shared():
		b.show(t)  // it has a window of its own, or came in front of its opener
		b.scout(t) // it may have loaded before
	case b.active == nil || info.OpenerID != "":
		b.activate(t)
	}
	b.advance()
}

// prepareTab turns on what is used of a page. The caller holds mu.
func (b *Browser) prepareTab(t *tab) {
	b.holdPages(t.session) // before it runs
	b.prepareFrame(t.session)
	t.post(page.CommandSetLifecycleEventsEnabled, obj{"enabled": true})
	t.post("Inspector.enable", nil)
	t.post("Emulation.setFocusEmulationEnabled", obj{"enabled": true})
	t.post("Input.setInterceptDrags", obj{"enabled": true})
	b.emulate(t)
	b.withoutWorkers(t, true)
}

// prepareFrame turns on what is used of a frame with a session of its own.
func (b *Browser) prepareFrame(session string) {
	post := func(method string, params any) { b.conn.start(session, method, params, nil) }
	post("Page.enable", nil)
	post(page.CommandSetInterceptFileChooserDialog, obj{"enabled": true})
	post(target.CommandSetAutoAttach, obj{"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true,
		"filter": []target.FilterEntry{{Type: "iframe"}}})
	post("Runtime.enable", nil)
	post("Runtime.runIfWaitingForDebugger", nil) // a popup's opener stands still until then, although nobody asked for that
	post("Log.enable", nil)
	b.watchPopups(session)
	post("Network.enable", obj{"maxTotalBufferSize": 1 << 20, "maxResourceBufferSize": 256 << 10, "maxPostDataSize": 0})
}

// activate makes t the tab that is shown. The caller holds mu.
func (b *Browser) activate(t *tab) {
	if b.covered(t) {
		b.conn.start("", target.CommandActivateTarget, obj{"targetId": t.id}, nil)
	}
	b.show(t)
}

// show has panes show t, which is in sight in its window. The caller holds mu.
func (b *Browser) show(t *tab) {
	b.active = t
	b.cast.again()
	b.advance()
}

// detached ends a tab or a frame of one.
func (b *Browser) detached(e event) {
	var p struct {
		SessionID string `json:"sessionId"`
	}
	if !b.decode(e, &p) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.sessions[p.SessionID]
	if t == nil {
		return
	}
	delete(b.sessions, p.SessionID)
	for frame, s := range t.frames {
		if s == p.SessionID {
			delete(t.frames, frame)
		}
	}
	if t.chooser != nil && t.chooser.session == p.SessionID {
		t.chosen(t.chooser)
	}
	if t.session != p.SessionID {
		return
	}
	t.gone = true
	delete(b.own, t.id)
	t.goesElsewhere(errGone)
	t.dropDialog()
	t.hold()
	for _, s := range t.frames {
		delete(b.sessions, s)
	}
	i := slices.Index(b.tabs, t)
	b.tabs = slices.Delete(b.tabs, i, i+1)
	if b.active == t {
		b.active = nil
		if o := slices.IndexFunc(b.tabs, func(o *tab) bool { return o.id == t.opener }); o >= 0 {
			i = o // a window that asked something has its answer
		}
		if len(b.tabs) > 0 {
			b.activate(b.tabs[min(i, len(b.tabs)-1)])
			if t.leaving == 0 {
				b.note("The tab “%s” has closed; “%s” (%s) is the active one now.", t.title, b.active.title, clip(b.active.url, 200))
			}
		}
	}
	b.advance()
}

// targetChanged has a tab's title and address.
func (b *Browser) targetChanged(e event) {
	var p struct {
		TargetInfo struct {
			TargetID string `json:"targetId"`
			Title    string
			URL      string `json:"url"`
		} `json:"targetInfo"`
	}
	if !b.decode(e, &p) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.tabs {
		if t.id != p.TargetInfo.TargetID {
			continue
		}
		title, url := line(p.TargetInfo.Title, maxTitle), clip(p.TargetInfo.URL, maxURL)
		if t.title != title || t.url != url {
			t.title, t.url = title, url
			b.changed()
		}
	}
}

// crashed marks the tab whose renderer ended.
func (b *Browser) crashed(e event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.sessions[e.session]; t != nil && t.session == e.session {
		t.crashed, t.loading = true, false
		t.chosen(t.chooser)
		t.dropDialog()
		t.hold()
		b.advance()
	}
}

// openTab opens an empty tab and makes it the active one.
func (b *Browser) openTab(ctx context.Context) (*tab, error) {
	b.mu.Lock()
	n, closing := len(b.tabs), b.closing
	b.mu.Unlock()
	if closing {
		return nil, errClosing
	}
	if n >= maxTabs {
		return nil, core.Fail(core.CodeTooMany, nil, fmt.Sprintf("There are %d tabs already.", maxTabs), "Close one first with close_tab.")
	}
	var made struct {
		TargetID string `json:"targetId"`
	}
	if err := b.conn.call(ctx, nil, "", target.CommandCreateTarget, b.emptyTab(), &made); err != nil {
		return nil, err
	}
	if b.shared() {
		b.mu.Lock()
		b.own[made.TargetID] = made.TargetID
		b.mu.Unlock()
		if err := b.adopt(ctx, made.TargetID); err != nil {
			return nil, err
		}
	}
	var t *tab
	err := b.until(ctx, func() bool {
		i := slices.IndexFunc(b.tabs, func(t *tab) bool { return t.id == made.TargetID })
		if i < 0 {
			return false
		}
		t = b.tabs[i]
		b.activate(t)
		return true
	})
	if err != nil {
		return nil, err
	}
	return t, t.ready(ctx)
}

// ready waits until an empty tab has loaded. Renderers have been seen to crash where a
// navigation overtakes the load of about:blank.
func (t *tab) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for range 5 {
		var state string
		err := t.ask(ctx,
			`() => new Promise(r => { if (document.readyState === "complete") r("x"); else addEventListener("load", () => r("x")) })`, &state)
		if err != nil && ctx.Err() == nil {
			continue // the document was replaced
		}
		break
	}
	err := t.b.until(ctx, func() bool { return !t.loading || t.standing() != nil })
	if errors.Is(err, context.DeadlineExceeded) {
		return nil // it still can be used
	}
	return err
}

// closeTab closes a tab; the last one only when an empty one is open in its place.
func (b *Browser) closeTab(ctx context.Context, t *tab) error {
	b.mu.Lock()
	last := len(b.tabs) == 1
	t.leaving++ // a page may not ask whether to stay
	b.mu.Unlock()
	if last {
		if _, err := b.openTab(ctx); err != nil {
			return err
		}
	}
	if err := b.conn.call(ctx, nil, "", target.CommandCloseTarget, obj{"targetId": t.id}, nil); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return b.until(ctx, func() bool { return t.gone })
}
