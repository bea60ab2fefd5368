package browser

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"loop/backend/core"
)

const (
	// paintTime is how long after an act a cast may take to show what came of it.
	paintTime = 150 * time.Millisecond
	// stillTimeout bounds the taking of one picture where nothing is cast.
	stillTimeout = 2 * time.Second
	stillQuality = 60
	// filmPace is the least time between two pictures of a page between acts. It doubles
	// with each that was as the one before, where each picture has to be asked for.
	filmPace = time.Second
	// maxTaking bounds the acts whose pictures are being taken.
	maxTaking   = 8
	keepTimeout = 10 * time.Second
)

var filmSeed = maphash.MakeSeed()

// film keeps pictures of what the agent of one channel does: the page after each act,
// what it turns into between acts, and when the person takes over and gives back. It
// works beside the acts, and no failure of it is one of theirs.
type film struct {
	c    *session
	wake chan struct{} // room for one

	mu     sync.Mutex
	of     core.RunID // the run that acted last, while it is under way
	taking []*taking
	pace   time.Duration
	due    time.Time  // of the next look at the page between acts; zero: none
	turn   core.RunID // the run under way that knows that the person drives; empty: none
	moved  uint32     // what was cast when a picture was kept last
	sum    uint64     // of that picture
}

// taking is an act whose picture is being taken.
type taking struct {
	now  chan struct{} // closed when the next act begins, with what was cast in seen
	seen seen
}

// seen is the newest picture of a cast, and which change of the page it shows.
type seen struct {
	frame *core.BrowserFrame
	moved uint32
	panes bool // somebody looks, so that there is a cast
}

func newFilm(c *session) *film { return &film{c: c, wake: make(chan struct{}, 1), pace: filmPace} }

// look has the film see what has changed.
func (f *film) look() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// newest is what is cast now.
func (f *film) newest() seen {
	f.c.mu.Lock()
	defer f.c.mu.Unlock()
	return seen{f.c.still, f.c.moved, f.c.looking() > 0}
}

// begins is the beginning of an act: what was cast until now shows the acts before.
func (f *film) begins() time.Time {
	until := f.newest()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range f.taking {
		t.seen = until
		close(t.now)
	}
	f.taking = nil
	return f.c.s.o.Now()
}

// acted is the end of an act. It takes no time.
func (f *film) acted(run *Running, of core.RunID, a core.BrowserAction, res core.BrowserResult, began time.Time) {
	if of == "" {
		return // an agent in a terminal, which has no timeline
	}
	frame := f.frameNow(run, of, core.FrameAct)
	frame.Action, frame.Params, frame.Began = a.Action, a.Params, began
	frame.Deed, frame.Failed, frame.Target = deedOf(a, res.Target), res.Error != "", res.Target
	t := &taking{now: make(chan struct{})}
	f.mu.Lock()
	f.of, f.pace, f.due = of, filmPace, f.c.s.o.Now().Add(filmPace)
	if len(f.taking) >= maxTaking {
		t = nil
	} else {
		f.taking = append(f.taking, t)
	}
	f.mu.Unlock()
	f.look()
	if t == nil {
		frame.Why = "Too many acts ended at a time."
	}
	f.c.s.work.Go(func() { f.take(run, frame, t) })
}

// take keeps the picture of an act: the newest of the cast, if it shows what came of the
// act, or else one that is asked for.
func (f *film) take(run *Running, frame core.TakenFrame, t *taking) {
	if t == nil {
		f.keep(frame, f.newest())
		return
	}
	at := f.newest()
	if at.panes {
		rest := time.NewTimer(paintTime)
		defer rest.Stop()
		select {
		case <-t.now:
			at = t.seen
		case <-rest.C:
			at = f.newest()
		case <-f.c.ctx.Done():
		}
	}
	if at.panes && at.frame != nil && at.frame.Time >= frame.Began.UnixMilli() {
		frame.JPEG = at.frame.JPEG
	} else {
		frame.JPEG, frame.Why = f.still(run)
	}
	f.mu.Lock()
	f.taking = slices.DeleteFunc(f.taking, func(o *taking) bool { return o == t })
	f.mu.Unlock()
	f.keep(frame, at)
}

// still asks for a picture. why is a sentence where there is none.
func (f *film) still(run *Running) (jpeg []byte, why string) {
	ctx, cancel := context.WithTimeout(f.c.ctx, stillTimeout)
	defer cancel()
	jpeg, err := run.Driver.Still(ctx, stillQuality)
	switch {
	case err == nil:
		return jpeg, ""
	case errors.Is(err, context.DeadlineExceeded):
		return nil, "The page did not answer in time."
	case f.c.ctx.Err() != nil:
		return nil, "The browser was closing."
	}
	var known *core.Failure
	if errors.As(err, &known) {
		return nil, known.Cause
	}
	f.c.s.o.Log.Debug("take a picture", "channel", string(f.c.ch), "err", err)
	return nil, "Chromium took no picture."
}

// frameNow is a frame without its picture.
func (f *film) frameNow(run *Running, of core.RunID, kind core.KeptKind) core.TakenFrame {
	f.c.mu.Lock()
	view, driver := f.c.viewed(), f.c.baton.driver
	f.c.mu.Unlock()
	frame := core.TakenFrame{
		ChannelID: f.c.ch, Ratio: max(view.Scale, 1) * cmp.Or(view.Zoom, 1),
		KeptFrame: core.KeptFrame{RunID: of, Kind: kind, Time: f.c.s.o.Now().UnixMilli(), Driver: driver},
	}
	if driver == "" {
		frame.Driver = core.DriverNobody
	}
	for _, tab := range run.Page.Tabs() {
		if tab.Active {
			frame.URL, frame.Title = tab.URL, tab.Title
		}
	}
	return frame
}

// keep hands a frame on, of what was cast at that time. It reports whether the frame's run
// is under way: frames of a run that is over are no longer taken.
func (f *film) keep(frame core.TakenFrame, at seen) (goes bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(f.c.ctx), keepTimeout)
	defer cancel()
	if len(frame.JPEG) > 0 {
		f.mu.Lock()
		f.sum, f.moved = maphash.Bytes(filmSeed, frame.JPEG), at.moved
		f.mu.Unlock()
	}
	goes, err := f.c.s.o.Film.Keep(ctx, frame)
	if err != nil {
		f.c.s.o.Log.Warn("keep a frame", "channel", string(f.c.ch), "run", string(frame.RunID), "err", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !goes && f.of == frame.RunID {
		f.of = ""
	}
	return goes
}

// run is the goroutine of a film, for the life of the service.
func (f *film) run() {
	due := time.NewTimer(time.Hour)
	defer due.Stop()
	for {
		select {
		case <-f.c.ctx.Done():
			return
		case <-f.wake:
		case <-due.C:
		}
		due.Reset(f.watch())
	}
}

// watch looks whether the driver or the page is another one, and says when to look again.
func (f *film) watch() time.Duration {
	c := f.c
	now := c.s.o.Now()
	c.mu.Lock()
	c.baton.settle(now)
	driver, run, settles := c.baton.driver, c.run, c.baton.next()
	c.mu.Unlock()
	person := driver == core.DriverPerson
	f.mu.Lock()
	of, was, due := f.of, f.turn, f.due
	if run != nil {
		if f.turn = ""; person {
			f.turn = of
		}
	}
	f.mu.Unlock()
	if of == "" || run == nil {
		return time.Hour
	}
	switch {
	case person && was != of:
		f.turned(run, of, core.FrameTake)
	case !person && was == of:
		f.turned(run, of, core.FrameGive)
	}
	next := time.Hour
	if !settles.IsZero() {
		next = max(settles.Sub(now), 0) + time.Millisecond
	}
	if driver != core.DriverPerson && driver != core.DriverAgent {
		return next
	}
	if wait := due.Sub(now); wait > 0 {
		return min(next, wait)
	}
	return min(next, f.between(run, of, person, due))
}

// between keeps a picture of the page if it is another than the one before, and says when
// to look again. A page that nobody looks at is asked for one only while the agent
// drives, and ever more seldom while it stays the same. due is the look that this is; an act
// that ended meanwhile has set the next one.
func (f *film) between(run *Running, of core.RunID, person bool, due time.Time) time.Duration {
	frame, at := f.frameNow(run, of, core.FramePage), f.newest()
	f.mu.Lock()
	moved, sum := at.moved != f.moved, f.sum
	f.mu.Unlock()
	switch {
	case at.panes && at.frame != nil && moved:
		frame.JPEG = at.frame.JPEG
	case !at.panes && !person:
		frame.JPEG, _ = f.still(run)
	}
	changed := len(frame.JPEG) > 0 && maphash.Bytes(filmSeed, frame.JPEG) != sum
	if changed {
		f.keep(frame, at)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.due.Equal(due) {
		return max(f.due.Sub(f.c.s.o.Now()), 0)
	}
	if changed || at.panes {
		f.pace = filmPace
	} else {
		f.pace *= 2
	}
	f.due = f.c.s.o.Now().Add(f.pace)
	return f.pace
}
