package browser

import (
	"cmp"
	"context"
	"slices"

	"loop/backend/core"
)

// ensure starts the browser unless it runs, and waits for it. A caller that gives up does
// not stop the start.
func (c *session) ensure(ctx context.Context) (*Running, error) {
	c.mu.Lock()
	if c.run != nil {
		defer c.mu.Unlock()
		return c.run, nil
	}
	if c.phase != core.BrowserStarting {
		if c.ctx.Err() != nil {
			c.mu.Unlock()
			return nil, c.over()
		}
		c.phase, c.failure, c.stepNow, c.began = core.BrowserStarting, nil, "", c.s.o.Now()
		c.ready, c.refused = make(chan struct{}), new(refusal)
		fresh := c.wipe
		c.s.work.Go(func() { c.start(fresh) })
	}
	ready, refused := c.ready, c.refused
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
		if why := cmp.Or(refused.why, c.failure); why != nil {
			return nil, why
		}
		return nil, core.Fail(core.CodeCancelled, nil, "The browser was closed while it started.", "The next action starts it again.")
	}
	return c.run, nil
}

// over says why nothing starts any more.
func (c *session) over() *core.Failure {
	if c.s.ctx.Err() != nil {
		return core.Fail(core.CodeCancelled, c.s.ctx.Err(), "Loop is closing.", "")
	}
	return core.Fail(core.CodeNotFound, c.ctx.Err(), "The channel has been removed.", "")
}

// refusal is why a start came to nothing, if it did. Whoever waited for the start is told of it
// also where the person has begun anew since.
type refusal struct{ why *core.Failure }

// start is the goroutine of one start.
func (c *session) start(fresh bool) {
	run, err := c.launch(fresh)
	c.mu.Lock()
	gone := err == nil && c.ctx.Err() != nil // whoever ended the session has seen no browser
	switch {
	case gone:
		c.phase, c.failure = core.BrowserIdle, c.over()
	case err != nil:
		c.phase, c.failure = core.BrowserCrashed, core.AsFailure(err)
		if c.failure.Code == core.CodeOff {
			c.phase = core.BrowserOff
		}
		c.s.o.Log.Warn("browser did not start", "channel", string(c.ch), "err", err)
	default:
		c.run, c.phase, c.mode, c.used = &run, core.BrowserRunning, run.Mode, c.s.o.Now()
		c.wipe = c.wipe && (!fresh || run.Mode == core.BrowserOnHost) // there it waits for one that has a profile of its own
		c.s.work.Go(func() { c.watch(&run) })
	}
	if gone || err != nil {
		c.refused.why = c.failure
	}
	close(c.ready)
	view := c.view
	c.mu.Unlock()
	switch {
	case gone:
		if err := run.Close(); err != nil {
			c.s.o.Log.Warn("end a browser that nobody waits for", "channel", string(c.ch), "err", err)
		}
	case err == nil:
		if err := run.Driver.SetView(view); err != nil {
			c.s.o.Log.Debug("set the view", "err", err)
		}
		c.watchers()
	}
	c.touch()
}

// launch starts Chromium once the one before has ended.
func (c *session) launch(fresh bool) (Running, error) {
	select {
	case c.life <- struct{}{}:
		defer func() { <-c.life }()
	case <-c.ctx.Done():
		return Running{}, c.over()
	}
	set, err := c.s.o.Settings(c.ctx, c.ch)
	if err != nil {
		return Running{}, err
	}
	if !set.Enabled {
		return Running{}, errOff
	}
	return c.s.o.Launch(c.ctx, c.ch, fresh, Hooks{Frame: c.show, Changed: c.touch, Opens: c.opens})
}

// reset forgets the profile and starts the browser without it. A start that is under way
// has the profile, and ends first.
func (c *session) reset(ctx context.Context) error {
	set, err := c.s.o.Settings(ctx, c.ch)
	if err != nil {
		return err
	}
	c.mu.Lock()
	if set.Mode == core.BrowserOnHost || c.run != nil && c.run.Mode == core.BrowserOnHost {
		c.mu.Unlock()
		return core.Fail(core.CodeConflict, nil, "The profile is that of your own Chrome, which Loop does not touch.",
			"Remove its data in Chrome itself.")
	}
	ready := c.ready
	if c.phase != core.BrowserStarting {
		ready = nil
	}
	c.mu.Unlock()
	if ready != nil {
		select {
		case <-ready:
		case <-ctx.Done():
			return core.Fail(core.CodeTimeout, ctx.Err(), "The browser is still starting.", "Try again in a moment.")
		}
	}
	c.mu.Lock()
	c.wipe = true
	c.mu.Unlock()
	if err := c.shut(core.BrowserIdle, nil); err != nil {
		return err
	}
	_, err = c.ensure(ctx)
	return err
}

// leave ends a session for good: its channel is gone. It returns when nothing of it runs.
func (c *session) leave() {
	c.stop()
	if err := c.shut(core.BrowserIdle, nil); err != nil {
		c.s.o.Log.Warn("end the browser of a removed channel", "channel", string(c.ch), "err", err)
	}
	c.mu.Lock()
	ready := c.ready
	viewers := slices.Clone(c.viewers)
	c.mu.Unlock()
	for _, v := range viewers {
		v.end()
	}
	if ready != nil {
		<-ready
	}
}

// watch waits for the end of a Chromium that nobody has closed.
func (c *session) watch(run *Running) {
	select {
	case <-run.Driver.Done():
	case <-c.ctx.Done():
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
	c.life <- struct{}{}
	defer func() { <-c.life }()
	return run.Close()
}

// endUnused ends a browser that no pane is open on, in sight or not, and nobody has used for long enough.
func (c *session) endUnused(ctx context.Context) {
	set, err := c.s.o.Settings(ctx, c.ch)
	if err != nil {
		return // it may stay for as long as the settings cannot be read
	}
	c.mu.Lock()
	over := c.run != nil && len(c.viewers) == 0 && c.baton.acts == 0 && c.s.o.Now().Sub(c.used) >= set.Idle
	c.mu.Unlock()
	if over || !set.Enabled {
		phase, why := core.BrowserIdle, (*core.Failure)(nil)
		if !set.Enabled {
			phase, why = core.BrowserOff, errOff
		}
		if err := c.shut(phase, why); err != nil {
			c.s.o.Log.Warn("end an unused browser", "channel", string(c.ch), "err", err)
		}
	}
}
