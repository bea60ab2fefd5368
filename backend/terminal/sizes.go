package terminal

import (
	"cmp"
	"context"

	"loop/backend/core"
)

// maxSizes bounds the marks kept for viewers that are far behind: beyond, those
// get a snapshot.
const maxSizes = 1024

// sizeMark is a change of size at a place in the stream.
type sizeMark struct {
	at         int64
	cols, rows uint16
}

func (s *session) nextMark(n int) (sizeMark, bool) {
	if i := n - s.firstSize; i >= 0 && i < len(s.sizes) {
		return s.sizes[i], true
	}
	return sizeMark{}, false
}

// resize sets a new size from here on in the stream. Requests that come while the
// program gets a size are not queued: only the last of them counts.
func (s *session) resize(ctx context.Context, cols, rows uint16) error {
	s.mu.Lock()
	s.asked[0], s.asked[1] = clampSize(cols, rows)
	s.mu.Unlock()
	return s.settleSize(ctx)
}

// settleSize puts the size that was asked for last into the stream and tells it to the
// program, which gets sizes in the order in which they are in the stream. A program
// that cannot be reached gets its size when it can be.
func (s *session) settleSize(ctx context.Context) error {
	select {
	case s.resizing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.resizing }()
	s.mu.Lock()
	cols, rows := cmp.Or(s.asked[0], s.info.Cols), cmp.Or(s.asked[1], s.info.Rows)
	if !s.stopped && (s.info.Cols != cols || s.info.Rows != rows) {
		s.info.Cols, s.info.Rows = cols, rows
		s.addSize(cols, rows)
		s.dirty, s.sizeOwed = true, true
		poke(s.screenWake)
	}
	tell := s.sizeOwed && !s.stopped && s.info.State != core.TerminalAway
	s.mu.Unlock()
	if !tell {
		return nil
	}
	err := s.program.Resize(ctx, cols, rows)
	s.mu.Lock()
	s.sizeOwed = err != nil
	s.mu.Unlock()
	return err
}

// addSize puts a mark at the end of the stream. One there that nobody has met
// is replaced, so that a storm of sizes leaves one.
func (s *session) addSize(cols, rows uint16) {
	m := sizeMark{s.ring.end, cols, rows}
	last := s.firstSize + len(s.sizes) - 1
	met := s.sizeAt > last
	for v := range s.viewers {
		met = met || v.mark > last
		v.poke()
	}
	if len(s.sizes) > 0 && s.sizes[len(s.sizes)-1].at == m.at && !met {
		s.sizes[len(s.sizes)-1] = m
		return
	}
	if len(s.sizes) >= maxSizes {
		for v := range s.viewers {
			v.snap = v.snap || v.mark < s.sizeAt
		}
		s.forgetSizes()
	}
	s.sizes = append(s.sizes, m)
}

// forgetSizes drops marks that everybody has met; a viewer that gets a snapshot
// next meets none.
func (s *session) forgetSizes() {
	low := s.sizeAt
	for v := range s.viewers {
		if !v.snap && !v.lost && !v.hidden {
			low = min(low, v.mark)
		}
	}
	if n := low - s.firstSize; n > 0 {
		s.sizes = append(s.sizes[:0], s.sizes[n:]...)
		s.firstSize += n
	}
}
