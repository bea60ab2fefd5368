package chrome

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/page"

	"loop/backend/core"
	"loop/backend/policy"
)

// Times of a page that is held until somebody has decided.
const (
	// askGrace is how long a decision may take before a tool is told that a person is asked:
	// what rules decide takes less.
	askGrace = 250 * time.Millisecond
	// askPatience is how long a tool waits for the answer of a person. It is within
	// browser.actTimeout.
	askPatience = 100 * time.Second
	// holdMost is how long Chromium holds a page at most; then it is denied.
	holdMost = time.Hour
	// maxEarlier bounds the questions of a tab that goes on within a site: they are one
	// question for a person, which must not end between them.
	maxEarlier = 16
	// maxOpenings bounds what is known of the pages that were held last.
	maxOpenings = 64
)

// opening is a page that was about to be opened. Fields are guarded by the Browser's mu,
// but for those that do not change.
//
// Chromium lets nobody speak with a page while another is requested for its tab. So a
// request that a person is asked about is given up and made once more when it was allowed,
// by whoever made it: then the page that is shown can be used meanwhile. One that sends
// something, as a form does, cannot be made anew, and is held until it is decided.
type opening struct {
	t      *tab
	nth    int64
	url    string
	host   string
	site   string
	sends  bool       // it is no GET
	byTool bool       // the tool navigate began it, or it is a redirect of that
	letIn  core.RunID // for whom, once it is allowed
	end    context.CancelCauseFunc

	request string // of Fetch, which waits for the decision; empty: it was given up
	waits   bool   // it takes longer than a rule: a person is asked
	told    bool   // a tool waits for it, and says what came of it
	over    bool
	err     error // why it was not opened
	navs    int64 // of the tab, as it was decided
	files   int64 // downloads that had begun then
	done    chan struct{}
}

var (
	// errAsked ends a wait for a page, as a person is asked about it.
	errAsked = errors.New("a person is asked whether the page may be opened")
	// errMoved is why a page is opened no more: the tab went somewhere else.
	errMoved      = errors.New("the tab went somewhere else")
	errUnanswered = core.Fail(core.CodeForbidden, nil, "Nobody answered for an hour whether the page may be opened, so it was denied.",
		"Say in a message that you need it.")
	errUnreadable = core.Fail(core.CodeForbidden, nil, "The page wanted to go to an address that this browser does not open.",
		"Only http and https are opened.")
)

// holdPages has Chromium hold each document before a byte of its request is sent.
func (b *Browser) holdPages(session string) {
	if b.o.Opens == nil {
		return
	}
	b.conn.start(session, "Fetch.enable", obj{"patterns": []obj{
		{"urlPattern": "*", "resourceType": "Document", "requestStage": "Request"},
	}}, nil)
}

// paused is a document whose request Chromium holds, or the next hop of its redirects.
func (b *Browser) paused(e event) {
	if e.session == "" { // of the whole of a person's Chromium
		b.requestPaused(e)
		return
	}
	var p struct {
		RequestID  string `json:"requestId"`
		FrameID    string `json:"frameId"`
		Loader     string `json:"networkId"`
		Redirected string `json:"redirectedRequestId"`
		Request    struct {
			URL    string `json:"url"`
			Method string `json:"method"`
		} `json:"request"`
	}
	if !b.decode(e, &p) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.sessions[e.session]
	switch {
	case t == nil: // a tab that is closed already
		b.release(e.session, p.RequestID, false)
		return
	case t.session != e.session || t.id != p.FrameID: // a frame of a page that was opened
		b.release(e.session, p.RequestID, true)
		return
	}
	t.requested, t.heldAs = false, p.Loader
	if p.Redirected == "" {
		t.byTool, t.sent = t.sent, false
	}
	scheme, _, _ := strings.Cut(p.Request.URL, ":")
	if scheme == "about" || scheme == "blob" || scheme == "data" {
		b.release(e.session, p.RequestID, true)
		return
	}
	host, site, err := siteOf(p.Request.URL)
	if err != nil {
		b.release(e.session, p.RequestID, false)
		b.note("%s", sentence(errUnreadable))
		return
	}
	pass := t.pass.url == p.Request.URL && time.Now().Before(t.pass.until)
	t.pass = pageAllowed{}
	before := t.opening
	switch {
	case pass:
		t.goesElsewhere(errMoved)
		b.release(e.session, p.RequestID, true)
		return
	case before != nil && before.host == host && before.waits:
		b.release(e.session, p.RequestID, false) // what was shown to the person is the first
		return
	case before != nil && before.host == host && !before.sends:
		b.release(e.session, before.request, false)
		before.request, before.sends = p.RequestID, p.Request.Method != "GET"
		return
	case before != nil && before.site == site:
		t.opening = nil
		if t.earlier = append(t.earlier, before); len(t.earlier) > maxEarlier {
			t.earlier[0].end(errMoved)
			t.earlier = t.earlier[1:]
		}
	case before != nil:
		t.goesElsewhere(errMoved)
	}
	o := &opening{t: t, url: p.Request.URL, host: host, site: site, sends: p.Request.Method != "GET", byTool: t.byTool, request: p.RequestID}
	b.hold(o)
}

// withoutWorkers has a tab's pages come from the network, and not from the service workers
// that a site has left in the profile: of those Chromium holds nothing. The caller holds mu.
func (b *Browser) withoutWorkers(t *tab, on bool) {
	if b.o.Opens != nil {
		t.post("Network.setBypassServiceWorker", obj{"bypass": on})
	}
}

// unasked reports whether a page came without having been held, which it should have been,
// and has it replaced by one that is: Chromium has pages of service workers.
// Those of the site that was shown before are the same page to whoever decides. The caller
// holds mu.
func (b *Browser) unasked(t *tab, address, loader string) bool {
	if b.o.Opens == nil || loader == t.heldAs {
		return false
	}
	host, site, err := siteOf(address)
	if err != nil || site == t.site || ownHost(host) {
		return false
	}
	b.withoutWorkers(t, true)
	t.setAside = address
	t.refs.forget()
	t.post(page.CommandNavigate, obj{"url": "about:blank"})
	return true
}

// asideNow requests a page that was set aside, once an empty one has taken its place. The
// caller holds mu.
func (t *tab) asideNow(address string) bool {
	to := t.setAside
	if t.setAside = ""; to == "" || address != "about:blank" {
		return false
	}
	t.url, t.title, t.site = address, "", ""
	t.post(page.CommandNavigate, obj{"url": to})
	return true
}

// denied reports whether a page for this tab was denied that was held after the nth. The
// caller holds mu.
func (t *tab) denied(nth int64) bool {
	return slices.ContainsFunc(t.b.openings, func(o *opening) bool {
		return o.t == t && o.nth > nth && o.over && o.err != nil && !errors.Is(o.err, errMoved)
	})
}

// siteOf is the host of an http or https address, and the site that it belongs to.
func siteOf(address string) (host, site string, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", "", err
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return "", "", errors.New("neither http nor https")
	}
	site, err = policy.SiteOf(u.Hostname())
	return u.Hostname(), site, err
}

// hold asks whether a page may be opened. The caller holds mu.
func (b *Browser) hold(o *opening) {
	b.opened++
	ctx, end := context.WithCancelCause(context.Background())
	o.nth, o.end, o.done = b.opened, end, make(chan struct{})
	o.t.opening = o
	if b.openings = append(b.openings, o); len(b.openings) > maxOpenings {
		b.openings = slices.Delete(b.openings, 0, 1)
	}
	op := core.BrowserOpening{URL: o.url, Act: b.acting, Within: o.t.site == o.site}
	switch {
	case op.Act == nil: // the page that is shown, or a person's hand
		o.letIn = o.t.letIn
	case op.Act.ByPerson:
	default:
		// An answer that was given for one run is not one for the next.
		o.letIn = op.Act.Caller.Origin()
		op.Within = op.Within && (o.t.letIn == "" || o.t.letIn == o.letIn)
	}
	b.wg.Go(func() { b.decide(ctx, o, op) })
}

// decide is the goroutine of one page that is held. It lasts until somebody has decided,
// or nothing waits for it any more.
func (b *Browser) decide(ctx context.Context, o *opening, op core.BrowserOpening) {
	defer o.end(nil)
	ctx, stop := b.context(ctx)
	defer stop()
	ctx, late := context.WithTimeoutCause(ctx, holdMost, errUnanswered)
	defer late()
	grace := time.AfterFunc(askGrace, func() { b.askedAbout(o) })
	defer grace.Stop()
	err := b.o.Opens(ctx, op)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if b.decided(o, err) {
		o.again(ctx)
	}
}

// decided lets a page go on or not. anew says that it has to be requested once more.
func (b *Browser) decided(o *opening, err error) (anew bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := o.t
	o.over, o.waits, o.err, o.navs, o.files = true, false, err, t.navs, b.files.begun
	current := t.opening == o
	if current {
		t.opening = nil
		t.goesElsewhere(errMoved) // the earlier ones
	}
	if err == nil {
		t.letNext = o.letIn
	}
	switch {
	case o.request != "":
		b.release(t.session, o.request, err == nil)
	case err == nil && current:
		anew = true
		t.pass = pageAllowed{o.url, time.Now().Add(callTimeout)}
	}
	if err != nil && !o.told && !errors.Is(err, errMoved) && !errors.Is(err, errEnded) && !errors.Is(err, errGone) {
		b.note("%s", sentence(err))
	}
	close(o.done)
	b.advance()
	return anew
}

// pageAllowed is an address that a person has allowed for a tab, which is requested anew.
type pageAllowed struct {
	url   string
	until time.Time
}

// again requests a page that was allowed, as it was requested before: by the tool, or by the
// page that is shown, which the site is told of.
func (o *opening) again(ctx context.Context) {
	if o.byTool {
		o.t.post(page.CommandNavigate, obj{"url": o.url})
		return
	}
	defer o.t.leave(ctx)()
	var none string
	if err := o.t.ask(ctx, `(to) => { location.href = to; return "" }`, &none, o.url); err != nil {
		o.t.b.mu.Lock()
		defer o.t.b.mu.Unlock()
		o.t.b.note("%s was allowed, but the page could not go there any more: call navigate.", clip(o.url, 300))
	}
}

// release lets a request go on, or ends it in a way that leaves the tab where it is. A
// request that Chromium has given up meanwhile is nothing to it.
func (b *Browser) release(session, request string, goOn bool) {
	if goOn {
		b.conn.start(session, "Fetch.continueRequest", obj{"requestId": request}, nil)
		return
	}
	b.conn.start(session, "Fetch.failRequest", obj{"requestId": request, "errorReason": "Aborted"}, nil)
}

// askedAbout says that a page takes longer than rules do, so that no tool waits for it as
// for a slow site.
func (b *Browser) askedAbout(o *opening) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if o.over || o.t.opening != o {
		return
	}
	o.waits = true
	if o.t.interrupt != nil {
		o.t.interrupt(errAsked)
	}
	if !o.sends {
		b.release(o.t.session, o.request, false)
		o.request = ""
	}
	b.advance()
}

// asks says that a person is asked about a page for this tab. The caller holds mu.
func (t *tab) asks() bool { return t.opening != nil && t.opening.waits }

// sending says why a page cannot be spoken with while a person is asked about a form that it
// sends. The caller holds mu.
func (t *tab) sending() error {
	if !t.asks() || !t.opening.sends {
		return nil
	}
	return core.Fail(core.CodeConflict, nil, "The page is sending a form to "+clip(t.opening.url, 300)+
		", the person is asked whether it may, and until they answer the page stands still.",
		"screenshot works; do something else, or call navigate to give the form up.")
}

// byBrowser are the commands that Chromium carries out without the page.
var byBrowser = []string{page.CommandCaptureScreenshot, page.CommandGetNavigationHistory}

// goesElsewhere ends the question about a page that the tab opens no more. The caller
// holds mu.
func (t *tab) goesElsewhere(why error) {
	for _, earlier := range t.earlier {
		earlier.end(why)
	}
	if t.earlier = nil; t.opening != nil {
		t.opening.end(why)
		t.opening = nil
	}
}

// untilAsked is ctx until a person is asked about a page for this tab; its cause is
// errAsked then.
func (t *tab) untilAsked(ctx context.Context) (context.Context, func()) {
	ctx, end := context.WithCancelCause(ctx)
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	t.interrupt, t.sent = end, true
	return ctx, func() {
		t.b.mu.Lock()
		t.interrupt, t.sent = nil, false
		t.b.mu.Unlock()
		end(nil)
	}
}

// since is the newest page that was held after a moment, unless another has taken its
// place; with asked, also the one of before that the active tab still waits for.
func (b *Browser) since(nth int64, asked bool) *opening {
	b.mu.Lock()
	defer b.mu.Unlock()
	if asked && b.active != nil && b.active.asks() {
		return b.active.opening
	}
	for _, o := range slices.Backward(b.openings) {
		if o.nth > nth && !errors.Is(o.err, errMoved) {
			return o
		}
	}
	return nil
}

// moment says how many pages were held before it, and how many tabs were there.
type moment struct{ opened, tabs int64 }

// answered adds to the result of an action what became of the pages that it wanted to
// open. It waits for a person's answer, while other actions may go on: free is called
// before. ctx is that of the whole action.
func (b *Browser) answered(ctx context.Context, from moment, r result, err error, free func()) (result, error) {
	b.mu.Lock()
	nth, opensTab := from.opened, b.o.Opens != nil && b.attaches > from.tabs
	b.mu.Unlock()
	add := func(s string) { r.Result = strings.TrimSpace(r.Result + " " + s) }
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	for {
		o := b.since(nth, errors.Is(err, errAsked))
		if o == nil && opensTab { // whose first page may be requested in a moment
			short, stop := context.WithTimeout(ctx, 2*askGrace)
			_ = b.until(short, func() bool { return b.opened > nth })
			stop()
			opensTab = false
			continue
		}
		if o == nil {
			return r, err
		}
		nth = max(nth, o.nth)
		_ = b.until(ctx, func() bool { return o.over || o.waits || o.t.opening != o }) // at most askGrace
		b.mu.Lock()
		asked := o.waits || errors.Is(err, errAsked)
		o.told = asked || o.over
		b.mu.Unlock()
		if asked {
			free()
			select {
			case <-o.done:
			case <-ctx.Done():
				b.mu.Lock()
				over := o.over
				o.told = over
				b.mu.Unlock()
				if !over {
					add("The browser is about to open " + clip(o.url, 300) + ", and the person is asked whether it may. The page stays as it is " +
						"until they answer" + map[bool]string{
						false: ": read_page and screenshot work",
						true:  ", and can only be looked at with screenshot, as it is sending a form",
					}[o.sends] + ". Go on with something else, and call page_info later to see what it shows.")
					return r, nil
				}
			}
		}
		b.mu.Lock()
		over, refused := o.over, o.err
		if refused != nil {
			b.unnote(sentence(refused))
		}
		b.mu.Unlock()
		switch {
		case !over: // it is decided in a moment, and without a person; who comes next sees it
			return r, err
		case errors.Is(refused, errMoved):
			if errors.Is(err, errAsked) && b.since(nth, true) == nil {
				return r, core.Fail(core.CodeConflict, nil, "The tab went somewhere else before it was decided whether "+clip(o.url, 300)+
					" may be opened.", "Look at the page again.")
			}
		case refused != nil && (err != nil || r.Result == ""):
			return r, refused
		case refused != nil:
			add(sentence(refused))
			return r, nil
		case asked:
			s, why := b.afterAnswer(ctx, o)
			if err = why; err == nil {
				add(s)
			}
		}
	}
}

// refusedAfter says that a tab was to go on to another page, which was denied. The caller
// holds mu.
func (b *Browser) refusedAfter(o *opening) bool {
	return o.t.denied(o.nth)
}

// unnote takes a note back that a result has already. The caller holds mu.
func (b *Browser) unnote(s string) {
	b.notes = slices.DeleteFunc(b.notes, func(n string) bool { return n == clip(s, maxNote) })
}

// afterAnswer waits until a page that a person has allowed is there.
func (b *Browser) afterAnswer(ctx context.Context, o *opening) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, loadPatience)
	defer cancel()
	t := o.t
	var file bool
	err := b.until(ctx, func() bool {
		file = t.navs == o.navs && b.files.of(t.id, o.files) != nil
		return file || t.gone || t.crashed || t.dialog != nil || t.asks() || b.refusedAfter(o) || t.navs > o.navs && !t.loading
	})
	if file {
		return b.fetched(ctx, t, "It was allowed: the address", o.files)
	}
	b.mu.Lock()
	refused := b.refusedAfter(o)
	b.mu.Unlock()
	if refused {
		return "", errAsked // with its answer
	}
	return t.came(ctx, "It was allowed. Opened", err)
}
