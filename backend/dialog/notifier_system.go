package dialog

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"loop/backend/core"
)

// System is how a system shows notifications through the window's library (macOS and
// Windows). Any goroutine may call it. Each call but Ask ends within seconds by itself.
type System interface {
	// Start comes before everything else, and takes away what an earlier Loop has left. It
	// fails with ErrNoBundle where the system lets only bundles show notifications. macOS ends
	// a program that goes on all the same.
	Start() error
	Define(kind string, buttons []SystemButton) error
	Allowed() (bool, error)
	// Ask has the system ask the person, once for all starts of Loop. It waits for the answer,
	// which can take minutes.
	Ask() (bool, error)
	Show(n SystemNotice) error
	// Remove takes a notice away where the system can (not on Windows).
	Remove(id string) error
	// OnChosen names who hears of clicks. Nothing that it passes on is trusted.
	OnChosen(hear func(id, action string))
}

// SystemButton is a button of a kind of notice.
type SystemButton struct {
	Action, Title string
	Ends          bool // it is drawn as one that cannot be taken back
}

// SystemNotice is a notice as the system gets it: plain words, bounded.
type SystemNotice struct{ ID, Kind, Title, Text string }

// What the system is told and says of clicks.
const (
	kindNews = "loop.news"
	kindHeld = "loop.held"

	clickOnNotice = "DEFAULT_ACTION" // Wails' word for a click beside the buttons
	clickOpen     = "open"
	clickReview   = "review"
	clickDeny     = "deny"
)

// ErrNoBundle says that a bare program may show no notifications.
var ErrNoBundle = errors.New("the program is in no bundle")

// ErrRefused says that the person does not let Loop show notifications.
var ErrRefused = errors.New("the system lets Loop show no notifications")

// codeNotices is of failures that say why there are no notifications.
const codeNotices core.Code = "notifications"

// systemNotifier shows notices through a System.
type systemNotifier struct {
	system System
	front  func()                                 // brings the window to the front
	face   func(title, text string) (_, _ string) // makes words fit for the system
	before func() error                           // what the process needs before Start

	starting sync.Mutex // held while it starts
	started  bool

	mu    sync.Mutex
	open  map[string]*systemShown // by id
	asked chan struct{}           // made when the person is asked, closed when they have answered
}

type systemShown struct {
	news   bool
	choice chan Choice
}

// newSystemNotifier returns a notifier that has done nothing yet: the system is asked for
// leave when there is first something to tell. A click on a notice that is over brings the
// window to the front.
func newSystemNotifier(system System, front func()) *systemNotifier {
	return &systemNotifier{system: system, front: front, face: func(title, text string) (string, string) { return title, text },
		before: func() error { return nil }, open: map[string]*systemShown{}}
}

// start makes the system ready, and tries again after a failure.
func (s *systemNotifier) start() error {
	s.starting.Lock()
	defer s.starting.Unlock()
	if s.started {
		return nil
	}
	if err := s.before(); err != nil {
		return fmt.Errorf("prepare notifications: %w", err)
	}
	switch err := s.system.Start(); {
	case errors.Is(err, ErrNoBundle):
		return fmt.Errorf("%w: %w", ErrNever, err)
	case err != nil:
		return fmt.Errorf("start notifications: %w", err)
	}
	s.system.OnChosen(s.chosen)
	for kind, buttons := range map[string][]SystemButton{
		kindNews: {{Action: clickOpen, Title: noticeOpen}},
		kindHeld: {{Action: clickReview, Title: noticeReview}, {Action: clickDeny, Title: noticeDeny, Ends: true}},
	} {
		if err := s.system.Define(kind, buttons); err != nil {
			return fmt.Errorf("define the buttons of notifications: %w", err)
		}
	}
	s.started = true
	return nil
}

// Notify shows a notice under an id that nobody can guess.
func (s *systemNotifier) Notify(ctx context.Context, n Notice) (Choice, error) {
	if err := s.start(); err != nil {
		return Deny, err
	}
	if err := s.leave(ctx); err != nil {
		return Deny, err
	}
	if ctx.Err() != nil {
		return Deny, ctx.Err()
	}
	id, shown := rand.Text(), &systemShown{news: n.News, choice: make(chan Choice, 1)}
	s.mu.Lock()
	s.open[id] = shown
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, id)
	}()
	notice := SystemNotice{ID: id, Kind: kindHeld}
	if n.News {
		notice.Kind = kindNews
	}
	notice.Title, notice.Text = s.face(noticeFace(n, false))
	if err := s.system.Show(notice); err != nil {
		return Deny, fmt.Errorf("show a notification: %w", err)
	}
	select {
	case c := <-shown.choice:
		return c, nil
	case <-ctx.Done():
		_ = s.system.Remove(id) // it may be gone already
		return Deny, ctx.Err()
	}
}

// leave waits until the person lets Loop show notifications. They are asked once.
func (s *systemNotifier) leave(ctx context.Context) error {
	allowed, err := s.system.Allowed()
	switch {
	case err != nil:
		return fmt.Errorf("ask whether notifications are allowed: %w", err)
	case allowed:
		return nil
	}
	s.mu.Lock()
	answered := s.asked
	if answered == nil {
		answered = make(chan struct{})
		s.asked = answered
		// The system's own question cannot be taken back, and Loop ends without the answer, so
		// nobody waits for this goroutine. The library gives up after three minutes.
		go func() {
			defer close(answered)
			_, _ = s.system.Ask() // Allowed says what came of it
		}()
	}
	s.mu.Unlock()
	select {
	case <-answered:
	case <-ctx.Done():
		return ctx.Err()
	}
	if allowed, err = s.system.Allowed(); err == nil && !allowed {
		err = ErrRefused
	}
	return err
}

// chosen is told of a click. What it is told can come from another program, from a notice of
// an earlier Loop or from one that is over: it counts for a notice that waits, and otherwise
// shows the window, as a click on Loop's icon does.
func (s *systemNotifier) chosen(id, action string) {
	s.mu.Lock()
	shown := s.open[id]
	s.mu.Unlock()
	if shown == nil {
		s.front()
		return
	}
	choice := Review
	switch action {
	case clickOnNotice, clickOpen, clickReview:
	case clickDeny:
		if shown.news {
			return
		}
		choice = Deny
	default:
		return
	}
	select {
	case shown.choice <- choice:
	default: // the first click counts
	}
}

// Ready says why nothing would be shown, with what helps.
func (s *systemNotifier) Ready(context.Context) error {
	if err := s.start(); err != nil {
		if errors.Is(err, ErrNoBundle) {
			return core.Fail(codeNotices, err, "macOS shows notifications of apps alone, and this Loop is a bare program.",
				"Start Loop from Loop.app, which “wails build” makes. Until then the window marks what waits.")
		}
		return core.Fail(codeNotices, err, "The system's notifications could not be started.",
			"Start Loop again. Until then the window marks what waits.")
	}
	allowed, err := s.system.Allowed()
	s.mu.Lock()
	asked := s.asked != nil
	s.mu.Unlock()
	const where = "Allow them in System Settings → Notifications → Loop. Until then the window marks what waits."
	switch {
	case err != nil:
		return core.Fail(codeNotices, err, "The system does not say whether Loop may show notifications.", where)
	case allowed:
		return nil
	case asked:
		return core.Fail(codeNotices, ErrRefused, "The system lets Loop show no notifications.", where)
	}
	return core.Fail(codeNotices, nil, "The system does not let Loop show notifications, or has not asked you yet: "+
		"it asks when there is first something to tell.", where)
}

// mostOfToast is how many bytes title and text of a toast have together, as JSON. Windows
// takes 5 KB of a toast, and Wails writes both into it in base64 for each thing to click.
const mostOfToast = 640

// inToast takes from words what acts in the two places where go-toast writes them as they
// are. One is XML, in CDATA. The other is a PowerShell script, between @" and "@, which runs
// where Windows takes no toast from the program itself.
var inToast = strings.NewReplacer(
	"]]>", "]] >", "$", "\uff04", "`", "'", `"`, "'", "“", "'", "”", "'", "„", "'", "\n", " · ", "\r", " ",
)

// toastFace is a notice as Windows can be given it.
func toastFace(title, text string) (string, string) {
	title = withinJSON(inToast.Replace(title), mostOfToast/4)
	return title, withinJSON(inToast.Replace(text), mostOfToast-mostOfToast/4)
}

// withinJSON is as much of the beginning of a text as fits into so many bytes of JSON.
func withinJSON(s string, most int) string {
	size := func(s string) int { b, _ := json.Marshal(s); return len(b) }
	if size(s) <= most {
		return s
	}
	const cut = " ‹…›"
	most -= size(cut)
	end, left := 0, most
	for i, r := range s {
		if left -= size(string(r)) - 2; left < 0 { // without its quotes
			break
		}
		end = i + len(string(r))
	}
	return s[:end] + cut
}

// FromToast reports that Windows has started this program for a click on a notice of a Loop
// that has ended. Wails registers it as a COM server with the argument %1.
func FromToast(args []string) bool {
	return len(args) > 0 && args[len(args)-1] == "-Embedding" && (len(args) == 1 || len(args) == 2 && args[0] == "%1")
}
