package engine

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"loop/backend/backoff"
	"loop/backend/core"
)

// How often the engine is asked when nobody else does, and how old an answer
// the page may be shown. An engine that stopped is seen within one period.
const (
	healthPeriod = 5 * time.Second
	healthFresh  = 2 * time.Second
)

// Health remembers the engine's last answer and publishes changes, so that a page
// never waits for an engine that hangs. Its methods may be called from any
// goroutine.
type Health struct {
	engine  asker
	publish func(...core.Event)

	asking sync.Mutex             // one question at a time
	last   atomic.Pointer[answer] // nil before the first
}

type answer struct {
	core.EngineStatus
	at time.Time
}

// serves reports whether an answer is one for who asked at a time: it is fresh now, or came
// after that, as for those who waited for one question.
func (a answer) serves(asked, now time.Time) bool {
	return now.Sub(a.at) < healthFresh || a.at.After(asked)
}

type asker interface {
	Status(ctx context.Context) core.EngineStatus
}

// NewHealth asks d, and publishes an event when what a person sees of it changes.
func NewHealth(d *Docker, publish func(...core.Event)) *Health {
	return &Health{engine: d, publish: publish}
}

// Status is the engine's state: at most healthFresh old, or what was known
// before while another question is under way.
func (h *Health) Status(ctx context.Context) core.EngineStatus {
	asked := time.Now()
	if !h.asking.TryLock() {
		if last := h.last.Load(); last != nil {
			return last.EngineStatus
		}
		h.asking.Lock()
	}
	defer h.asking.Unlock()
	before := h.last.Load()
	if before != nil && before.serves(asked, time.Now()) {
		return before.EngineStatus
	}
	st := h.engine.Status(ctx)
	if ctx.Err() != nil {
		return st // the caller went away in the middle, which says nothing of the engine
	}
	h.last.Store(&answer{st, time.Now()})
	if before != nil && !same(before.EngineStatus, st) {
		h.publish(core.NewEvent(core.EventEngineStatus, "", "", time.Now(), st))
	}
	return st
}

// same compares what a person sees; the wording of an error's detail may
// differ from try to try.
func same(a, b core.EngineStatus) bool {
	fa, fb := a.Failure, b.Failure
	a.Failure, b.Failure = nil, nil
	return reflect.DeepEqual(a, b) && (fa == nil) == (fb == nil) && (fa == nil || fa.Code == fb.Code)
}

// Run asks by itself until ctx ends.
func (h *Health) Run(ctx context.Context) {
	for alive := true; alive; alive = backoff.Sleep(ctx, healthPeriod) {
		h.Status(ctx)
	}
}
