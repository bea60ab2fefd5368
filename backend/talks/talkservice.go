package talks

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"loop/backend/backoff"
	"loop/backend/core"
)

// Store keeps talks. Methods may be called from any goroutine.
type Store interface {
	PutTalk(ctx context.Context, t core.SavedTalk, events ...core.Event) ([]core.Event, error)
	LastTalk(ctx context.Context, ch core.ChannelID, session core.SessionID) (core.SavedTalk, error) // core.ErrNotFound
	Talks(ctx context.Context, since time.Time) ([]core.SavedTalk, error)
	RunSpans(ctx context.Context, ch core.ChannelID, since time.Time) ([]core.RunSpan, error)
	Channel(ctx context.Context, id core.ChannelID) (core.Channel, error) // core.ErrNotFound
	ModelRates(ctx context.Context) (map[string]core.ModelRate, error)
}

// Reading is a transcript from an offset on. Size is the transcript's; Agents may be nil.
type Reading struct {
	io.ReadCloser
	Size   int64
	Agents SubAgents
}

// Options assemble a Service; all are required, but for the times.
type Options struct {
	Store Store
	// Open reads a session's transcript. core.ErrNotFound when there is none, core.ErrConflict
	// when what is there is not read.
	Open func(ctx context.Context, ch core.Channel, session core.SessionID, offset int64) (Reading, error)
	// Terminals lists the terminals of a channel.
	Terminals func(ch core.ChannelID) []core.TerminalInfo
	Publish   func(...core.Event)
	Now       func() time.Time
	Log       *slog.Logger

	Look   time.Duration // how often a transcript is looked at while something goes on (1 s)
	Settle time.Duration // for how long after the model has answered (6 s)
	Pause  time.Duration // after which a prompt begins a talk of its own (30 min)
}

// Bounds of what is followed at a time.
const (
	maxFollowed = 64
	// recently is how far back talks are looked at when Loop starts: what was said while it was
	// away is read then.
	recently = 7 * 24 * time.Hour
	// later is after how many looks one that has failed is tried again.
	later = 5
)

// Service follows conversations in terminals. Run works; the other methods may be called from
// any goroutine.
type Service struct {
	o    Options
	wake chan struct{}

	mu       sync.Mutex
	followed map[key]*followed
}

type key struct {
	ch      core.ChannelID
	session core.SessionID
}

// followed is one conversation. Those who hear change it under the lock of the service;
// reading belongs to the goroutine of Run.
type followed struct {
	terminal core.TerminalID
	calls    int       // to the model, under way
	until    time.Time // looked at so long, even if nothing goes on
	working  bool
	over     bool // its program has ended, as far as anybody knows
	reading  *reading
	failed   time.Time // when it could not be read for a reason that may pass; zero: it could
}

func (f *followed) due(now time.Time) bool {
	return f.reading == nil || f.working || !f.failed.IsZero() || f.calls > 0 || now.Before(f.until)
}

// New makes the service; it starts nothing.
func New(o Options) *Service {
	o.Look = cmp.Or(o.Look, time.Second)
	o.Settle = cmp.Or(o.Settle, 6*time.Second)
	o.Pause = cmp.Or(o.Pause, 30*time.Minute)
	return &Service{o: o, wake: make(chan struct{}, 1), followed: map[key]*followed{}}
}

// Asks says that a program of a terminal asks the model for a session; done, that the model
// has answered. The session is the program's word for it: it must be one of the channel's own.
func (s *Service) Asks(from core.Caller, session core.SessionID) (done func()) {
	if from.ChannelID == "" || from.SpawnID == "" || from.RunID != "" || !session.Valid() {
		return func() {}
	}
	k := key{from.ChannelID, session}
	s.mu.Lock()
	f := s.followed[k]
	if f == nil {
		if !s.room() {
			s.mu.Unlock()
			s.o.Log.Warn("too many conversations in terminals are followed", "channel", string(from.ChannelID))
			return func() {}
		}
		f = &followed{}
		s.followed[k] = f
	}
	f.terminal, f.over = core.TerminalID(from.SpawnID), false
	f.calls++
	s.mu.Unlock()
	s.look()
	return sync.OnceFunc(func() {
		s.mu.Lock()
		f.calls--
		f.until = s.o.Now().Add(s.o.Settle)
		s.mu.Unlock()
		s.look()
	})
}

// room makes a place for one more, of one that rests if need be: it is taken up again when it
// asks the model.
func (s *Service) room() bool {
	if len(s.followed) < maxFollowed {
		return true
	}
	for k, f := range s.followed {
		if !f.due(s.o.Now()) {
			delete(s.followed, k)
			return true
		}
	}
	return false
}

// Changed says how a terminal stands. The program that ends there has the last word on cost.
func (s *Service) Changed(t core.TerminalInfo) {
	if t.State != core.TerminalEnded && t.Shell != core.ShellPrompt {
		return
	}
	s.mu.Lock()
	found := false
	for _, f := range s.followed {
		if f.terminal == t.ID && !f.over {
			f.over, f.until, found = true, s.o.Now().Add(s.o.Settle), true
		}
	}
	s.mu.Unlock()
	if found {
		s.look()
	}
}

func (s *Service) look() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run follows until ctx ends. What was said while Loop was away is read first.
func (s *Service) Run(ctx context.Context) error {
	s.restore(ctx)
	for ctx.Err() == nil {
		more := s.round(ctx)
		if more { // a call wakes nobody then: a CLI makes many in a second
			backoff.Sleep(ctx, s.o.Look)
			continue
		}
		select {
		case <-ctx.Done():
		case <-s.wake:
		}
	}
	return ctx.Err()
}

func (s *Service) restore(ctx context.Context) {
	list, err := s.o.Store.Talks(ctx, s.o.Now().Add(-recently))
	if err != nil {
		s.o.Log.Warn("read conversations of terminals", "err", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range list { // newest first
		k := key{t.ChannelID, t.SessionID}
		if f := s.followed[k]; f == nil && len(s.followed) < maxFollowed {
			s.followed[k] = &followed{terminal: t.TerminalID}
		}
	}
}

// round looks at what may have gone on, and says whether to look again soon.
func (s *Service) round(ctx context.Context) (more bool) {
	s.mu.Lock()
	due := map[key]*followed{}
	for k, f := range s.followed {
		if f.due(s.o.Now()) && s.o.Now().Sub(f.failed) >= later*s.o.Look {
			due[k] = f
		}
	}
	s.mu.Unlock()
	for k, f := range due {
		s.mu.Lock()
		terminal, quiet := f.terminal, f.calls == 0 && !s.o.Now().Before(f.until)
		if f.reading == nil {
			f.reading = &reading{s: s, key: k, brood: newBrood()}
		}
		s.mu.Unlock()
		working, passing := f.reading.look(ctx, terminal, quiet)
		if ctx.Err() != nil {
			return false
		}
		s.mu.Lock()
		if f.working, f.failed = working, (time.Time{}); passing {
			f.failed = s.o.Now()
		}
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, f := range s.followed {
		if f.due(s.o.Now()) {
			more = true
		} else if f.over || !f.reading.alive {
			delete(s.followed, k) // what was read is stored
		}
	}
	return more
}

// standing says whether a program may still be at work in a terminal, and since when the
// terminal is there; zero where nobody knows.
func (s *Service) standing(ch core.ChannelID, id core.TerminalID) (since time.Time, alive bool) {
	for _, t := range s.o.Terminals(ch) {
		if t.ID == id {
			return t.CreatedAt, t.State != core.TerminalEnded && t.Shell != core.ShellPrompt
		}
	}
	return since, false
}
