package browser

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"loop/backend/core"
)

const (
	// maxFlying is how many frames a pane may have that it has not painted: one is
	// painted while the next is on its way.
	maxFlying = 2
	// maxAnswers bounds what a pane has not taken; then it is let go.
	maxAnswers = 512
	// maxActs bounds the acts of one pane under way.
	maxActs = 16
)

// Viewer is one pane on a channel's browser. Handle and Next are each called from one
// goroutine; Close waits for the acts that were begun.
type Viewer struct {
	c     *session
	acts  sync.WaitGroup
	slots chan struct{}
	away  bool // out of sight; guarded by c.mu

	mu     sync.Mutex
	wake   chan struct{} // room for one
	out    []core.BrowserUpdate
	state  *core.BrowserState // not taken yet
	newest *core.BrowserFrame // not taken yet
	number uint32             // of newest
	came   time.Time          // newest; zero for a still
	flying []flight
	closed bool
	drawer drawer
}

// drawer is how far a pane has the console and the network's log of a Chromium; -1 where it
// shows none of it.
type drawer struct {
	run              *Running
	console, network int64
}

// flight is a frame that the pane has and has not painted.
type flight struct {
	id   uint32
	came time.Time
	ack  func()
}

// Watch opens a pane on a channel's browser, and starts the browser if it does not run. The
// caller closes it.
func (s *Service) Watch(ctx context.Context, ch core.ChannelID, view core.BrowserView) (core.BrowserViewer, error) {
	set, err := s.o.Settings(ctx, ch)
	if err != nil {
		return nil, err
	}
	c := s.session(ch)
	v := &Viewer{c: c, wake: make(chan struct{}, 1), slots: make(chan struct{}, maxActs), drawer: drawer{nil, -1, -1}}
	c.mu.Lock()
	if !set.Enabled && c.run == nil && c.phase != core.BrowserStarting {
		c.phase, c.failure = core.BrowserOff, errOff
	}
	if c.run == nil {
		c.mode = set.Mode
	}
	c.viewers = append(c.viewers, v)
	if c.look == nil {
		c.lookAtPorts()
	}
	if c.still != nil {
		v.newest, v.number = &core.BrowserFrame{JPEG: c.still.JPEG, Sharp: c.still.Sharp, Time: c.still.Time, Ack: func() {}}, c.frame
	}
	c.mu.Unlock()
	v.setState(c.state())
	v.show(view)
	c.watchers()
	if set.Enabled {
		v.acts.Go(func() { _, _ = c.ensure(s.ctx) }) // its failure is in the state
	}
	return v, nil
}

// end says that there is nothing more to see.
func (v *Viewer) end() {
	v.mu.Lock()
	v.closed = true
	v.mu.Unlock()
	v.forget()
	v.signal()
}

// Close takes the pane off the browser.
func (v *Viewer) Close() error {
	v.mu.Lock()
	v.closed = true
	v.mu.Unlock()
	v.turn(true)
	v.c.mu.Lock()
	v.c.viewers = slices.DeleteFunc(v.c.viewers, func(o *Viewer) bool { return o == v })
	v.c.mu.Unlock()
	v.signal()
	v.acts.Wait()
	return nil
}

func (v *Viewer) signal() {
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

// forget has the browser draw on, without this pane.
func (v *Viewer) forget() {
	v.mu.Lock()
	flying, newest := v.flying, v.newest
	v.flying, v.newest = nil, nil
	v.mu.Unlock()
	for _, f := range flying {
		f.ack()
	}
	if newest != nil {
		newest.Ack()
	}
}

// offer keeps a frame until the pane can take it; a newer one takes its place.
func (v *Viewer) offer(id uint32, came time.Time, f core.BrowserFrame) {
	if f.Sharp {
		came = time.Time{}
	}
	v.mu.Lock()
	old := v.newest
	if v.closed {
		old = &f
	} else {
		v.newest, v.number, v.came = &f, id, came
	}
	v.mu.Unlock()
	if old != nil {
		old.Ack()
	}
	v.signal()
}

func (v *Viewer) setState(st core.BrowserState) {
	v.mu.Lock()
	v.state = &st
	v.mu.Unlock()
	v.signal()
}

func (v *Viewer) say(u core.BrowserUpdate) {
	v.mu.Lock()
	if len(v.out) < maxAnswers {
		v.out = append(v.out, u)
	}
	v.mu.Unlock()
	v.signal()
}

// Next is the next message for the pane: answers first, then the newest state, then the
// newest frame. It returns ctx's error.
func (v *Viewer) Next(ctx context.Context) (core.BrowserUpdate, error) {
	for {
		v.mu.Lock()
		switch {
		case v.closed:
			v.mu.Unlock()
			return core.BrowserUpdate{}, context.Canceled
		case len(v.out) > 0:
			u := v.out[0]
			v.out = v.out[1:]
			v.mu.Unlock()
			return u, nil
		case v.state != nil:
			st := v.state
			v.state = nil
			v.mu.Unlock()
			return core.BrowserUpdate{Type: "state", State: st}, nil
		case v.newest != nil && len(v.flying) < maxFlying:
			f := v.newest
			v.newest = nil
			v.flying = append(v.flying, flight{v.number, v.came, f.Ack})
			u := core.BrowserUpdate{Type: "frame", Frame: f, FrameID: v.number}
			v.mu.Unlock()
			return u, nil
		}
		v.mu.Unlock()
		select {
		case <-v.wake:
		case <-ctx.Done():
			return core.BrowserUpdate{}, ctx.Err()
		}
	}
}

// painted says that the pane shows a frame, and with it every one before.
func (v *Viewer) painted(id uint32) {
	v.mu.Lock()
	n := 0
	for n < len(v.flying) && int32(id-v.flying[n].id) >= 0 { // ids wrap around
		n++
	}
	done := slices.Clone(v.flying[:n])
	v.flying = slices.Delete(v.flying, 0, n)
	v.mu.Unlock()
	for _, f := range done {
		f.ack()
		if !f.came.IsZero() {
			v.c.painted(f.id, f.came)
		}
	}
	v.signal()
}

// Handle does what one message of the pane says. Errors go to the pane.
func (v *Viewer) Handle(m core.BrowserCommand) {
	c := v.c
	switch m.Type {
	case "view":
		if m.View != nil {
			v.show(*m.View)
		}
	case "painted":
		v.painted(m.ID)
	case "input":
		if m.Input != nil {
			v.input(*m.Input)
		}
	case "act":
		v.act(m)
	case "take", "give":
		c.mu.Lock()
		if m.Type == "take" {
			c.baton.take(c.s.o.Now())
		} else {
			c.baton.give()
		}
		c.mu.Unlock()
		c.touch()
	case "drawer":
		v.open(m)
	case "copy", "cut":
		v.copyOut(m.Type == "cut")
	case "away", "back":
		v.turn(m.Type == "away")
	case "reset":
		v.begin(func(ctx context.Context) {
			if err := c.reset(ctx); err != nil {
				v.say(core.BrowserUpdate{Type: "error", Message: sentence(err)})
			}
		})
	case "restart":
		v.begin(func(ctx context.Context) {
			if err := c.shut(core.BrowserIdle, nil); err != nil {
				c.s.o.Log.Debug("end the browser", "err", err)
			}
			_, _ = c.ensure(ctx)
		})
	default:
		v.say(core.BrowserUpdate{Type: "error", Message: fmt.Sprintf("The message “%s” is not known.", cut(m.Type, 40))})
	}
}

// begin does something beside the messages that follow.
func (v *Viewer) begin(do func(ctx context.Context)) {
	select {
	case v.slots <- struct{}{}:
	default:
		v.say(core.BrowserUpdate{Type: "error", Message: "Too much is being done at a time. Wait a moment."})
		return
	}
	v.acts.Go(func() {
		defer func() { <-v.slots }()
		ctx, cancel := context.WithTimeout(v.c.s.ctx, actTimeout)
		defer cancel()
		do(ctx)
	})
}

// running is the browser if it runs.
func (v *Viewer) running() *Running {
	v.c.mu.Lock()
	defer v.c.mu.Unlock()
	return v.c.run
}

// show lays the page out for this pane, the last one that said its size.
func (v *Viewer) show(view core.BrowserView) {
	view = bounded(view)
	c := v.c
	c.mu.Lock()
	same := c.viewed() == view
	c.view = view
	run := c.run
	c.mu.Unlock()
	if run == nil || same {
		return
	}
	if err := run.Driver.SetView(view); err != nil {
		v.say(core.BrowserUpdate{Type: "error", Message: sentence(err)})
	}
	c.touch()
}

// bounded makes a view one that Chromium can lay out.
func bounded(v core.BrowserView) core.BrowserView {
	v.Width, v.Height = min(max(v.Width, 160), 3840), min(max(v.Height, 120), 2400)
	v.Scale = min(max(v.Scale, 1), 3)
	if v.Zoom == 0 {
		v.Zoom = 1
	}
	v.Zoom = min(max(v.Zoom, 0.25), 5)
	if v.Network != "offline" && v.Network != "slow" {
		v.Network = ""
	}
	return v
}

// holds are the keys that do nothing alone.
var holds = map[string]bool{
	"Alt": true, "AltGraph": true, "CapsLock": true, "Control": true, "Fn": true, "FnLock": true, "Hyper": true, "Meta": true,
	"NumLock": true, "OS": true, "ScrollLock": true, "Shift": true, "Super": true,
}

// input passes a movement on. Any but a mouse's own and a modifier takes the baton; a mouse moves the
// page's pointer only while the agent does not.
func (v *Viewer) input(in core.BrowserInput) {
	if len(in.Text) > core.MaxBrowserPaste {
		const why = "The text is longer than 1 MiB and was not pasted. Paste it in parts, or give it to the page as a file."
		v.say(core.BrowserUpdate{Type: "error", Message: why})
		return
	}
	c := v.c
	c.mu.Lock()
	now := c.s.o.Now()
	c.baton.settle(now)
	was := c.baton.driver
	pass := in.Kind != core.InputMove || was != core.DriverAgent
	if in.Kind == core.InputKey && holds[in.Key] && was != core.DriverPerson {
		pass = false // what is pressed next brings its modifiers along, and may be a key of Loop's
	} else if in.Kind != core.InputMove && in.Kind != core.InputKeyUp && in.Kind != core.InputUp {
		c.baton.take(now)
	}
	c.used = now
	taken := was != c.baton.driver
	run := c.run
	c.mu.Unlock()
	if taken {
		c.touch()
	}
	if run != nil && pass {
		run.Driver.Input(in)
	}
}

// quiet are the acts of a person that drive nothing.
var quiet = map[string]bool{"element_at": true, "parent_of": true, "child_of": true, "screenshot": true, "find_text": true}

// act does what a button of the pane says.
func (v *Viewer) act(m core.BrowserCommand) {
	v.begin(func(ctx context.Context) {
		c := v.c
		run, err := c.ensure(ctx)
		if err != nil {
			v.say(core.BrowserUpdate{Type: "result", ID: m.ID, Result: &core.BrowserResult{Error: sentence(err)}})
			return
		}
		if !quiet[m.Action] {
			c.mu.Lock()
			c.baton.take(c.s.o.Now())
			c.mu.Unlock()
			c.touch()
		}
		c.use()
		res := run.Driver.Do(ctx, core.BrowserAction{Action: m.Action, Params: m.Params, ByPerson: true})
		v.say(core.BrowserUpdate{Type: "result", ID: m.ID, Result: &res})
		c.touch()
	})
}

// open shows the console or the network's log from a number on, and what comes to it until
// another such message.
func (v *Viewer) open(m core.BrowserCommand) {
	from := func(after *int64) int64 {
		if after == nil {
			return -1
		}
		return max(*after, -1)
	}
	run := v.running()
	v.mu.Lock()
	v.drawer = drawer{run, from(m.ConsoleAfter), from(m.NetworkAfter)}
	v.mu.Unlock()
	v.follow()
}

// follow sends what is newer in the open drawer.
func (v *Viewer) follow() {
	run := v.running()
	v.mu.Lock()
	defer v.mu.Unlock()
	d := &v.drawer
	if run == nil || d.console < 0 && d.network < 0 || len(v.out) >= maxAnswers {
		return
	}
	if d.run != run { // another Chromium counts from the beginning
		*d = drawer{run, min(d.console, 0), min(d.network, 0)}
	}
	if d.console >= 0 {
		if lines := run.Page.Console(d.console); len(lines) > 0 {
			d.console = lines[len(lines)-1].Seq
			v.out = append(v.out, core.BrowserUpdate{Type: "console", Lines: lines})
		}
	}
	if d.network >= 0 {
		if list := run.Page.Requests(d.network); len(list) > 0 {
			for _, r := range list {
				d.network = max(d.network, r.Rev)
			}
			v.out = append(v.out, core.BrowserUpdate{Type: "network", Requests: list})
		}
	}
	v.signal()
}
