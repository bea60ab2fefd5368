//go:build linux

package supervise

import (
	"cmp"
	"context"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/denial"
	"loop/backend/wire"
)

const (
	// look is how often calls that wait are looked after: whether their caller lives.
	look = 200 * time.Millisecond
	// maxAsked bounds the questions of one call, whose object may change all the time.
	maxAsked = 3
	// maxHeld bounds the calls that wait for an answer; more are denied.
	maxHeld = 8192
)

// desk holds the calls that wait for a person. They occupy no thread.
type desk struct {
	s      *Supervisor
	mu     sync.Mutex
	asking map[string]*asking // by key
	held   int
	over   bool
	wake   chan struct{} // something waits, so somebody has to look after it
}

// asking is one question, and the equal calls that share its answer.
type asking struct {
	calls  map[*call]*question
	cancel context.CancelFunc
}

func newDesk(s *Supervisor) *desk {
	d := &desk{s: s, asking: make(map[string]*asking), wake: make(chan struct{}, 1)}
	s.wg.Add(1)
	go func() { defer s.wg.Done(); d.tend() }()
	return d
}

// hold keeps a call until its question is answered.
func (d *desk) hold(c *call, q *question) {
	c.drop()
	c.pins = q.pins
	c.th = nil
	key := q.key()
	d.mu.Lock()
	c.asked++
	if d.over || d.held >= maxHeld || c.asked > maxAsked {
		d.mu.Unlock()
		d.refuse(c, q, wire.Deny(0, "it changed while it was asked about, or too many calls wait"))
		return
	}
	d.held++
	defer d.look()
	if a := d.asking[key]; a != nil {
		a.calls[c] = q
		d.mu.Unlock()
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	a := &asking{calls: map[*call]*question{c: q}, cancel: cancel}
	d.asking[key] = a
	d.mu.Unlock()
	approval := q.approval(c)
	d.s.wg.Add(1)
	go func() {
		defer d.s.wg.Done()
		answer := d.s.options.Ask(ctx, approval)
		cancel()
		d.answered(key, a, answer)
	}()
}

// answered lets the calls of a question go on.
func (d *desk) answered(key string, a *asking, answer wire.Answer) {
	d.mu.Lock()
	if d.asking[key] == a {
		delete(d.asking, key)
	}
	calls := a.calls
	a.calls = nil
	d.held -= len(calls)
	over := d.over
	d.mu.Unlock()
	for c, q := range calls {
		switch {
		case over:
			c.drop()
		case answer.Allow:
			c.granted = key
			d.s.crews[resuming].do(job{c: c, run: c.attempt})
		default:
			d.refuse(c, q, answer)
		}
	}
}

// refuse ends a call that nobody has allowed.
func (d *desk) refuse(c *call, q *question, answer wire.Answer) {
	d.s.crews[resuming].do(job{c: c, run: func() outcome {
		c.drop()
		d.s.deny(c, q.denial(cmp.Or(answer.By, denial.ByLoop), answer.Text), q.verdict.Rule)
		c.ruling = nil // by whoever was asked
		return failed(unix.EACCES)
	}})
}

// drop lets go of what a waiting call has pinned.
func (c *call) drop() {
	for _, o := range c.pins {
		o.close()
	}
	c.pins = nil
}

// look makes tend look after what waits.
func (d *desk) look() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// tend withdraws what nobody waits for any more, until the end; then it interrupts what
// still blocks.
func (d *desk) tend() {
	defer d.drain()
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		select {
		case <-d.s.stop:
			return
		case <-d.wake: // sleeps here while nothing waits
		}
		for d.check() {
			select {
			case <-d.s.stop:
				return
			case <-tick.C:
			}
		}
	}
}

// drain interrupts the threads that may wait until none does.
func (d *desk) drain() {
	tick := time.NewTicker(poke)
	defer tick.Stop()
	for {
		busy := false
		for _, w := range d.s.crews {
			for th := range w.waiting() {
				busy = true
				th.interrupt()
			}
		}
		if !busy {
			return
		}
		<-tick.C
	}
}

// check looks once, and reports whether anything still waits.
func (d *desk) check() bool {
	some := false
	for _, s := range []side{readers, writers} {
		for th, c := range d.s.crews[s].waiting() {
			some = true
			if !d.s.listener.valid(c.id) {
				th.interrupt()
			}
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for key, a := range d.asking {
		for c := range a.calls {
			if !d.s.listener.valid(c.id) {
				delete(a.calls, c)
				d.held--
				c.drop()
			}
		}
		if len(a.calls) == 0 {
			a.cancel()
			delete(d.asking, key) // an equal call from now on asks anew
		}
	}
	return some || d.held > 0
}

// close withdraws everything.
func (d *desk) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over = true
	for _, a := range d.asking {
		a.cancel()
	}
}
