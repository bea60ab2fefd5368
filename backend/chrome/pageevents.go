package chrome

import (
	"cmp"

	"github.com/go-json-experiment/json"
)

// handler is what an event does. It does not wait for Chromium.
type handler struct {
	class class
	run   func(b *Browser, e event)
}

// handlers are the events that are looked at. The reader drops others at once.
var handlers = map[string]handler{
	"Target.attachedToTarget":                    {kept, (*Browser).attached},
	"Target.detachedFromTarget":                  {kept, (*Browser).detached},
	"Target.targetCreated":                       {kept, (*Browser).created},
	"Target.targetInfoChanged":                   {kept, (*Browser).targetChanged},
	"Inspector.targetCrashed":                    {kept, (*Browser).crashed},
	"Page.frameNavigated":                        {kept, (*Browser).navigated},
	"Page.navigatedWithinDocument":               {kept, (*Browser).movedWithin},
	"Page.frameRequestedNavigation":              {kept, (*Browser).requested},
	"Page.frameStartedLoading":                   {kept, (*Browser).startedLoading},
	"Page.frameStoppedLoading":                   {kept, (*Browser).stoppedLoading},
	"Fetch.requestPaused":                        {kept, (*Browser).paused},
	"Page.javascriptDialogOpening":               {kept, (*Browser).dialogOpened},
	"Page.javascriptDialogClosed":                {kept, (*Browser).dialogClosed},
	"Page.fileChooserOpened":                     {kept, (*Browser).chooserOpened},
	"Page.screencastFrame":                       {picture, (*Browser).castFrame},
	"Input.dragIntercepted":                      {kept, (*Browser).dragBegan},
	"Browser.downloadWillBegin":                  {kept, (*Browser).downloadBegan},
	"Browser.downloadProgress":                   {kept, (*Browser).downloadProgressed},
	"Runtime.bindingCalled":                      {kept, (*Browser).bindingCalled},
	"Runtime.consoleAPICalled":                   {logged, (*Browser).consoleCalled},
	"Runtime.exceptionThrown":                    {logged, (*Browser).exceptionThrown},
	"Log.entryAdded":                             {logged, (*Browser).logAdded},
	"Network.requestWillBeSent":                  {logged, (*Browser).requestSent},
	"Network.responseReceived":                   {logged, (*Browser).responseReceived},
	"Network.loadingFinished":                    {logged, (*Browser).loadingFinished},
	"Network.loadingFailed":                      {logged, (*Browser).loadingFailed},
	"Network.webSocketCreated":                   {logged, (*Browser).webSocketCreated},
	"Network.webSocketFrameError":                {logged, (*Browser).webSocketFailed},
	"Network.webSocketHandshakeResponseReceived": {logged, (*Browser).webSocketAnswered},
}

// decode reads an event; one that is not as the protocol says is left out.
func (b *Browser) decode(e event, into any) bool {
	if err := json.Unmarshal(e.params, into, loose, json.MatchCaseInsensitiveNames(true)); err != nil {
		b.o.Log.Debug("an event of Chromium could not be read", "event", e.method, "err", err)
		return false
	}
	return true
}

// main is the tab whose main frame an event is about, if it is about one. The caller
// holds mu.
func (b *Browser) main(e event, frame string) *tab {
	t := b.sessions[e.session]
	if t == nil || t.session != e.session || t.id != frame {
		return nil
	}
	return t
}

func (b *Browser) navigated(e event) {
	var p struct {
		Type  string `json:"type"`
		Frame struct {
			ID       string `json:"id"`
			LoaderID string `json:"loaderId"`
			URL      string `json:"url"`
			Failed   string `json:"unreachableUrl"` // what an error page stands in for
		} `json:"frame"`
	}
	if !b.decode(e, &p) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.sessions[e.session]; t != nil && t.chooser != nil && t.chooser.frame == p.Frame.ID {
		t.chosen(t.chooser)
	}
	t := b.main(e, p.Frame.ID)
	if t == nil {
		if t = b.sessions[e.session]; t != nil && t.frames[p.Frame.ID] == e.session {
			t.refs.leave(e.session, "")
		} else if t != nil {
			t.refs.leave(e.session, p.Frame.ID)
		}
		return
	}
	t.chosen(t.chooser)
	// Only a Chrome of the person's keeps pages for going back to them, which has to find them.
	if kept := p.Type == "BackForwardCacheRestore"; !kept && p.Frame.Failed == "" &&
		(t.asideNow(p.Frame.URL) || b.unasked(t, p.Frame.URL, p.Frame.LoaderID)) {
		return
	}
	t.loader = p.Frame.LoaderID
	t.url = clip(p.Frame.URL, maxURL)
	if host, site, err := siteOf(cmp.Or(p.Frame.Failed, p.Frame.URL)); err == nil {
		b.withoutWorkers(t, !ownHost(host))
		if t.site, t.letIn = site, t.letNext; p.Frame.Failed != "" {
			t.site = ""
		}
		t.goesElsewhere(errMoved) // what is held was for the page before
	}
	t.icon = ""
	t.requested, t.jammed, t.endless = false, false, false
	t.navs++
	t.inARow = 0
	t.flood.inARow, t.flood.returns = 0, false
	if t.crashed {
		t.crashed = false
		b.emulate(t)
	}
	t.refs.forget()
	t.popup, t.cursor = nil, ""
	t.pointer.lost()
	t.release()
	b.scout(t)
	b.advance()
}

func (b *Browser) movedWithin(e event) {
	var p struct {
		FrameID string `json:"frameId"`
		URL     string `json:"url"`
	}
	if !b.decode(e, &p) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.main(e, p.FrameID); t != nil {
		t.url = clip(p.URL, maxURL)
		t.requested = false
		t.navs++
		b.scout(t)
		b.advance()
	}
}

// requested says that a page is about to go somewhere, before anything else is heard of it.
func (b *Browser) requested(e event) {
	var p struct {
		FrameID     string `json:"frameId"`
		Disposition string `json:"disposition"`
	}
	if !b.decode(e, &p) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.main(e, p.FrameID); t != nil && p.Disposition == "currentTab" {
		t.requested = true
		b.advance()
	}
}

func (b *Browser) startedLoading(e event) { b.loading(e, true) }
func (b *Browser) stoppedLoading(e event) { b.loading(e, false) }

func (b *Browser) loading(e event, on bool) {
	var p struct {
		FrameID string `json:"frameId"`
	}
	if !b.decode(e, &p) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.main(e, p.FrameID)
	if t == nil {
		return
	}
	if !on {
		b.scout(t) // also where the beginning was before the tab was attached
	}
	if t.loading != on {
		t.loading, t.requested, t.endless = on, t.requested && on, false
		b.advance()
	}
}
