package daemon

import (
	"context"
	"log/slog"
	"reflect"
	"sync"
	"time"

	"loop/backend/core"
	"loop/backend/imagebuild"
)

// How often the engine is asked when nobody else does, and how old an answer
// the page may be shown. An engine that stopped is seen within one period.
const (
	healthPeriod = 5 * time.Second
	healthFresh  = 2 * time.Second
)

// engineHealth remembers the engine's last answer and publishes changes, so
// that a page never waits for an engine that hangs.
type engineHealth struct {
	ask     func(ctx context.Context) core.EngineStatus
	publish func(...core.Event)
	now     func() time.Time

	asking sync.Mutex // one question at a time
	mu     sync.Mutex
	last   core.EngineStatus
	at     time.Time
}

// Status is the engine's state: at most healthFresh old, or what was known
// before while another question is under way.
func (h *engineHealth) Status(ctx context.Context) core.EngineStatus {
	if st, ok := h.fresh(); ok {
		return st
	}
	if !h.asking.TryLock() {
		if st, ok := h.known(); ok {
			return st
		}
		h.asking.Lock()
	}
	defer h.asking.Unlock()
	if st, ok := h.fresh(); ok { // answered while this caller waited
		return st
	}
	st := h.ask(ctx)
	if ctx.Err() != nil {
		return st // the caller went away in the middle, which says nothing of the engine
	}
	h.mu.Lock()
	changed := !h.at.IsZero() && !same(h.last, st)
	h.last, h.at = st, h.now()
	h.mu.Unlock()
	if changed {
		h.publish(core.NewEvent(core.EventEngineStatus, "", "", h.now(), st))
	}
	return st
}

func (h *engineHealth) fresh() (core.EngineStatus, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last, !h.at.IsZero() && h.now().Sub(h.at) < healthFresh
}

func (h *engineHealth) known() (core.EngineStatus, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last, !h.at.IsZero()
}

// same compares what a person sees; the wording of an error's detail may
// differ from try to try.
func same(a, b core.EngineStatus) bool {
	fa, fb := a.Failure, b.Failure
	a.Failure, b.Failure = nil, nil
	return reflect.DeepEqual(a, b) && (fa == nil) == (fb == nil) && (fa == nil || fa.Code == fb.Code)
}

func (h *engineHealth) run(ctx context.Context) {
	tick := time.NewTicker(healthPeriod)
	defer tick.Stop()
	for {
		h.Status(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// pageHealth notes in the log when a page first asked how things stand: the end
// of what a person waits for at the start.
type pageHealth struct {
	*engineHealth
	log  *slog.Logger
	once sync.Once
}

func (p *pageHealth) Status(ctx context.Context) core.EngineStatus {
	p.once.Do(func() { p.log.Info("first page") })
	return p.engineHealth.Status(ctx)
}

// pageWait is how long the page waits for what only the engine knows.
const pageWait = 2 * time.Second

// pageImages answers the page about the image in time, also when the engine hangs.
type pageImages struct{ *imagebuild.Service }

func (p pageImages) Status(ctx context.Context) core.ImageStatus {
	ctx, cancel := context.WithTimeout(ctx, pageWait)
	defer cancel()
	return p.Service.Status(ctx)
}
