package runner

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"loop/backend/core"
)

var (
	errFault   = errors.New("database is locked")
	errCrashed = errors.New("this launch of Loop is dead")
)

// faultStore is a store with one faulty call, before or after the call took effect.
// With crash, this launch of Loop does nothing more after it.
type faultStore struct {
	real Store

	mu         sync.Mutex
	calls      int
	at         int // the faulty call, counted from 1
	after      bool
	crash      bool
	dead       bool
	died       func()
	sites      *sites   // where faults were
	calledFrom []string // place of each call, when record is set
	record     bool
	// then is a place whose first call after that fault fails too, before it took
	// effect.
	then      string
	thenCrash bool
}

// sites are the places in the source with a faulty call, over all stories.
type sites struct{ sync.Map }

func (s *sites) add(place string)      { s.Store(place, true) }
func (s *sites) has(place string) bool { _, ok := s.Load(place); return ok }

// enter counts a call and notes its place in the runner's own source.
func (f *faultStore) enter() (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return 0, errCrashed
	}
	f.calls++
	if f.record {
		f.calledFrom = append(f.calledFrom, caller())
	}
	if f.then != "" && f.calls > f.at && caller() == f.then {
		f.sites.add(f.then)
		f.then, f.crash = "", f.thenCrash
		return f.calls, f.fail()
	}
	if f.calls == f.at {
		f.sites.add(caller())
		if !f.after {
			return f.calls, f.fail()
		}
	}
	return f.calls, nil
}

func (f *faultStore) leave(n int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return errCrashed
	}
	if n == f.at && f.after {
		return f.fail()
	}
	return nil
}

func (f *faultStore) fail() error {
	if !f.crash {
		return errFault
	}
	f.dead = true
	f.died()
	return errCrashed
}

func (f *faultStore) isDead() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.dead
}

// caller returns the place in the runner's own source that made the call.
func caller() string {
	pc := make([]uintptr, 20)
	frames := runtime.CallersFrames(pc[:runtime.Callers(3, pc)])
	for {
		fr, more := frames.Next()
		if strings.Contains(fr.File, "/backend/runner/") && !strings.HasSuffix(fr.File, "_test.go") {
			return filepath.Base(fr.File) + ":" + strconv.Itoa(fr.Line)
		}
		if !more {
			return ""
		}
	}
}

// do makes one call of the real store.
func (f *faultStore) do(call func() error) error {
	n, err := f.enter()
	if err != nil {
		return err
	}
	if err := call(); err != nil {
		return err
	}
	return f.leave(n)
}

func (f *faultStore) Channel(ctx context.Context, id core.ChannelID) (v core.Channel, err error) {
	err = f.do(func() (err error) { v, err = f.real.Channel(ctx, id); return })
	return
}
func (f *faultStore) Run(ctx context.Context, id core.RunID) (v core.Run, err error) {
	err = f.do(func() (err error) { v, err = f.real.Run(ctx, id); return })
	return
}
func (f *faultStore) Queue(ctx context.Context, ch core.ChannelID) (v []core.Run, err error) {
	err = f.do(func() (err error) { v, err = f.real.Queue(ctx, ch); return })
	return
}
func (f *faultStore) QueueLengths(ctx context.Context) (v map[core.ChannelID]int, err error) {
	err = f.do(func() (err error) { v, err = f.real.QueueLengths(ctx); return })
	return
}
func (f *faultStore) ActiveRuns(ctx context.Context) (v []core.Run, err error) {
	err = f.do(func() (err error) { v, err = f.real.ActiveRuns(ctx); return })
	return
}
func (f *faultStore) Enqueue(ctx context.Context, run core.Run, evs ...core.Event) (v core.Run, out []core.Event, made bool, err error) {
	err = f.do(func() (err error) { v, out, made, err = f.real.Enqueue(ctx, run, evs...); return })
	return
}
func (f *faultStore) ClaimNext(ctx context.Context, ch core.ChannelID) (v core.Run, ok bool, err error) {
	err = f.do(func() (err error) { v, ok, err = f.real.ClaimNext(ctx, ch); return })
	return v, ok && err == nil, err
}
func (f *faultStore) UpdateRun(ctx context.Context, run core.Run, evs ...core.Event) (out []core.Event, err error) {
	err = f.do(func() (err error) { out, err = f.real.UpdateRun(ctx, run, evs...); return })
	return
}
func (f *faultStore) AppendEvents(ctx context.Context, id core.RunID, from, to int64, evs ...core.Event) (out []core.Event, err error) {
	err = f.do(func() (err error) { out, err = f.real.AppendEvents(ctx, id, from, to, evs...); return })
	return
}
func (f *faultStore) FinishRun(ctx context.Context, run core.Run, evs ...core.Event) (out []core.Event, err error) {
	err = f.do(func() (err error) { out, err = f.real.FinishRun(ctx, run, evs...); return })
	return
}
func (f *faultStore) SessionModel(ctx context.Context, ch core.ChannelID, id core.SessionID) (asked, usual string, err error) {
	err = f.do(func() (err error) { asked, usual, err = f.real.SessionModel(ctx, ch, id); return })
	return
}

func (f *faultStore) SessionCost(ctx context.Context, id core.SessionID) (v float64, err error) {
	err = f.do(func() (err error) { v, err = f.real.SessionCost(ctx, id); return })
	return
}
func (f *faultStore) ModelRates(ctx context.Context) (v map[string]core.ModelRate, err error) {
	err = f.do(func() (err error) { v, err = f.real.ModelRates(ctx); return })
	return
}
func (f *faultStore) SetChannelSession(ctx context.Context, ch core.ChannelID, demo bool, id core.SessionID) error {
	return f.do(func() error { return f.real.SetChannelSession(ctx, ch, demo, id) })
}
func (f *faultStore) SetChannelNext(ctx context.Context, ch core.ChannelID, demo bool, next core.SessionStart, by core.RunID) error {
	return f.do(func() error { return f.real.SetChannelNext(ctx, ch, demo, next, by) })
}
func (f *faultStore) EditQueued(ctx context.Context, id core.RunID, prompt string, evs ...core.Event) (v core.Run, out []core.Event, err error) {
	err = f.do(func() (err error) { v, out, err = f.real.EditQueued(ctx, id, prompt, evs...); return })
	return
}
func (f *faultStore) HoldQueued(ctx context.Context, id core.RunID, until time.Time) (v core.Run, err error) {
	err = f.do(func() (err error) { v, err = f.real.HoldQueued(ctx, id, until); return })
	return
}
func (f *faultStore) ReorderQueue(ctx context.Context, ch core.ChannelID, ids []core.RunID) (v []core.Run, err error) {
	err = f.do(func() (err error) { v, err = f.real.ReorderQueue(ctx, ch, ids); return })
	return
}
func (f *faultStore) PromoteQueued(ctx context.Context, id core.RunID) (v core.Run, err error) {
	err = f.do(func() (err error) { v, err = f.real.PromoteQueued(ctx, id); return })
	return
}
func (f *faultStore) AnswerQuestion(ctx context.Context, id string, a core.Answer, cont *core.Run, evs ...core.Event) (q core.Question, v core.Run, out []core.Event, err error) {
	err = f.do(func() (err error) { q, v, out, err = f.real.AnswerQuestion(ctx, id, a, cont, evs...); return })
	return
}
func (f *faultStore) Question(ctx context.Context, id string) (v core.Question, err error) {
	err = f.do(func() (err error) { v, err = f.real.Question(ctx, id); return })
	return
}
func (f *faultStore) OpenQuestions(ctx context.Context, ch core.ChannelID) (v []core.Question, err error) {
	err = f.do(func() (err error) { v, err = f.real.OpenQuestions(ctx, ch); return })
	return
}
