package sessions

import (
	"context"
	"fmt"

	"loop/backend/core"
)

// maxReaders bounds the transcripts that are read at a time, one of each state.
// An agent writes its own, as large as maxTranscript, and may ask for them by
// many requests at once; what is said in one of them is in memory meanwhile.
const maxReaders = 2

// turn is a state's place among the readers.
type turn struct {
	place  chan struct{} // one place
	wanted int
}

// enter waits until a state may be read; done ends the reading. Waiting for the
// state's own turn comes first, so that one project cannot take every place.
func (s *Service) enter(ctx context.Context, owner core.ChannelID) (done func(), err error) {
	s.mu.Lock()
	t := s.owners[owner]
	if t == nil {
		t = &turn{place: make(chan struct{}, 1)}
		s.owners[owner] = t
	}
	t.wanted++
	s.mu.Unlock()
	leave := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if t.wanted--; t.wanted == 0 {
			delete(s.owners, owner)
		}
	}
	select {
	case t.place <- struct{}{}:
	case <-ctx.Done():
		leave()
		return nil, fmt.Errorf("wait to read transcripts: %w", ctx.Err())
	}
	select {
	case s.readers <- struct{}{}:
	case <-ctx.Done():
		<-t.place
		leave()
		return nil, fmt.Errorf("wait to read transcripts: %w", ctx.Err())
	}
	if s.reading != nil {
		s.reading(1)
	}
	return func() {
		if s.reading != nil {
			s.reading(-1)
		}
		<-s.readers
		<-t.place
		leave()
	}, nil
}
