package dialog

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"loop/backend/backoff"
	"loop/backend/bus"
	"loop/backend/core"
)

// Ringing is what a person wants to be told of a channel.
type Ringing struct {
	NeedsYou, Failed, Done bool
	Sound                  bool
}

// RingingOf is what one of core.Notifies means; quiet silences all. An unknown word means all.
func RingingOf(notify string, sound, quiet bool) Ringing {
	r := Ringing{NeedsYou: !quiet && notify != "never", Sound: sound}
	r.Failed = r.NeedsYou && notify != "needs_you"
	r.Done = r.Failed && notify != "problems"
	return r
}

// Rings are the settings of notifications. Any goroutine may call it.
type Rings interface {
	Ringing(id core.ChannelID) Ringing
}

// Door is Loop's window as a notification leads to it.
type Door interface {
	Visible() bool // as of Window
	// Open brings the window to the front with a channel shown.
	Open(id core.ChannelID)
}

// breather is how long a run is over until that is told: the next one of its queue begins
// within it.
const breather = time.Second

// maxRung is how many channels have a notice at a time; further news is in the window alone.
const maxRung = 20

// Bell tells of what happened in channels while nobody looks at the window: an agent needs the
// person, a run failed, a run is done. Each channel has one notice, of what came last there,
// until somebody looks at the channel. Run does the work; Look may be called from anywhere.
type Bell struct {
	notifier Notifier
	door     Door
	words    Words
	rings    Rings
	log      *slog.Logger
	poke     chan struct{}

	alone atomic.Bool // there are no dialogs

	mu      sync.Mutex
	looking bool           // the window has the keyboard
	at      core.ChannelID // the channel that it shows

	// Of Run's goroutine alone:
	open map[core.ChannelID]*rung
	out  int // notices that are shown or on their way out
	done chan *rung
	gone outage
}

// rung is one notice.
type rung struct {
	channel core.ChannelID
	about   string // the question, approval or run
	what    string // needsYou, hasFailed or isDone
	cancel  context.CancelFunc
	choice  Choice
	err     error
}

// NewBell returns a bell that is silent before Run.
func NewBell(notifier Notifier, door Door, words Words, rings Rings, log *slog.Logger) *Bell {
	return &Bell{notifier: notifier, door: door, words: words, rings: rings, log: log,
		poke: make(chan struct{}, 1), open: map[core.ChannelID]*rung{}, done: make(chan *rung)}
}

// AllChannels is what Look says of a page that shows all channels.
const AllChannels core.ChannelID = "*"

// Look says whether the person looks at the window, and which channel it shows. It never blocks.
func (b *Bell) Look(looking bool, at core.ChannelID) {
	b.mu.Lock()
	b.looking, b.at = looking, at
	b.mu.Unlock()
	select {
	case b.poke <- struct{}{}:
	default:
	}
}

// looked is whether the person looks at the window, and the channel that they see there. What
// the page said last does not count while its window is away.
func (b *Bell) looked() (bool, core.ChannelID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.looking && b.door.Visible(), b.at
}

// Run rings until ctx or the bus ends, which takes all notices away. It returns ErrNever when
// there can be no notifications here, and otherwise nil.
func (b *Bell) Run(ctx context.Context, sub *bus.Subscription) error {
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		for b.out > 0 {
			b.forget(<-b.done)
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-b.poke:
			here, at := b.looked()
			for ch := range b.open {
				if here && (at == ch || at == AllChannels) {
					b.withdraw(ch, "")
				}
			}
		case r := <-b.done:
			b.forget(r)
			if err := b.settle(r); err != nil {
				return err
			}
		case <-sub.Wake():
			events, err := sub.Next(1024)
			if errors.Is(err, bus.ErrClosed) {
				return nil
			}
			for _, e := range events { // some may have been missed; the window has them
				b.heard(ctx, e)
			}
		}
	}
}

// heard rings for an event, or takes the notice of one away that is over.
func (b *Bell) heard(ctx context.Context, e core.Event) {
	switch e.Type {
	case core.EventAskUser, core.EventExitPlan:
		var q core.Question
		if json.Unmarshal(e.Data, &q) == nil {
			b.ring(ctx, e.ChannelID, q.ID, needsYou, questionLine(q))
		}
	case core.EventGateAsked:
		// A dialog asks while the window is away.
		var a core.Approval
		dialogs := !b.alone.Load() && (b.words.Mode() == Always || b.words.Mode() == Hidden && !b.door.Visible())
		if json.Unmarshal(e.Data, &a) == nil && !dialogs {
			b.ring(ctx, e.ChannelID, a.ID, needsYou, noticeOf(a, "", time.Now()).Lines[0])
		}
	case core.EventAskResolved, core.EventPlanResolved:
		var q core.Question
		if json.Unmarshal(e.Data, &q) == nil && q.ID != "" {
			b.withdraw(e.ChannelID, q.ID)
		}
	case core.EventGateResolved:
		var a core.Approval
		if json.Unmarshal(e.Data, &a) == nil && a.ID != "" {
			b.withdraw(e.ChannelID, a.ID)
		}
	case core.EventConfigChanged:
		for ch, o := range b.open {
			if !b.wanted(ch, o.what) {
				b.withdraw(ch, "")
			}
		}
	case core.EventChannelDeleted:
		b.withdraw(e.ChannelID, "")
	case core.EventStatus:
		var s core.Status
		if json.Unmarshal(e.Data, &s) == nil {
			b.status(ctx, e, s)
		}
	}
}

func (b *Bell) status(ctx context.Context, e core.Event, s core.Status) {
	switch s.State {
	case core.RunStarting, core.RunRunning:
		b.withdraw(e.ChannelID, "") // what was told is old
		if s.Step == core.StepToolchain {
			b.ring(ctx, e.ChannelID, string(e.RunID), needsYou, "The project brings an image of its own, and a run waits for your word.")
		}
	case core.RunCancelled:
		b.withdraw(e.ChannelID, string(e.RunID)) // it waits for nobody any more
	case core.RunDone:
		// Also where nobody wants to be told of its end.
		b.withdraw(e.ChannelID, string(e.RunID))
		if s.StopReason != string(core.QuestionAsk) && s.StopReason != string(core.QuestionPlan) { // its question has rung
			b.ring(ctx, e.ChannelID, string(e.RunID), isDone, cmp.Or(firstLine(s.Result), "The run is over."))
		}
	case core.RunFailed, core.RunInterrupted:
		b.withdraw(e.ChannelID, string(e.RunID))
		text := s.Error
		if s.Failure != nil {
			text = s.Failure.Cause
		}
		b.ring(ctx, e.ChannelID, string(e.RunID), hasFailed, cmp.Or(firstLine(text), "The run did not end well."))
	}
}

// The ends of a notice's title, behind the channel's name.
const (
	needsYou  = "needs you"
	hasFailed = "failed"
	isDone    = "is done"
)

func (b *Bell) ring(ctx context.Context, ch core.ChannelID, about, what, text string) {
	if here, _ := b.looked(); here || !b.wanted(ch, what) {
		return
	}
	b.withdraw(ch, "")
	if b.out >= maxRung {
		return
	}
	showing, cancel := context.WithCancel(ctx)
	o := &rung{channel: ch, about: about, what: what, cancel: cancel}
	b.open[ch] = o
	b.out++
	n := Notice{Title: cmp.Or(b.words.Channel(ch), "Loop") + " " + what, Lines: []string{text}, News: true, Sound: b.rings.Ringing(ch).Sound}
	go func() {
		if what != isDone || backoff.Sleep(showing, breather) { // the next prompt may begin at once
			o.choice, o.err = b.notifier.Notify(showing, n)
		}
		if o.err == nil {
			o.err = showing.Err()
		}
		b.done <- o
	}()
}

// wanted reports whether a person wants to be told of that in a channel.
func (b *Bell) wanted(ch core.ChannelID, what string) bool {
	r := b.rings.Ringing(ch)
	return map[string]bool{needsYou: r.NeedsYou, hasFailed: r.Failed, isDone: r.Done}[what]
}

// NoDialogs says that this system has no dialogs that would ask about held calls.
func (b *Bell) NoDialogs() { b.alone.Store(true) }

// withdraw takes the notice of a channel away, if it is about something; empty: whatever it is about.
func (b *Bell) withdraw(ch core.ChannelID, about string) {
	if o := b.open[ch]; o != nil && (about == "" || o.about == about) {
		o.cancel()
		delete(b.open, ch)
	}
}

func (b *Bell) forget(r *rung) {
	r.cancel()
	b.out--
	if b.open[r.channel] == r {
		delete(b.open, r.channel)
	}
}

func (b *Bell) settle(r *rung) error {
	switch {
	case errors.Is(r.err, ErrNever):
		return r.err
	case b.gone.heard(b.log, r.err):
	case r.err == nil && r.choice == Review:
		b.door.Open(r.channel)
	case r.err != nil && !errors.Is(r.err, context.Canceled) && !errors.Is(r.err, ErrDismissed):
		b.log.Info("no notification was shown", slog.String("channel", string(r.channel)), slog.Any("error", r.err))
	}
	return nil
}

// questionLine is what an agent wants to know, in one line.
func questionLine(q core.Question) string {
	if q.Kind == core.QuestionPlan {
		return cmp.Or(firstLine(q.Plan), "A plan waits for your word.")
	}
	if len(q.Questions) == 0 {
		return "A question waits for your answer."
	}
	return cmp.Or(firstLine(q.Questions[0].Question), firstLine(q.Questions[0].Header), "A question waits for your answer.")
}

// firstLine is the first line with words of a text that may be Markdown.
func firstLine(s string) string {
	for line := range strings.Lines(s[:min(len(s), mostOfText)]) {
		if line = strings.Trim(line, "#*-> \t\r\n"); line != "" {
			return strings.ToValidUTF8(line, "")
		}
	}
	return ""
}
