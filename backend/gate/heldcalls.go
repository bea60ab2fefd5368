package gate

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"loop/backend/core"
	"loop/backend/wire"
)

// question is one act that waits, for itself or behind a flood.
type question struct {
	view    core.Approval
	act     wire.Approval
	asker   *asker
	key     string // sameQuestion
	flood   *flood // it waits behind this one, unseen; or is its card
	waiters map[*waiter]struct{}
	taken   bool // an answer is being carried out
	alone   bool // the person wanted to be asked about it by itself
	asked   time.Time
	end     time.Time // by the steady clock; zero: it waits without an end
	timer   *time.Timer
}

// waiter is one held call.
type waiter struct {
	q    *question
	done chan core.Verdict // capacity 1
}

// outcome is how a question ends.
type outcome struct {
	state  core.ApprovalState
	scope  core.ApprovalScope
	by     string
	reason string

	written bool // the audit has it
}

func withdrawn() outcome {
	return outcome{state: core.ApprovalWithdrawn, by: "the program", reason: "nothing waits for it any more"}
}

func broken(why string) outcome {
	return outcome{state: core.ApprovalBroken, scope: core.ScopeOnce, by: "Loop", reason: why}
}

func denied(why string) core.Verdict { return core.Verdict{Text: why} }

// Held returns what becomes of a held call, as soon as that is known. ctx ends when
// nothing waits for it any more: with the cause core.ErrWithdrawn because the call has
// gone, or else because the link has.
func (s *Service) Held(ctx context.Context, container core.ContainerID, c core.HeldCall) core.Verdict {
	a, err := decode(c)
	if err != nil {
		s.o.Log.Warn("held call denied: it cannot be read", "container", string(container), "spawn", string(c.Spawn), "err", err)
		return denied("Loop cannot read what is asked")
	}
	who := s.asker(ctx, container, c.Spawn)
	if who == nil {
		s.o.Log.Warn("held call denied: nobody knows its spawn", "container", string(container), "spawn", string(c.Spawn))
		return denied("Loop does not know the program that asks")
	}
	return s.wait(ctx, who, a)
}

// wait queues a call, and returns what becomes of it.
func (s *Service) wait(ctx context.Context, who *asker, a wire.Approval) core.Verdict {
	w, d := s.take(who, a)
	if w == nil {
		return s.settled(who, a, d)
	}
	select {
	case v := <-w.done:
		return v
	case <-ctx.Done():
		s.leave(w, a.Kind == kindNavigate || errors.Is(context.Cause(ctx), core.ErrWithdrawn))
		return <-w.done
	}
}

// take queues a call, or says what is decided of it already.
func (s *Service) take(who *asker, a wire.Approval) (*waiter, outcome) {
	no := outcome{state: core.ApprovalDenied, scope: core.ScopeOnce}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sameQuestion(who.origin(), a)
	waiting := s.same(key)
	by := who
	if a.Kind == kindNavigate { // it was judged by the rules of now, which have what is stored
		now := *who
		now.nth = s.memory.admitted + 1
		by = &now
	}
	switch remembered, known := s.memory.decided(by, a, time.Now()); {
	case s.closed:
		no.by, no.reason = "Loop", "Loop is closing"
	case who.stopped != "":
		no.by, no.reason = "the end of the run", who.stopped
	case known:
		return nil, remembered
	case who.Unattended:
		no.by, no.reason = "the policy", "This run works unattended, so nobody can allow it"
	case s.refuses(who.origin()):
		no.by = "the answer to all that it asked"
	case waiting != nil:
		return s.join(waiting), outcome{}
	case len(s.open)+s.parked >= maxWaiting:
		no.by, no.reason = "Loop", "Too much waits for an answer already"
	default:
		q := s.newQuestion(who, a, key)
		if s.mustPark(who) {
			return s.park(q), outcome{}
		}
		return s.ask(q), outcome{}
	}
	return nil, no
}

// settled writes down what was decided without a question. What cannot be written
// down is not allowed.
func (s *Service) settled(who *asker, a wire.Approval, d outcome) core.Verdict {
	r := s.recordOf(who, a, d, 0, 1)
	s.mu.Lock()
	r, known := s.settles.count(who.origin(), r, time.Now())
	s.mu.Unlock()
	if !known {
		if err := s.record(r); err != nil {
			return denied("Loop cannot write its record of decisions, so nothing is allowed.")
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !known {
		s.settles.written(who.origin(), r, time.Now())
	}
	s.recent.add(who.ChannelID, a, d.state, s.o.Now())
	s.decided.add(report{who: who, at: s.o.Now(), acts: []decision{{act: a, record: r, written: true, message: d.reason}}})
	return verdictOf(d)
}

// same finds what waits with a key already.
func (s *Service) same(key string) *question {
	for _, q := range s.open {
		if q.key == key && !q.taken {
			return q
		}
	}
	for _, f := range s.floods {
		if q := f.parked[key]; q != nil {
			return q
		}
	}
	return nil
}

// join adds a call to a question.
func (s *Service) join(q *question) *waiter {
	w := &waiter{q: q, done: make(chan core.Verdict, 1)}
	q.waiters[w] = struct{}{}
	q.view.Calls = max(q.view.Calls, len(q.waiters))
	s.hold(q.asker.RunID, 1)
	switch {
	case q.flood != nil && q.flood.card != q:
		s.floodChanged(q.flood)
	case len(q.waiters) > 1:
		s.changedQuestion(q)
	}
	return w
}

// ask puts a question to the person.
func (s *Service) ask(q *question) *waiter {
	s.post(q)
	return s.join(q)
}

// post makes a question visible and starts its time.
func (s *Service) post(q *question) {
	set := s.o.Settings()
	q.asked = time.Now()
	q.view.CreatedAt = s.o.Now()
	if !set.HoldUntilBack {
		most := timeOf(set)
		q.end, q.view.Deadline = q.asked.Add(most), q.view.CreatedAt.Add(most)
		q.timer = time.AfterFunc(min(most, lookEvery), func() { s.look(q) })
	}
	q.view.State, q.view.Digest = core.ApprovalWaiting, digest(q)
	q.view.ToolUseID = s.tools.ofQuestion(q)
	s.open[q.view.ID] = q
	s.publish(s.event(core.EventGateAsked, q), true)
}

// leave takes a call away whose asker is gone.
func (s *Service) leave(w *waiter, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := w.q
	if _, waits := q.waiters[w]; !waits {
		return // its verdict is there
	}
	end := broken("the link to the container broke")
	if gone {
		end = withdrawn()
	}
	if len(q.waiters) == 1 {
		s.finish(q, end)
		return
	}
	delete(q.waiters, w)
	s.hold(q.asker.RunID, -1)
	w.done <- verdictOf(end)
	s.changedOrFlood(q)
}

// finish ends a question, wherever it waits.
func (s *Service) finish(q *question, d outcome) {
	if q.flood != nil && q.flood.card != q {
		s.unpark(q, d)
		return
	}
	s.resolve(q, d)
}

// resolve ends a question that a person sees: everybody who waits for it gets the
// verdict. A second end is nothing.
func (s *Service) resolve(q *question, d outcome) {
	if s.open[q.view.ID] != q {
		return
	}
	delete(s.open, q.view.ID)
	if q.timer != nil {
		q.timer.Stop()
	}
	s.answerWaiters(q, d)
	q.view.State, q.view.Scope, q.view.By, q.view.Reason, q.view.ResolvedAt = d.state, d.scope, d.by, d.reason, s.o.Now()
	q.view.Deadline = time.Time{}
	if d.state == core.ApprovalWithdrawn {
		if q.view.Kind != core.ApprovalFlood {
			s.takenBack(q.asker.origin())
		}
		// Nobody could answer it, and what it showed was told when it was asked.
		q.view.Diff, q.view.DiffNote, q.view.Offers, q.view.Details = "", "", nil, nil
	}
	s.publish(s.event(core.EventGateResolved, q), true)
}

func (s *Service) answerWaiters(q *question, d outcome) {
	if q.view.Kind != core.ApprovalFlood {
		s.recent.add(q.asker.ChannelID, q.act, d.state, s.o.Now())
		if !d.written {
			s.out = append(s.out, outgoing{record: s.recordOfQuestion(q, d)})
			s.nudge()
		}
	}
	for w := range q.waiters {
		w.done <- verdictOf(d)
		s.hold(q.asker.RunID, -1)
	}
	clear(q.waiters)
}

// endAll ends every question that fits, seen or parked.
func (s *Service) endAll(fits func(*question) bool, d outcome) {
	for _, f := range slices.Collect(maps.Values(s.floods)) {
		for _, q := range slices.Collect(maps.Values(f.parked)) {
			if fits(q) {
				s.unpark(q, d)
			}
		}
	}
	for _, f := range slices.Collect(maps.Values(s.floods)) {
		s.endIdle(f)
	}
	for _, q := range slices.Collect(maps.Values(s.open)) {
		if fits(q) && q.view.Kind != core.ApprovalFlood {
			s.resolve(q, d)
		}
	}
}

func (s *Service) pending() []core.Approval {
	for _, f := range s.floods {
		s.describe(f)
	}
	out := make([]core.Approval, 0, len(s.open))
	for _, q := range s.open {
		out = append(out, q.view)
	}
	slices.SortFunc(out, func(a, b core.Approval) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// verdictOf says who decided, and why where that is not all there is to say. The program
// that tells it to the agent adds what can be done about it.
func verdictOf(d outcome) core.Verdict {
	v := core.Verdict{Text: d.reason}
	switch d.state {
	case core.ApprovalAllowed:
		v.Allow = true
	case core.ApprovalExpired:
		v.By = wire.ByTime
	case core.ApprovalDenied:
		v.By = wire.ByRun
		if d.reason == "" {
			v.By = wire.ByPerson
		}
	}
	return v
}
