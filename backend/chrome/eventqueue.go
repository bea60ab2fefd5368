package chrome

import (
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// class says what may happen to an event that came faster than it could be handled.
type class int

const (
	kept    class = iota // state of tabs and dialogs; so many that they do not fit end the connection
	logged               // console and network; the newest are dropped
	picture              // frames of a cast; few are under way, as each is acknowledged
)

// Bounds of events that wait.
const (
	maxKept    = 20000
	maxLogged  = 1000 // of one session
	maxPending = 128 << 20
)

type event struct {
	session, method string
	params          jsontext.Value
	class           class
}

// eventQueue hands events from the reader to one consumer, in order. It never makes the
// reader wait.
type eventQueue struct {
	wake chan struct{} // holds one token when there is something, or the end

	mu      sync.Mutex
	items   []event
	kept    int
	logged  map[string]int // events of class logged that wait, by session
	bytes   int
	dropped int64
	over    bool
}

func newEventQueue() *eventQueue {
	return &eventQueue{wake: make(chan struct{}, 1), logged: map[string]int{}}
}

// push reports false where the events that may not be dropped are too many.
func (q *eventQueue) push(e event) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.over {
		return false
	}
	full := q.bytes+len(e.params) > maxPending
	switch e.class {
	case logged:
		if full || q.logged[e.session] >= maxLogged {
			q.dropped++
			return true
		}
		q.logged[e.session]++
	case picture:
		if full {
			q.dropped++
			return true
		}
	default:
		if full || q.kept >= maxKept {
			return false
		}
		q.kept++
	}
	q.bytes += len(e.params)
	q.items = append(q.items, e)
	q.signal()
	return true
}

// pop waits for the next event; false means that there are none any more.
func (q *eventQueue) pop() (event, bool) {
	for {
		q.mu.Lock()
		if len(q.items) > 0 && !q.over {
			e := q.items[0]
			q.items[0] = event{}
			q.items = q.items[1:]
			q.bytes -= len(e.params)
			switch e.class {
			case logged:
				if q.logged[e.session]--; q.logged[e.session] == 0 {
					delete(q.logged, e.session)
				}
			case kept:
				q.kept--
			}
			q.mu.Unlock()
			return e, true
		}
		over := q.over
		q.mu.Unlock()
		if over {
			return event{}, false
		}
		<-q.wake
	}
}

func (q *eventQueue) end() {
	q.mu.Lock()
	q.over = true
	q.items = nil
	q.signal()
	q.mu.Unlock()
}

func (q *eventQueue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}
