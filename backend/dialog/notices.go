package dialog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"loop/backend/core"
)

// Notice is a question as a notification says it. All texts may be hostile and of any
// length: the adapters show them as face makes texts.
type Notice struct {
	Title string   // “Checkout redesign waits for you”
	Lines []string // what it is about, and until when
	// News says that it tells of something that waits for no answer of its own: it can only
	// be opened, which is Review, and the desktop may put it away after a while.
	News  bool
	Sound bool // of News: the desktop may play a sound
}

// ErrDismissed says that a person has put a notice away without an answer.
var ErrDismissed = errors.New("the notification was put away")

// ErrNever says that this program can show no notice, whatever the desktop starts later. It is
// an ErrUnavailable.
var ErrNever = fmt.Errorf("%w, and no notification", ErrUnavailable)

// Notifier shows notices and blocks until a person has chosen Deny or Review. Any
// goroutine may call Notify, and several are shown at a time. The end of ctx takes the
// notice away. With an error, which may be ctx's or ErrDismissed, nobody has answered.
// ErrUnavailable says that nothing shows notices at this moment.
type Notifier interface {
	Notify(ctx context.Context, n Notice) (Choice, error)
	// Ready says why nothing would be shown here, as a core.Failure. It asks the person nothing.
	Ready(ctx context.Context) error
}

// maxNotices is how many are shown at a time; the rest follow when these are gone.
const maxNotices = 3

// Notices tells of the approvals that wait behind the one a dialog shows, while the window
// is out of sight. Run does the work; Changed may be called from anywhere.
type Notices struct {
	notifier Notifier
	dialogs  *Presenter
	poke     chan struct{}

	// Of Run's goroutine alone:
	open map[string]*openNotice // by the approval's id
	over map[string]bool        // put away, or could not be shown
	done chan *openNotice
	gone outage
}

type openNotice struct {
	approval core.Approval
	cancel   context.CancelFunc
	choice   Choice
	err      error
}

// NewNotices returns notices beside the dialogs of a presenter, whose queue, window and
// words they go by. Nothing is shown before Run.
func NewNotices(notifier Notifier, dialogs *Presenter) *Notices {
	return &Notices{notifier: notifier, dialogs: dialogs, poke: make(chan struct{}, 1),
		open: map[string]*openNotice{}, over: map[string]bool{}, done: make(chan *openNotice)}
}

// Changed says that approvals, the window or the mode may have changed. It never blocks.
func (n *Notices) Changed() {
	select {
	case n.poke <- struct{}{}:
	default:
	}
}

// Run shows notices until ctx ends, which takes them away. It returns ErrNever when there can be
// no notifications here, and otherwise nil.
func (n *Notices) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		for len(n.open) > 0 {
			n.forget(<-n.done)
		}
	}()
	ticks := time.NewTicker(look)
	defer ticks.Stop()
	for ctx.Err() == nil {
		waiting := n.dialogs.queue.Waiting()
		n.match(ctx, waiting)
		tick := ticks.C
		if len(waiting) == 0 && len(n.open) == 0 {
			tick = nil
		}
		select {
		case <-ctx.Done():
		case <-n.poke:
		case <-tick:
		case o := <-n.done:
			n.forget(o)
			if err := n.settle(ctx, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// match opens and takes away notices, so that they are of what waits.
func (n *Notices) match(ctx context.Context, waiting []core.Approval) {
	still := map[string]string{}
	wanted := n.dialogs.words.Mode() != Never && !n.dialogs.window.Visible()
	shown := n.dialogs.Showing()
	for _, a := range waiting {
		still[a.ID] = a.Digest
	}
	for id := range n.over {
		if _, waits := still[id]; !waits {
			delete(n.over, id)
		}
	}
	for id, o := range n.open {
		if !wanted || id == shown || still[id] != o.approval.Digest {
			o.cancel()
		}
	}
	for _, a := range waiting {
		// The first one is the dialog's, or will be in a moment.
		if wanted && shown != "" && a.ID != shown && n.open[a.ID] == nil && !n.over[a.ID] && len(n.open) < maxNotices {
			n.show(ctx, a)
		}
	}
}

func (n *Notices) show(ctx context.Context, a core.Approval) {
	showing, cancel := context.WithCancel(ctx)
	o := &openNotice{approval: a, cancel: cancel}
	n.open[a.ID] = o
	notice := noticeOf(a, n.dialogs.words.Channel(a.ChannelID), time.Now())
	go func() {
		o.choice, o.err = n.notifier.Notify(showing, notice)
		if o.err == nil {
			o.err = showing.Err()
		}
		n.done <- o
	}()
}

func (n *Notices) forget(o *openNotice) {
	o.cancel()
	delete(n.open, o.approval.ID)
}

// settle passes on what a person chose.
func (n *Notices) settle(ctx context.Context, o *openNotice) error {
	a, log := o.approval, n.dialogs.log
	switch {
	case errors.Is(o.err, ErrNever):
		return o.err
	case n.gone.heard(log, o.err):
		n.over[a.ID] = true // the next approval tries again
	case errors.Is(o.err, context.Canceled):
	case o.err != nil:
		n.over[a.ID] = true
		if !errors.Is(o.err, ErrDismissed) {
			log.Info("no notification was shown for an approval", slog.String("approval", a.ID), slog.Any("error", o.err))
		}
	case o.choice == Review:
		n.over[a.ID] = true
		n.dialogs.window.Review(a.ID)
	default:
		answer := core.ApprovalAnswer{Scope: core.ScopeOnce, Digest: a.Digest, By: "notification"}
		if err := n.dialogs.queue.Answer(ctx, a.ID, answer); err != nil { // answered elsewhere meanwhile, or withdrawn
			log.Info("the answer of a notification was not taken", slog.String("approval", a.ID), slog.Any("error", err))
		}
	}
	return nil
}

// outage is a time in which nothing shows notices: a service for them may start, and be started
// again, while Loop runs.
type outage struct{ told bool }

// heard reports whether an error of Notify says that nothing shows notices now, which it logs
// once until one was shown again.
func (o *outage) heard(log *slog.Logger, err error) bool {
	switch {
	case errors.Is(err, ErrUnavailable):
		if !o.told {
			log.Info("nothing shows notifications now; the next news tries again", "err", err)
		}
		o.told = true
		return true
	case err == nil, errors.Is(err, ErrDismissed):
		o.told = false
	}
	return false
}

// The words of the buttons.
const (
	noticeReview = "Review"
	noticeDeny   = "Deny"
	noticeOpen   = "Open"
)

var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")

// noticeFace is a notice as it is drawn: every character seen, both texts bounded, and
// nothing that acts as markup. The line break is Loop's own.
func noticeFace(n Notice, marked bool) (title, text string) {
	bounded := func(s string) string {
		all, whole := named(s, mostOfText)
		short, _ := elided(all, mostFact/2, mostFact/2)
		if !whole {
			short += " ‹…›"
		}
		return short
	}
	var lines []string
	for _, line := range n.Lines {
		lines = append(lines, bounded(line))
	}
	text = strings.Join(lines, "\n")
	if marked {
		text = markup.Replace(text)
	}
	return bounded(n.Title), text
}

// noticeOf says an approval in two sentences.
func noticeOf(a core.Approval, channel string, now time.Time) Notice {
	title, text := "Loop waits for you", titleOf(a)
	if channel != "" {
		title = channel + " waits for you"
	}
	if a.Kind != core.ApprovalFlood {
		text += ": " + a.Target
	}
	return Notice{Title: title, Lines: []string{text, endOf(a, now)}}
}
