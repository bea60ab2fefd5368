package chrome

import (
	"context"
	"sync"
	"time"

	"loop/backend/core"
)

// turn waits until the movements that were pushed before are sent, and until the person's
// button is up, for moveTimeout at most. Then the lane sends nothing until over is called:
// a click whose press and lift have another click's between them is none to a page. over
// may be called more than once. It fails where ctx or the connection ends.
func (l *inputLane) turn(ctx context.Context) (over func(), err error) {
	begun, ended := make(chan struct{}), make(chan struct{})
	over = sync.OnceFunc(func() { close(ended) })
	late := time.NewTimer(moveTimeout)
	defer late.Stop()
	l.mu.Lock()
	for held := false; l.lifted != nil && !held; {
		lifted := l.lifted
		l.mu.Unlock()
		select {
		case <-lifted:
		case <-late.C: // or it was let go where nobody saw it
			held = true
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-l.b.conn.ended:
			return nil, errEnded
		}
		l.mu.Lock()
	}
	l.lifts()
	// There is always room: acts wait for one another.
	l.queue = append(l.queue, laneItem{turn: true, do: func() {
		close(begun)
		select {
		case <-ended:
		case <-l.b.conn.ended:
		}
	}})
	l.signal()
	l.mu.Unlock()
	select {
	case <-begun:
		return over, nil
	case <-ctx.Done():
		over()
		return nil, context.Cause(ctx)
	case <-l.b.conn.ended:
		return nil, errEnded
	}
}

// presses keeps whether the person's button is down. The caller holds mu.
func (l *inputLane) presses(in core.BrowserInput) {
	switch {
	case in.Kind == core.InputDown && l.lifted == nil:
		l.lifted = make(chan struct{})
	case in.Kind == core.InputUp:
		l.lifts()
	}
}

// lifts lets acts go on that wait for the person's button. The caller holds mu.
func (l *inputLane) lifts() {
	if l.lifted != nil {
		close(l.lifted)
		l.lifted = nil
	}
}
