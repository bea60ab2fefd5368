package terminal

import (
	"context"
	"fmt"
	"sync"
	"time"

	"loop/backend/core"
)

// inputQueue is what goes to a program, in order. One goroutine takes from it,
// so that a program that does not read holds up its own input alone.
type inputQueue struct {
	mu      sync.Mutex
	pending []byte
	answers int // bytes of pending that are answers to queries
	closed  bool
	wake    chan struct{} // for the taker
	space   chan struct{} // closed and made anew when pending shrinks
}

// add waits for a while for room; none of p is taken when there is none.
func (q *inputQueue) add(ctx context.Context, p []byte) error {
	if len(p) > maxInput {
		return core.Fail(core.CodeInvalid, nil, fmt.Sprintf("The input of %d bytes is too long to be sent at once.", len(p)),
			"Send it in pieces, or put it into a file.")
	}
	late := time.After(inputPatience)
	for {
		q.mu.Lock()
		if q.closed {
			q.mu.Unlock()
			return core.Fail(core.CodeConflict, core.ErrConflict, "The program has ended and takes no input.", "Open a new terminal.")
		}
		if len(q.pending)+len(p) <= maxInput {
			q.pending = append(q.pending, p...)
			q.mu.Unlock()
			poke(q.wake)
			return nil
		}
		space := q.space
		q.mu.Unlock()
		select {
		case <-space:
		case <-late:
			return core.Fail(core.CodeConflict, core.ErrConflict, "The program is not reading its input.", "Wait for it, or end it and try again.")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// answer adds the reply to a query; a program that asks without reading loses
// its answers, not the person's keys.
func (q *inputQueue) answer(p []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.answers+len(p) > maxAnswers || len(q.pending)+len(p) > maxInput {
		return
	}
	q.answers += len(p)
	q.pending = append(q.pending, p...)
	poke(q.wake)
}

func (q *inputQueue) take() []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	p := q.pending
	q.pending, q.answers = nil, 0
	q.freed()
	return p
}

func (q *inputQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.freed()
}

// freed wakes every add that waits for room.
func (q *inputQueue) freed() {
	close(q.space)
	q.space = make(chan struct{})
}

// feed writes input to the program until the session ends.
func (s *session) feed(ctx context.Context) {
	defer s.input.close()
	for {
		if p := s.input.take(); len(p) > 0 {
			if err := s.program.Write(ctx, p); err != nil && ctx.Err() == nil {
				// The program ended, or cannot be reached; its state says which.
				s.log.Debug("input did not reach the terminal", "session", s.info.ID, "bytes", len(p), "err", err)
			}
			continue
		}
		select {
		case <-s.input.wake:
		case <-s.ended:
			return
		case <-ctx.Done():
			return
		}
	}
}
