package gate

import (
	"time"

	"loop/backend/core"
)

// Bounds of the records of what is decided without a question: a program can ask for
// the same as fast as it is answered.
const (
	// addingUp is how long calls that are decided alike are one record, and one more
	// that counts them.
	addingUp = 10 * time.Second
	// A run has so many records at once, and so many in a second after that. What is over
	// that is counted without its object.
	settleBurst     = 500
	settlePerSecond = 2
	maxSettles      = 8192
)

// settles are the decisions of late that stand in the record already, with the calls
// since then. The service's lock guards it.
type settles struct {
	due     *time.Timer
	list    map[string]*settle
	buckets map[origin]*bucket
}

type settle struct {
	record Record // the first
	at     time.Time
	calls  int // after it
}

func newSettles() *settles {
	s := &settles{due: time.NewTimer(time.Hour), list: map[string]*settle{}, buckets: map[origin]*bucket{}}
	s.due.Stop()
	return s
}

func settleKey(o origin, r Record) string {
	return hashed(string(o.container), o.source, r.Spawn, r.Kind, r.Operation, r.Target, r.Rule, r.Decision, r.By)
}

// count adds a call to the record of its like, and returns that. Where there is none it
// returns the one to be written, which names no object for a run that has too many.
func (s *settles) count(o origin, r Record, now time.Time) (Record, bool) {
	if e := s.list[settleKey(o, r)]; e != nil {
		e.calls++
		return e.record, true
	}
	if !s.spend(o, now) || len(s.list) >= maxSettles {
		r.Kind, r.Operation, r.Target, r.Rule = kindCounted, "", "", ""
		if e := s.list[settleKey(o, r)]; e != nil {
			e.calls++
			return e.record, true
		}
	}
	return r, false
}

// spend says whether an origin may have one more record that names its object.
func (s *settles) spend(o origin, now time.Time) bool {
	b := s.buckets[o]
	if b == nil {
		b = &bucket{left: settleBurst, at: now}
		s.buckets[o] = b
		s.due.Reset(addingUp)
	}
	return b.take(now, settleBurst, settlePerSecond)
}

// written takes in a record that was written down.
func (s *settles) written(o origin, r Record, now time.Time) {
	if len(s.list) == 0 {
		s.due.Reset(addingUp)
	}
	if key := settleKey(o, r); s.list[key] == nil {
		s.list[key] = &settle{record: r, at: now}
	}
}

// settleCalls leaves the records that count calls for Run; all of them with last.
func (s *Service) settleCalls(last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for key, e := range s.settles.list {
		if !last && now.Sub(e.at) < addingUp {
			continue
		}
		delete(s.settles.list, key)
		if e.calls > 0 {
			r := e.record
			r.ID, r.At, r.Calls = core.NewID(), s.o.Now(), e.calls
			s.out = append(s.out, outgoing{record: r})
			s.nudge()
		}
	}
	for o, b := range s.settles.buckets {
		if now.Sub(b.at).Seconds()*settlePerSecond > settleBurst {
			delete(s.settles.buckets, o) // it is full by now
		}
	}
	if len(s.settles.list)+len(s.settles.buckets) > 0 {
		s.settles.due.Reset(addingUp)
	}
}
