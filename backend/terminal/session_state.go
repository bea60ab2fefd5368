package terminal

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"loop/backend/core"
	"loop/backend/terminal/vt"
)

// session is one program on a terminal. Locks are taken in the order screenMu,
// mu; neither is held while the program is called, which resizing alone is.
type session struct {
	svc     *Service
	program Program
	saved   Saved // what is kept for the next launch; guarded by mu
	keep    bool  // its program outlives the app
	again   bool  // its shell is begun again by the next launch
	log     *slog.Logger

	ctx  context.Context // ends the goroutines; the program's end does not
	stop context.CancelFunc
	work sync.WaitGroup

	mu        sync.Mutex
	info      core.TerminalInfo
	ring      ring
	sizes     []sizeMark
	firstSize int       // number of sizes[0]
	sizeOwed  bool      // the program does not know its size
	asked     [2]uint16 // columns and rows asked for last
	viewers   map[*viewer]struct{}
	screenAt  int64 // how far the screen has read
	sizeAt    int   // and which size mark it meets next
	held      bool  // the pump waits
	patient   bool  // the screen gathers output: not to be woken for a little of it
	keyed     time.Time
	used      time.Time // last output, input, attachment
	stopped   bool      // nothing more will come
	ending    bool      // ended on purpose
	quietTo   int64     // queries before this offset were answered in an earlier launch
	rec       Recording
	dirty     bool   // info changed since it was announced
	typed     string // the command line that the shell named last; used with screenMu held

	pumpWake, screenWake chan struct{}
	ended                chan struct{} // closed when stopped is set
	prompt               chan struct{} // a shell showed its prompt

	resizing chan struct{} // one place; taken before mu, and held while the program gets its size
	screenMu sync.Mutex
	screen   *vt.Terminal
	keeping  sync.Mutex // taken before all others: what is kept changes

	input inputQueue
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (s *session) pokePump() { poke(s.pumpWake) }

// view is the session as pages see it.
func (s *session) view() core.TerminalInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.viewLocked()
}

func (s *session) viewLocked() core.TerminalInfo {
	i := s.info
	if !i.Named {
		i.Title = cmp.Or(s.saved.Ran, s.runs(), s.saved.Given, i.Title)
	}
	return i
}

// viewersChanged counts the viewers and has it announced. mu is held.
func (s *session) viewersChanged() {
	s.info.Viewers, s.used, s.dirty = len(s.viewers), time.Now(), true
	poke(s.screenWake)
}

// marksNow are the high and low mark in force.
func (s *session) marksNow(now time.Time) (high, low int64) {
	if now.Sub(s.keyed) < keyedFor {
		return highKeyed, lowKeyed
	}
	return highMark, lowMark
}

// append takes output; the pump calls it once there is room.
func (s *session) append(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	end := s.ring.end
	for v := range s.viewers {
		if v.lag(end) == 0 {
			v.progress = now // it was up to date, and begins to be behind now
		}
		if !v.patient || now.Sub(s.keyed) < afterKey || end+int64(len(p))-v.off >= lingerSize {
			v.poke()
		}
	}
	s.ring.write(p)
	s.used = now
	if !s.patient || s.ring.end-s.screenAt >= lingerSize {
		poke(s.screenWake)
	}
}

// room waits until no viewer that counts is too far behind. It lets go of viewers
// that make no progress.
func (s *session) room(ctx context.Context) bool {
	for {
		wait, ok := s.hold(time.Now())
		if ok {
			return ctx.Err() == nil
		}
		select {
		case <-s.pumpWake:
		case <-time.After(wait):
		case <-ctx.Done():
			return false
		}
	}
}

func (s *session) hold(now time.Time) (wait time.Duration, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	high, low := s.marksNow(now)
	limit := high
	if s.held {
		limit = low
	}
	wait, ok = stallTime, s.ring.end-s.screenAt <= highMark
	for v := range s.viewers {
		if v.lag(s.ring.end) <= limit {
			continue
		}
		left := stallTime - now.Sub(v.progress)
		if left <= 0 {
			v.lost = true
			v.poke()
			continue
		}
		wait, ok = min(wait, left), false
	}
	if k := keyedFor - now.Sub(s.keyed); k > 0 {
		wait = min(wait, k) // the marks change then, and nobody may say anything more
	}
	s.held = !ok
	return wait, ok
}

// attach adds a viewer, whose first frame is a snapshot.
func (s *session) attach(w core.TerminalAttach) *viewer {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := &viewer{s: s, acks: w.Acks, wake: make(chan struct{}, 1), snap: true, progress: time.Now()}
	s.viewers[v] = struct{}{}
	s.viewersChanged()
	return v
}

// capture takes a snapshot of the screen and says where in the stream it is.
func (s *session) capture() (data []byte, off int64, mark int, cols, rows uint16) {
	s.screenMu.Lock()
	defer s.screenMu.Unlock()
	data = s.screen.Snapshot()
	c, r := s.screen.Size()
	s.mu.Lock()
	defer s.mu.Unlock()
	return data, s.screenAt, s.sizeAt, uint16(c), uint16(r)
}

// finish says that nothing more will come.
func (s *session) finish(exit core.TerminalExit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return
	}
	if s.ending {
		exit.Reason = "The terminal was closed." // news to every viewer but the one that asked
	}
	s.stopped = true
	s.info.State, s.info.Exit = core.TerminalEnded, &exit
	s.dirty = true
	for v := range s.viewers {
		v.poke()
	}
	poke(s.screenWake)
	s.input.close()
	close(s.ended)
}

// setState says whether the program can be reached.
func (s *session) setState(st core.TerminalState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.info.State != st && !s.stopped {
		s.info.State, s.dirty = st, true
		poke(s.screenWake)
	}
}
