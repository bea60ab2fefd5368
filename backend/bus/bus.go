package bus

import (
	"errors"
	"sync"

	"loop/backend/core"
)

// RingSize is how many events are kept for subscribers that are behind and for
// pages that come back. A fast run makes some hundred events per second, so
// this bridges about half a minute of a stalled or reconnecting window; at
// about 1 KiB per event it bounds the ring to some 8 MiB.
const RingSize = 8192

var (
	// ErrOverflow says that events the subscriber has not had are gone. It may go
	// on from now after taking a new snapshot.
	ErrOverflow = errors.New("subscriber fell behind")
	// ErrClosed says the subscriber or the bus was closed.
	ErrClosed = errors.New("subscription closed")
)

// Bus numbers events and keeps the last of them; a subscriber is a place in
// that ring, so a slow one costs nothing and slows nobody. It starts no
// goroutines.
type Bus struct {
	launch string

	mu     sync.Mutex
	ring   []core.Event // event n is at n % len
	seq    uint64
	subs   map[*Subscription]struct{}
	closed bool
}

// New returns a bus without events.
func New() *Bus { return withRing(RingSize) }

func withRing(size int) *Bus {
	return &Bus{launch: core.NewID(), ring: make([]core.Event, size), subs: map[*Subscription]struct{}{}}
}

// Launch names this bus: numbers of another launch mean nothing here.
func (b *Bus) Launch() string { return b.launch }

// Publish numbers the events and wakes every subscriber. The events passed in
// are not changed. Any goroutine may call it; calls are ordered.
func (b *Bus) Publish(events ...core.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	for _, e := range events {
		b.seq++
		e.Seq = b.seq
		b.ring[e.Seq%uint64(len(b.ring))] = e
	}
	for s := range b.subs {
		s.nudge()
	}
}

// Seq is the number of the last event published.
func (b *Bus) Seq() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seq
}

// Resume starts a subscription after event since of a launch, which the caller closes.
// When those events are no longer there, or never were, resumed is false and the
// subscription starts at this moment: the page has to take a new snapshot.
func (b *Bus) Resume(launch string, since uint64) (s *Subscription, resumed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s = &Subscription{Seq: b.seq, last: b.seq, wake: make(chan struct{}, 1), bus: b}
	if launch == b.launch && since <= b.seq && b.seq-since <= uint64(len(b.ring)) {
		s.Seq, s.last, resumed = since, since, true
	}
	if b.closed {
		s.err = ErrClosed
	} else {
		b.subs[s] = struct{}{}
	}
	if s.err != nil || s.last < b.seq {
		s.nudge()
	}
	return s, resumed
}

// Close ends every subscription with ErrClosed once it has read what is
// there; later events are discarded.
func (b *Bus) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for s := range b.subs {
		s.nudge()
	}
}

// Subscription is one listener's place.
type Subscription struct {
	// Seq is the number of the last event before this subscription.
	Seq uint64

	wake chan struct{} // capacity 1
	bus  *Bus
	last uint64 // number of the last event handed out; under bus.mu
	err  error  // set by Close; under bus.mu
}

// nudge is called with the lock held, or before anybody else knows s.
func (s *Subscription) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Wake has a value whenever Next may have something new to say.
func (s *Subscription) Wake() <-chan struct{} { return s.wake }

// Next returns up to most events, none if there are none now. After
// ErrOverflow the subscription goes on from the newest event; after ErrClosed
// nothing follows. One goroutine calls it.
func (s *Subscription) Next(most int) ([]core.Event, error) {
	b := s.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	n := b.seq - s.last
	switch {
	case n > uint64(len(b.ring)):
		s.last = b.seq
		return nil, ErrOverflow
	case n == 0 && b.closed:
		return nil, ErrClosed
	case n == 0:
		return nil, nil
	}
	n = min(n, uint64(most))
	out := make([]core.Event, n)
	for i := range out {
		s.last++
		out[i] = b.ring[s.last%uint64(len(b.ring))]
	}
	if s.last < b.seq || b.closed {
		s.nudge()
	}
	return out, nil
}

// Close ends the subscription. Calling it twice is fine.
func (s *Subscription) Close() {
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	delete(s.bus.subs, s)
	if s.err == nil {
		s.err = ErrClosed
	}
	s.nudge()
}
