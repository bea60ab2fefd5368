package chrome

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"loop/backend/core"
)

const (
	loadPatience  = 15 * time.Second        // for a page to load, before an action says that it still does
	fetchPatience = 1500 * time.Millisecond // for what scripts ask for because of an act
	hangPatience  = 2 * time.Second         // for a page that is left to answer, before its script is ended
)

// leave says for the time of an action that a page may ask nothing. It dismisses what the
// page asks already, and ends a script that runs without end: Chromium waits for it.
func (t *tab) leave(ctx context.Context) (done func()) {
	t.b.mu.Lock()
	t.leaving++
	if d := t.dialog; d != nil {
		t.b.note("The dialog (%s: “%s”) was dismissed.", d.Kind, line(d.Message, 200))
		t.b.endDialog(t)
		t.b.answerDialog(t, d.Kind == "beforeunload", "")
	}
	t.b.mu.Unlock()
	short, cancel := context.WithTimeout(ctx, hangPatience)
	defer cancel()
	if err := t.call(short, runtime.CommandEvaluate, obj{"expression": "0"}, nil); errors.Is(err, context.DeadlineExceeded) {
		t.post(runtime.CommandTerminateExecution, nil)
	}
	return func() {
		t.b.mu.Lock()
		t.leaving--
		t.b.mu.Unlock()
	}
}

// navigate opens an address in a tab and waits until it has loaded.
func (b *Browser) navigate(ctx context.Context, t *tab, given string) (string, error) {
	address, err := navAddress(given)
	if err != nil {
		return "", err
	}
	defer t.leave(ctx)()
	whole := ctx
	ctx, cancel := context.WithTimeout(ctx, loadPatience)
	defer cancel()
	var got struct {
		LoaderID   string `json:"loaderId"`
		ErrorText  string `json:"errorText"`
		IsDownload bool   `json:"isDownload"`
	}
	b.mu.Lock()
	before, files, nth := t.navs, b.files.begun, b.opened
	if address == "about:blank" { // which is not held
		t.goesElsewhere(errMoved)
	}
	if host, _, err := siteOf(address); err == nil && !ownHost(host) {
		b.withoutWorkers(t, true)
	}
	b.mu.Unlock()
	asked, done := t.untilAsked(ctx)
	err = t.patient(asked, page.CommandNavigate, obj{"url": address}, &got)
	done()
	b.mu.Lock()
	asks := t.asks() // a request that was given up looks like one that failed
	b.mu.Unlock()
	switch {
	case asks:
		return "", errAsked
	case errors.Is(err, errJammed):
		return b.navigateInstead(whole, t, given)
	case errors.Is(err, context.DeadlineExceeded):
		return address + " has not answered within 15 seconds; it still loads. Wait, or call page_info to see how far it is.", nil
	case err != nil:
		return "", err
	case got.IsDownload:
		return b.fetched(ctx, t, address, files)
	case got.ErrorText != "":
		return "", netFailure(address, got.ErrorText)
	}
	if got.LoaderID == "" {
		return "Moved within the page to " + address + ".", nil
	}
	err = b.until(ctx, func() bool { // another document than this one came where a page sends on at once
		return t.gone || t.jammed || t.dialog != nil || t.asks() || t.denied(nth) || t.navs > before && (t.crashed || !t.loading)
	})
	b.mu.Lock()
	jammed, denied := t.jammed && !t.gone, t.navs == before && t.denied(nth)
	b.mu.Unlock()
	if denied {
		return "", errAsked // with its answer
	}
	if jammed {
		return b.navigateInstead(whole, t, given)
	}
	return t.came(ctx, "Opened", err)
}

// came is arrived once more is known of the page, or says that a person is asked about it.
func (t *tab) came(ctx context.Context, verb string, err error) (string, error) {
	t.b.mu.Lock()
	asks := t.asks()
	t.b.mu.Unlock()
	if asks {
		return "", errAsked
	}
	t.remember(ctx)
	if why := t.notConnected(ctx); why != nil {
		return "", why
	}
	return t.arrived(verb, err)
}

// arrived says where a tab is after it was sent somewhere.
func (t *tab) arrived(verb string, err error) (string, error) {
	if errors.Is(err, errEnded) {
		return "", err
	}
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	if t.gone || t.crashed || t.jammed {
		return "", t.standing()
	}
	s := fmt.Sprintf("%s %s", verb, t.url)
	if t.title != "" && t.title != t.url {
		s += fmt.Sprintf(" (“%s”)", t.title)
	}
	if t.statusOf == t.loader && t.status >= 400 {
		s += fmt.Sprintf("; the server answered HTTP %d %s", t.status, http.StatusText(t.status))
	} else if t.statusOf == t.loader && t.status > 0 {
		s += fmt.Sprintf("; HTTP %d", t.status)
	}
	switch {
	case t.dialog != nil:
		return s + ". " + t.standing().Error(), nil
	case err != nil:
		t.endless = t.loading
		return s + ". It still loads after 15 seconds; what is there already can be read.", nil
	}
	return s + ".", nil
}

// notConnected says why the way out stands in for a page, if it does. A site can only
// pretend that it was not reached.
func (t *tab) notConnected(ctx context.Context) error {
	t.b.mu.Lock()
	refused := t.title == core.NotConnected && t.statusOf == t.loader && t.status >= 400
	t.b.mu.Unlock()
	if !refused {
		return nil
	}
	var said []string
	err := t.ask(ctx, `() => Array.from(document.querySelectorAll("p"), (p) => p.textContent.slice(0, 500)).slice(0, 2)`, &said)
	said = append(said, core.NotConnected+".", "")
	return core.Fail(core.CodeNotFound, err, line(said[0], 500), line(said[1], 500))
}

// patient is call without the bound of one command: a server may take long to answer.
// A dialog does not end it where the page is being left.
func (t *tab) patient(ctx context.Context, method string, params, result any) error {
	t.b.mu.Lock()
	err := t.standing()
	held := t.held
	if t.crashed { // a navigation gives the tab a new renderer
		err, held = nil, nil
	}
	t.b.mu.Unlock()
	if err != nil {
		return err
	}
	err = t.b.conn.call(ctx, held, t.session, method, params, result)
	if errors.Is(err, errStopped) {
		t.b.mu.Lock()
		defer t.b.mu.Unlock()
		if why := t.standing(); why != nil {
			return why
		}
	}
	return err
}

// reload loads the page of a tab again.
func (b *Browser) reload(ctx context.Context, t *tab) (string, error) {
	defer t.leave(ctx)()
	return b.leaveFor(ctx, t, "Reloaded", page.CommandReload, nil)
}

// leaveFor sends a command that makes a tab load something, and waits until it has.
func (b *Browser) leaveFor(ctx context.Context, t *tab, verb, method string, params any) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, loadPatience)
	defer cancel()
	b.mu.Lock()
	before, files, nth := t.navs, b.files.begun, b.opened
	b.mu.Unlock()
	if err := t.patient(ctx, method, params, nil); err != nil {
		return "", err
	}
	var file, denied bool
	err := b.until(ctx, func() bool {
		file, denied = t.navs == before && b.files.of(t.id, files) != nil, t.navs == before && t.denied(nth)
		return t.gone || t.jammed || t.dialog != nil || t.asks() || t.navs > before && (t.crashed || !t.loading) || file || denied
	})
	if denied {
		return "", errAsked // with its answer
	}
	if file {
		return b.fetched(ctx, t, "The address", files)
	}
	return t.came(ctx, verb, err)
}

type history struct {
	CurrentIndex int `json:"currentIndex"`
	Entries      []struct {
		ID    int64  `json:"id"`
		URL   string `json:"url"`
		Title string `json:"title"`
	} `json:"entries"`
}

// step goes back (-1) or forward (1) in a tab's history.
func (b *Browser) step(ctx context.Context, t *tab, by int) (string, error) {
	defer t.leave(ctx)()
	var h history
	if err := t.call(ctx, page.CommandGetNavigationHistory, nil, &h); err != nil {
		return "", err
	}
	to := h.CurrentIndex + by
	if to < 0 || to >= len(h.Entries) {
		where := map[bool]string{true: "back", false: "forward"}[by < 0]
		return "", core.Fail(core.CodeNotFound, nil, "There is no page to go "+where+" to.", "Call navigate with an address.")
	}
	return b.leaveFor(ctx, t, map[bool]string{true: "Went back to", false: "Went forward to"}[by < 0],
		page.CommandNavigateToHistoryEntry, obj{"entryId": h.Entries[to].ID})
}

// settle gives a page that was acted on the time to begin a navigation or a download, and
// waits for one that has begun.
func (t *tab) settle(ctx context.Context) {
	short, cancel := context.WithTimeout(ctx, 60*time.Millisecond)
	defer cancel()
	t.b.mu.Lock()
	before, files := t.navs, t.b.files.begun
	t.b.mu.Unlock()
	quiet := func() bool { return t.gone || t.crashed || t.dialog != nil || t.asks() }
	loads := func() bool { return t.loading && !t.endless }
	err := t.b.until(short, func() bool { return quiet() || loads() || t.requested || t.navs > before || t.b.files.begun > files })
	if err != nil {
		t.settleFetches(ctx, quiet)
		return
	}
	begun, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	_ = t.b.until(begun, func() bool { return quiet() || !t.requested })
	t.b.mu.Lock()
	t.requested = false // it came to nothing, such as mailto:
	t.b.mu.Unlock()
	long, done := context.WithTimeout(ctx, 5*time.Second)
	defer done()
	var stayed bool
	_ = t.b.until(long, func() bool {
		stayed = t.navs == before && t.b.files.begun == files
		return quiet() || !loads() && t.opening == nil
	})
	if stayed { // a download begins a little after the navigation that came to it has ended
		late, over := context.WithTimeout(long, 200*time.Millisecond)
		defer over()
		_ = t.b.until(late, func() bool { return quiet() || loads() || t.b.files.begun > files })
	}
	_ = t.b.until(long, func() bool { return quiet() || !loads() && !t.b.files.running(files) })
	t.b.mu.Lock()
	t.endless = t.loading && long.Err() != nil
	t.b.mu.Unlock()
}

// settleFetches waits for the answers to what an act has made scripts ask for, and until the
// page has drawn what they make of them: pages that change without a navigation do so.
func (t *tab) settleFetches(ctx context.Context, quiet func() bool) {
	b := t.b
	b.mu.Lock()
	since := b.actSeq
	t.fetchWaits = t.network.fetching(since)
	waits := t.fetchWaits
	b.mu.Unlock()
	if !waits {
		return
	}
	short, cancel := context.WithTimeout(ctx, fetchPatience)
	defer cancel()
	err := b.until(short, func() bool { return quiet() || !t.network.fetching(since) })
	b.mu.Lock()
	t.fetchWaits = false
	b.mu.Unlock()
	if err == nil {
		_ = t.ask(short, `() => new Promise(r => { requestAnimationFrame(() => setTimeout(r)); setTimeout(r, 100) })`, nil)
	}
}

// scout looks after a tab's history and icon, one look at a time. The caller holds mu.
func (b *Browser) scout(t *tab) {
	if t.scouting {
		t.again = true
		return
	}
	t.scouting = true
	b.wg.Go(func() {
		ctx, cancel := b.context(context.Background())
		defer cancel()
		for {
			t.look(ctx)
			b.mu.Lock()
			if !t.again || ctx.Err() != nil {
				t.scouting = false
				b.mu.Unlock()
				return
			}
			t.again = false
			b.mu.Unlock()
		}
	})
}

func (t *tab) look(ctx context.Context) {
	b := t.b
	t.remember(ctx)
	b.mu.Lock()
	want, loader := !t.loading && t.icon == "" && strings.HasPrefix(t.url, "http"), t.loader
	b.mu.Unlock()
	if !want {
		return
	}
	icon := t.favicon(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	if t.loader == loader && icon != "" {
		t.icon = icon
		b.changed()
	}
}

// remember takes a tab's title, and whether there is a way back and forward, from its
// history: Chromium reports no change of a title by itself.
func (t *tab) remember(ctx context.Context) {
	var h history
	if err := t.call(ctx, page.CommandGetNavigationHistory, nil, &h); err != nil || h.CurrentIndex < 0 || h.CurrentIndex >= len(h.Entries) {
		return
	}
	b := t.b
	b.mu.Lock()
	defer b.mu.Unlock()
	title := line(h.Entries[h.CurrentIndex].Title, maxTitle)
	back, forward := h.CurrentIndex > 0, h.CurrentIndex+1 < len(h.Entries)
	if t.back != back || t.forward != forward || title != "" && t.title != title {
		t.back, t.forward = back, forward
		if title != "" {
			t.title = title
		}
		b.changed()
	}
}

// favicon fetches the icon that a page names, by the browser, as the page would. It is
// empty where there is none, or where Loop's page should not draw it. One that the page does not name is
// not looked for: what is not there would be an error in the page's console.
func (t *tab) favicon(ctx context.Context) string {
	var href string
	if err := t.ask(ctx,
		`() => {
			const l = document.querySelector("link[rel~='icon' i]");
			return l ? String(l.href).slice(0, 20000) : ""; }`, &href); err != nil {
		return ""
	}
	if strings.HasPrefix(href, "data:") {
		return iconOf(dataIn(href))
	}
	if !strings.HasPrefix(href, "http") {
		return ""
	}
	var got struct {
		Resource struct {
			Success        bool
			Stream         string
			HTTPStatusCode float64 `json:"httpStatusCode"`
		} `json:"resource"`
	}
	err := t.call(ctx, "Network.loadNetworkResource", obj{"frameId": t.id, "url": href, "options": obj{"disableCache": false,
		"includeCredentials": false}}, &got)
	if err != nil || got.Resource.Stream == "" {
		return ""
	}
	defer t.post("IO.close", obj{"handle": got.Resource.Stream})
	var data []byte
	for range 16 {
		var part struct {
			Data          string
			Base64Encoded bool
			EOF           bool `json:"eof"`
		}
		if err := t.call(ctx, "IO.read", obj{"handle": got.Resource.Stream, "size": maxIcon + 1}, &part); err != nil {
			return ""
		}
		piece := []byte(part.Data)
		if part.Base64Encoded {
			if piece, err = base64.StdEncoding.DecodeString(part.Data); err != nil {
				return ""
			}
		}
		data = append(data, piece...)
		if len(data) > maxIcon {
			return ""
		}
		if part.EOF {
			break
		}
	}
	if got.Resource.HTTPStatusCode >= 400 {
		return ""
	}
	return iconOf(data)
}
