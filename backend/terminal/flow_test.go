package terminal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
	"loop/backend/soaktest"
)

// lines fills p with output that counts. The bytes at an offset are always the same, so
// a reader can be checked from any place.
func lines(p []byte, off int64) {
	for i := range p {
		o := off + int64(i)
		switch o % 64 {
		case 62:
			p[i] = '\r'
		case 63:
			p[i] = '\n'
		default:
			p[i] = byte('!' + (o/64+o*7)%90)
		}
	}
}

// reader follows a viewer and hashes its output.
type reader struct {
	v       core.TerminalViewer
	acks    bool
	pause   time.Duration // per frame
	every   int64         // bytes between acknowledgements
	acked   int64
	sum     hash.Hash
	at      int64
	got     int64
	resyncs int
	first   bool
}

func (r *reader) run(ctx context.Context) error {
	r.sum = sha256.New()
	for {
		f, err := r.v.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch f.Kind {
		case core.FrameSnapshot:
			if r.first {
				r.resyncs++
			}
			r.first = true
			r.at = f.Offset
			r.got += int64(len(f.Data))
		case core.FrameOutput:
			if f.Offset != r.at {
				return errors.New("a hole in the stream")
			}
			r.sum.Write(f.Data)
			r.at += int64(len(f.Data))
			r.got += int64(len(f.Data))
		case core.FrameEnded:
		}
		if r.pause > 0 {
			<-time.After(r.pause) // on synctest's clock
		}
		if r.acks && r.got-r.acked >= r.every {
			r.acked = r.got
			r.v.Ack(r.got)
		}
	}
}

// TestThreeViewers sends a lot of output (100 MB under “make soak”) to a fast, a slow
// and a stalled viewer. The first two get every byte. The third is given up and later
// gets a snapshot.
func TestThreeViewers(t *testing.T) {
	size := int64(soaktest.Of(100 << 20))
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := rig(t, Options{})
		info := create(t, s, core.TerminalSpec{})
		fast := &reader{v: attach(t, s, info.ID, true), acks: true}
		slow := &reader{v: attach(t, s, info.ID, true), acks: true, pause: 10 * time.Millisecond}
		plain := &reader{v: attach(t, s, info.ID, false), pause: 5 * time.Millisecond} // never acknowledges
		stalled := attach(t, s, info.ID, true)
		if f := next(t, stalled); f.Kind != core.FrameSnapshot {
			t.Fatalf("first frame %v", f.Kind)
		}
		for _, r := range []*reader{fast, slow, plain} {
			first := next(t, r.v)
			r.first, r.got = true, int64(len(first.Data))
		}
		f.change(func() { f.make, f.size, f.ended = lines, size, true })

		var wg sync.WaitGroup
		for _, r := range []*reader{fast, slow, plain} {
			wg.Go(func() {
				if err := r.run(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		<-time.After(time.Minute) // the stalled viewer comes back after a minute
		f2, err := stalled.Next(t.Context())
		if err != nil || f2.Kind != core.FrameSnapshot {
			t.Fatalf("after the stall: %v %v", f2.Kind, err)
		}
		after := &reader{v: stalled, acks: true, first: true}
		after.at, after.got = f2.Offset, int64(len(f2.Data))
		stalled.Ack(after.got)
		wg.Go(func() {
			if err := after.run(t.Context()); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()

		want := sha256.New()
		buf := make([]byte, 1<<20)
		for off := int64(0); off < size; off += int64(len(buf)) {
			lines(buf, off)
			want.Write(buf)
		}
		for name, r := range map[string]*reader{"fast": fast, "slow": slow, "without acknowledgements": plain} {
			if r.at != size || r.resyncs != 0 || !bytes.Equal(r.sum.Sum(nil), want.Sum(nil)) {
				t.Errorf("%s: %d of %d bytes, %d resyncs, or other bytes", name, r.at, size, r.resyncs)
			}
		}
		if after.at != size {
			t.Errorf("stalled ended at %d", after.at)
		}
	})
}

// TestHeldProgram stops reading from the program while a viewer is behind, and gives
// the viewer up after the documented time.
func TestHeldProgram(t *testing.T) {
	size := int64(soaktest.Of(50 << 20))
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := rig(t, Options{})
		info := create(t, s, core.TerminalSpec{})
		v := attach(t, s, info.ID, true)
		next(t, v)
		f.change(func() { f.make, f.size = lines, size })
		read := func() int64 {
			tt, err := s.session(info.ID)
			if err != nil {
				t.Fatal(err)
			}
			tt.mu.Lock()
			defer tt.mu.Unlock()
			return tt.ring.end
		}
		<-time.After(stallTime - time.Second)
		synctest.Wait()
		if got := read(); got > highMark+frameSize {
			t.Fatalf("%d bytes were read while a viewer was behind", got)
		}
		<-time.After(2 * time.Second)
		synctest.Wait()
		if got := read(); got != size {
			t.Fatalf("the program was held up by a viewer that does nothing: %d", got)
		}
		if f := next(t, v); f.Kind != core.FrameSnapshot || f.Offset != size {
			t.Fatalf("frame %v at %d", f.Kind, f.Offset)
		}
	})
}

// TestCoarseAcknowledgements: just after a key, the program goes on only when very
// little is unacknowledged. This client always owes more, so the program waits, and
// goes on a second later.
func TestCoarseAcknowledgements(t *testing.T) {
	const size = 2 << 20 // four times what may be owed
	for _, every := range []int64{64 << 10, 120 << 10} {
		synctest.Test(t, func(t *testing.T) {
			s, f, _ := rig(t, Options{})
			info := create(t, s, core.TerminalSpec{})
			r := &reader{v: attach(t, s, info.ID, true), acks: true, every: every}
			var wg sync.WaitGroup
			wg.Go(func() { _ = r.run(t.Context()) })
			if err := s.Input(t.Context(), info.ID, []byte("\r")); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			f.change(func() { f.make, f.size, f.ended = lines, size, true })
			wg.Wait()
			if d := time.Since(began); r.resyncs != 0 || r.at != size || d > 2*keyedFor {
				t.Errorf("every %d: %d resyncs, %d bytes, %v", every, r.resyncs, r.at, d)
			}
		})
	}
}

// TestIdleViewerMayBeSlowAtFirst: a viewer that had nothing to read for long is not
// given up at the first byte.
func TestIdleViewerMayBeSlowAtFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := rig(t, Options{})
		info := create(t, s, core.TerminalSpec{})
		r := &reader{v: attach(t, s, info.ID, true), acks: true, pause: time.Second}
		var wg sync.WaitGroup
		wg.Go(func() { _ = r.run(t.Context()) })
		<-time.After(time.Hour)
		f.change(func() { f.make, f.size, f.ended = lines, 3<<20, true })
		wg.Wait()
		if r.resyncs != 0 || r.at != 3<<20 {
			t.Fatalf("%d resyncs, %d bytes", r.resyncs, r.at)
		}
	})
}

// TestHiddenViewer holds nobody up, and gets a snapshot when it is shown.
func TestHiddenViewer(t *testing.T) {
	size := int64(soaktest.Of(20 << 20))
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := rig(t, Options{})
		info := create(t, s, core.TerminalSpec{})
		v := attach(t, s, info.ID, true)
		next(t, v)
		v.Show(false)
		start := time.Now()
		f.change(func() { f.make, f.size = lines, size })
		synctest.Wait()
		if d := time.Since(start); d > time.Second {
			t.Fatalf("held up for %v", d)
		}
		v.Show(true)
		if f := next(t, v); f.Kind != core.FrameSnapshot || f.Offset != size {
			t.Fatalf("frame %v at %d", f.Kind, f.Offset)
		}
	})
}

// TestSizesInTheStream: a viewer gets a size at the byte where it was set.
func TestSizesInTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := rig(t, Options{})
		info := create(t, s, core.TerminalSpec{Cols: 80, Rows: 24})
		v := attach(t, s, info.ID, true)
		if f := next(t, v); f.Cols != 80 || f.Rows != 24 {
			t.Fatalf("%+v", f)
		}
		f.print("before")
		synctest.Wait()
		for i := range 1000 {
			if err := s.Resize(t.Context(), info.ID, uint16(50+i%50), 10); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Resize(t.Context(), info.ID, 65535, 65535); err != nil {
			t.Fatal(err)
		}
		f.print("after")
		synctest.Wait()
		var got []string
		var size [2]uint16
		marks := 0
		for len(got) < 2 {
			switch f := next(t, v); f.Kind {
			case core.FrameOutput:
				got = append(got, string(f.Data))
			case core.FrameResized:
				if len(got) != 1 {
					t.Fatalf("resized after %q", got)
				}
				marks++
				size = [2]uint16{f.Cols, f.Rows}
			}
		}
		if marks == 0 || size != [2]uint16{core.MaxTerminalCols, core.MaxTerminalRows} || got[0] != "before" || got[1] != "after" {
			t.Fatalf("%q %v %d", got, size, marks)
		}
	})
}

// TestRing: pieces of any size can be read back from any offset.
func TestRing(t *testing.T) {
	var r ring
	want := make([]byte, 3*RingSize)
	lines(want, 0)
	for off, n := 0, 1; off < len(want); n = n*3%70001 + 1 {
		end := min(off+n, len(want))
		r.write(want[off:end])
		off = end
		if r.end != int64(off) || r.end-r.base > RingSize || (off <= RingSize && r.base != 0) {
			t.Fatalf("at %d: %d to %d", off, r.base, r.end)
		}
		at := r.base + (r.end-r.base)/3
		got := make([]byte, 5000)
		got = got[:r.read(got, at)]
		if !bytes.Equal(got, want[at:at+int64(len(got))]) {
			t.Fatalf("other bytes at %d", at)
		}
	}
	r = ring{}
	r.write(want)
	if r.base != int64(len(want))-RingSize {
		t.Fatalf("base %d", r.base)
	}
}
