//go:build linux

package spawn

import (
	"context"
	"encoding/json"
	"sync"

	"loop/backend/wire"
)

// Bounds on the calls of one spawn that wait for a person.
const (
	// maxAsked is how many of them the host knows of: more than it takes until the host
	// asks one question about the whole run (20), and fewer than would keep other spawns
	// from asking (wire.MaxQuestions).
	maxAsked = 24
	// maxHeld is how many wait in all. A call beyond is denied.
	maxHeld = 1024
)

// held are the calls of a spawn that wait for an answer, in the keeper. Its methods may be
// called from any goroutine.
type held struct {
	line  line
	slots chan struct{} // one for each call that the host knows of

	mu      sync.Mutex
	waiting int // asked or not
	last    uint64
	asked   map[uint64]chan wire.Answer
	round   *round // of those that wait now
	lost    bool   // loop init has gone: nobody answers any more
	told    uint64 // messages that want no answer
}

// round ends when everything that waits is denied; what comes later is of the next.
type round struct {
	over chan struct{}
	why  string // once over
}

func newRound() *round { return &round{over: make(chan struct{})} }

func newHeld(l line) *held {
	return &held{line: l, slots: make(chan struct{}, maxAsked), asked: make(map[uint64]chan wire.Answer), round: newRound()}
}

const whyLost = "the connection to Loop broke before it answered"

// ask waits until a call is answered, or nothing waits for the answer any more.
func (h *held) ask(ctx context.Context, a wire.Approval) wire.Answer {
	detail, err := json.Marshal(a)
	if err != nil {
		return wire.Deny(0, "the call cannot be described: "+err.Error())
	}
	if len(detail) > wire.MaxDetail {
		return wire.Deny(0, "the call has too long a description")
	}
	r, refused := h.enter()
	if refused != "" {
		return wire.Deny(0, refused)
	}
	defer h.leave()
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-r.over:
		return wire.Deny(0, r.why)
	case <-ctx.Done():
		return wire.Deny(0, "withdrawn before it was asked")
	}
	q := wire.Question{Kind: a.Kind, Detail: detail}
	answer := h.list(&q)
	defer h.unlist(q.ID)
	if err := h.line.send(report{Question: &q}); err != nil {
		return wire.Deny(0, whyLost)
	}
	select {
	case a := <-answer:
		return a
	case <-r.over:
		h.withdraw(q.ID)
		return wire.Deny(0, r.why)
	case <-ctx.Done():
		h.withdraw(q.ID)
		return wire.Deny(0, "withdrawn")
	}
}

func (h *held) enter() (r *round, refused string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.lost:
		return nil, whyLost
	case h.waiting >= maxHeld:
		return nil, "too many calls of this program wait already"
	}
	h.waiting++
	return h.round, ""
}

func (h *held) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiting--
}

func (h *held) list(q *wire.Question) <-chan wire.Answer {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last++
	q.ID = h.last
	answer := make(chan wire.Answer, 1) // whoever takes it off the list sends one
	h.asked[q.ID] = answer
	return answer
}

func (h *held) unlist(id uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.asked, id)
}

func (h *held) answered(a wire.Answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if answer := h.asked[a.ID]; answer != nil {
		delete(h.asked, a.ID)
		answer <- a
	}
}

// withdraw tells the host that nothing waits any more.
func (h *held) withdraw(id uint64) {
	_ = h.line.send(report{Question: &wire.Question{ID: id, Withdrawn: true}})
}

// deny answers everything that waits.
func (h *held) deny(why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.round.why = why
	close(h.round.over)
	h.round = newRound()
}

// lose denies everything, now and from now on.
func (h *held) lose() {
	h.mu.Lock()
	h.lost = true
	h.mu.Unlock()
	h.deny(whyLost)
}

// tell passes on what the supervisor has decided by itself. What does not get through is
// missed by its number.
func (h *held) tell(d wire.Decisions) {
	h.mu.Lock()
	h.told++
	q := wire.Question{Kind: wire.KindDecided, Told: h.told}
	h.mu.Unlock()
	var err error
	if q.Detail, err = json.Marshal(d); err == nil && len(q.Detail) <= wire.MaxDetail {
		_ = h.line.send(report{Question: &q})
	}
}
