//go:build linux

package supervise

import (
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"loop/backend/policy"
	"loop/backend/wire"
)

const (
	// patience is how long calls that were only allowed are counted before the host is
	// told, in steps of wire.TellEvery: nobody waits for them.
	patience = 10
	// maxNamed bounds the processes that are named of a denied call, besides the spawn's
	// program and the one that it started.
	maxNamed = 4
	// roomToTell bounds the denials of one report, as JSON.
	roomToTell = wire.MaxDetail * 3 / 4
)

// ruling is what the policy alone has decided of a call.
type ruling struct {
	verdict policy.Verdict
	what    *question // nil where no rule covers the call
}

// ruled remembers what the policy has decided of an attempt. about names the call.
func (c *call) ruled(v policy.Verdict, about func() *question) {
	c.ruling = &unruled
	if v.Rule == "" && rank(v.Decision) == 0 {
		return
	}
	if r := c.refused; rank(v.Decision) == 2 && r.path != "" && r.rule == v.Rule {
		c.ruling = &ruling{v, &question{kind: wire.KindFile, op: r.op, target: r.path}}
		return
	}
	c.brief = true
	q := about()
	c.brief = false
	q.unpin()
	c.ruling = &ruling{v, q}
}

// unruled is shared by all calls that no rule covers: they are the most.
var unruled ruling

type ruleOperation struct{ rule, operation string }

type denialKey struct{ rule, operation, target string }

// tally counts decisions until the host is told of them.
type tally struct {
	s       *Supervisor
	unruled atomic.Int64
	wake    chan struct{} // something was counted
	telling sync.Mutex

	mu      sync.Mutex
	allowed map[ruleOperation]int64
	denied  map[denialKey]*wire.Denial
	order   []denialKey // oldest first
	first   map[denialKey]time.Time
	more    int64 // denied calls beyond the bound
	others  int64 // allowed ones beyond it
}

func newTally(s *Supervisor) *tally {
	t := &tally{s: s, wake: make(chan struct{}, 1)}
	t.empty()
	s.wg.Add(1)
	go func() { defer s.wg.Done(); t.run() }()
	return t
}

func (t *tally) empty() {
	t.allowed, t.denied, t.first = map[ruleOperation]int64{}, map[denialKey]*wire.Denial{}, map[denialKey]time.Time{}
	t.order, t.more, t.others = nil, 0, 0
}

// count takes in how a call was decided, if that was by the policy.
func (t *tally) count(c *call) {
	r := c.ruling
	switch {
	case r == nil || t.s.options.Tell == nil:
	case r.what == nil:
		if t.unruled.Add(1) == 1 {
			t.nudge()
		}
	case rank(r.verdict.Decision) == 0 && onlyWould(r.verdict.Rule) && t.list(c, r):
	case rank(r.verdict.Decision) == 0:
		t.allow(ruleOperation{cut(r.verdict.Rule, wire.MaxRuleID), r.what.operation()})
	default:
		t.deny(c, r)
	}
}

func (t *tally) allow(k ruleOperation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.allowed[k] == 0 && len(t.allowed) >= wire.MaxRuleCounts {
		t.others++
	} else {
		t.allowed[k]++
	}
	t.nudge()
}

// onlyWould tells whether a rule only says what it would have done.
func onlyWould(rule string) bool {
	return strings.HasPrefix(rule, policy.WouldAsk) || strings.HasPrefix(rule, policy.WouldDeny)
}

// list lists a call that was only allowed because its rule does not hold yet, where that
// leaves half of the room to denials.
func (t *tally) list(c *call, r *ruling) bool {
	t.mu.Lock()
	room := t.denied[keyOf(r)] != nil || len(t.denied) < wire.MaxDenials/2
	t.mu.Unlock()
	if room {
		t.deny(c, r)
	}
	return room
}

func keyOf(r *ruling) denialKey {
	return denialKey{cut(r.verdict.Rule, wire.MaxRuleID), r.what.operation(), cut(r.what.target, wire.MaxToldTarget)}
}

// deny lists a call, or counts it where it is listed already.
func (t *tally) deny(c *call, r *ruling) {
	k := keyOf(r)
	defer t.nudge()
	allowed := rank(r.verdict.Decision) == 0
	if t.known(k, nil, allowed) {
		return
	}
	d := &wire.Denial{Kind: r.what.kind, Operation: k.operation, Target: k.target, Rule: k.rule, Category: string(r.verdict.Category),
		Message: cut(r.verdict.Message, wire.MaxCommand), Call: c.name, Calls: 1, Allowed: allowed}
	chain := c.chain()
	for i, p := range chain {
		most := wire.MaxCommand
		if i == len(chain)-2 {
			most = wire.MaxShell
		}
		if i < maxNamed || i >= len(chain)-2 {
			p.Exe, p.Command = cut(p.Exe, wire.MaxCommand), cut(p.Command, most)
			d.Processes = append(d.Processes, p)
		}
	}
	t.known(k, d, allowed) // another thread may have been faster
}

// known counts a call that is listed already, or for which there is no room. One
// that is neither is listed as fresh, if that is given.
func (t *tally) known(k denialKey, fresh *wire.Denial, allowed bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch d := t.denied[k]; {
	case d != nil:
		d.Calls++
	case len(t.denied) >= wire.MaxDenials && allowed:
		t.others++
	case len(t.denied) >= wire.MaxDenials:
		t.more++
	case fresh == nil:
		return false
	default:
		t.denied[k], t.first[k] = fresh, time.Now()
		t.order = append(t.order, k)
	}
	return true
}

// operation is what a question is about, also where it is not about a file.
func (q *question) operation() string {
	switch q.kind {
	case wire.KindExec:
		return "run"
	case wire.KindConnect:
		return "connect"
	}
	return string(q.op)
}

func (t *tally) nudge() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// run tells of what was counted, of denials soon, until the end.
func (t *tally) run() {
	defer t.tell()
	step := time.NewTimer(0)
	defer step.Stop()
	<-step.C
	for {
		select {
		case <-t.s.stop:
			return
		case <-t.wake: // sleeps here while nothing is counted
		}
		for waited := 0; waited == 0 || waited < patience && !t.urgent(); waited++ {
			step.Reset(wire.TellEvery * time.Millisecond)
			select {
			case <-t.s.stop:
				return
			case <-step.C:
			}
		}
		t.tell()
	}
}

func (t *tally) urgent() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.denied) > 0
}

// Flush tells at once of what was decided until now.
func (s *Supervisor) Flush() { s.tally.tell() }

// tell hands on what was counted. What does not fit one report is of the next.
func (t *tally) tell() {
	t.telling.Lock()
	defer t.telling.Unlock()
	for {
		d, rest := t.take()
		if d.Unruled+d.Uncounted+d.AllowedMore > 0 || len(d.Allowed)+len(d.Denied) > 0 {
			t.s.options.Tell(d)
		}
		if !rest {
			return
		}
	}
}

func (t *tally) take() (d wire.Decisions, rest bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	d = wire.Decisions{Policy: t.s.view.Load().version, Unruled: t.unruled.Swap(0), Uncounted: t.more, AllowedMore: t.others}
	for k, n := range t.allowed {
		d.Allowed = append(d.Allowed, wire.RuleCount{Rule: k.rule, Operation: k.operation, Calls: n})
	}
	clear(t.allowed)
	t.more, t.others = 0, 0
	size := 0
	for len(t.order) > 0 {
		k := t.order[0]
		one := t.denied[k]
		one.AgeMs = time.Since(t.first[k]).Milliseconds()
		raw, err := json.Marshal(one)
		if err != nil { // strings and numbers alone
			raw = nil
		}
		if size += len(raw); size > roomToTell && len(d.Denied) > 0 {
			return d, true
		}
		d.Denied = append(d.Denied, *one)
		delete(t.denied, k)
		delete(t.first, k)
		t.order = t.order[1:]
	}
	return d, false
}

// cut is a text of at most n bytes, also after it went through JSON.
func cut(s string, n int) string { return strings.ToValidUTF8(s[:min(len(s), n)], "?") }
