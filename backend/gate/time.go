package gate

import (
	"cmp"
	"strconv"
	"time"

	"loop/backend/core"
)

// lookEvery is how often a question's time is looked at. The timer stands still while
// the computer sleeps; the calendar does not, and who comes back after the deadline
// must not find a question that is still good.
const lookEvery = 10 * time.Second

// left is how much time a question has, by the clock that leaves less.
func (s *Service) left(q *question) time.Duration {
	if q.end.IsZero() {
		return maxTime
	}
	return min(time.Until(q.end), q.view.Deadline.Round(0).Sub(s.o.Now().Round(0)))
}

// look denies a question whose time is up.
func (s *Service) look(q *question) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[q.view.ID] != q {
		return
	}
	left := s.left(q)
	if left <= 0 && !q.taken {
		s.expire(q)
		return
	}
	q.timer.Reset(max(min(left, lookEvery), time.Second))
}

func (s *Service) expire(q *question) {
	d := outcome{state: core.ApprovalExpired, scope: core.ScopeOnce, by: "time", reason: "nobody answered in " + minutes(q.end.Sub(q.asked))}
	if q.view.Kind == core.ApprovalFlood {
		s.expireFlood(q.flood, d)
		return
	}
	s.resolve(q, d)
}

// minutes says how long somebody had.
func minutes(d time.Duration) string {
	if m := int(d.Round(time.Minute) / time.Minute); m > 1 {
		return strconv.Itoa(m) + " minutes"
	}
	return max(d, time.Second).Round(time.Second).String()
}

// Extend gives a question five minutes more. One that waits without an end stays so.
func (s *Service) Extend(id string) (core.Approval, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(id)
	if err != nil {
		return core.Approval{}, err
	}
	if !q.end.IsZero() && time.Until(q.end) < maxTime {
		q.end, q.view.Deadline = q.end.Add(extension), q.view.Deadline.Add(extension)
		s.changedQuestion(q)
	}
	return q.view, nil
}

// find returns a question that waits and still has time.
func (s *Service) find(id string) (*question, error) {
	q := s.open[id]
	if q != nil && !q.taken && s.left(q) <= 0 {
		s.expire(q)
		q = nil
	}
	switch {
	case q == nil:
		return nil, core.Fail(core.CodeNotFound, core.ErrNotFound, "This question does not wait for an answer any more.",
			"It was answered elsewhere, its time was up, or the program that asked has ended.")
	case q.taken:
		return nil, core.Fail(core.CodeConflict, core.ErrConflict, "Somebody else is answering this question.", "Look at what became of it.")
	}
	return q, nil
}

// Bounds of the time that being held gives to a run: as long as so many questions take
// that nobody answers, or, where questions wait for the person, so long in all. A program
// that asks again and again in the background must not stop its run's limit for ever.
const (
	heldQuestions = 12
	heldAtMost    = 7 * 24 * time.Hour
)

// clock counts for how long calls of a run were held, by the calendar: a computer that
// sleeps holds them, too.
type clock struct {
	held  int // calls held now
	since time.Time
	total time.Duration
}

func (s *Service) hold(run core.RunID, more int) {
	if run == "" {
		return
	}
	c := s.clocks[run]
	if c == nil && more < 0 {
		return // the run has ended, and with it its clock
	}
	if c == nil {
		c = &clock{}
		s.clocks[run] = c
	}
	if c.held == 0 && more > 0 {
		c.since = s.o.Now().Round(0)
	}
	if c.held += more; c.held == 0 {
		c.total += s.sinceHeld(c)
	}
}

func (s *Service) sinceHeld(c *clock) time.Duration { return max(s.o.Now().Round(0).Sub(c.since), 0) }

// HeldFor says for how long a run has stood still because calls of it were held, by the
// calendar, and whether it does now. Over a bound it does not any more.
func (s *Service) HeldFor(run core.RunID) (total time.Duration, now bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.clocks[run]
	if c == nil {
		return 0, false
	}
	total, now = c.total, c.held > 0
	if now {
		total += s.sinceHeld(c)
	}
	set := s.o.Settings()
	most := heldAtMost
	if !set.HoldUntilBack {
		most = min(heldQuestions*timeOf(set), most)
	}
	return min(total, most), now && total < most
}

// timeOf is how long a question waits for its answer.
func timeOf(set Settings) time.Duration {
	return min(cmp.Or(max(set.Timeout, 0), defaultTime), maxTime)
}
