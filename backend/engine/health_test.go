package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// engineRig is an engine behind a Health. A test sets its answer and its delay, on
// synctest's clock.
type engineRig struct {
	*Health
	mu     sync.Mutex
	answer core.EngineStatus
	delay  time.Duration
	asked  int
	events []core.EngineStatus
}

type askerFunc func(ctx context.Context) core.EngineStatus

func (f askerFunc) Status(ctx context.Context) core.EngineStatus { return f(ctx) }

// answers lets Health call the rig as its engine.
type answers struct{ *engineRig }

func (a answers) Status(ctx context.Context) core.EngineStatus {
	a.mu.Lock()
	a.asked++
	st, delay := a.answer, a.delay
	a.mu.Unlock()
	select {
	case <-time.After(delay):
		return st
	case <-ctx.Done():
		return core.EngineStatus{Failure: core.Fail(core.CodeEngineLost, ctx.Err(), "It is gone.", "")}
	}
}

func newEngineRig(t *testing.T) *engineRig {
	r := &engineRig{answer: core.EngineStatus{OK: true, Version: "1"}}
	r.Health = &Health{
		engine: answers{r},
		publish: func(evs ...core.Event) {
			r.mu.Lock()
			defer r.mu.Unlock()
			for _, ev := range evs {
				var st core.EngineStatus
				if err := json.Unmarshal(ev.Data, &st); err != nil || ev.Type != core.EventEngineStatus {
					t.Errorf("%s %s: %v", ev.Type, ev.Data, err)
				}
				r.events = append(r.events, st)
			}
		},
	}
	return r
}

func (r *engineRig) set(st core.EngineStatus, delay time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer, r.delay = st, delay
}

func (r *engineRig) counts() (asked, events int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked, len(r.events)
}

func TestHealthAnswersFromMemoryForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEngineRig(t)
		for range 5 {
			if st := r.Status(t.Context()); !st.OK {
				t.Errorf("%+v", st)
			}
		}
		<-time.After(healthFresh - time.Millisecond)
		r.Status(t.Context())
		if asked, _ := r.counts(); asked != 1 {
			t.Errorf("asked %d times while the answer was fresh", asked)
		}
		<-time.After(time.Millisecond)
		r.Status(t.Context())
		if asked, _ := r.counts(); asked != 2 {
			t.Errorf("asked %d times", asked)
		}
	})
}

// TestHealthPublishesChangesOnly: the page has the first answer in its snapshot, and
// the wording of an error differs from try to try.
func TestHealthPublishesChangesOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEngineRig(t)
		down := func(code core.Code, detail string) core.EngineStatus {
			return core.EngineStatus{Failure: &core.Failure{Code: code, Cause: "It does not answer.", Detail: detail}}
		}
		up := core.EngineStatus{OK: true, Version: "1"}
		newer := core.EngineStatus{OK: true, Version: "2"}
		for i, step := range []struct {
			answer core.EngineStatus
			events int // number of events so far
		}{
			{up, 0}, {up, 0}, {down(core.CodeNoEngine, "try 1"), 1}, {down(core.CodeNoEngine, "try 2"), 1},
			{down(core.CodeEngineDenied, "try 3"), 2}, {up, 3}, {newer, 4}, {newer, 4},
		} {
			r.set(step.answer, 0)
			<-time.After(healthFresh)
			st := r.Status(t.Context())
			if _, events := r.counts(); events != step.events {
				t.Errorf("step %d: %d events, want %d", i, events, step.events)
			}
			if st.OK != step.answer.OK || st.Version != step.answer.Version {
				t.Errorf("step %d: %+v", i, st)
			}
		}
		if last := r.events[len(r.events)-1]; last.Version != "2" {
			t.Errorf("the last event says %+v", last)
		}
	})
}

// TestHealthDoesNotWaitForAnEngineThatHangs: callers get the last known state. When
// there is none, one question serves all who wait. The test does without synctest,
// whose clock stands still while a caller waits for a lock.
func TestHealthDoesNotWaitForAnEngineThatHangs(t *testing.T) {
	asked, answer := make(chan struct{}, 10), make(chan string)
	h := &Health{publish: func(...core.Event) {}}
	h.engine = askerFunc(func(context.Context) core.EngineStatus {
		asked <- struct{}{}
		return core.EngineStatus{OK: true, Version: <-answer}
	})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if st := h.Status(t.Context()); st.Version != "first" {
				t.Errorf("%+v", st)
			}
		})
	}
	<-asked
	waitForLocks(t, 3)
	answer <- "first"
	wg.Wait()
	if n := len(asked); n > 0 {
		t.Fatalf("asked %d times for four callers", 1+n)
	}

	last := h.last.Load()
	last.at = last.at.Add(-healthFresh) // makes the answer too old
	wg.Go(func() {
		if st := h.Status(t.Context()); st.Version != "second" {
			t.Errorf("%+v", st)
		}
	})
	<-asked // the engine does not answer this one
	if st := h.Status(t.Context()); st.Version != "first" {
		t.Errorf("%+v", st)
	}
	answer <- "second"
	wg.Wait()
}

// TestAnswersServe while they are fresh, and those who asked before them however late they
// come to read them.
func TestAnswersServe(t *testing.T) {
	at := time.Now()
	a := answer{at: at}
	for name, c := range map[string]struct {
		asked, read time.Duration // after the answer
		want        bool
	}{
		"at once":               {0, 0, true},
		"within its time":       {time.Second, healthFresh - 1, true},
		"after its time":        {time.Second, healthFresh, false},
		"waited for it, and on": {-time.Second, time.Hour, true},
	} {
		if got := a.serves(at.Add(c.asked), at.Add(c.read)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// waitForLocks returns when n goroutines wait for locks.
func waitForLocks(t *testing.T, n int) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(5 * time.Minute)
	for {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		if bytes.Count(stacks, []byte("[sync.Mutex.Lock")) >= n {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("nobody waits:\n%s", stacks)
		}
	}
}

// TestHealthForgetsWhatACancelledCallerSaw: a run that is cancelled during its question
// must not make the engine look down for everybody.
func TestHealthForgetsWhatACancelledCallerSaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEngineRig(t)
		r.Status(t.Context())
		r.set(core.EngineStatus{OK: true, Version: "1"}, time.Second)
		<-time.After(healthFresh)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if st := r.Status(ctx); st.OK {
			t.Errorf("a cancelled caller got %+v", st)
		}
		if _, events := r.counts(); events != 0 {
			t.Errorf("%d events", events)
		}
		if st := r.Status(t.Context()); !st.OK {
			t.Errorf("the next caller got %+v", st)
		}
	})
}

func TestHealthAsksByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEngineRig(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); r.Run(ctx) }()
		synctest.Wait()
		if asked, _ := r.counts(); asked != 1 {
			t.Errorf("asked %d times at the start", asked)
		}
		r.set(core.EngineStatus{}, 0)
		<-time.After(healthPeriod)
		synctest.Wait()
		if asked, events := r.counts(); asked != 2 || events != 1 {
			t.Errorf("asked %d times, %d events, one period after the engine stopped", asked, events)
		}
		cancel()
		<-ended
	})
}
