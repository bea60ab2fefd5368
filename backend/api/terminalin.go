package api

import (
	"context"
	"sync"
	"time"

	"loop/backend/core"
)

const (
	// maxTyped bounds what a client sent and no program has been given; reading
	// pauses there. It is large because acknowledgements come the same way, and
	// a program that waits for those does not read.
	maxTyped = 8 << 20
	// typedPiece bounds what is joined into one call; a service takes at most
	// 1 MiB at once.
	typedPiece = 256 << 10
	// typedFarewell is how long what was typed before a client left may take.
	typedFarewell = 6 * time.Second
	// resizeEvery spaces changes of size: a window that is dragged asks for a
	// thousand a second, and each makes a full-screen program draw anew.
	resizeEvery = 20 * time.Millisecond
)

// tellRefusal answers the client; see termSocket.fail.
type tellRefusal func(request string, id core.TerminalID, r *refusal)

type typedInput struct {
	id   core.TerminalID
	data []byte
}

// typist gives input to programs, in order, on a goroutine of its own: one that
// does not read must not keep acknowledgements from being heard.
type typist struct {
	ctx  context.Context
	stop context.CancelFunc
	svc  Terminals
	tell tellRefusal

	mu     sync.Mutex
	queue  []typedInput
	size   int
	closed bool
	late   *time.Timer // ends what is still being given after closing
	change *sync.Cond
}

func newTypist(ctx context.Context, svc Terminals, tell tellRefusal) *typist {
	y := &typist{svc: svc, tell: tell}
	y.ctx, y.stop = context.WithCancel(ctx)
	y.change = sync.NewCond(&y.mu)
	return y
}

// add queues data, which is the typist's from then on. It waits for room.
func (y *typist) add(id core.TerminalID, data []byte) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for y.size >= maxTyped && !y.closed {
		y.change.Wait()
	}
	if y.closed {
		return
	}
	y.size += len(data)
	if n := len(y.queue); n > 0 && y.queue[n-1].id == id && len(y.queue[n-1].data)+len(data) <= typedPiece {
		y.queue[n-1].data = append(y.queue[n-1].data, data...)
	} else {
		y.queue = append(y.queue, typedInput{id, data})
	}
	y.change.Broadcast()
}

// close lets the rest be given within typedFarewell. It may be called again.
func (y *typist) close() {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.closed {
		return
	}
	y.closed = true
	y.late = time.AfterFunc(typedFarewell, y.stop)
	y.change.Broadcast()
}

func (y *typist) run() {
	defer y.stop()
	for {
		y.mu.Lock()
		for len(y.queue) == 0 && !y.closed {
			y.change.Wait()
		}
		if y.closed && (len(y.queue) == 0 || y.ctx.Err() != nil) {
			y.late.Stop()
			y.mu.Unlock()
			return
		}
		in := y.queue[0]
		y.queue[0] = typedInput{}
		y.queue = y.queue[1:]
		y.mu.Unlock()
		err := y.svc.Input(y.ctx, in.id, in.data)
		y.mu.Lock()
		y.size -= len(in.data)
		y.change.Broadcast()
		y.mu.Unlock()
		if err != nil {
			y.tell("input", in.id, refusalOf(err))
		}
	}
}

// sizer passes the last size on, at most every resizeEvery.
type sizer struct {
	ctx  context.Context
	svc  Terminals
	tell tellRefusal

	mu         sync.Mutex
	id         core.TerminalID // empty: nothing to do
	cols, rows uint16
	wake       chan struct{}
	closing    chan struct{}
}

func newSizer(ctx context.Context, svc Terminals, tell tellRefusal) *sizer {
	return &sizer{ctx: ctx, svc: svc, tell: tell, wake: make(chan struct{}, 1), closing: make(chan struct{})}
}

// set replaces the size that waits, unless that is another session's: then it
// is gone with it.
func (z *sizer) set(id core.TerminalID, cols, rows uint16) {
	z.mu.Lock()
	z.id, z.cols, z.rows = id, cols, rows
	z.mu.Unlock()
	select {
	case z.wake <- struct{}{}:
	default:
	}
}

func (z *sizer) close() { close(z.closing) }

func (z *sizer) run() {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-z.wake:
			z.pass()
		case <-z.closing:
			z.pass()
			return
		case <-z.ctx.Done():
			return
		}
		pause.Reset(resizeEvery)
		select {
		case <-pause.C:
		case <-z.closing:
		case <-z.ctx.Done():
		}
	}
}

func (z *sizer) pass() {
	z.mu.Lock()
	id, cols, rows := z.id, z.cols, z.rows
	z.id = ""
	z.mu.Unlock()
	if id == "" {
		return
	}
	if err := z.svc.Resize(z.ctx, id, cols, rows); err != nil {
		z.tell("resize", id, refusalOf(err))
	}
}
