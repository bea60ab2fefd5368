package callbacks

import (
	"fmt"
	"sync"
	"time"

	"loop/backend/core"
)

// The original's limits on what one container may ask, applied to callbacks.
const (
	perMinute = 60
	perLife   = 500
	// maxCallers bounds the table; the one that was quiet for longest goes.
	maxCallers = 1000
)

// limiter counts what each container has asked for.
type limiter struct {
	now func() time.Time

	mu      sync.Mutex
	callers map[core.ContainerID]*budget
}

type budget struct {
	total   int
	recent  int
	since   time.Time // of recent
	touched time.Time
}

// take counts one request or refuses it.
func (l *limiter) take(id core.ContainerID) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	b := l.callers[id]
	if b == nil {
		l.makeRoom()
		b = &budget{since: now}
		l.callers[id] = b
	}
	b.touched = now
	if d := now.Sub(b.since); d >= time.Minute || d < 0 { // also when the clock was put back
		b.recent, b.since = 0, now
	}
	switch {
	case b.total >= perLife:
		return core.Fail(core.CodeTooMany, nil, fmt.Sprintf("This agent has made %d requests, which is all of one run.", perLife), "Go on without them.")
	case b.recent >= perMinute:
		return core.Fail(core.CodeTooMany, nil, fmt.Sprintf("More than %d requests in a minute.", perMinute), "Wait a minute.")
	}
	b.total++
	b.recent++
	return nil
}

func (l *limiter) makeRoom() {
	if len(l.callers) < maxCallers {
		return
	}
	var oldest core.ContainerID
	for id, b := range l.callers {
		if o := l.callers[oldest]; o == nil || b.touched.Before(o.touched) {
			oldest = id
		}
	}
	delete(l.callers, oldest)
}
