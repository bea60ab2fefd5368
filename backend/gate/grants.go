package gate

import (
	"regexp"
	"slices"
	"time"

	"loop/backend/core"
	"loop/backend/policy"
	"loop/backend/wire"
)

// Bounds of what is remembered of one run, and of all. What is over them is asked
// again.
const (
	maxGrants   = 1000
	maxRepeats  = 4096
	repeatsLast = 10 * time.Second
)

// memory holds the answers that reach further than the call they were given to.
type memory struct {
	repeats map[string]repeat // by sameCall
	grants  map[origin][]grant
	// stored are rules that were given to the settings after spawns that still run were
	// started: their supervisors ask, because they do not know them.
	stored   []grant
	admitted int64 // how many spawns were, so far
}

// repeat is an answer once, which holds for the same call until its tool has ended, and
// for repeatsLast at most after it was asked last.
type repeat struct {
	outcome
	origin origin
	run    core.RunID
	tool   string // empty: it is not known, and asking does not move until
	until  time.Time
}

// repeatable says that an answer once may hold for the same call again: a denial may,
// and what is allowed where that makes exactly what was shown once more.
func repeatable(a wire.Approval, state core.ApprovalState) bool {
	if state != core.ApprovalAllowed {
		return true
	}
	promised := a.After != nil && a.After.SHA256 != ""
	switch {
	case never(a), a.InPlace, a.Kind == wire.KindExec:
		return false
	case a.Kind == wire.KindFile && a.Operation == string(policy.Write):
		return promised
	}
	return true
}

// temporary is the name of the file that the agent CLI writes before it renames it.
var temporary = regexp.MustCompile(`^(/.+)\.tmp\.[0-9]+\.[0-9a-f]+$`)

// keepRepeat remembers an answer once. Where the agent CLI may not make its temporary
// file it writes to the file itself: whoever denied the one has denied the other.
func (m *memory) keepRepeat(a wire.Approval, r repeat) {
	if !repeatable(a, r.state) || len(m.repeats) >= maxRepeats {
		return
	}
	m.repeats[sameCall(r.origin, a)] = r
	if of := temporary.FindStringSubmatch(a.Target); of != nil && r.state != core.ApprovalAllowed && writes(a) {
		m.repeats[instead(r.origin, of[1])] = r
	}
}

func writes(a wire.Approval) bool {
	return a.Kind == wire.KindFile && (a.Operation == string(policy.Write) || a.Operation == string(policy.Create))
}

// instead names the writing of a file in place of that of its temporary file.
func instead(o origin, target string) string {
	return hashed("instead", string(o.container), o.source, target)
}

// repeated finds the answer once that holds for a call.
func (m *memory) repeated(o origin, a wire.Approval, now time.Time) (outcome, bool) {
	keys := []string{sameCall(o, a)}
	if a.InPlace && writes(a) {
		keys = append(keys, instead(o, a.Target))
	}
	for _, key := range keys {
		if r, ok := m.repeats[key]; ok && now.Before(r.until) {
			if r.tool != "" {
				r.until = now.Add(repeatsLast)
				m.repeats[key] = r
			}
			r.by = "the answer to the same call"
			return r.outcome, true
		}
	}
	return outcome{}, false
}

// grant is an answer for a run, a project or everything.
type grant struct {
	outcome
	channel core.ChannelID // of a project's
	before  int64          // of a stored rule: spawns that were admitted later have it in their policy
	act     wire.Approval
	group   *grantedGroup // for a run: all that its pattern covers, instead of act
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
			if !now.Before(r.until) {
				delete(m.repeats, key)
			}
		}
		m.keepRepeat(a, repeat{d, who.origin(), who.RunID, tool, now.Add(repeatsLast)})
	case core.ScopeRun:
		if of := m.grants[who.origin()]; len(of) < maxGrants {
			m.grants[who.origin()] = append(of, grant{outcome: d, act: a})
		}
	default:
		if len(m.stored) < maxGrants {
			m.stored = append(m.stored, grant{outcome: d, channel: who.ChannelID, before: m.admitted, act: a})
		}
	}
}

// decided says what an earlier answer says of a call.
func (m *memory) decided(who *asker, a wire.Approval, now time.Time) (outcome, bool) {
	if d, ok := m.repeated(who.origin(), a, now); ok {
		return d, true
	}
	for _, g := range m.grants[who.origin()] {
		if g.covers(a) {
			g.by = "an answer for this run"
			return g.outcome, true
		}
	}
	for _, g := range m.stored {
		if who.nth <= g.before && (g.scope == core.ScopeAlways || g.channel == who.ChannelID) && g.covers(a) {
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
	if g.group != nil {
		return g.group.covers(a)
	}
	was := g.act
	if never(a) && g.state == core.ApprovalAllowed || was.Kind != a.Kind || a.Act == "" || was.Act != a.Act || was.Operation != a.Operation ||
		objectOf(was) != objectOf(a) || was.Category != a.Category {
		return false
	}
	promised := a.After != nil && was.After != nil && writes(a)
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

// unfollowed forgets what holds until the end of any tool call: that was not heard of.
func (m *memory) unfollowed() {
	for key, r := range m.repeats {
		if r.tool != "" {
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
	object    string
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
	r[ch] = append(list, past{at, a.Kind, a.Operation, core.Shortened(a.Target, 200), core.Shortened(objectOf(a), 200), d})
}
