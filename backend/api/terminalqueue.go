package api

import (
	"sync"

	"github.com/coder/websocket"

	"loop/backend/core"
)

// Bounds of what a client sent and nobody has taken yet, in bytes. Reading pauses
// there.
const (
	maxUnfollowed = 1 << 20 // of messages to be followed
	// maxTyped is of input for programs. It is large because acknowledgements come
	// the same way, and a program that waits for those does not read.
	maxTyped   = 8 << 20
	queuedCost = 256 // counts for each message beside its own bytes
)

// received is one message of a client.
type received struct {
	kind websocket.MessageType
	data []byte
	long bool            // it had more than maxTermMessage bytes, which were passed over
	to   core.TerminalID // of input: the session that was attached
}

// queue hands messages to a goroutine that may take long over each: over making a
// container, or over a program that does not read. The connection is read meanwhile,
// or a client's pings would go without an answer and it would hang up.
type queue struct {
	most int

	mu     sync.Mutex
	change *sync.Cond
	held   []received
	size   int
	closed bool
}

func newQueue(most int) *queue {
	q := &queue{most: most}
	q.change = sync.NewCond(&q.mu)
	return q
}

// add waits for room, and is false once the queue is closed. m is the queue's from
// then on.
func (q *queue) add(m received) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.size >= q.most && !q.closed {
		q.change.Wait()
	}
	if q.closed {
		return false
	}
	q.size += len(m.data) + queuedCost
	q.held = append(q.held, m)
	q.change.Broadcast()
	return true
}

// take waits for a message, and is false when none is left in a closed queue.
func (q *queue) take() (received, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.held) == 0 && !q.closed {
		q.change.Wait()
	}
	if len(q.held) == 0 {
		return received{}, false
	}
	m := q.held[0]
	q.held[0] = received{}
	q.held = q.held[1:]
	q.size -= len(m.data) + queuedCost
	q.change.Broadcast()
	return m, true
}

// close takes no more; what is there may still be taken. It may be called again.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.change.Broadcast()
}
