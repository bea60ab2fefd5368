package gate

import (
	"slices"
	"time"

	"loop/backend/core"
	"loop/backend/wire"
)

// Bounds of what is remembered of one run, and of all. What is over them is asked
// again.
const (
	maxGrants   = 1000
	maxRepeats  = 4096
	repeatsLast = 10 * time.Second // where the tool call that caused them is not known
)

// memory holds the answers that reach further than the call they were given to.
type memory struct {
	repeats map[string]repeat // by sameCall
	grants  map[origin][]grant
	// stored are rules that were given to the settings after spawns that still run were
	// started: their supervisors ask, because they do not know them.
	stored []grant
}

// repeat is an answer once, which holds for the same call until its tool has ended.
type repeat struct {
	outcome
	origin origin
	run    core.RunID
	tool   string // empty: until the time below
	until  time.Time
}

// grant is an answer for a run, a project or everything.
type grant struct {
	outcome
	channel core.ChannelID // of a project's
	act     wire.Approval
}

func newMemory() memory {
	return memory{repeats: map[string]repeat{}, grants: map[origin][]grant{}}
}

// keep remembers an answer.
func (m *memory) keep(who *asker, a wire.Approval, d outcome, tool string, now time.Time) {
	d.written = false
	if a.Act == "" {
		return // nothing is known to be the same
	}
	switch d.scope {
	case core.ScopeOnce:
		for key, r := range m.repeats {
			if r.tool == "" && now.After(r.until) {
				delete(m.repeats, key)
			}
		}
		if len(m.repeats) < maxRepeats {
			m.repeats[sameCall(who.origin(), a)] = repeat{d, who.origin(), who.RunID, tool, now.Add(repeatsLast)}
		}
	case core.ScopeRun:
		if of := m.grants[who.origin()]; len(of) < maxGrants {
			m.grants[who.origin()] = append(of, grant{d, "", a})
		}
	default:
		if len(m.stored) < maxGrants {
			m.stored = append(m.stored, grant{d, who.ChannelID, a})
		}
	}
}

// decided says what an earlier answer says of a call.
func (m *memory) decided(who *asker, a wire.Approval, now time.Time) (outcome, bool) {
	if r, ok := m.repeats[sameCall(who.origin(), a)]; ok && (r.tool != "" || now.Before(r.until)) {
		r.by = "the answer to the same call"
		return r.outcome, true
	}
	for _, g := range m.grants[who.origin()] {
		if g.covers(a) {
			g.by = "an answer for this run"
			return g.outcome, true
		}
	}
	for _, g := range m.stored {
		if (g.scope == core.ScopeAlways || g.channel == who.ChannelID) && g.covers(a) {
			g.by = "a remembered rule"
			return g.outcome, true
		}
	}
	return outcome{}, false
}

// covers: an answer holds for the same act on the same object. Where the act changes
// the object that is there, that is also the same inode: a file that was put into its
// place is another. A program is the file and not only what it is called; where a name
// comes from counts, unless the supervisor promises what will be there.
func (g grant) covers(a wire.Approval) bool {
	was := g.act
	if never(a) && g.state == core.ApprovalAllowed || was.Kind != a.Kind || a.Act == "" || was.Act != a.Act || was.Operation != a.Operation ||
		was.Target != a.Target || was.Category != a.Category {
		return false
	}
	promised := a.After != nil && was.After != nil
	switch {
	case a.From != was.From && (a.Kind != wire.KindFile || !promised):
		return false // another program, or whatever lies under another name
	case a.Kind == wire.KindExec:
		return a.Identity == was.Identity
	}
	return g.scope != core.ScopeRun || promised || a.Identity == was.Identity
}

// ended forgets what holds until the end of a tool call.
func (m *memory) ended(run core.RunID, tool string) {
	for key, r := range m.repeats {
		if r.run == run && r.tool == tool {
			delete(m.repeats, key)
		}
	}
}

// endedRun forgets a run.
func (m *memory) endedRun(run core.RunID) {
	for key, r := range m.repeats {
		if r.run == run {
			delete(m.repeats, key)
		}
	}
	for o := range m.grants {
		if o.source == string(run) {
			delete(m.grants, o)
		}
	}
}

// forget forgets an origin.
func (m *memory) forget(o origin) {
	for key, r := range m.repeats {
		if r.origin == o {
			delete(m.repeats, key)
		}
	}
	delete(m.grants, o)
}

// recentSize is how many decisions of a channel are kept to look for matches in.
const recentSize = 500

// maxChannels bounds the channels that are kept.
const maxChannels = 256

// recent are the latest decisions by channel, newest last.
type recent map[core.ChannelID][]past

type past struct {
	at        time.Time
	kind      string
	operation string
	target    string
	decision  core.ApprovalState
}

func (r recent) add(ch core.ChannelID, a wire.Approval, d core.ApprovalState, at time.Time) {
	list, known := r[ch]
	if !known && len(r) >= maxChannels {
		for other := range r {
			delete(r, other)
			break
		}
	}
	if len(list) >= recentSize {
		list = slices.Delete(list, 0, len(list)-recentSize+1)
	}
	r[ch] = append(list, past{at, a.Kind, a.Operation, core.Shortened(a.Target, 200), d})
}
