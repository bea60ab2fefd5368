package terminal

import (
	"context"
	"sync"
	"time"

	"loop/backend/core"
	"loop/backend/terminal/vt"
)

// newScreen makes the session's terminal state. Its callbacks run with screenMu
// held.
func (s *session) newScreen(cols, rows uint16) *vt.Terminal {
	// said notes a title or directory that the program announced.
	said := func(to *string, text string) {
		if *to != text {
			*to, s.dirty = text, true
		}
	}
	return vt.New(int(cols), int(rows), vt.Options{
		Answer: s.answer,
		Theme:  core.DarkTerminal,
		Mark: func(kind byte, arg string) {
			if kind == 'B' { // the prompt is drawn
				poke(s.prompt)
			}
			s.shellSays(kind, arg)
		},
		Title: func(t string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.info.Shell == core.ShellRunning {
				said(&s.saved.Ran, t)
			} else {
				said(&s.saved.Given, t)
			}
		},
		Dir: func(d string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			said(&s.info.Dir, core.CleanTitle(d))
		},
	})
}

// Colors sets the colours that a session's program is answered with: those of the
// viewer that spoke last.
func (s *Service) Colors(_ context.Context, id core.TerminalID, c core.TerminalColors) error {
	t, err := s.session(id)
	if err == nil {
		t.colors(c)
	}
	return err
}

func (s *session) colors(c core.TerminalColors) {
	s.screenMu.Lock()
	defer s.screenMu.Unlock()
	s.screen.SetTheme(c)
}

// answer sends the reply to a query, unless it was answered in an earlier launch.
func (s *session) answer(p []byte) {
	s.mu.Lock()
	old := s.screenAt < s.quietTo
	s.mu.Unlock()
	if !old {
		s.input.answer(p)
	}
}

// show feeds the screen, records, tells of changes and keeps snapshots, until
// the app ends or the stream does and all is shown.
func (s *session) show(ctx context.Context) {
	var told, kept, drawn time.Time
	keptAt := int64(-1)
	for ctx.Err() == nil {
		moved, done := s.step()
		if moved {
			if time.Since(drawn) < linger {
				s.gather(ctx)
			}
			drawn = time.Now()
		}
		if s.kept() && (moved || s.screenOffset() != keptAt) && (time.Since(kept) >= saveEvery || time.Since(drawn) >= saveIdle) {
			keptAt, kept = s.save(), time.Now()
		}
		if moved {
			continue
		}
		if time.Since(told) >= announceEvery && s.tell() {
			told = time.Now()
		}
		if done {
			defer s.unkeep()
			break
		}
		var again <-chan time.Time
		if d := s.restTime(told, drawn, keptAt); d > 0 {
			again = time.After(d)
		}
		select {
		case <-s.screenWake:
		case <-again:
		case <-ctx.Done():
		}
	}
	s.tell()
	s.endRecording()
}

// gather waits for more output while it comes in quick succession.
func (s *session) gather(ctx context.Context) {
	s.mu.Lock()
	_, size := s.nextMark(s.sizeAt) // what comes before it cannot become more
	if s.stopped || size || s.ring.end-s.screenAt >= lingerSize {
		s.mu.Unlock()
		return
	}
	s.patient = true
	s.mu.Unlock()
	select {
	case <-time.After(linger / 2):
	case <-s.screenWake:
	case <-ctx.Done():
	}
	s.mu.Lock()
	s.patient = false
	s.mu.Unlock()
}

// frames are buffers of frameSize for those who need one for a moment: idle
// sessions hold none.
var frames = sync.Pool{New: func() any { return new([frameSize]byte) }}

// step shows the screen what comes next, if anything does. done says that nothing
// more will come.
func (s *session) step() (moved, done bool) {
	s.screenMu.Lock()
	defer s.screenMu.Unlock()
	return s.stepLocked()
}

// stepLocked reads up to the next size, or meets that size.
func (s *session) stepLocked() (moved, done bool) {
	buf, _ := frames.Get().(*[frameSize]byte)
	defer frames.Put(buf)
	s.mu.Lock()
	limit := int64(len(buf))
	next, size := s.nextMark(s.sizeAt)
	if size {
		limit = min(limit, next.at-s.screenAt)
	}
	if old := s.quietTo - s.screenAt; old > 0 {
		limit = min(limit, old) // so that what comes after is answered
	}
	n := s.ring.read(buf[:max(0, limit)], s.screenAt)
	size = size && next.at <= s.screenAt
	done, rec := s.stopped, s.rec
	s.mu.Unlock()
	switch {
	case size:
		s.screen.Resize(int(next.cols), int(next.rows))
	case n > 0:
		_, _ = s.screen.Write(buf[:n]) // never fails
	default:
		return false, done
	}
	if rec != nil {
		s.record(rec, buf[:n], next, size)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.screenAt += int64(n)
	if size {
		s.sizeAt++
		s.forgetSizes()
	}
	s.pokePump()
	return true, false
}

// catchUp shows the screen what viewers may have been given already. screenMu is
// held.
func (s *session) catchUp() {
	s.mu.Lock()
	end, last := s.ring.end, s.firstSize+len(s.sizes)
	s.mu.Unlock()
	for moved := true; moved; {
		s.mu.Lock()
		moved = s.screenAt < end || s.sizeAt < last
		s.mu.Unlock()
		if moved {
			moved, _ = s.stepLocked()
		}
	}
}

// restTime is how long the screen may rest before it has something to tell or
// to keep; 0 is for ever.
func (s *session) restTime(told, drawn time.Time, keptAt int64) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var d time.Duration
	if s.kept() && s.screenAt != keptAt {
		d = max(time.Millisecond, saveIdle-time.Since(drawn))
	}
	if tell := max(time.Millisecond, announceEvery-time.Since(told)); s.dirty && (d == 0 || tell < d) {
		d = tell
	}
	return d
}

func (s *session) screenOffset() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screenAt
}

// tell publishes what has changed.
func (s *session) tell() bool {
	s.mu.Lock()
	dirty, info := s.dirty, s.viewLocked()
	s.dirty = false
	s.mu.Unlock()
	if dirty {
		s.svc.o.Publish(core.EventTerminalChanged, info)
	}
	return dirty
}

// save stores what the next launch needs to find the program and to show it, until
// nothing more will come. It says at which offset.
func (s *session) save() int64 {
	if !s.kept() {
		return -1
	}
	s.keeping.Lock() // an older one must not replace a newer
	defer s.keeping.Unlock()
	data, off, _, cols, rows := s.capture()
	s.mu.Lock()
	row, stopped := s.saved, s.stopped
	row.Info, row.Screen, row.Offset = s.info, data, off
	row.Info.Cols, row.Info.Rows = cols, rows
	s.mu.Unlock()
	if stopped {
		return off
	}
	if err := s.svc.o.Keeper.SaveTerminal(row); err != nil {
		s.log.Warn("keep terminal", "session", s.info.ID, "err", err)
	}
	return off
}

// kept says that the next launch has the session again.
func (s *session) kept() bool { return s.keep || s.again }

// unkeep forgets what was kept: the program has ended. One that ends because the app does is
// for the next launch.
func (s *session) unkeep() {
	if !s.kept() || s.again && !s.isEnding() && s.svc.isClosing() {
		return
	}
	s.keeping.Lock()
	defer s.keeping.Unlock()
	if err := s.svc.o.Keeper.DropTerminal(s.info.ID); err != nil {
		s.log.Warn("forget terminal", "session", s.info.ID, "err", err)
	}
}
