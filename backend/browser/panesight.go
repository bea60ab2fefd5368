package browser

import (
	"time"

	"loop/backend/core"
)

// turn says that the pane is out of sight, or in sight again. A pane that nobody sees gets no
// pictures; it hears of changes, and the browser stays with all that is open in it.
func (v *Viewer) turn(away bool) {
	c := v.c
	c.mu.Lock()
	if v.away == away {
		c.mu.Unlock()
		return
	}
	v.away = away
	c.used = c.s.o.Now()
	last := away && c.looking() == 0
	switch {
	case !away:
		v.appear()
	case last:
		c.look()
		c.look, c.ports = nil, nil
	}
	c.mu.Unlock()
	if away {
		v.forget()
	}
	if last || !away {
		c.watchers()
	}
	c.touch()
}

// appear gives the pane the picture that is there, and has the agent's ports looked at. The
// caller holds c.mu.
func (v *Viewer) appear() {
	c := v.c
	if c.look == nil {
		c.lookAtPorts()
	}
	if c.still == nil {
		return
	}
	still := &core.BrowserFrame{JPEG: c.still.JPEG, Sharp: c.still.Sharp, Time: c.still.Time, Ack: func() {}}
	v.mu.Lock()
	if v.newest == nil { // one that came as the pane went is newer, and Chromium waits for it
		v.newest, v.number, v.came = still, c.frame, time.Time{}
	}
	v.mu.Unlock()
	v.signal()
}

// copyOut brings what is marked on the page to the person's clipboard. To cut is to drive.
func (v *Viewer) copyOut(cut bool) {
	c := v.c
	c.mu.Lock()
	if cut {
		c.baton.take(c.s.o.Now())
	}
	c.used = c.s.o.Now()
	run := c.run
	c.mu.Unlock()
	c.touch()
	if run == nil {
		return
	}
	run.Driver.Copy(cut, func(text string, err error) {
		switch {
		case err != nil:
			v.say(core.BrowserUpdate{Type: "error", Message: sentence(err)})
		case text != "":
			v.say(core.BrowserUpdate{Type: "clipboard", Text: text})
		}
	})
}
