package runner

import (
	"testing"
	"time"

	"loop/backend/core"
)

// A person who does not want to wait for the next try begins it. Where nothing waits, the
// run is not to be had twice.
func TestTheNextTryNow(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, _ := newSpawnRig(t, busy, func(p *proc) { p.print(turn("again")); <-p.killed })
		r.launch.Retry = Retry{Base: time.Hour, Max: time.Hour}
		r.launch.Timeout = 24 * time.Hour
		r.start()
		defer r.quit()
		id := r.prompt("c", "x").ID
		r.pass(time.Minute)
		if a := r.attempts(id); len(a) != 1 || a[0].Of != 5 || a[0].DelayMs < 3_600_000 {
			t.Fatalf("waits: %+v", a)
		}
		began := time.Now()
		if run, err := r.s.Retry(t.Context(), id); err != nil || run.ID != id {
			t.Fatalf("%+v, %v", run, err)
		}
		r.until(id, time.Minute, core.RunRunning)
		r.pass(time.Second)
		if took := time.Since(began); took > time.Minute {
			t.Errorf("waited %s", took)
		}
		if _, err := r.s.Retry(t.Context(), id); core.AsFailure(err).Code != core.CodeConflict {
			t.Errorf("while it runs: %v", err)
		}
		r.cancel(id)
	})
}
