package gate

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"loop/backend/core"
)

// A run may ask so many new questions at once, and so many in a second after that.
const (
	burst     = 20
	perSecond = 10
	// It may take so many back at once, and so many in a second after that: each was told
	// and stored, although nobody could answer it.
	backBurst     = 20
	backPerSecond = 0.2
	// emptyStays is how long a flood's question stays when nothing waits behind it any
	// more: else a program that asks and gives up makes one after the other.
	emptyStays = 5 * time.Second
	// refusing is how long a denial of a flood also holds for what the run asks anew.
	refusing = 10 * time.Second
)

// bucket counts the new questions of one origin.
type bucket struct {
	left float64
	at   time.Time
}

func (s *Service) spend(o origin) bool {
	b := s.buckets[o]
	now := time.Now()
	if b == nil {
		b = &bucket{left: burst, at: now}
		s.buckets[o] = b
	}
	return b.take(now, burst, perSecond)
}

// takenBack counts a question of an origin that was withdrawn.
func (s *Service) takenBack(o origin) {
	b := s.backs[o]
	if b == nil {
		b = &bucket{left: backBurst, at: time.Now()}
		s.backs[o] = b
	}
	b.take(time.Now(), backBurst, backPerSecond)
}

// takesBack says that an origin has withdrawn too much for its next question to be shown
// by itself.
func (s *Service) takesBack(o origin) bool {
	b := s.backs[o]
	return b != nil && b.left+time.Since(b.at).Seconds()*backPerSecond < 1
}

func (b *bucket) take(now time.Time, most, perSecond float64) bool {
	b.left = min(most, b.left+now.Sub(b.at).Seconds()*perSecond)
	b.at = now
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// flood is one question that stands for all further calls of a run that asks too
// much. The run's container is not frozen: that would freeze its supervisor.
type flood struct {
	origin origin
	card   *question
	parked map[string]*question // by key
	idle   *time.Timer          // ends the question where nothing waits; nil until that was so
	told   *time.Timer          // tells what has changed; nil while nothing has
	said   said                 // what became of the calls so far
	by     string               // who has said so
}

// stop ends the timers.
func (f *flood) stop() {
	for _, t := range []*time.Timer{f.idle, f.told} {
		if t != nil {
			t.Stop()
		}
	}
}

// mustPark says that a new question of this asker is not shown by itself.
func (s *Service) mustPark(who *asker) bool {
	o := who.origin()
	if s.floods[o] != nil {
		return true
	}
	n := 0
	for _, q := range s.open {
		if q.asker.origin() == o {
			n++
		}
	}
	return n >= maxPerRun || s.takesBack(o) || !s.spend(o)
}

// park keeps a call behind the flood's one question.
func (s *Service) park(q *question) *waiter {
	o := q.asker.origin()
	f := s.floods[o]
	q.asked, q.view.CreatedAt = time.Now(), s.o.Now()
	s.parked++
	if f == nil {
		f = &flood{origin: o, parked: map[string]*question{q.key: q}}
		s.intoFlood(f)
		s.newFlood(f, q.asker)
	} else {
		f.parked[q.key], q.flood = q, f
	}
	return s.join(q)
}

// newFlood asks one question about all that is parked.
func (s *Service) newFlood(f *flood, who *asker) {
	f.card = s.floodCard(f, who)
	s.floods[f.origin] = f
	for _, q := range f.parked {
		q.flood = f
	}
	s.describe(f)
	s.post(f.card)
}

func (s *Service) floodCard(f *flood, who *asker) *question {
	return &question{asker: who, flood: f, key: core.NewID(), waiters: map[*waiter]struct{}{}, view: core.Approval{
		ID: core.NewID(), ChannelID: who.ChannelID, RunID: who.RunID, SpawnID: who.spawn, Kind: core.ApprovalFlood,
		Target: "everything that it asks", Title: "This run asks too much", Processes: []core.ApprovalProcess{},
		Why:  fmt.Sprintf("more than %d questions were open at once, or came within a moment", maxPerRun),
		Risk: "each group goes on as you say; denied, all that it holds is denied",
	}}
}

// floodChanged has the question told anew, soon: a flood may go on growing as fast as a
// program asks.
func (s *Service) floodChanged(f *flood) {
	if f.told != nil {
		return
	}
	f.told = time.AfterFunc(tellEvery, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		f.told = nil
		if s.open[f.card.view.ID] == f.card {
			s.describe(f)
			s.changedQuestion(f.card)
		}
	})
}

// unpark ends one parked call. With the last one the flood's question has no object, and
// is withdrawn if it stays so for a while.
func (s *Service) unpark(q *question, d outcome) {
	f := q.flood
	if f.parked[q.key] != q {
		return
	}
	delete(f.parked, q.key)
	s.parked--
	s.answerWaiters(q, d)
	if len(f.parked) == 0 {
		if f.idle != nil {
			f.idle.Stop()
		}
		f.idle = time.AfterFunc(emptyStays, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.endIdle(f)
		})
	}
	s.floodChanged(f)
}

// endIdle ends a flood's question if nothing waits behind it.
func (s *Service) endIdle(f *flood) {
	if len(f.parked) == 0 {
		s.endFlood(f, f.idleEnd())
	}
}

// expireFlood denies what waits behind a flood whose time is up. What came late gets a
// time of its own.
func (s *Service) expireFlood(f *flood, d outcome) {
	half := f.card.end.Sub(f.card.asked) / 2
	late := map[string]*question{}
	for key, q := range f.parked {
		if max(time.Since(q.asked), s.o.Now().Round(0).Sub(q.view.CreatedAt.Round(0))) < half {
			late[key] = q
			delete(f.parked, key)
		}
	}
	s.parked -= len(late)
	s.endFlood(f, d)
	if len(late) > 0 {
		s.parked += len(late)
		s.newFlood(&flood{origin: f.origin, parked: late}, f.card.asker)
	}
}

// refuse denies for a while what a run asks anew, of which all was denied.
func (s *Service) refuse(o origin) { s.refused[o] = time.Now().Add(refusing) }

func (s *Service) refuses(o origin) bool {
	until, ok := s.refused[o]
	if ok && !time.Now().Before(until) {
		delete(s.refused, o)
		return false
	}
	return ok
}

// endFlood gives everything that is parked the same end.
func (s *Service) endFlood(f *flood, d outcome) {
	if s.floods[f.origin] != f {
		return
	}
	delete(s.floods, f.origin)
	for _, q := range f.parked {
		s.answerWaiters(q, d)
	}
	s.parked -= len(f.parked)
	clear(f.parked)
	f.stop()
	s.resolve(f.card, d)
}

// letAsk asks about everything that is parked, oldest first. A run that then asks for
// more has a new flood.
func (s *Service) letAsk(f *flood, d outcome) {
	delete(s.floods, f.origin)
	list := slices.SortedFunc(maps.Values(f.parked), func(a, b *question) int { return a.asked.Compare(b.asked) })
	s.parked -= len(list)
	f.stop()
	s.resolve(f.card, d)
	for _, q := range list {
		s.askAlone(q)
	}
}
