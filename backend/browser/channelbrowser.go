package browser

import (
	"context"
	"slices"
	"sync"
	"time"

	"loop/backend/core"
)

// firstView is what a page is laid out for before a pane has said how large it is.
var firstView = core.BrowserView{Width: 1280, Height: 800, Scale: 1}

// session is the browser of one channel, running or not.
type session struct {
	s    *Service
	ch   core.ChannelID
	ctx  context.Context // ends with the service, and with the channel
	stop context.CancelFunc

	changed chan struct{} // something that a pane shows; room for one
	// life has one place, taken while a Chromium is started or ended: there is one at a time.
	life chan struct{}

	mu      sync.Mutex
	phase   core.BrowserPhase
	mode    string    // of the last start, or of the one to come
	began   time.Time // of the start
	stepNow string
	failure *core.Failure
	ready   chan struct{} // closed when a start has ended
	refused *refusal      // of the same start
	run     *Running      // nil but while it runs
	wipe    bool          // the next start forgets the profile
	baton   baton
	deed    *core.BrowserDeed
	caller  core.Caller // the agent that acted last
	used    time.Time
	view    core.BrowserView
	viewers []*Viewer
	look    context.CancelFunc // ends the looks at ports; nil but while a pane is in sight
	ports   []core.BrowserPort
	frame   uint32 // number of the last frame
	still   *core.BrowserFrame
	moved   uint32 // of the last frame that was not the sharp still of the one before
	film    *film
	seen    uint32 // number of the last frame that a pane has painted
	pace    castPace
}

func newSession(s *Service, ch core.ChannelID) *session {
	c := &session{
		s: s, ch: ch, changed: make(chan struct{}, 1), life: make(chan struct{}, 1),
		phase: core.BrowserIdle, view: firstView, used: s.o.Now(),
	}
	c.ctx, c.stop = context.WithCancel(s.ctx)
	c.film = newFilm(c)
	return c
}

// touch has panes hear of a change.
func (c *session) touch() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
	c.film.look()
}

// opens decides about a page that the browser is about to open. What a person does needs
// nobody's word, and so does what the page does while a person drives it.
func (c *session) opens(ctx context.Context, op core.BrowserOpening) error {
	c.mu.Lock()
	c.baton.settle(c.s.o.Now())
	person, by, tool := c.baton.driver == core.DriverPerson, c.caller, ""
	c.mu.Unlock()
	if op.Act != nil && changes(*op.Act) {
		person, by, tool = op.Act.ByPerson, op.Act.Caller, op.Act.Action
	}
	if person {
		return nil
	}
	return c.s.o.Opens(ctx, c.ch, op, by, tool)
}

func (c *session) step(text string) {
	c.mu.Lock()
	starting := c.phase == core.BrowserStarting
	if starting {
		c.stepNow = text
	}
	c.mu.Unlock()
	if starting {
		c.touch()
	}
}

// looking is how many panes are in sight. The caller holds mu.
func (c *session) looking() (n int) {
	for _, v := range c.viewers {
		if !v.away {
			n++
		}
	}
	return n
}

// viewed is what pages are laid out for now. The caller holds mu.
func (c *session) viewed() core.BrowserView {
	if c.run != nil {
		return c.run.Page.View()
	}
	return c.view
}

// watchers tells Chromium whether somebody looks.
func (c *session) watchers() {
	c.mu.Lock()
	run, on, quality := c.run, c.looking() > 0, c.pace.quality()
	c.mu.Unlock()
	if run == nil {
		return
	}
	run.Driver.Cast(on, quality)
	c.s.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.s.ctx), actTimeout)
		defer cancel()
		if err := run.Watched(ctx, on); err != nil {
			c.s.o.Log.Debug("limits of the browser", "err", err)
		}
	})
}

// show hands a frame to every pane in sight. The browser draws on when the quickest of them has
// painted it.
func (c *session) show(f core.BrowserFrame) {
	ack := sync.OnceFunc(f.Ack)
	f.Ack = ack
	c.mu.Lock()
	c.frame++
	id := c.frame
	if c.still = &f; !f.Sharp {
		c.moved = id
	}
	viewers := slices.DeleteFunc(slices.Clone(c.viewers), func(v *Viewer) bool { return v.away })
	c.mu.Unlock()
	if len(viewers) == 0 {
		ack()
	}
	now := c.s.o.Now()
	for _, v := range viewers {
		v.offer(id, now, f)
	}
}

// painted is told that a pane has painted a frame that came at a time. The quickest pane
// counts.
func (c *session) painted(id uint32, came time.Time) {
	now := c.s.o.Now()
	c.mu.Lock()
	first := int32(id-c.seen) > 0 // ids wrap around
	if first {
		c.seen = id
	}
	run := c.run
	other := first && c.pace.painted(now.Sub(came), now)
	quality := c.pace.quality()
	c.mu.Unlock()
	if other && run != nil {
		run.Driver.Cast(true, quality)
	}
}

// state is what panes show now.
func (c *session) state() core.BrowserState {
	now := c.s.o.Now()
	c.mu.Lock()
	c.baton.settle(now)
	st := core.BrowserState{
		Phase: c.phase, Failure: c.failure, Driver: c.baton.driver, Deed: c.deed, View: c.viewed(), Mode: c.mode,
		Tabs: []core.BrowserTab{}, Ports: c.ports,
	}
	if st.Driver == "" {
		st.Driver = core.DriverNobody
	}
	if c.mode == core.BrowserOnHost {
		st.Ports = nil // localhost is another computer there
	}
	if c.phase == core.BrowserStarting {
		st.Step, st.SinceMs = c.stepNow, now.Sub(c.began).Milliseconds()
	}
	if !c.baton.since.IsZero() {
		st.WaitingMs = max(now.Sub(c.baton.since).Milliseconds(), 1)
	}
	run := c.run
	c.mu.Unlock()
	if run == nil {
		return st
	}
	st.Notices, st.Tabs = run.Notices, append(st.Tabs, run.Page.Tabs()...)
	if d, open := run.Prompts.Dialog(); open {
		st.Dialog = &d
	}
	if ch, open := run.Prompts.Chooser(); open {
		st.Chooser = &ch
	}
	st.Downloads = run.Page.Downloads()
	if st.Driver == core.DriverPerson { // an agent's clicks open nothing for the person
		if p, open := run.Prompts.Popup(); open {
			st.Popup = &p
		}
	}
	st.Cursor = run.Prompts.Cursor()
	for _, l := range run.Page.Console(0) {
		if l.Level == "error" {
			st.Errors++
		}
	}
	st.Requests = len(run.Page.Requests(0))
	return st
}

// stateEvery bounds how often panes hear of changes: ten times a second looks live.
const stateEvery = 100 * time.Millisecond

// tell is the goroutine that tells panes of changes, for the life of the service.
func (c *session) tell() {
	last, told := time.Time{}, false
	due := time.NewTimer(time.Hour)
	defer due.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-c.changed:
		case <-due.C:
		}
		if wait := stateEvery - time.Since(last); wait > 0 {
			due.Reset(wait)
			select {
			case <-due.C:
			case <-c.ctx.Done():
				return
			}
		}
		last = time.Now()
		c.mu.Lock()
		watched := len(c.viewers) > 0
		c.mu.Unlock()
		if watched {
			st := c.state()
			c.mu.Lock()
			viewers := slices.Clone(c.viewers)
			for _, v := range viewers {
				v.setState(st)
			}
			c.mu.Unlock()
			for _, v := range viewers {
				v.follow()
			}
		}
		if held := c.held(); held != told {
			told = held
			c.s.o.Publish(core.NewEvent(core.EventBrowserHeld, c.ch, "", c.s.o.Now(), core.BrowserHeld{Held: held}))
		}
		due.Reset(c.untilNext())
	}
}

// held says whether an agent waits for the person.
func (c *session) held() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.baton.settle(c.s.o.Now())
	return c.baton.driver == core.DriverPerson && c.baton.waits > 0
}

// untilNext is how long nothing changes by itself.
func (c *session) untilNext() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase == core.BrowserStarting || c.baton.waits > 0 {
		return time.Second // something is counted
	}
	if at := c.baton.next(); !at.IsZero() {
		return max(at.Sub(c.s.o.Now()), 0) + stateEvery
	}
	return time.Hour
}
