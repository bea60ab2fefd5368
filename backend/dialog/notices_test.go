package dialog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// tray is where notices appear, by what they say.
type tray struct {
	mu     sync.Mutex
	open   map[string]chan Choice
	broken error
}

func (n *tray) Notify(ctx context.Context, notice Notice) (Choice, error) {
	n.mu.Lock()
	if n.broken != nil {
		defer n.mu.Unlock()
		return Deny, n.broken
	}
	chosen := make(chan Choice, 1)
	n.open[notice.Lines[0]] = chosen
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.open, notice.Lines[0])
	}()
	select {
	case c := <-chosen:
		if c == AllowOnce { // stands for a notice that is put away
			return Deny, ErrDismissed
		}
		return c, nil
	case <-ctx.Done():
		return Deny, ctx.Err()
	}
}

func (n *tray) Ready(context.Context) error { return nil }

func (n *tray) shown() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []string
	for text := range n.open {
		all = append(all, text[len(text)-1:])
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

func (n *tray) set(broken error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.broken = broken
}

func (n *tray) choose(id string, c Choice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for text, chosen := range n.open {
		if strings.HasSuffix(text, id) {
			chosen <- c
		}
	}
}

// inTray runs dialogs and notices over a queue of approvals a, b, c, …
func inTray(t *testing.T, ids string, test func(d *desk, n *tray, settle func())) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &desk{mode: Hidden, choose: make(chan Choice)}
		for id := range strings.SplitSeq(ids, "") {
			d.waiting = append(d.waiting, core.Approval{ID: id, Title: "Write", Target: "/" + id, Digest: "of " + id})
		}
		n := &tray{open: map[string]chan Choice{}}
		p := NewPresenter(d, d, d, d, slog.New(slog.DiscardHandler))
		notices := NewNotices(n, p)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = p.Run(ctx) })
		running.Go(func() { _ = notices.Run(ctx) })
		settle := func() {
			for range 3 { // what one of them does, the other sees at its next look
				p.Changed()
				notices.Changed()
				<-time.After(look)
				synctest.Wait()
			}
		}
		settle()
		test(d, n, settle)
		cancel()
		running.Wait()
		if left := n.shown(); left != "" {
			t.Errorf("%q is shown after the end", left)
		}
	})
}

func TestNoticesAreOfWhatWaitsBehindTheDialog(t *testing.T) {
	inTray(t, "abcdef", func(d *desk, n *tray, settle func()) {
		if got := n.shown(); got != "bcd" {
			t.Errorf("shown: %q", got)
		}
		d.choose <- Deny // of the dialog: b moves from the tray to a dialog
		settle()
		if got := n.shown(); got != "cde" {
			t.Errorf("after the first dialog: %q", got)
		}
		d.set(func() { d.visible = true })
		settle()
		if got := n.shown(); got != "" {
			t.Errorf("beside a visible window: %q", got)
		}
	})
}

func TestANoticeDeniesOrLeadsToTheWindow(t *testing.T) {
	inTray(t, "abcd", func(d *desk, n *tray, settle func()) {
		n.choose("b", Deny)
		n.choose("c", Review)
		n.choose("d", AllowOnce)
		settle()
		if want := []string{"deny once b of b notification"}; !slices.Equal(d.answered, want) || !slices.Equal(d.reviewed, []string{"c"}) {
			t.Errorf("answered %q, reviewed %q", d.answered, d.reviewed)
		}
		if got := n.shown(); got != "" {
			t.Errorf("%q is shown again", got)
		}
	})
}

func TestANoticeOfAnotherQuestionGoes(t *testing.T) {
	inTray(t, "ab", func(d *desk, n *tray, settle func()) {
		d.set(func() { d.mode = Never })
		settle()
		if got := n.shown(); got != "" {
			t.Errorf("shown although never wanted: %q", got)
		}
		d.set(func() { d.mode, d.waiting = Hidden, d.waiting[:1] })
		settle()
		if got := n.shown(); got != "" || len(d.answered) > 0 {
			t.Errorf("shown %q, answered %q", got, d.answered)
		}
	})
}

func TestWithoutNotificationsThereAreNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{mode: Hidden, choose: make(chan Choice), waiting: []core.Approval{{ID: "a", Target: "/a"}, {ID: "b", Target: "/b"}}}
		p := NewPresenter(d, d, d, d, slog.New(slog.DiscardHandler))
		p.showing.Store("a")
		if err := NewNotices(&tray{broken: ErrNever}, p).Run(t.Context()); !errors.Is(err, ErrNever) {
			t.Errorf("error %v", err)
		}
	})
}

// TestNoticesGoOnWhereNothingShowedOne: a service that was away for a moment shows what waits next.
func TestNoticesGoOnWhereNothingShowedOne(t *testing.T) {
	inTray(t, "a", func(d *desk, n *tray, settle func()) {
		n.set(fmt.Errorf("%w: the service is away", ErrUnavailable))
		wait := func(id string) {
			d.set(func() {
				d.waiting = append(d.waiting, core.Approval{ID: id, Title: "Write", Target: "/" + id, Digest: "of " + id})
			})
			settle()
		}
		wait("b")
		n.set(nil)
		settle()
		if got := n.shown(); got != "" {
			t.Errorf("%q is shown, of which nothing was shown before", got)
		}
		wait("c")
		if got := n.shown(); got != "c" {
			t.Errorf("shown: %q", got)
		}
	})
}

func TestANoticeHidesNothing(t *testing.T) {
	n := noticeOf(core.Approval{Title: "Write to a file", Target: "/a\n<b>\u202e", Processes: []core.ApprovalProcess{{Exe: "/x/<i>"}}}, "api & more", noon)
	title, text := noticeFace(n, true)
	if title != "api & more waits for you" || text != "&lt;i&gt; wants to write to a file: /a‹U+000A›&lt;b&gt;‹U+202E›\nIt waits until you answer." {
		t.Errorf("%q, %q", title, text)
	}
	if _, text = noticeFace(n, false); !strings.Contains(text, "<b>") {
		t.Errorf("%q", text)
	}
	title, text = noticeFace(Notice{Title: strings.Repeat("x", 1<<20), Lines: []string{strings.Repeat("<", 1<<20)}}, true)
	if len(title) > 300 || len(text) > 5*300 {
		t.Errorf("%d and %d bytes", len(title), len(text))
	}
}
