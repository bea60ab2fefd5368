// Package backoff waits between tries. Everything of the host's side may import it.
package backoff

import (
	"context"
	"time"
)

// Backoff makes the pauses between tries grow: First, then twice as long each time,
// and never longer than Most. It belongs to the goroutine that tries.
type Backoff struct {
	First, Most time.Duration

	last time.Duration
}

// Wait sleeps for the next pause and reports whether ctx is still alive.
func (b *Backoff) Wait(ctx context.Context) bool {
	b.last = min(max(2*b.last, b.First), b.Most)
	return Sleep(ctx, b.last)
}

// Reset begins with First again.
func (b *Backoff) Reset() { b.last = 0 }

// Sleep waits for d and reports whether ctx is still alive.
func Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
