package gate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"loop/backend/core"
)

// groupSaid is a person's answer to a group, and the calls that it is about.
type groupSaid struct {
	group   *group
	verdict core.GroupVerdict
}

// said counts the calls of a flood by what became of them.
type said struct{ denied, allowed, asked int }

func (n said) words() string {
	var out []string
	for _, one := range []struct {
		n    int
		what string
	}{{n.allowed, "allowed"}, {n.denied, "denied"}, {n.asked, "asked one by one"}} {
		if one.n > 0 {
			out = append(out, fmt.Sprint(one.n, " ", one.what))
		}
	}
	return strings.Join(out, ", ")
}

// answerGroups carries out what a person says to groups of a flood. All of it is done, or
// nothing. What is in no group that is named goes on waiting.
func (s *Service) answerGroups(id string, a core.ApprovalAnswer) (core.Approval, error) {
	card, list, err := s.claimGroups(id, a)
	if err != nil {
		return core.Approval{}, err
	}
	err = s.recordGroups(list, a)
	s.mu.Lock()
	defer s.mu.Unlock()
	card.taken = false
	if err != nil {
		return card.view, err
	}
	if s.open[id] == card {
		s.applyGroups(card, list, by(a))
	}
	return card.view, nil
}

// claimGroups finds the groups that are meant, and keeps others from answering.
func (s *Service) claimGroups(id string, a core.ApprovalAnswer) (*question, []groupSaid, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	card, err := s.find(id)
	switch {
	case err != nil:
		return nil, nil, err
	case card.view.Kind != core.ApprovalFlood || a.Scope != core.ScopeOnce || len(a.Groups) > maxGroups:
		return nil, nil, core.Fail(core.CodeInvalid, nil, "This question has no such groups.", "Look at it again, then answer.")
	case a.Digest != card.view.Digest:
		return nil, nil, otherGroups()
	}
	all := card.flood.groups()
	var list []groupSaid
	for _, one := range a.Groups {
		i := slices.IndexFunc(all, func(g *group) bool { return g.id() == one.ID })
		if i < 0 || slices.ContainsFunc(list, func(x groupSaid) bool { return x.group == all[i] }) {
			return nil, nil, otherGroups()
		}
		switch g := all[i]; {
		case one.Verdict == core.GroupDeny, one.Verdict == core.GroupAsk && !g.onceOnly(),
			one.Verdict == core.GroupAllowOnce && g.onceOnly(), one.Verdict == core.GroupAllowRun && !g.onceOnly():
			list = append(list, groupSaid{g, one.Verdict})
		default:
			return nil, nil, core.Fail(core.CodeForbidden, nil, "This group cannot be answered so.", "Choose one of the answers that it offers.")
		}
	}
	card.taken = true
	return card, list, nil
}

func otherGroups() error {
	return core.Fail(core.CodeConflict, core.ErrConflict,
		"The calls that wait are others than were shown.", "Look at the groups again, then answer.")
}

func (o groupSaid) outcome(by string) outcome {
	d := outcome{state: core.ApprovalDenied, scope: core.ScopeOnce, by: by, written: true}
	switch o.verdict {
	case core.GroupAllowOnce:
		d.state = core.ApprovalAllowed
	case core.GroupAllowRun:
		d.state, d.scope = core.ApprovalAllowed, core.ScopeRun
	}
	return d
}

// recordGroups writes answers down before they have any effect.
func (s *Service) recordGroups(list []groupSaid, a core.ApprovalAnswer) error {
	var records []Record
	s.mu.Lock()
	for _, one := range list {
		for _, q := range one.group.list {
			if one.verdict != core.GroupAsk {
				records = append(records, s.recordOfQuestion(q, one.outcome(by(a))))
			}
		}
	}
	s.mu.Unlock()
	for _, r := range records {
		if err := s.record(r); err != nil {
			return core.Fail(core.CodeDiskFull, err, "Loop could not write its record of decisions, so the answer was not taken.",
				"Check that the disk is not full, then answer again.")
		}
	}
	return nil
}

// applyGroups gives answers their effect on what still waits.
func (s *Service) applyGroups(card *question, list []groupSaid, by string) {
	f := card.flood
	for _, one := range list {
		d := one.outcome(by)
		if one.verdict == core.GroupAllowRun {
			if o := f.origin; len(s.memory.grants[o]) < maxGrants {
				s.memory.grants[o] = append(s.memory.grants[o], grant{outcome: unwritten(d), group: one.group.granted()})
			}
		}
		for _, q := range one.group.list {
			if f.parked[q.key] != q {
				continue
			}
			n := max(1, len(q.waiters))
			switch {
			case one.verdict == core.GroupAsk:
				f.said.asked += n
				delete(f.parked, q.key)
				s.parked--
				s.askAlone(q)
				continue
			case d.state == core.ApprovalAllowed:
				f.said.allowed += n
			default:
				f.said.denied += n
			}
			if d.scope == core.ScopeOnce {
				s.memory.keep(q.asker, q.act, d, s.tools.underWay(q), time.Now())
			}
			s.unpark(q, d)
		}
	}
	f.by = by
	// What came meanwhile and is covered is not asked once more.
	s.endAll(func(o *question) bool {
		_, known := s.memory.decided(o.asker, o.act, time.Now())
		return known && !o.taken
	}, outcome{state: core.ApprovalAllowed, scope: core.ScopeRun, by: "an answer of before"})
	s.endIdle(f)
	if s.open[card.view.ID] == card {
		s.describe(f)
		s.changedQuestion(card)
	}
}

// idleEnd is how a flood ends of which nothing waits any more.
func (f *flood) idleEnd() outcome {
	d := outcome{state: core.ApprovalAllowed, scope: core.ScopeOnce, by: f.by, reason: f.said.words()}
	switch {
	case f.said == said{}:
		return withdrawn()
	case f.said.allowed+f.said.asked == 0:
		d.state, d.reason = core.ApprovalDenied, ""
	}
	return d
}

func unwritten(d outcome) outcome {
	d.written = false
	return d
}

// askAlone asks about a call that was in a flood, by itself. It has been told of under its
// old id.
func (s *Service) askAlone(q *question) {
	q.flood, q.alone = nil, true
	q.view.ID = core.NewID()
	s.post(q)
}

// intoFlood takes the questions of a run that are open into its flood: one card stands for
// all. What is being answered, or was asked about alone on purpose, stays.
func (s *Service) intoFlood(f *flood) {
	for id, q := range s.open {
		if q.asker.origin() != f.origin || q.taken || q.alone || q.view.Kind == core.ApprovalFlood || f.parked[q.key] != nil {
			continue
		}
		delete(s.open, id)
		if q.timer != nil {
			q.timer.Stop()
			q.timer = nil
		}
		q.view.State, q.view.ResolvedAt = core.ApprovalGathered, s.o.Now()
		q.view.Deadline, q.end = time.Time{}, time.Time{}
		s.publish(s.event(core.EventGateResolved, q), true)
		q.view.State, q.view.ResolvedAt = core.ApprovalWaiting, time.Time{}
		f.parked[q.key], q.flood = q, f
		s.parked++
	}
}
