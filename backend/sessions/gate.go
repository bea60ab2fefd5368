package sessions

import (
	"context"
	"fmt"
	"slices"

	"loop/backend/core"
)

// maxReaders bounds the transcripts that are read at a time, one of each state. An
// agent may write some as large as maxTranscript and ask for them by many requests at
// once; what is said in a transcript is in memory while it is read.
const maxReaders = 2

// enter waits until a state may be read; done ends the reading. Waiting for the
// state's own turn comes first, so that one project cannot take every place.
func (s *Service) enter(ctx context.Context, owner core.ChannelID) (done func(), err error) {
	s.mu.Lock()
	turn := s.owners[owner]
	if turn == nil {
		turn = make(chan struct{}, 1)
		s.owners[owner] = turn
	}
	s.mu.Unlock()
	var taken []chan struct{}
	done = func() {
		// Backwards, so that the next one of the state finds the place of this one free.
		for _, place := range slices.Backward(taken) {
			<-place
		}
	}
	for _, place := range []chan struct{}{turn, s.readers} {
		select {
		case place <- struct{}{}:
			taken = append(taken, place)
		case <-ctx.Done():
			done()
			return nil, fmt.Errorf("wait to read transcripts: %w", ctx.Err())
		}
	}
	return done, nil
}
