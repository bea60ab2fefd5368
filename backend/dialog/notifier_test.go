package dialog

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// notified is a notice as a desktop has been given it.
type notified struct {
	title, text string
	buttons     []string
}

// trayOf is a desktop's notifications in the hands of the suite.
type trayOf struct {
	notifier Notifier
	shown    func() notified             // waits until one is shown
	click    func(other bool, on string) // on the one that was shown last, or on one that Loop has not made
	removed  func() bool                 // waits until the last one is taken away
}

// What is clicked, for each adapter to put into its system's words. Any other word is one
// that the system should not say.
const (
	onNotice = "the notice"
	onOpen   = "Open or Review"
	onDeny   = "Deny"
)

type notifiedAnswer struct {
	choice Choice
	err    error
}

// conform holds an adapter to what Notifier promises.
func conform(t *testing.T, tray trayOf) {
	t.Helper()
	held := Notice{Title: "api waits for you", Lines: []string{"git wants to write: /<b>"}}
	news := Notice{Title: "api is done", Lines: []string{"Fixed."}, News: true}
	for name, c := range map[string]struct {
		notice  Notice
		do      func(end func())
		want    notifiedAnswer
		removed bool
	}{
		"denied":               {held, func(func()) { tray.click(false, onDeny) }, notifiedAnswer{Deny, nil}, false},
		"reviewed":             {held, func(func()) { tray.click(false, onOpen) }, notifiedAnswer{Review, nil}, false},
		"clicked":              {held, func(func()) { tray.click(false, onNotice) }, notifiedAnswer{Review, nil}, false},
		"taken away":           {held, func(end func()) { end() }, notifiedAnswer{Deny, context.Canceled}, true},
		"allow is no word":     {held, func(func()) { tray.click(false, "allow"); tray.click(false, onNotice) }, notifiedAnswer{Review, nil}, false},
		"another one":          {held, func(func()) { tray.click(true, onDeny); tray.click(false, onOpen) }, notifiedAnswer{Review, nil}, false},
		"news opened":          {news, func(func()) { tray.click(false, onOpen) }, notifiedAnswer{Review, nil}, false},
		"news clicked":         {news, func(func()) { tray.click(false, onNotice) }, notifiedAnswer{Review, nil}, false},
		"news is never denied": {news, func(func()) { tray.click(false, onDeny); tray.click(false, onOpen) }, notifiedAnswer{Review, nil}, false},
		"news taken away":      {news, func(end func()) { end() }, notifiedAnswer{Deny, context.Canceled}, true},
	} {
		ctx, end := context.WithCancel(t.Context())
		got := make(chan notifiedAnswer, 1)
		go func() {
			choice, err := tray.notifier.Notify(ctx, c.notice)
			got <- notifiedAnswer{choice, err}
		}()
		shown := tray.shown()
		buttons := []string{noticeReview, noticeDeny}
		if c.notice.News {
			buttons = []string{noticeOpen}
		}
		if shown.title != c.notice.Title || shown.text != c.notice.Lines[0] || !slices.Equal(shown.buttons, buttons) {
			t.Errorf("%s: shown %+v", name, shown)
		}
		c.do(end)
		if a := <-got; a.choice != c.want.choice || !errors.Is(a.err, c.want.err) {
			t.Errorf("%s: %v, want %v", name, a, c.want)
		}
		if c.removed && !tray.removed() {
			t.Errorf("%s: another notification was taken away", name)
		}
		end()
	}
	if err := tray.notifier.Ready(t.Context()); err != nil {
		t.Errorf("not ready: %v", err)
	}
}
