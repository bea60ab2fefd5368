package talks

import (
	"context"
	"errors"
	"io"
	"time"

	"loop/backend/core"
	"loop/backend/runner/transcript"
)

// Bounds of what is stored at a time.
const (
	batchEvents = 200
	batchBytes  = 2 << 20
	// slack is by how much the end of a run may be stored before its last line is written.
	slack = 2 * time.Second
	// ahead is how far a line's clock may be ahead of ours.
	ahead = time.Minute
)

// reading is how far one conversation was read, and the talk that is under way in it. It
// belongs to one goroutine.
type reading struct {
	s *Service
	key

	loaded   bool
	unread   bool // there is no transcript, or none that is read
	kept     transcript.Kept
	talk     core.SavedTalk // without an id there is none yet
	offset   int64          // behind the last line that was read
	foreign  bool           // a run has gone on with the conversation since
	earlier  bool           // there was something before the first talk that is no run's
	terminal core.TerminalID
	since    time.Time // of the terminal
	alive    bool      // a program may be at work there
	ch       core.Channel
	spans    []core.RunSpan
	rates    map[string]core.ModelRate
	around   bool // spans and rates are of this look
	brood    brood

	events []core.Event
	bytes  int
	untold float64 // by how much the cost has changed since the last event
	dirty  bool    // the talk is another one than is stored
}

// look reads what is new. It says whether the agent is at a turn, and whether something went
// wrong that may pass. quiet: the model is not asked at the moment.
func (r *reading) look(ctx context.Context, terminal core.TerminalID, quiet bool) (working, passing bool) {
	r.terminal = terminal
	r.since, r.alive = r.s.standing(r.key.ch, terminal)
	r.unread, r.around = false, false
	err := r.read(ctx)
	switch {
	case err == nil && r.talk.Working && quiet && (!r.alive || r.now().Sub(time.UnixMilli(r.talk.Last)) > r.s.o.Pause):
		r.giveUp()
		err = r.store(ctx)
	case r.unread && r.talk.Working && quiet: // nobody will ever see how it ends
		r.giveUp()
		err = errors.Join(err, r.store(ctx))
	}
	if err == nil || ctx.Err() != nil {
		return r.talk.Working, false
	}
	level := r.s.o.Log.Warn
	if errors.Is(err, core.ErrNotFound) {
		level = r.s.o.Log.Debug // the CLI has not written it yet, or its channel is gone
	}
	level("read a conversation of a terminal", "channel", string(r.key.ch), "session", string(r.session), "err", err)
	r.loaded = r.loaded && r.unread && len(r.events) == 0 // what was not stored is read again
	return r.talk.Working, !r.unread || r.dirty
}

// open opens the transcript at an offset.
func (r *reading) open(ctx context.Context, offset int64) (Reading, error) {
	in, err := r.s.o.Open(ctx, r.ch, r.session, offset)
	r.unread = errors.Is(err, core.ErrNotFound) || errors.Is(err, core.ErrConflict)
	return in, err
}

func (r *reading) now() time.Time { return r.s.o.Now() }

func (r *reading) read(ctx context.Context) (err error) {
	if r.ch, err = r.s.o.Store.Channel(ctx, r.key.ch); err != nil {
		if r.unread = errors.Is(err, core.ErrNotFound); r.unread { // and its talks with it
			r.talk, r.dirty, r.loaded = core.SavedTalk{}, false, false
		}
		return err
	}
	if !r.loaded {
		if err := r.load(ctx); err != nil {
			return err
		}
	}
	in, err := r.open(ctx, r.offset)
	if err != nil {
		return err
	}
	defer r.closing(in)()
	if in.Size < r.offset {
		return nil // it is another one: the CLI only appends
	}
	clear(r.brood.fresh)
	r.brood.again()
	if in.Size > r.offset {
		if err := r.surroundings(ctx); err != nil {
			return err
		}
		err = each(ctx, in, r.offset, func(l transcript.Line) error {
			if err := r.take(ctx, l); err != nil {
				return err
			}
			r.offset = l.End
			return r.storeFull(ctx)
		})
		if err != nil {
			return err
		}
	}
	r.settle()
	r.brood.again()
	if err := r.subAgents(ctx); err != nil {
		return err
	}
	return r.store(ctx)
}

// closing lets sub-agents be read while a transcript is open.
func (r *reading) closing(in Reading) func() {
	r.brood.files = in.Agents
	return func() {
		r.brood.files = nil
		_ = in.Close()
	}
}

// surroundings are what tells a terminal's lines from those of runs, and prices.
func (r *reading) surroundings(ctx context.Context) (err error) {
	if r.around {
		return nil
	}
	from := r.since
	if r.talk.ID != "" && (from.IsZero() || r.talk.At.Before(from)) {
		from = r.talk.At
	}
	if !from.IsZero() {
		from = from.Add(-time.Hour) // a run that has begun before may go on
	}
	if r.spans, err = r.s.o.Store.RunSpans(ctx, r.key.ch, from); err != nil {
		return err
	}
	r.rates, err = r.s.o.Store.ModelRates(ctx)
	r.around = err == nil
	return err
}

// load takes up what is stored. The parser needs the lines of the talk that is under way once
// more: a message is counted once, however often it is repeated.
func (r *reading) load(ctx context.Context) error {
	*r = reading{s: r.s, key: r.key, ch: r.ch, terminal: r.terminal, since: r.since, alive: r.alive, brood: newBrood()}
	saved, err := r.s.o.Store.LastTalk(ctx, r.key.ch, r.session)
	if errors.Is(err, core.ErrNotFound) {
		r.loaded = true
		return nil
	}
	if err != nil {
		return err
	}
	r.talk, r.offset = saved, saved.Offset // also where nothing can be read any more
	in, err := r.open(ctx, saved.From)
	if err != nil {
		return err
	}
	defer r.closing(in)()
	if err := r.surroundings(ctx); err != nil {
		return err
	}
	whole := io.LimitReader(in, saved.Offset-saved.From) // or less, when it is shorter than it was
	err = each(ctx, whole, saved.From, func(l transcript.Line) error {
		kl := r.kept.Parse(l)
		if kl.Spoken && r.ofRun(kl, r.timeOf(kl)) {
			r.foreign = true
		}
		if !r.foreign {
			r.brood.called(kl.Items, saved.ID)
		}
		return nil
	})
	if err == nil {
		err = r.reloadAgents(ctx)
	}
	r.loaded = err == nil
	return err
}

// storeFull stores what was read when it is much.
func (r *reading) storeFull(ctx context.Context) error {
	if len(r.events) >= batchEvents || r.bytes >= batchBytes {
		return r.store(ctx)
	}
	return nil
}

// store keeps what was read and tells of it.
func (r *reading) store(ctx context.Context) error {
	if r.talk.ID == "" || !r.dirty && len(r.events) == 0 {
		return nil
	}
	r.talk.Offset, r.talk.At = r.offset, r.now()
	stored, err := r.s.o.Store.PutTalk(ctx, r.talk, r.events...)
	if err != nil {
		return err
	}
	r.events, r.bytes, r.dirty, r.talk.AddedUSD = nil, 0, false, 0
	r.s.o.Publish(stored...)
	return nil
}

func (r *reading) add(t core.EventType, at time.Time, data any) { r.addTo(r.talk.ID, t, at, data) }

func (r *reading) addTo(talk core.RunID, t core.EventType, at time.Time, data any) {
	ev := core.NewEvent(t, r.key.ch, talk, at, data)
	r.events = append(r.events, ev)
	r.bytes += len(ev.Data)
}
