package chrome

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"loop/backend/core"
)

const (
	tabsInARow   = 5               // beyond maxTabs, after which a script is ended
	tabsOfAFlood = 20              // beyond maxTabs, after which a page is loaded again
	betweenTabs  = 3 * time.Second // from one to the next, of a page that opens tab after tab
	betweenLoads = time.Minute     // a page that is loaded again sooner is left
)

// flood is what a page has opened beyond maxTabs. Fields are guarded by the Browser's mu.
type flood struct {
	inARow  int       // tabs that were closed at once, betweenTabs apart at most
	last    time.Time // of them
	stopped int       // how often the page was
	left    time.Time // when it was taken away last
	returns bool      // it is being loaded again
}

var errFlood = core.Fail(core.CodeTooMany, nil,
	fmt.Sprintf("The script opened tab after tab beyond the %d that there may be, and was stopped.", maxTabs), "Open fewer.")

// surplus counts a tab that is closed at once, as there are maxTabs. A page that goes on is
// stopped: first its script is ended, as for one that hangs. V8 looks for that at calls and
// now and then in a loop, so that one whose rounds are slow, as a window takes a tenth of a
// second, may not come to it for minutes. Such a page is loaded again, which takes it from
// its process. The caller holds mu.
func (b *Browser) surplus(opener string) {
	t := b.find(opener)
	if t == nil {
		return
	}
	f := &t.flood
	if now := time.Now(); now.Sub(f.last) > betweenTabs {
		f.inARow = 0
	}
	f.last = time.Now()
	f.inARow++
	switch f.inARow {
	case tabsInARow:
		f.stopped++
		b.note("The script that opened tab after tab was stopped.")
		t.post(runtime.CommandTerminateExecution, nil)
		t.post(runtime.CommandEvaluate, obj{"expression": "0"}) // which is ended instead of the page's next, where none runs
	case tabsOfAFlood:
		f.inARow = 0
		f.stopped++
		b.loadAgain(t)
	}
}

// find is the tab with an id; nil if there is none. The caller holds mu.
func (b *Browser) find(id string) *tab {
	for _, t := range b.tabs {
		if t.id == id {
			return t
		}
	}
	return nil
}

// loadAgain has an empty page take the place of a page that cannot be stopped, and the page
// take its own again. The caller holds mu.
func (b *Browser) loadAgain(t *tab) {
	f := &t.flood
	_, _, err := siteOf(t.url)
	f.returns = err == nil && len(t.url) < maxURL && time.Since(f.left) > betweenLoads // a longer address was cut
	f.left = time.Now()
	if t.setAside = ""; f.returns {
		requested, _, _ := strings.Cut(t.url, "#")
		t.setAside, t.pass = t.url, pageAllowed{requested, time.Now().Add(callTimeout)}
		b.note("The page went on to open tabs, and was loaded again.")
	} else {
		b.note("The page went on to open tabs, and an empty one has taken its place.")
	}
	t.refs.forget()
	t.leaving++
	b.wg.Go(func() {
		ctx, cancel := b.context(context.Background())
		defer cancel()
		_ = t.call(ctx, page.CommandNavigate, obj{"url": "about:blank"}, nil) // a page that stays is one that hangs
		b.mu.Lock()
		defer b.mu.Unlock()
		t.leaving--
	})
}

// floods is how often a tab's page was stopped.
func (t *tab) floods() int {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	return t.flood.stopped
}

// returned waits for a page that is loaded again as it opened tab after tab.
func (t *tab) returned(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_ = t.b.until(ctx, func() bool { return !t.flood.returns || t.asks() || t.standing() != nil })
	_ = t.b.until(ctx, func() bool { return !t.loading || t.asks() || t.standing() != nil })
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	t.flood.returns = false
}
