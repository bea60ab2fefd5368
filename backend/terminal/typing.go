package terminal

import (
	"context"
	"time"

	"loop/backend/core"
)

const (
	// promptTime bounds the wait for a shell to be ready for what is typed; a
	// shell without marks counts as ready once it has been quiet for promptQuiet.
	promptTime  = 3 * time.Second
	promptQuiet = 200 * time.Millisecond
)

// typeIn types the program's line once its shell shows a prompt: what comes
// before that the terminal would echo a second time.
func (s *session) typeIn(ctx context.Context) {
	p, ok := s.program.(Lasting)
	if !ok {
		return
	}
	line := p.Typed()
	if line == "" || !s.prompted(ctx) {
		return
	}
	s.mu.Lock()
	s.saved.Typed = core.CleanTitle(line)
	s.mu.Unlock()
	s.save()
	if err := s.input.add(ctx, []byte(line+"\r")); err != nil && ctx.Err() == nil {
		s.log.Warn("type the agent's command", "session", s.info.ID, "err", err)
	}
}

// prompted waits for a prompt; false when the app or the session ends.
func (s *session) prompted(ctx context.Context) bool {
	late, quiet := time.After(promptTime), time.Tick(promptQuiet)
	end := func() int64 {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.ring.end
	}
	start := end()
	last := start
	for {
		select {
		case <-s.prompt:
			return true
		case <-late:
			return true
		case <-quiet:
			now := end()
			if now > start && now == last {
				return true
			}
			last = now
		case <-s.ended:
			return false
		case <-ctx.Done():
			return false
		}
	}
}
