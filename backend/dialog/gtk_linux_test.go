//go:build linux && cgo && desktop

package dialog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"loop/backend/dialog/dialogtest"
)

var (
	plainRequest = Request{
		Title: "git wants to write to a file outside the project", Target: "/home/ana/.gitconfig",
		Facts: []Fact{
			{Label: "Channel", Text: "api-server › Fix the flaky login test"},
			{Label: "Who", Text: "claude → bash → git config --global rerere.enabled true"},
			{Label: "Why asked", Text: "No rule covers writes in the home folder."},
			{Label: "If allowed", Text: "Changes how Git behaves for every project in this container."},
		},
		Note: "Denied at 14:09 if nobody answers. Enter and Esc deny. 2 more wait in Loop.",
	}
	hostileRequest = Request{
		Title:  "%s%n <b>sh</b> wants to\nrun a \u202efdp.exe",
		Target: "/home/ana/" + strings.Repeat("%n<i>&amp;", 60) + "\x1b[31m\n\u202e/.ssh/authorized_keys",
		Facts: []Fact{
			{Label: "Channel", Text: "אבג/דהו/z\u0301\u0302\u0303\u0304\u0305\u0306"},
			{Label: "Who", Text: "sh → curl" + strings.Repeat(" ", 200) + "| sh _with_ <span size='99999'>markup</span>"},
			{Label: "Why asked", Text: strings.Repeat("long ", 100)}, {Label: "If allowed", Text: "_x"},
		},
		Note: "Denied at 14:09 if nobody answers. Enter and Esc deny.",
	}
)

// TestGTKDialog drives the real dialog with real keys and clicks on a virtual display.
// One test, because GTK's loop begins once in a process.
func TestGTKDialog(t *testing.T) {
	s := newScreen(t)
	within := func(name string, test func(s *screen)) {
		t.Run(name, func(t *testing.T) { test(&screen{t: t, out: s.out}) })
	}
	soon, late := &gtk{one: make(chan struct{}, 1), inert: 0}, &gtk{one: make(chan struct{}, 1), inert: 3_600_000}

	within("pictures", func(s *screen) {
		for _, dark := range []bool{true, false} {
			theme := map[bool]string{true: "dark", false: "light"}[dark]
			dialogtest.PreferDark(dark)
			for name, r := range map[string]Request{"plain": plainRequest, "hostile": hostileRequest, "review-only": {
				Title: "This run asks too much", Target: "214 questions in 9 s", ReviewOnly: true}} {
				q := s.ask(soon, r)
				s.window()
				s.until("the dialog is drawn", func() bool { return s.colours() > 20 })
				s.picture(name + "-" + theme)
				q.close()
				q.expect("Deny, closed")
			}
		}
	})
	within("the window is marked while something waits, until it comes to the front", func(s *screen) {
		dialogtest.Window("Loop")
		w := strings.Fields(s.run("xdotool", "search", "--sync", "--onlyvisible", "--name", "^Loop$"))[0]
		f := NewFrame()
		marked := func() bool {
			return strings.Contains(s.run("xprop", "-id", w, "WM_HINTS"), "urgency hint bit is set")
		}
		mark := func(waits, front, want bool) {
			s.t.Helper()
			s.until(fmt.Sprintf("waits %v, in front %v, marked %v", waits, front, want), func() bool {
				f.Mark(waits)
				return f.InFront() == front && marked() == want
			})
		}
		s.run("xdotool", "mousemove", "9999", "9999") // without a window manager, the window below the pointer has the keyboard
		mark(true, false, true)
		mark(false, false, false)
		mark(true, false, true)
		s.focus(w)
		mark(true, true, false)
	})
	within("it takes the focus from nobody", func(s *screen) {
		q := s.ask(soon, plainRequest)
		w := s.window()
		if got := s.run("xprop", "-id", w, "_NET_WM_USER_TIME"); !strings.HasSuffix(got, "= 0") {
			s.t.Errorf("a window manager would give it the keyboard: %s", got)
		}
		if got := s.run("xprop", "-id", w, "WM_HINTS"); !strings.Contains(got, "urgency hint bit is set") {
			s.t.Errorf("no attention is asked for: %s", got)
		}
		q.close()
		q.expect("Deny, closed")
	})
	for _, keys := range [][]string{{"Return"}, {"KP_Enter"}, {"Escape"},
		{"Tab", "Return"}, {"Tab", "Tab", "Return"}, {"Tab", "Tab", "Tab", "Return"}, {"ctrl+Return", "alt+a", "Escape"}} {
		within("keys "+strings.Join(keys, " "), func(s *screen) {
			q := s.ask(soon, plainRequest)
			s.focus(s.window())
			s.key(keys...)
			q.expect("Deny")
		})
	}
	within("the keys of a person who cannot click", func(s *screen) {
		q := s.ask(soon, plainRequest)
		s.focus(s.window())
		s.key("Tab", "space")
		q.expect("Allow once")
	})
	for _, c := range []Choice{Deny, AllowOnce, Review} {
		within("a click on "+said(c, nil), func(s *screen) {
			q := s.ask(soon, plainRequest)
			s.click(s.window(), c)
			q.expect(said(c, nil))
		})
	}
	within("closing denies", func(s *screen) {
		q := s.ask(late, plainRequest)
		s.close(s.window())
		q.expect("Deny")
	})
	// Keys and clicks that come too early are no answer; that they were seen is known
	// from the close that follows them.
	within("what comes too early is ignored", func(s *screen) {
		q := s.ask(late, plainRequest)
		w := s.window()
		s.focus(w)
		s.click(w, AllowOnce)
		s.click(w, Review)
		s.key("Return", "Escape", "Tab", "space", "Return")
		select {
		case got := <-q.answer:
			s.t.Errorf("answer %q", got)
		default:
		}
		s.close(w)
		q.expect("Deny")
	})
	within("half a second after it appears", func(s *screen) {
		begun := time.Now()
		q := s.ask(New(), plainRequest)
		if got, after := q.clicked(s.window(), AllowOnce), time.Since(begun); got != allowText || after < inertMs*time.Millisecond {
			s.t.Errorf("answer %q after %v", got, after)
		}
		s.gone()
	})
	within("half a second after it gets the keyboard", func(s *screen) {
		q := s.ask(New(), plainRequest)
		w := s.window()
		<-time.After(3 * inertMs * time.Millisecond / 2) // it takes answers by now, were the keyboard not given
		begun := time.Now()
		s.focus(w)
		if got, after := q.clicked(w, AllowOnce), time.Since(begun); got != allowText || after < inertMs*time.Millisecond {
			s.t.Errorf("answer %q after %v", got, after)
		}
		s.gone()
	})
	within("what is not offered cannot be allowed", func(s *screen) {
		r := plainRequest
		r.ReviewOnly = true
		q := s.ask(soon, r)
		w := s.window()
		s.focus(w)
		s.click(w, AllowOnce)
		s.click(w, Review)
		q.expect(reviewText)
	})
	within("all of it", func(s *screen) {
		q := s.ask(soon, hostileRequest)
		w := s.window()
		s.focus(w)
		s.until("the dialog is drawn", func() bool { return s.colours() > 20 })
		before := s.run("xdotool", "getwindowgeometry", w)
		s.key("Tab", "space")
		s.until("the rest is shown", func() bool { return s.run("xdotool", "getwindowgeometry", w) != before })
		s.picture("full")
		s.key("Return")
		q.expect("Deny")
	})
	within("one at a time", func(s *screen) {
		first := s.ask(soon, plainRequest)
		s.window()
		ctx, cancel := context.WithTimeout(s.t.Context(), 50*time.Millisecond)
		defer cancel()
		if c, err := soon.Ask(ctx, plainRequest); c != Deny || !errors.Is(err, context.DeadlineExceeded) {
			s.t.Errorf("a second dialog: %v, %v", c, err)
		}
		first.close()
		first.expect("Deny, closed")
		second := s.ask(soon, plainRequest)
		s.click(s.window(), Deny)
		second.expect("Deny")
	})
}

// colours counts those on the screen: a dialog that is not drawn yet has one or two.
func (s *screen) colours() int {
	s.t.Helper()
	out := s.run("import", "-window", "root", "-format", "%k", "info:-")
	n := 0
	for _, r := range out {
		if r < '0' || r > '9' {
			break
		}
		n = 10*n + int(r-'0')
	}
	return n
}
