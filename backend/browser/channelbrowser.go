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
	s  *Service
	ch core.ChannelID

	changed chan struct{} // something that a pane shows; room for one

	mu      sync.Mutex
	phase   core.BrowserPhase
	mode    string    // of the last start, or of the one to come
	began   time.Time // of the start
	stepNow string
	failure *core.Failure
	ready   chan struct{} // closed when a start has ended
	run     *Running      // nil but while it runs
	ending  *sync.WaitGroup
	baton   baton
	deed    *core.BrowserDeed
	used    time.Time
	view    core.BrowserView
	viewers []*Viewer
	frame   uint32 // number of the last frame
	still   *core.BrowserFrame
}

func newSession(s *Service, ch core.ChannelID) *session {
	return &session{s: s, ch: ch, changed: make(chan struct{}, 1), phase: core.BrowserIdle, view: firstView, used: s.o.Now()}
}

// touch has panes hear of a change.
func (c *session) touch() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// ensure starts the browser unless it runs, and waits for it. A caller that gives up does
// not stop the start.
func (c *session) ensure(ctx context.Context, fresh bool) (*Running, error) {
	c.mu.Lock()
	if c.run != nil && !fresh {
		defer c.mu.Unlock()
		return c.run, nil
	}
	if c.phase != core.BrowserStarting {
		if c.s.ctx.Err() != nil {
			c.mu.Unlock()
			return nil, core.Fail(core.CodeCancelled, c.s.ctx.Err(), "Loop is closing.", "")
		}
		c.phase, c.failure, c.stepNow, c.began, c.ready = core.BrowserStarting, nil, "", c.s.o.Now(), make(chan struct{})
		c.s.work.Go(func() { c.start(fresh) })
	}
	ready := c.ready
	c.mu.Unlock()
	c.touch()
	select {
	case <-ready:
	case <-ctx.Done():
		return nil, core.Fail(core.CodeTimeout, ctx.Err(), "The browser is still starting.", "Try again in a moment.")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run == nil {
		if c.failure != nil {
			return nil, c.failure
		}
		return nil, core.Fail(core.CodeCancelled, nil, "The browser was closed while it started.", "The next action starts it again.")
	}
	return c.run, nil
}

// start is the goroutine of one start.
func (c *session) start(fresh bool) {
	run, err := c.s.o.Launch(c.s.ctx, c.ch, fresh, Hooks{Frame: c.show, Changed: c.touch})
	c.mu.Lock()
	switch {
	case err != nil:
		c.phase, c.failure = core.BrowserCrashed, core.AsFailure(err)
		c.s.o.Log.Warn("browser did not start", "channel", string(c.ch), "err", err)
	default:
		c.run, c.phase, c.mode, c.used = &run, core.BrowserRunning, run.Mode, c.s.o.Now()
		c.s.work.Go(func() { c.watch(&run) })
	}
	close(c.ready)
	view := c.view
	c.mu.Unlock()
	if err == nil {
		if err := run.Driver.SetView(view); err != nil {
			c.s.o.Log.Debug("set the view", "err", err)
		}
		c.watchers()
	}
	c.touch()
}

// watch waits for the end of a Chromium that nobody has closed.
func (c *session) watch(run *Running) {
	select {
	case <-run.Driver.Done():
	case <-c.s.ctx.Done():
		return
	}
	c.mu.Lock()
	mine := c.run == run
	c.mu.Unlock()
	if !mine {
		return
	}
	c.s.o.Log.Warn("browser ended", "channel", string(c.ch))
	why := run.Lost
	if why == nil {
		why = core.Fail(core.CodeInternal, nil, "Chromium has ended unexpectedly.",
			"“Restart” starts it again, and so does the agent's next action. The memory that it may use is browser.memory_mb in the settings.")
	}
	_ = c.shut(core.BrowserCrashed, why)
}

// shut ends Chromium. It may be called when there is none.
func (c *session) shut(phase core.BrowserPhase, why *core.Failure) error {
	c.mu.Lock()
	run := c.run
	c.run, c.still = nil, nil
	if c.phase != core.BrowserStarting {
		c.phase, c.failure = phase, why
	}
	viewers := slices.Clone(c.viewers)
	c.mu.Unlock()
	for _, v := range viewers {
		v.forget()
	}
	c.touch()
	if run == nil {
		return nil
	}
	return run.Close()
}

// endUnused ends a browser that no pane shows and nobody has used for long enough.
func (c *session) endUnused(ctx context.Context) {
	set, err := c.s.o.Settings(ctx, c.ch)
	if err != nil {
		return // it may stay for as long as the settings cannot be read
	}
	c.mu.Lock()
	over := c.run != nil && len(c.viewers) == 0 && c.baton.acts == 0 && c.s.o.Now().Sub(c.used) >= set.Idle
	c.mu.Unlock()
	if over || !set.Enabled {
		if err := c.shut(core.BrowserIdle, nil); err != nil {
			c.s.o.Log.Warn("end an unused browser", "channel", string(c.ch), "err", err)
		}
	}
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

// watchers tells Chromium whether somebody looks.
func (c *session) watchers() {
	c.mu.Lock()
	run, on := c.run, len(c.viewers) > 0
	c.mu.Unlock()
	if run == nil {
		return
	}
	run.Driver.Cast(on, castQuality)
	c.s.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.s.ctx), actTimeout)
		defer cancel()
		if err := run.Watched(ctx, on); err != nil {
			c.s.o.Log.Debug("limits of the browser", "err", err)
		}
	})
}

// show hands a frame to every pane. The browser draws on when the quickest of them has
// painted it.
func (c *session) show(f core.BrowserFrame) {
	ack := sync.OnceFunc(f.Ack)
	f.Ack = ack
	c.mu.Lock()
	c.frame++
	id := c.frame
	c.still = &f
	viewers := slices.Clone(c.viewers)
	c.mu.Unlock()
	if len(viewers) == 0 {
		ack()
	}
	for _, v := range viewers {
		v.offer(id, f)
	}
}

// state is what panes show now.
func (c *session) state() core.BrowserState {
	now := c.s.o.Now()
	c.mu.Lock()
	c.baton.settle(now)
	st := core.BrowserState{
		Phase: c.phase, Failure: c.failure, Driver: c.baton.driver, Deed: c.deed, View: c.view, Mode: c.mode,
		Tabs: []core.BrowserTab{},
	}
	if st.Driver == "" {
		st.Driver = core.DriverNobody
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
	if d, open := run.Page.Dialog(); open {
		st.Dialog = &d
	}
	if ch, open := run.Page.Chooser(); open {
		st.Chooser = &ch
	}
	st.Downloads = run.Page.Downloads()
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
	last := time.Time{}
	due := time.NewTimer(time.Hour)
	defer due.Stop()
	for {
		select {
		case <-c.s.ctx.Done():
			return
		case <-c.changed:
		case <-due.C:
		}
		if wait := stateEvery - time.Since(last); wait > 0 {
			due.Reset(wait)
			select {
			case <-due.C:
			case <-c.s.ctx.Done():
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
			for _, v := range c.viewers {
				v.setState(st)
			}
			c.mu.Unlock()
		}
		due.Reset(c.untilNext())
	}
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
