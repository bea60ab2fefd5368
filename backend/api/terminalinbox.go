package api

import (
	"sync"

	"github.com/coder/websocket"
)

const (
	maxUnfollowed  = 1 << 20 // of messages that wait to be followed; reading pauses there
	unfollowedCost = 256     // bytes that one counts beside its own
)

// received is one message of a client.
type received struct {
	kind websocket.MessageType
	data []byte
	long bool // it had more than maxTermMessage bytes, which were passed over
}

// inbox is what a client sent and was not followed yet. Following may take as
// long as making a container or its image; the connection is read meanwhile, or
// a client's pings would go without an answer and it would hang up.
type inbox struct {
	mu     sync.Mutex
	change *sync.Cond
	queue  []received
	size   int
	closed bool
}

func newInbox() *inbox {
	b := &inbox{}
	b.change = sync.NewCond(&b.mu)
	return b
}

// add waits for room, and is false once the inbox is closed. m is the inbox's
// from then on.
func (b *inbox) add(m received) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.size >= maxUnfollowed && !b.closed {
		b.change.Wait()
	}
	if b.closed {
		return false
	}
	b.size += len(m.data) + unfollowedCost
	b.queue = append(b.queue, m)
	b.change.Broadcast()
	return true
}

// take waits for a message, and is false when none is left in a closed inbox.
func (b *inbox) take() (received, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.queue) == 0 {
		if b.closed {
			return received{}, false
		}
		b.change.Wait()
	}
	m := b.queue[0]
	b.queue[0] = received{}
	b.queue = b.queue[1:]
	b.size -= len(m.data) + unfollowedCost
	b.change.Broadcast()
	return m, true
}

// close takes no more; what is there may still be taken. It may be called again.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.change.Broadcast()
}
