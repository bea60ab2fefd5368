//go:build linux

// Package ask carries questions of a container to the host and answers back, over
// one stream. A question without an answer is denied: while no host has opened the
// stream, when the stream breaks, and when nobody reads it. The supervisors of the spawns
// ask (package spawn). Only agentimage/guest and its packages may import it.
package ask

import (
	"context"
	"io"
	"sync"
	"time"

	"loop/backend/wire"
)

// Stream is what the host opened; Close ends a Read of it.
type Stream interface {
	io.ReadWriteCloser
	SetWriteDeadline(t time.Time) error
}

// Desk holds the questions that wait. Its methods may be called from any goroutine.
type Desk struct {
	slots   chan struct{}      // one for each question that may wait at a time
	writing chan struct{}      // one question is written at a time
	told    chan wire.Question // what wants no answer; it waits for a stream

	mu      sync.Mutex
	stream  Stream // nil while nobody answers
	waiting map[uint64]chan wire.Answer
	last    uint64 // id
}

// NewDesk returns one at which everything is denied until Serve.
func NewDesk() *Desk {
	return &Desk{slots: make(chan struct{}, wire.MaxQuestions), writing: make(chan struct{}, 1), told: make(chan wire.Question, wire.MaxTold),
		waiting: make(map[uint64]chan wire.Answer)}
}

// Serve takes answers from the host until the stream breaks, and then denies what
// still waits. The newest stream is served, as the newest link is: what waits on an
// older one is denied.
func (d *Desk) Serve(st Stream) error {
	d.mu.Lock()
	old := d.stream
	d.lose()
	if err := wire.WriteFrame(st, wire.Reply{}); err != nil { // before any question
		d.mu.Unlock()
		return err
	}
	d.stream = st
	d.mu.Unlock()
	if old != nil {
		_ = old.Close()
	}
	ended := make(chan struct{})
	var telling sync.WaitGroup
	telling.Go(func() { d.pass(st, ended) })
	defer telling.Wait()
	defer func() {
		close(ended)
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.stream == st {
			d.lose()
		}
	}()
	for {
		var a wire.Answer
		if err := wire.ReadFrame(st, &a); err != nil {
			return err
		}
		if answer := d.leave(a.ID); answer != nil {
			answer <- a
		}
	}
}

// Answered reports whether a host is there to answer.
func (d *Desk) Answered() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stream != nil
}

// lose denies everything that waits. The lock is held.
func (d *Desk) lose() {
	d.stream = nil
	for id, answer := range d.waiting {
		answer <- wire.Deny(id, "the connection to Loop broke before it answered")
	}
	clear(d.waiting)
}

// Ask waits for the answer, and denies when ctx ends, which withdraws the question:
// then nothing waits for it any more. More than wire.MaxQuestions wait unasked. The
// question's ID is set here.
func (d *Desk) Ask(ctx context.Context, q wire.Question) wire.Answer {
	q.ID, q.Withdrawn = 1, false
	if err := q.Validate(); err != nil { // the host would break the link over it
		return wire.Deny(0, err.Error())
	}
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	case <-ctx.Done():
		return wire.Deny(0, "withdrawn before it was asked")
	}
	st, answer := d.enter(&q)
	if st == nil {
		return wire.Deny(q.ID, "no Loop is there to ask")
	}
	d.send(st, q)
	select {
	case a := <-answer:
		return a
	case <-ctx.Done():
		if d.leave(q.ID) != nil {
			d.send(st, wire.Question{ID: q.ID, Withdrawn: true})
		}
		return wire.Deny(q.ID, "withdrawn")
	}
}

// Tell passes on something that wants no answer, as soon as a host is there. It does not
// wait; false says that too much waits already.
func (d *Desk) Tell(q wire.Question) bool {
	q.ID, q.Withdrawn = 1, false
	if q.Validate() != nil {
		return false
	}
	d.mu.Lock()
	d.last++
	q.ID = d.last
	d.mu.Unlock()
	select {
	case d.told <- q:
		return true
	default:
		return false
	}
}

// pass writes what the host is told until a stream has ended. What a stream takes with it
// is lost.
func (d *Desk) pass(st Stream, ended <-chan struct{}) {
	for {
		select {
		case <-ended:
			return
		default:
		}
		select {
		case <-ended:
			return
		case q := <-d.told:
			d.send(st, q)
		}
	}
}

// enter lists a question as waiting; without a stream it does not.
func (d *Desk) enter(q *wire.Question) (Stream, <-chan wire.Answer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stream == nil {
		return nil, nil
	}
	d.last++
	q.ID = d.last
	answer := make(chan wire.Answer, 1) // whoever takes it off the list sends one
	d.waiting[q.ID] = answer
	return d.stream, answer
}

// leave takes a question off the list; nil means that somebody else has.
func (d *Desk) leave(id uint64) chan<- wire.Answer {
	d.mu.Lock()
	defer d.mu.Unlock()
	answer := d.waiting[id]
	delete(d.waiting, id)
	return answer
}

// send writes a question. A host that does not read for so long breaks the stream,
// whose end denies the question with all others.
func (d *Desk) send(st Stream, q wire.Question) {
	d.writing <- struct{}{}
	defer func() { <-d.writing }()
	if st.SetWriteDeadline(time.Now().Add(wire.WriteTimeout)) != nil || wire.WriteFrame(st, q) != nil {
		_ = st.Close()
	}
}
