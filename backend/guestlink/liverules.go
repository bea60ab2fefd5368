package guestlink

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"loop/backend/core"
)

// setRulesWait bounds how long one program's supervisor may take to go by new rules.
const setRulesWait = 30 * time.Second

// liveRules has the spawns of one link go by the rules that count now, also those that
// began under others. Its goroutine is the link's.
type liveRules struct {
	wake chan struct{} // capacity 1

	mu      sync.Mutex
	by      map[core.SpawnID]ruled
	running map[core.SpawnID]bool // ran when the link was opened, or were started over it; false while they are
}

// ruled is a spawn whose rules can change.
type ruled struct {
	rules   func() ([]byte, error)
	hash    string // of the document that it has; empty where nobody knows
	version int64
}

func newLiveRules() *liveRules {
	return &liveRules{wake: make(chan struct{}, 1), by: map[core.SpawnID]ruled{}, running: map[core.SpawnID]bool{}}
}

// RulesChanged says that the rules may be others than before. It returns at once.
func (l *Link) RulesChanged() { l.rules.nudge() }

func (r *liveRules) nudge() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// admit takes in what a spawn goes by. It may run since an earlier link, under rules that
// have changed meanwhile.
func (r *liveRules) admit(id core.SpawnID, rules func() ([]byte, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rules == nil {
		delete(r.by, id)
		return
	}
	s := r.by[id]
	s.rules = rules
	r.by[id] = s
	r.nudge()
}

// found takes in what runs since an earlier link.
func (r *liveRules) found(all []core.SpawnInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, i := range all {
		if _, here := r.running[i.ID]; !here && i.Exit == nil {
			r.running[i.ID] = true
		}
	}
}

// unknown says that a spawn was admitted of which nobody knows whether it runs.
func (r *liveRules) unknown() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.by {
		if _, here := r.running[id]; !here {
			return true
		}
	}
	return false
}

// starts says that a spawn is being started. Until that is over its start alone gives it
// rules.
func (r *liveRules) starts(id core.SpawnID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running[id] = false
}

// began takes in the document that a spawn was started with. Without one it is not under
// the gate, and stays so.
func (r *liveRules) began(req core.SpawnRequest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running[req.ID] = true
	s, known := r.by[req.ID]
	switch {
	case !known:
		return
	case req.Policy == nil:
		delete(r.by, req.ID)
		return
	}
	s.hash, s.version = policyHead(0, req.Policy).Hash, req.PolicyVersion
	r.by[req.ID] = s
	r.nudge() // they may have changed while it was being started
}

func (r *liveRules) dismiss(id core.SpawnID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.by, id)
	delete(r.running, id)
}

// followRules gives spawns their new rules until the link is down.
func (l *Link) followRules() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for {
		select {
		case <-l.done:
			return
		case <-l.rules.wake:
			l.refreshRules(ctx)
		}
	}
}

// refreshRules gives each spawn the rules that count now. One that cannot have them keeps
// those that it has, which are whole.
func (l *Link) refreshRules(ctx context.Context) {
	if l.rules.unknown() {
		if all, err := l.Spawns(ctx); err == nil { // else the link is down, which ends this
			l.rules.found(all)
		}
	}
	l.rules.mu.Lock()
	all := maps.Clone(l.rules.by)
	maps.DeleteFunc(all, func(id core.SpawnID, _ ruled) bool { return !l.rules.running[id] })
	l.rules.mu.Unlock()
	for id, s := range all {
		doc, err := s.rules()
		if err != nil {
			l.opts.Log.Warn("a program keeps the rules it has", "container", string(l.id), "spawn", string(id), "err", err)
			continue
		}
		// Without a document the gate is off by now, which counts for programs to come.
		if doc == nil || policyHead(0, doc).Hash == s.hash {
			continue
		}
		if err := l.setRules(ctx, id, s, doc); err != nil {
			l.opts.Log.Warn("a program keeps the rules it has", "container", string(l.id), "spawn", string(id), "err", err)
		}
	}
}

// setRules gives a spawn one document. Its versions go by the clock, so that those of a
// Loop that takes it over are newer.
func (l *Link) setRules(ctx context.Context, id core.SpawnID, s ruled, doc []byte) error {
	ctx, cancel := context.WithTimeout(ctx, setRulesWait)
	defer cancel()
	version := max(s.version+1, time.Now().UnixMilli())
	_, err := l.SetPolicy(ctx, id, version, doc)
	if errors.Is(err, core.ErrNotFound) || errors.Is(err, core.ErrLinkDown) {
		return nil // it was not started yet, or is over: a start, and a new link, tell it again
	}
	if err != nil {
		return err
	}
	if l.opts.Gate != nil {
		l.opts.Gate.Renewed(id)
	}
	l.rules.mu.Lock()
	defer l.rules.mu.Unlock()
	if now, known := l.rules.by[id]; known {
		now.hash, now.version = policyHead(0, doc).Hash, version
		l.rules.by[id] = now
	}
	return nil
}
