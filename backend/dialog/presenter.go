package dialog

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"loop/backend/core"
)

// Mode says when dialogs are shown.
type Mode string

const (
	Hidden Mode = "hidden" // while the window is hidden or minimised; also what an unknown word means
	Always Mode = "always"
	Never  Mode = "never"
)

// Queue is the approvals, as the gate has them.
type Queue interface {
	// Waiting returns the approvals that wait, oldest first.
	Waiting() []core.Approval
	// Answer answers one; the answer names the digest that was shown. It fails when
	// the approval no longer waits or has become another one.
	Answer(ctx context.Context, id string, a core.ApprovalAnswer) error
}

// Window is Loop's own, and what a person sees in it.
type Window interface {
	// Visible reports that it is neither hidden nor minimised, as far as the system says.
	Visible() bool
	// Review brings it to the front with the card of an approval focused.
	Review(id string)
}

// Words are what dialogs say and when they are shown. Any goroutine may call them.
type Words interface {
	Mode() Mode
	// Channel is how a person knows a channel: “api-server › Fix the flaky login test”.
	Channel(id core.ChannelID) string
}

const (
	// look is how often the window is looked at while something waits: no system says
	// when it is minimised.
	look = time.Second
	// raising is how long a window may take to come to the front after Review.
	raising = 10 * time.Second
	// breath is how long no dialog opens after one whose question was withdrawn: a program
	// that asks and gives up would have them open and close all the time.
	breath = 300 * time.Millisecond
)

// Presenter shows the approvals that wait, one dialog at a time, oldest first, while the
// mode and the window ask for it. Run does the work; Changed may be called from anywhere.
type Presenter struct {
	asker  Asker
	queue  Queue
	window Window
	words  Words
	log    *slog.Logger
	poke   chan struct{}

	showing atomic.Value // string: the approval that a dialog is open for, or ""

	// Of Run's goroutine alone:
	failed    map[string]bool // no dialog could be shown for these
	reviewing string          // the person looks at this one in the window
	raised    bool            // the window has been seen since then
	since     time.Time       // when reviewing began
	withdrawn bool            // the last dialog's question went before it was answered
}

// NewPresenter returns a presenter that shows nothing before Run.
func NewPresenter(asker Asker, queue Queue, window Window, words Words, log *slog.Logger) *Presenter {
	return &Presenter{asker: asker, queue: queue, window: window, words: words, log: log,
		poke: make(chan struct{}, 1), failed: map[string]bool{}}
}

// Changed says that approvals, the window or the mode may have changed. It never blocks.
func (p *Presenter) Changed() {
	select {
	case p.poke <- struct{}{}:
	default:
	}
}

// Showing is the id of the approval that a dialog is open for, or empty.
func (p *Presenter) Showing() string {
	id, _ := p.showing.Load().(string)
	return id
}

// Run shows dialogs until ctx ends, which closes the one that is shown without an answer.
// It returns at once with ErrUnavailable when there are no dialogs here, and otherwise nil.
func (p *Presenter) Run(ctx context.Context) error {
	ticks := time.NewTicker(look)
	defer ticks.Stop()
	for ctx.Err() == nil {
		waiting := p.queue.Waiting()
		a, show := p.next(waiting)
		if show {
			if err := p.show(ctx, a, len(waiting)-1); errors.Is(err, ErrUnavailable) {
				return err
			}
			if p.withdrawn {
				p.pause(ctx)
			}
			continue
		}
		tick := ticks.C
		if len(waiting) == 0 {
			tick = nil
		}
		select {
		case <-ctx.Done():
		case <-p.poke:
		case <-tick:
		}
	}
	return nil
}

// pause waits a breath, or until ctx ends.
func (p *Presenter) pause(ctx context.Context) {
	t := time.NewTimer(breath)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// next is the approval that a dialog is to show now.
func (p *Presenter) next(waiting []core.Approval) (core.Approval, bool) {
	still := map[string]bool{}
	for _, a := range waiting {
		still[a.ID] = true
	}
	for id := range p.failed {
		if !still[id] {
			delete(p.failed, id)
		}
	}
	if !still[p.reviewing] {
		p.reviewing = ""
	}
	if len(waiting) == 0 || !p.wanted() {
		return core.Approval{}, false
	}
	for _, a := range waiting {
		// Without a subject there is nothing to ask about; the gate denies it in time.
		if !p.failed[a.ID] && strings.TrimSpace(a.Target) != "" {
			return a, true
		}
	}
	return core.Approval{}, false
}

// wanted reports whether a dialog may be open now.
func (p *Presenter) wanted() bool {
	mode, visible := p.words.Mode(), p.window.Visible()
	if mode == Never {
		return false
	}
	if p.reviewing != "" {
		p.raised = p.raised || visible
		if visible || !p.raised && time.Since(p.since) < raising {
			return false // the person is at it
		}
		p.reviewing = ""
	}
	return mode == Always || !visible
}

// show asks about one approval and passes the answer on. The dialog is closed without an
// answer when the approval is gone or is another one, or when no dialog is wanted any more.
func (p *Presenter) show(ctx context.Context, a core.Approval, others int) error {
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	p.withdrawn = false
	p.showing.Store(a.ID)
	defer p.showing.Store("")
	type answer struct {
		choice Choice
		err    error
	}
	answers := make(chan answer, 1)
	request := requestOf(a, p.words.Channel(a.ChannelID), others, time.Now())
	go func() {
		choice, err := p.asker.Ask(asking, request)
		answers <- answer{choice, err}
	}()
	ticks := time.NewTicker(look)
	defer ticks.Stop()
	for {
		select {
		case got := <-answers:
			if got.err == nil && asking.Err() == nil {
				p.answer(ctx, a, got.choice)
				return nil
			}
			if asking.Err() == nil {
				p.failed[a.ID] = true
				p.log.Error("no dialog was shown for an approval", "approval", a.ID, "error", got.err)
			}
			return got.err
		case <-p.poke:
		case <-ticks.C:
		}
		if asking.Err() == nil && (!p.wanted() || !p.waits(a)) {
			p.withdrawn = !p.has(a.ID)
			cancel()
		}
	}
}

func (p *Presenter) has(id string) bool {
	return slices.ContainsFunc(p.queue.Waiting(), func(w core.Approval) bool { return w.ID == id })
}

// waits reports that an approval still waits as it was shown.
func (p *Presenter) waits(a core.Approval) bool {
	for _, w := range p.queue.Waiting() {
		if w.ID == a.ID {
			return w.Digest == a.Digest
		}
	}
	return false
}

func (p *Presenter) answer(ctx context.Context, a core.Approval, choice Choice) {
	if choice == Review {
		p.reviewing, p.raised, p.since = a.ID, false, time.Now()
		p.window.Review(a.ID)
		return
	}
	err := p.queue.Answer(ctx, a.ID, core.ApprovalAnswer{
		Allow: choice == AllowOnce, Scope: core.ScopeOnce, Digest: a.Digest, By: "dialog",
	})
	if err != nil { // answered elsewhere meanwhile, or withdrawn
		p.log.Info("the answer of a dialog was not taken", "approval", a.ID, "error", err)
	}
}
