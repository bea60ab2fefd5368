package api

import (
	"context"
	"time"

	"loop/backend/core"
)

const (
	// typedFarewell is how long what was typed before a client left may take.
	typedFarewell = 6 * time.Second
	// resizeEvery spaces changes of size: a window that is dragged asks for a
	// thousand a second, and each makes a full-screen program draw anew.
	resizeEvery = 20 * time.Millisecond
)

// typeInto gives input to programs until t.typed is closed and empty. It has a
// goroutine of its own: a program that does not read must not keep acknowledgements
// from being heard.
func (t *termSocket) typeInto() {
	for {
		m, ok := t.typed.take()
		if !ok || t.typing.Err() != nil {
			t.typed.close() // nobody takes any more
			return
		}
		if err := t.svc.Input(t.typing, m.to, m.data); err != nil {
			t.fail("input", m.to, refusalOf(err))
		}
	}
}

// sizeWish is a size that a client asks for.
type sizeWish struct {
	id         core.TerminalID
	cols, rows uint16
}

// sizer passes the last size on, at most every resizeEvery.
type sizer chan sizeWish // of capacity 1

func newSizer() sizer { return make(sizer, 1) }

// set replaces the size that waits. One goroutine calls it.
func (z sizer) set(s sizeWish) {
	select {
	case <-z:
	default:
	}
	z <- s
}

// run passes sizes on until the channel is closed. When hurry ends it waits no more.
func (z sizer) run(hurry context.Context, pass func(sizeWish)) {
	for s := range z {
		pass(s)
		select {
		case <-time.After(resizeEvery):
		case <-hurry.Done():
		}
	}
}
