package gate

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"loop/backend/core"
	"loop/backend/wire"
)

// Bounds of one event; what is over them is only counted in it.
const (
	maxDecisions = 40
	maxRules     = 40
)

// gatherKey is what decisions are added up for.
type gatherKey struct {
	spawn core.SpawnID
	tool  string
}

// gathered are decisions that are told together.
type gathered struct {
	who                *asker
	began              time.Time // by the steady clock
	at                 time.Time
	policy             int64
	acts               []decision
	rules              map[wire.RuleCount]int64 // by rule and operation
	unruled            int64
	others, more, lost int64
	urgent             bool
}

// settleDecided joins reports to tool calls, and writes down and tells what is due; all
// of it with last.
func (s *Service) settleDecided(last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, now := s.decided, time.Now()
	rest := d.reports[:0]
	for _, r := range d.reports {
		if last || now.Sub(r.came) >= settling {
			s.joinReport(r)
		} else {
			rest = append(rest, r)
		}
	}
	clear(d.reports[len(rest):])
	d.reports = rest
	for k, g := range d.gathered {
		ended := s.askers[k.spawn] == nil
		if last || g.urgent || ended || now.Sub(g.began) >= gathering {
			delete(d.gathered, k)
			s.conclude(k, g)
		}
	}
	switch {
	case len(d.reports) > 0:
		d.due.Reset(settling)
	case len(d.gathered) > 0:
		d.due.Reset(gathering)
	}
}

func (s *Service) joinReport(r report) {
	run := r.who.RunID
	for _, one := range r.acts {
		tool := s.tools.cause(run, &one.act, r.at.Add(-one.age))
		g := s.gather(r, tool)
		g.urgent = true
		g.decided(one)
	}
	counted := r.unruled+r.others+r.more+r.missed > 0 || len(r.allowed) > 0
	if !counted {
		return
	}
	g := s.gather(r, s.tools.cause(run, nil, r.at))
	for _, c := range r.allowed {
		g.rules[wire.RuleCount{Rule: c.Rule, Operation: c.Operation}] += c.Calls
	}
	g.unruled += r.unruled
	g.others += r.others
	g.more += r.more
	g.lost += r.missed
	g.urgent = g.urgent || r.more > 0
}

func (s *Service) gather(r report, tool string) *gathered {
	k := gatherKey{r.who.spawn, tool}
	g := s.decided.gathered[k]
	if g == nil {
		g = &gathered{who: r.who, began: time.Now(), at: r.at, rules: map[wire.RuleCount]int64{}}
		s.decided.gathered[k] = g
	}
	g.policy = max(g.policy, r.policy)
	return g
}

// decided adds an act, to an equal one where there is one.
func (g *gathered) decided(one decision) {
	i := slices.IndexFunc(g.acts, func(o decision) bool {
		a, b := o.record, one.record
		return o.written == one.written && a.Kind == b.Kind && a.Operation == b.Operation && a.Target == b.Target && a.Rule == b.Rule &&
			a.Decision == b.Decision && a.By == b.By
	})
	if i >= 0 && !one.written {
		g.acts[i].record.Calls += one.record.Calls
		return
	}
	g.acts = append(g.acts, one)
}

// conclude writes what was gathered down and tells it.
func (s *Service) conclude(k gatherKey, g *gathered) {
	nameless := g.more // denied calls that are only counted in the record
	for i, one := range g.acts {
		g.acts[i].record.Tool = k.tool
		if one.written {
			continue
		}
		s.recent.add(g.who.ChannelID, one.act, core.ApprovalState(one.record.Decision), one.record.At)
		if !s.settles.spend(g.who.origin(), time.Now()) {
			nameless += int64(one.record.Calls)
			continue
		}
		s.out = append(s.out, outgoing{record: g.acts[i].record})
	}
	e := core.GateDecisions{ChannelID: g.who.ChannelID, RunID: g.who.RunID, SpawnID: k.spawn, ToolUseID: k.tool,
		Unruled: g.unruled, More: g.more, Missed: g.lost, Allowed: g.others}
	for _, c := range slices.SortedFunc(maps.Keys(g.rules), func(a, b wire.RuleCount) int {
		return cmp.Or(cmp.Compare(g.rules[b], g.rules[a]), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Operation, b.Operation))
	}) {
		n := g.rules[c]
		e.Allowed += n
		if len(e.Rules) < maxRules {
			e.Rules = append(e.Rules, core.GateCount{Rule: c.Rule, Operation: c.Operation, Calls: n})
		}
		s.out = append(s.out, outgoing{record: s.countOf(k, g, core.ApprovalAllowed, c.Rule, c.Operation, n)})
	}
	if n := g.unruled + g.others; n > 0 {
		s.out = append(s.out, outgoing{record: s.countOf(k, g, core.ApprovalAllowed, "", "", n)})
	}
	if nameless > 0 {
		s.out = append(s.out, outgoing{record: s.countOf(k, g, core.ApprovalDenied, "", "", nameless)})
	}
	s.nudge()
	e.Decisions, e.More = listed(g.acts, e.More)
	if g.who.RunID != "" && (e.Allowed > 0 || len(e.Decisions) > 0 || e.More > 0 || e.Missed > 0) {
		s.publish(core.NewEvent(core.EventGateDecided, g.who.ChannelID, g.who.RunID, g.at, e), true)
	}
}

// countOf is the record of calls that are only counted.
func (s *Service) countOf(k gatherKey, g *gathered, state core.ApprovalState, rule, operation string, n int64) Record {
	return Record{At: s.o.Now(), Channel: string(g.who.ChannelID), Run: string(g.who.RunID), Spawn: string(k.spawn), Kind: kindCounted,
		Operation: operation, Rule: rule, Decision: string(state), By: byRule(rule), Calls: int(n), Policy: strconv.FormatInt(g.policy, 10),
		ID: core.NewID(), Tool: k.tool}
}

// kindCounted is the kind of a record that counts calls and names none.
const kindCounted = "counted"

// listed are the acts for an event. Equal ones are one, and what is over the bound is
// added to more where it was denied.
func listed(acts []decision, more int64) ([]core.GateDecision, int64) {
	var out []core.GateDecision
	for _, one := range acts {
		r := one.record
		d := core.GateDecision{
			ID: r.ID, At: r.At, State: core.ApprovalState(r.Decision), By: r.By, Kind: core.ApprovalKind(r.Kind), Operation: r.Operation,
			Target: core.Shortened(r.Target, 500), Rule: r.Rule, Category: r.Category, Message: one.message, Process: r.Command,
			Calls: int64(r.Calls),
		}
		i := slices.IndexFunc(out, func(o core.GateDecision) bool {
			return o.State == d.State && o.By == d.By && o.Kind == d.Kind && o.Operation == d.Operation && o.Target == d.Target && o.Rule == d.Rule
		})
		switch {
		case i >= 0:
			out[i].Calls += d.Calls
		case len(out) < maxDecisions:
			out = append(out, d)
		case d.State == core.ApprovalDenied:
			more += d.Calls
		}
	}
	return out, more
}
