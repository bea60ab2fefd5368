package gate

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"loop/backend/core"
	"loop/backend/policy"
	"loop/backend/wire"
)

const (
	// settling is how long a report waits for the tool call that it belongs to.
	settling = time.Second
	// gathering is how long calls that were only allowed are added up.
	gathering = 30 * time.Second
	// maxReports bounds the reports that wait, of all spawns, and maxEarly those of spawns
	// that nobody has named yet.
	maxReports = 512
	maxEarly   = 64
	// A supervisor tells two times a second; more than this is not taken.
	toldBurst     = 16
	toldPerSecond = 4
	// maxMissed bounds a number that the guest claims.
	maxMissed = 1 << 20
	// maxAge is the oldest that a decision can be which a live supervisor tells of.
	maxAge = time.Hour
)

// decided is what rules and earlier answers have decided, until it is written down and
// told. The service's lock guards it.
type decided struct {
	due      *time.Timer
	reports  []report
	early    []earlyReport
	tellers  map[core.SpawnID]*teller
	gone     map[core.SpawnID]gone
	gathered map[gatherKey]*gathered
	dropped  int64 // reports for which there was no room
}

// report is what came at one time from one spawn.
type report struct {
	who             *asker
	at              time.Time
	came            time.Time // by the steady clock
	policy          int64
	acts            []decision
	allowed         []wire.RuleCount
	unruled, others int64
	more, missed    int64
}

// decision is one act that was decided without a question.
type decision struct {
	act     wire.Approval
	record  Record
	written bool // the audit has it
	message string
	age     time.Duration // of the first of its calls, when it was told
}

type earlyReport struct {
	container core.ContainerID
	told      core.Told
	came      time.Time
}

// teller is what is known of a supervisor's reports.
type teller struct {
	last   uint64
	missed int64
	bucket bucket
}

type gone struct {
	who  *asker
	when time.Time
}

func newDecided() *decided {
	d := &decided{
		due: time.NewTimer(time.Hour), tellers: map[core.SpawnID]*teller{}, gone: map[core.SpawnID]gone{},
		gathered: map[gatherKey]*gathered{},
	}
	d.due.Stop()
	return d
}

// Told takes what a supervisor says of its own decisions. It is hostile: what cannot be
// read is only logged, and no call waits for it.
func (s *Service) Told(container core.ContainerID, t core.Told) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told(container, t, time.Now())
}

func (s *Service) told(container core.ContainerID, t core.Told, now time.Time) {
	d := s.decided
	who := s.askers[t.Spawn]
	if g, ok := d.gone[t.Spawn]; who == nil && ok && now.Sub(g.when) < remembered {
		who = g.who
	}
	switch {
	case who == nil:
		d.early = slices.DeleteFunc(d.early, func(e earlyReport) bool { return now.Sub(e.came) > admitHold })
		if len(d.early) < maxEarly {
			d.early = append(d.early, earlyReport{container, t, now})
		}
		return
	case who.Container != container:
		return // a spawn of another container is nobody here
	}
	from := d.tellers[t.Spawn]
	if from == nil {
		from = &teller{last: t.Number - 1, bucket: bucket{left: toldBurst, at: now}}
		d.tellers[t.Spawn] = from
	}
	if !from.bucket.take(now, toldBurst, toldPerSecond) {
		return // its number is missed
	}
	if t.Number > from.last {
		from.missed += int64(min(t.Number-from.last-1, maxMissed))
		from.last = t.Number
	}
	r, err := s.read(who, t)
	if err != nil {
		from.missed++
		s.o.Log.Warn("report of decisions cannot be read", "container", string(container), "spawn", string(t.Spawn), "err", err)
		return
	}
	r.missed, from.missed = from.missed, 0
	d.add(r)
}

// read makes a report of hostile bytes.
func (s *Service) read(who *asker, t core.Told) (report, error) {
	r := report{who: who, at: s.o.Now()}
	if t.Kind != wire.KindDecided || len(t.Detail) > wire.MaxDetail {
		return r, errors.New("unknown kind, or too long")
	}
	var d wire.Decisions
	if err := json.Unmarshal(t.Detail, &d); err != nil {
		return r, err
	}
	if err := d.Validate(); err != nil {
		return r, err
	}
	r.policy, r.allowed, r.unruled, r.others, r.more = d.Policy, d.Allowed, d.Unruled, d.AllowedMore, d.Uncounted
	for _, one := range d.Denied {
		a := wire.Approval{Kind: one.Kind, Operation: one.Operation, Target: one.Target, Rule: one.Rule, Category: one.Category,
			Call: one.Call, Policy: d.Policy, Processes: one.Processes}
		if !slices.Contains(kinds, a.Kind) || !slices.Contains(categories, policy.Category(a.Category)) {
			return r, errors.New("unknown kind or category")
		}
		age := min(time.Duration(one.AgeMs)*time.Millisecond, maxAge)
		d := outcome{state: core.ApprovalDenied, by: byRule(a.Rule)}
		if one.Allowed {
			d.state = core.ApprovalAllowed
		}
		rec := s.recordOf(who, a, d, 0, int(one.Calls))
		rec.At = r.at.Add(-age)
		r.acts = append(r.acts, decision{act: a, record: rec, message: core.Shortened(one.Message, 500), age: age})
	}
	return r, nil
}

func byRule(rule string) string {
	if rule == "" {
		return "the default"
	}
	return "a rule"
}

// add has a report settle.
func (d *decided) add(r report) {
	r.came = time.Now()
	if len(d.reports) >= maxReports {
		d.dropped++
		return
	}
	d.reports = append(d.reports, r)
	if len(d.reports) == 1 {
		d.soon()
	}
}

// soon has Run look at the reports.
func (d *decided) soon() { d.due.Reset(settling) }

// admit takes in what a spawn has told before it was known.
func (s *Service) admitEarly(spawn core.SpawnID) {
	var mine []earlyReport
	s.decided.early = slices.DeleteFunc(s.decided.early, func(e earlyReport) bool {
		if e.told.Spawn == spawn {
			mine = append(mine, e)
		}
		return e.told.Spawn == spawn
	})
	for _, e := range mine {
		s.told(e.container, e.told, time.Now())
	}
}

// dismiss keeps a spawn for the reports that are still on their way.
func (d *decided) dismiss(who *asker, now time.Time) {
	for id, g := range d.gone {
		if now.Sub(g.when) >= remembered {
			delete(d.gone, id)
			delete(d.tellers, id)
		}
	}
	d.gone[who.spawn] = gone{who, now}
}
