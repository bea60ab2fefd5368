package bus

import (
	"errors"
	"sync"
	"time"

	"loop/backend/core"
)

// QueueSize is how many events a subscriber may be behind. A fast run makes
// some hundred events per second, so this is several seconds of a stalled
// window; at about 1 KiB per event it bounds one subscriber to a few MiB.
const QueueSize = 4096

var (
	// ErrOverflow says the subscriber was too slow and has missed events.
	ErrOverflow = errors.New("subscriber fell behind")
	// ErrClosed says the subscriber or the bus was closed.
	ErrClosed = errors.New("subscription closed")
)

// Bus fans events out. It starts no goroutines.
type Bus struct {
	now  func() time.Time
	size int

	mu     sync.Mutex
	seq    uint64
	subs   map[*Subscription]struct{}
	closed bool
}

// New returns a bus; now stamps events that carry no time (nil is time.Now).
func New(now func() time.Time) *Bus {
	if now == nil {
		now = time.Now
	}
	return &Bus{now: now, size: QueueSize, subs: map[*Subscription]struct{}{}}
}

// Publish numbers the events and hands them to every subscriber. The events
// passed in are not changed. Any goroutine may call it; calls are ordered.
func (b *Bus) Publish(events ...core.Event) {
	if len(events) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	for _, e := range events {
		b.seq++
		e.Seq = b.seq
		if e.Time.IsZero() {
			if e.Timestamp == 0 {
				e.Timestamp = b.now().UnixMilli()
			}
			e.Time = time.UnixMilli(e.Timestamp)
		} else if e.Timestamp == 0 {
			e.Timestamp = e.Time.UnixMilli()
		}
		for s := range b.subs {
			select {
			case s.queue <- e:
			default:
				b.drop(s, ErrOverflow)
			}
		}
	}
}

// Seq is the number of the last event published.
func (b *Bus) Seq() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seq
}

// Subscribe starts a subscription: C carries every event after Seq. The caller
// closes it.
func (b *Bus) Subscribe() *Subscription {
	q := make(chan core.Event, b.size)
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &Subscription{Seq: b.seq, C: q, queue: q, bus: b}
	if b.closed {
		s.err = ErrClosed
		close(q)
		return s
	}
	b.subs[s] = struct{}{}
	return s
}

// Close ends every subscription with ErrClosed; later events are discarded.
func (b *Bus) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for s := range b.subs {
		b.drop(s, ErrClosed)
	}
}

// drop must be called with the lock held.
func (b *Bus) drop(s *Subscription, reason error) {
	if _, live := b.subs[s]; !live {
		return
	}
	delete(b.subs, s)
	s.err = reason
	close(s.queue)
}

// Subscription is one listener's queue.
type Subscription struct {
	// Seq is the number of the last event before this subscription.
	Seq uint64
	// C carries the events after Seq. It is closed after the last event that
	// fitted; Err then says why.
	C <-chan core.Event

	queue chan core.Event
	bus   *Bus
	err   error // written under bus.mu before queue is closed
}

// Err is nil while the subscription lives, then ErrOverflow or ErrClosed.
func (s *Subscription) Err() error {
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	return s.err
}

// Close ends the subscription. Calling it twice, or after an overflow, is fine.
func (s *Subscription) Close() {
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	s.bus.drop(s, ErrClosed)
}
