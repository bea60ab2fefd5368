package callbacks

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"loop/backend/core"
)

// The original's limits on what one container may ask, applied to the callbacks
// of one run or terminal; the last two are Loop's own.
const (
	perMinute = 60
	perLife   = 500
	// perLifeMade bounds the threads and worktrees of one run: each may
	// become a container of its own.
	perLifeMade = 20
	// perPrompt bounds the runs that agents start because of one prompt of the
	// person, however they are spread over channels and agents.
	perPrompt = 200
	// maxCallers bounds the table; the one that was quiet for longest goes.
	maxCallers = 1000
)

// limiter counts what each run or terminal has asked for.
type limiter struct {
	now func() time.Time

	mu      sync.Mutex
	callers map[core.RunID]*budget
	prompts map[core.RunID]*budget
}

type budget struct {
	total   int
	made    int
	recent  int
	since   time.Time // of recent
	touched time.Time
}

// take counts one request or refuses it.
func (l *limiter) take(id core.RunID) error {
	return l.spend(l.callers, id, func(b *budget, now time.Time) error {
		if d := now.Sub(b.since); d >= time.Minute || d < 0 { // also when the clock was put back
			b.recent, b.since = 0, now
		}
		switch {
		case b.total >= perLife:
			return core.Fail(core.CodeTooMany, nil, fmt.Sprintf("This agent has made %d requests, which is all of one run.", perLife),
				"Go on without them.")
		case b.recent >= perMinute:
			return core.Fail(core.CodeTooMany, nil, fmt.Sprintf("More than %d requests in a minute.", perMinute), "Wait a minute.")
		}
		b.total++
		b.recent++
		return nil
	})
}

// make counts one thread or worktree or refuses it.
func (l *limiter) make(id core.RunID) error {
	return l.spend(l.callers, id, func(b *budget, _ time.Time) error {
		if b.made >= perLifeMade {
			return core.Fail(core.CodeTooMany, nil, fmt.Sprintf("This agent has opened %d threads, which is all of one run.", perLifeMade),
				"Go on with those.")
		}
		b.made++
		return nil
	})
}

// start counts one run that an agent starts or refuses it. root is the run of
// the person's prompt that it goes back to.
func (l *limiter) start(root core.RunID) error {
	return l.spend(l.prompts, root, func(b *budget, _ time.Time) error {
		if b.total >= perPrompt {
			return core.Fail(core.CodeTooMany, nil, fmt.Sprintf("Agents have started %d runs because of one prompt.", perPrompt),
				"The person has to send the next prompt.")
		}
		b.total++
		return nil
	})
}

// spend takes something of a budget. One more than the table holds takes the place of
// the one that was quiet for longest.
func (l *limiter) spend(table map[core.RunID]*budget, id core.RunID, take func(b *budget, now time.Time) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	b := table[id]
	if b == nil {
		if len(table) >= maxCallers {
			delete(table, slices.MinFunc(slices.Collect(maps.Keys(table)), func(a, b core.RunID) int {
				return table[a].touched.Compare(table[b].touched)
			}))
		}
		b = &budget{since: now}
		table[id] = b
	}
	b.touched = now
	return take(b, now)
}
