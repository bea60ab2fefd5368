package terminal

import (
	"context"
	"io"
	"time"

	"loop/backend/core"
)

// viewer is a cursor into a session's stream. Its fields are guarded by the
// session's lock; buf belongs to the caller of Next.
type viewer struct {
	s    *session
	acks bool
	wake chan struct{}
	buf  []byte

	off      int64 // of the next byte to give
	mark     int   // number of the next size mark to give
	snap     bool  // the next frame is a snapshot
	drawing  bool  // a snapshot is being made, which sets off and mark
	hidden   bool
	lost     bool // let go because it held the program up
	closed   bool
	ended    bool  // FrameEnded was given
	given    int64 // bytes of Data given, snapshots included
	acked    int64
	live     int64 // of given, since the last snapshot
	progress time.Time
	flushed  time.Time
	patient  bool // gathers output: not to be woken for a little of it
}

func (v *viewer) poke() { poke(v.wake) }

// unacked are the bytes after the last snapshot that were given and not
// acknowledged. A snapshot itself holds nobody up.
func (v *viewer) unacked() int64 {
	if !v.acks {
		return 0
	}
	return max(0, min(v.given-v.acked, v.live))
}

// lag is how far the viewer is behind end, or 0 when it holds nobody up.
func (v *viewer) lag(end int64) int64 {
	if v.hidden || v.lost || v.closed || v.snap || v.drawing {
		return 0
	}
	return end - v.off + v.unacked()
}

func (v *viewer) Info() core.TerminalInfo { return v.s.view() }

func (v *viewer) Ack(bytes int64) {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	if bytes = min(bytes, v.given); bytes <= v.acked { // nobody has processed what was not given
		return
	}
	v.acked = bytes
	v.progress = time.Now()
	v.poke()
	v.s.pokePump()
}

func (v *viewer) Resync() {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	v.snap = true
	v.poke()
	v.s.pokePump()
}

func (v *viewer) Show(visible bool) {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	if v.hidden == !visible {
		return
	}
	v.hidden = !visible
	v.snap = v.snap || visible
	v.progress = time.Now()
	v.s.used = v.progress
	v.poke()
	v.s.pokePump()
}

func (v *viewer) Close() {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	if v.closed {
		return
	}
	v.closed = true
	delete(v.s.viewers, v)
	v.s.viewersChanged()
	v.poke()
	v.s.pokePump()
}

// wait gives the lock back until something changes, ctx ends or d has passed; 0 is no
// limit.
func (v *viewer) wait(ctx context.Context, d time.Duration) {
	v.s.mu.Unlock()
	defer v.s.mu.Lock()
	var late <-chan time.Time
	if d > 0 {
		late = time.After(d)
	}
	select {
	case <-late:
	case <-v.wake:
	case <-ctx.Done():
	}
}

// Next implements core.TerminalViewer.
func (v *viewer) Next(ctx context.Context) (core.TerminalFrame, error) {
	s := v.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if v.lag(s.ring.end) > 0 { // asking for more is progress, unless acknowledgements are
		if !v.acks {
			v.progress = time.Now()
		}
		s.pokePump()
	}
	for {
		if err := ctx.Err(); err != nil {
			return core.TerminalFrame{}, err
		}
		if v.closed || v.ended {
			return core.TerminalFrame{}, io.EOF
		}
		now := time.Now()
		high, _ := s.marksNow(now)
		full := v.acks && v.given-v.acked >= high
		if v.lost && !full {
			v.lost, v.snap = false, true
		}
		if v.off < s.ring.base {
			v.snap = true
		}
		if v.hidden || (full && !s.stopped) {
			v.wait(ctx, max(0, keyedFor-now.Sub(s.keyed))) // the marks change then
			continue
		}
		if v.snap {
			if f, ok := v.snapshot(); ok {
				return f, nil
			}
			continue
		}
		if f, ok := v.resized(); ok {
			return f, nil
		}
		n := v.available(high)
		switch d := v.lingers(n, now); {
		case n == 0 && s.stopped && v.off == s.ring.end:
			v.ended = true
			return core.TerminalFrame{Kind: core.FrameEnded, Offset: v.off, Exit: s.info.Exit}, nil
		case n == 0:
			v.wait(ctx, 0)
		case d > 0:
			v.patient = true
			v.wait(ctx, d)
			v.patient = false
		default:
			return v.output(n), nil
		}
	}
}

// snapshot takes the screen's state. The locks are taken in the order screen,
// session, so this one is given back in between; false means that the stream
// has passed the snapshot meanwhile.
func (v *viewer) snapshot() (core.TerminalFrame, bool) {
	s := v.s
	v.snap, v.drawing = false, true
	s.mu.Unlock()
	data, off, mark, cols, rows := s.capture()
	s.mu.Lock()
	v.drawing = false
	s.pokePump()
	if off < s.ring.base {
		v.snap = true
		return core.TerminalFrame{}, false
	}
	v.off, v.mark, v.live = off, mark, 0
	v.given += int64(len(data))
	v.progress, v.flushed = time.Now(), time.Now()
	return core.TerminalFrame{Kind: core.FrameSnapshot, Data: data, Offset: off, Cols: cols, Rows: rows}, true
}

func (v *viewer) resized() (core.TerminalFrame, bool) {
	m, ok := v.s.nextMark(v.mark)
	if !ok || m.at > v.off {
		return core.TerminalFrame{}, false
	}
	v.mark++
	return core.TerminalFrame{Kind: core.FrameResized, Offset: v.off, Cols: m.cols, Rows: m.rows}, true
}

// available is how many bytes may be given now.
func (v *viewer) available(high int64) int64 {
	n := min(frameSize, v.s.ring.end-v.off)
	if m, ok := v.s.nextMark(v.mark); ok {
		n = min(n, m.at-v.off)
	}
	if v.acks {
		n = min(n, max(0, high-(v.given-v.acked)))
	}
	return n
}

// lingers says how long to wait for more: only when little is there and other
// output has just been given, and never right after a key.
func (v *viewer) lingers(n int64, now time.Time) time.Duration {
	if n >= lingerSize || v.s.stopped || now.Sub(v.s.keyed) < afterKey {
		return 0
	}
	return linger - now.Sub(v.flushed)
}

func (v *viewer) output(n int64) core.TerminalFrame {
	if v.buf == nil {
		v.buf = make([]byte, frameSize)
	}
	got := v.s.ring.read(v.buf[:n], v.off)
	f := core.TerminalFrame{Kind: core.FrameOutput, Data: v.buf[:got], Offset: v.off}
	v.off += int64(got)
	v.given += int64(got)
	v.live += int64(got)
	v.flushed = time.Now()
	v.s.pokePump()
	return f
}
