package chrome

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/target"

	"loop/backend/core"
)

// closeTimeout bounds the end of the tabs that were opened in a person's Chromium.
const closeTimeout = 5 * time.Second

const sharedNote = "This browser is the person's own Chrome, with what they are signed in to. localhost in it is the person's computer, " +
	"not your container, and a file that a page downloads stays with the person."

var errClosing = core.Fail(core.CodeCancelled, nil, "The browser is being closed.", "The next action starts it again.")

// shared says that Chromium is the person's: it was running before, and goes on.
func (b *Browser) shared() bool { return b.o.DevToolsPort != 0 }

// beginShared opens the one tab to begin with. Chromium tells of new tabs, among which are
// those that tabs of here open; of others nothing is kept.
func (b *Browser) beginShared(ctx context.Context) error {
	b.mu.Lock()
	b.note(sharedNote)
	b.mu.Unlock()
	pages := []target.FilterEntry{{Type: "page"}}
	if err := b.conn.call(ctx, nil, "", target.CommandSetDiscoverTargets, obj{"discover": true, "filter": pages}, nil); err != nil {
		return err
	}
	// It is of the whole Chromium: a tab that a page opens asks before it could be attached.
	port := []obj{{"urlPattern": fmt.Sprintf("*:%d/*", b.o.DevToolsPort)}}
	if err := b.conn.call(ctx, nil, "", "Fetch.enable", obj{"patterns": port}, nil); err != nil {
		return err
	}
	_, err := b.openTab(ctx)
	return err
}

// emptyTab are the parameters of a new tab. One in a person's Chromium has a window of its
// own, behind the others, so that it takes no page out of their sight.
func (b *Browser) emptyTab() obj {
	p := obj{"url": "about:blank"}
	if b.shared() {
		p["newWindow"], p["background"] = true, true
	}
	return p
}

// created adopts a tab that was opened by one of here.
func (b *Browser) created(e event) {
	var p struct {
		TargetInfo struct {
			TargetID string `json:"targetId"`
			OpenerID string `json:"openerId"`
		} `json:"targetInfo"`
	}
	if !b.shared() || !b.decode(e, &p) {
		return
	}
	id := p.TargetInfo.TargetID
	b.mu.Lock()
	defer b.mu.Unlock()
	group, ok := b.own[p.TargetInfo.OpenerID]
	switch {
	case !ok:
	case b.closing:
		b.conn.start("", target.CommandCloseTarget, obj{"targetId": id}, nil)
	default:
		b.own[id] = group // before what it asks for is decided
		b.wg.Go(func() {
			ctx, cancel := b.context(context.Background())
			defer cancel()
			if err := b.adopt(ctx, id); err != nil {
				b.o.Log.Debug("attach a tab that a page opened", "err", err)
			}
		})
	}
}

// adopt attaches a tab that is of here; the event of that does the rest.
func (b *Browser) adopt(ctx context.Context, id string) error {
	err := b.conn.call(ctx, nil, "", target.CommandAttachToTarget, obj{"targetId": id, "flatten": true}, nil)
	if err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.own, id)
		b.advance()
	}
	return err
}

// covered reports whether a tab may be out of sight. In a person's Chromium only those that
// share a window are: to activate one brings its window before everything else. The caller
// holds mu.
func (b *Browser) covered(t *tab) bool {
	if !b.shared() {
		return true
	}
	for _, o := range b.tabs {
		if o != t && o.group == t.group {
			return true
		}
	}
	return false
}

// forbidden reports whether an address is of the DevTools of a person's Chromium, by
// whichever name.
func (b *Browser) forbidden(address string) bool {
	scheme, rest, _ := strings.Cut(address, "://")
	if strings.Contains(scheme, ":") { // of data: and its like, which go nowhere
		return false
	}
	if end := strings.IndexAny(rest, `/?#\`); end >= 0 {
		rest = rest[:end]
	}
	return b.shared() && strings.HasSuffix(rest, ":"+strconv.Itoa(int(b.o.DevToolsPort)))
}

// requestPaused decides about a request whose address has the port of a person's Chromium's
// DevTools: they list all tabs, and close any, for whoever asks from their own address. Only
// what the person typed into a tab of theirs gets there.
func (b *Browser) requestPaused(e event) {
	var p struct {
		RequestID string `json:"requestId"`
		FrameID   string `json:"frameId"`
		Request   struct {
			URL string `json:"url"`
		} `json:"request"`
	}
	if !b.decode(e, &p) {
		return
	}
	if !b.forbidden(p.Request.URL) { // the port stands elsewhere in it
		b.conn.start(e.session, "Fetch.continueRequest", obj{"requestId": p.RequestID}, nil)
		return
	}
	b.wg.Go(func() {
		ctx, cancel := b.context(context.Background())
		defer cancel()
		if b.foreign(ctx, p.FrameID) {
			b.conn.start(e.session, "Fetch.continueRequest", obj{"requestId": p.RequestID}, nil)
			return
		}
		b.conn.start(e.session, "Fetch.failRequest", obj{"requestId": p.RequestID, "errorReason": "BlockedByClient"}, nil)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.note("The page asked for port %d, where the DevTools of the person's Chrome listen; that was refused.", b.o.DevToolsPort)
	})
}

// foreign reports whether a frame is all of a tab of the person's: its id is the tab's then.
func (b *Browser) foreign(ctx context.Context, frame string) bool {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := b.conn.call(ctx, nil, "", target.CommandGetTargetInfo, obj{"targetId": frame}, nil); err != nil || frame == "" {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	_, own := b.own[frame]
	return !own
}

// closeOwn closes the tabs that are of here in a person's Chromium.
func (b *Browser) closeOwn() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	b.mu.Lock()
	b.closing = true
	ids := make([]string, 0, len(b.own))
	for id := range b.own {
		ids = append(ids, id)
	}
	for _, t := range b.tabs {
		t.leaving++ // a page may not ask whether to stay
		if t.dialog != nil {
			b.endDialog(t)
			b.answerDialog(t, false, "")
		}
	}
	b.mu.Unlock()
	var closes sync.WaitGroup
	for _, id := range ids {
		closes.Go(func() {
			if err := b.conn.call(ctx, nil, "", target.CommandCloseTarget, obj{"targetId": id}, nil); err != nil {
				b.o.Log.Debug("close a tab in the person's Chromium", "err", err)
			}
		})
	}
	closes.Wait()
	if err := b.until(ctx, func() bool { return len(b.own) == 0 }); err != nil {
		b.o.Log.Warn("tabs of Loop are left in the person's Chromium", "err", err)
	}
}
