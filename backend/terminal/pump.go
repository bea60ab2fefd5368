package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"loop/backend/backoff"
	"loop/backend/core"
)

// Pauses between tries to reach a program.
const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// pump reads the program until it has ended or the app does.
func (s *session) pump(ctx context.Context) {
	pause := backoff.Backoff{First: firstRetry, Most: lastRetry}
	for ctx.Err() == nil {
		progress, err := s.follow(ctx)
		if progress {
			pause.Reset()
		}
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			s.conclude(ctx)
			return
		case errors.Is(err, core.ErrNotFound):
			gone := err
			if err = s.relaunch(ctx); err == nil {
				continue
			}
			if !passing(err) {
				s.over(ctx, core.TerminalExit{Code: -1, Reason: goneReason(gone)})
				return
			}
		}
		s.log.Debug("terminal cannot be reached", "session", s.info.ID, "err", err)
		s.setState(core.TerminalAway)
		if !pause.Wait(ctx) {
			return
		}
	}
}

func goneReason(err error) string {
	if f, ok := errors.AsType[*core.Failure](err); ok {
		return f.Cause
	}
	return "The container it ran in was stopped or removed."
}

// follow copies output into the ring until the program ends (nil) or cannot be
// read any more.
func (s *session) follow(ctx context.Context) (progress bool, err error) {
	s.mu.Lock()
	from := s.ring.end
	s.mu.Unlock()
	r, start, err := s.program.Output(ctx, from)
	if err != nil {
		return false, err
	}
	defer r.Close()
	stop := context.AfterFunc(ctx, func() { _ = r.Close() })
	defer stop()
	if start > from {
		s.missed(ctx, start-from)
	}
	s.setState(core.TerminalRunning)
	if err := s.settleSize(ctx); err != nil {
		s.log.Debug("terminal was not told its size", "session", s.info.ID, "err", err)
	}
	buf := make([]byte, pumpSize)
	for s.room(ctx) {
		n, err := r.Read(buf)
		if n > 0 {
			progress = true
			s.append(buf[:n])
		}
		if n > len(buf)/2 && len(buf) < frameSize { // most sessions never print so much at once
			buf = make([]byte, frameSize)
		}
		if errors.Is(err, io.EOF) {
			return progress, nil
		}
		if err != nil {
			return progress, fmt.Errorf("read terminal: %w", err)
		}
	}
	return progress, ctx.Err()
}

// missed moves the stream over bytes that no longer exist, and says so where
// they were: modes that they may have changed are set back, and the person sees
// that the screen is not whole.
func (s *session) missed(ctx context.Context, n int64) {
	s.mu.Lock()
	from := s.ring.end
	for s.screenAt < from && ctx.Err() == nil { // it must see what is there before that goes
		s.mu.Unlock()
		select {
		case <-s.pumpWake:
		case <-ctx.Done():
		}
		s.mu.Lock()
	}
	defer s.mu.Unlock()
	note := fmt.Appendf(nil, "\x18\x1b[!p\x1b[0m\r\n\x1b[7m %d bytes printed while Loop was away are gone \x1b[0m\r\n", n)
	if int64(len(note)) > n {
		note = note[:0]
	}
	// Offsets stay the program's own: the note takes the last of the missing ones.
	s.screenAt = from + n - int64(len(note))
	s.ring = ring{base: s.screenAt, end: s.screenAt}
	s.ring.write(note)
	for v := range s.viewers {
		v.snap = true
		v.poke()
	}
	poke(s.screenWake)
}

// conclude asks how a program that prints no more ended.
func (s *session) conclude(ctx context.Context) {
	wctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	exit, err := s.program.Wait(wctx)
	pause := backoff.Backoff{First: firstRetry, Most: endTime}
	for err != nil && !errors.Is(err, core.ErrNotFound) && pause.Wait(wctx) {
		exit, err = s.program.Wait(wctx) // the link broke just now
	}
	if err != nil {
		if ctx.Err() != nil {
			return // the app ends; the next launch finds out
		}
		exit = core.TerminalExit{Code: -1, Reason: "How it ended is not known."}
	}
	s.over(ctx, exit)
}

// over is finish for a program that ended by itself: its container is another's matter.
func (s *session) over(ctx context.Context, exit core.TerminalExit) {
	s.finish(exit)
	s.svc.giveBack(ctx, s.info.ID, s.info.ContainerID, core.Ending{})
}

// freshScreen undoes what a program that is gone may have set, ahead of the output of
// the next.
const freshScreen = "\x18\x1b[!p\x1b[?1049l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[0m\r\n"

// relaunch starts the program again in a container that was restarted.
// core.ErrNotFound says that there is nothing to start.
func (s *session) relaunch(ctx context.Context) error {
	p, ok := s.program.(Lasting)
	if !ok || s.isEnding() {
		return core.ErrNotFound
	}
	select { // a prompt of the shell before says nothing of the one to come
	case <-s.prompt:
	default:
	}
	// Kept before the program starts: an app that dies right after would look in
	// it for offsets that it does not have.
	s.mu.Lock()
	at := s.ring.end + int64(len(freshScreen))
	s.saved.Shift = at
	s.mu.Unlock()
	s.save()
	if err := p.Relaunch(ctx, at); err != nil {
		if !errors.Is(err, core.ErrNotFound) {
			s.log.Info("terminal was not started again", "session", s.info.ID, "err", err)
		}
		return err
	}
	if s.isEnding() { // closed meanwhile, when there was nothing to end
		ectx, cancel := context.WithTimeout(ctx, endTime)
		defer cancel()
		if err := s.program.End(ectx); err != nil {
			s.log.Warn("end a terminal that was started again", "session", s.info.ID, "err", err)
		}
		return core.ErrNotFound
	}
	s.mu.Lock()
	s.sizeOwed = true
	s.mu.Unlock()
	s.append([]byte(freshScreen))
	s.work.Go(func() { s.typeIn(s.ctx) })
	return nil
}

func (s *session) isEnding() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ending
}

// passing says that a relaunch failed on the way to the container: it is being
// restarted once more, or the link broke.
func passing(err error) bool {
	f, ok := errors.AsType[*core.Failure](err)
	return !errors.Is(err, core.ErrNotFound) &&
		(errors.Is(err, core.ErrLinkDown) || errors.Is(err, core.ErrNotRunning) || ok && f.Code == core.CodeNoLink)
}
