package browser

import (
	"context"

	"loop/backend/core"
)

// waits notes that an act of a run waits for the person to give back.
func (f *film) waits(of core.RunID) {
	if of == "" {
		return
	}
	f.mu.Lock()
	if f.of != of {
		f.of, f.pace, f.due = of, filmPace, f.c.s.o.Now().Add(filmPace)
	}
	f.mu.Unlock()
	f.look()
}

// turned keeps a frame of who drives now, and says so in the run's timeline.
func (f *film) turned(run *Running, of core.RunID, kind core.KeptKind) {
	now := f.c.s.o.Now()
	frame, at := f.frameNow(run, of, kind), f.newest()
	if at.panes && at.frame != nil {
		frame.JPEG = at.frame.JPEG
	} else {
		frame.JPEG, frame.Why = f.still(run)
	}
	if !f.keep(frame, at) {
		return
	}
	n := core.Notice{Level: "info", Text: "You took over the browser.", Driver: core.DriverPerson}
	if kind == core.FrameGive {
		n.Text, n.Driver = "You gave the browser back.", core.DriverNobody
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(f.c.ctx), keepTimeout)
	defer cancel()
	stored, err := f.c.s.o.Timeline.AddEvents(ctx, core.NewEvent(core.EventNotice, f.c.ch, of, now, n))
	if err != nil {
		f.c.s.o.Log.Warn("store who drives the browser", "channel", string(f.c.ch), "run", string(of), "err", err)
		return
	}
	f.c.s.o.Publish(stored...)
}
