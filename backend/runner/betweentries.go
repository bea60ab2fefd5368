package runner

import (
	"context"
	"time"
)

// await waits before the next try, until a person wants it now. It reports whether that
// try is to begin.
func (w *work) await(ctx context.Context, d time.Duration) bool {
	now := make(chan struct{})
	w.mu.Lock()
	w.now = now
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.now = nil
	}()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-now:
	case <-ctx.Done():
		return false
	}
	return true
}

// hurry ends the wait before the next try, and reports whether there was one.
func (w *work) hurry() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now == nil {
		return false
	}
	close(w.now)
	w.now = nil
	return true
}
