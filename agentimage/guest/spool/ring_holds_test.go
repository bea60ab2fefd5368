//go:build linux

package spool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/wire"
)

// pattern is a stream in which neighbouring positions differ.
func pattern(n int) []byte {
	p := make([]byte, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	return p
}

// held reads with a hold until the end or until stop bytes were read.
func held(t *testing.T, l *Log, off, ahead, stop int64, step func()) []byte {
	t.Helper()
	h, start := l.Hold(off, ahead)
	defer h.Release()
	if start != off {
		t.Errorf("start %d, asked for %d", start, off)
	}
	var out []byte
	buf := make([]byte, 1000)
	for stop == 0 || int64(len(out)) < stop {
		n, err := l.Next(t.Context(), buf, off)
		out = append(out, buf[:n]...)
		off += int64(n)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Errorf("at %d: %v", off, err)
			return out
		}
		if !h.Taken(off) {
			t.Errorf("taken %d refused", off)
		}
		if step != nil {
			step()
		}
	}
	return out
}

// TestHeldReadersMissNothing has a writer that is much faster than two readers,
// one of which leaves in the middle.
func TestHeldReadersMissNothing(t *testing.T) {
	data := pattern(3 << 20)
	l := NewRing(256 << 10)
	var wg sync.WaitGroup
	ready := make(chan struct{}, 2)
	for _, stop := range []int64{0, 1 << 20} {
		wg.Go(func() {
			var once sync.Once
			h, _ := l.Hold(0, 4096) // this hold stands until held has its own
			ready <- struct{}{}
			got := held(t, l, 0, l.max-spare, stop, func() { once.Do(h.Release) })
			if want := data[:len(got)]; (stop == 0 && len(got) != len(data)) || !bytes.Equal(got, want) {
				t.Errorf("%d bytes of %d, equal %v", len(got), len(data), bytes.Equal(got, want))
			}
		})
	}
	<-ready
	<-ready
	l.Drain(t.Context(), bytes.NewReader(data))
	wg.Wait()
	if base, end, paused := l.State(); end != int64(len(data)) || base != end-256<<10 || paused != "" {
		t.Fatalf("%d..%d %q", base, end, paused)
	}
}

// TestHoldBlocksTheWriter follows one hold through its whole life. The writer runs
// ahead up to a limit and no further, goes on as bytes are taken, and is free when the
// reader leaves without notice.
func TestHoldBlocksTheWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size, ahead = 1 << 20, 100_000
		l := NewRing(size)
		r, w := io.Pipe()
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		h, _ := l.Hold(0, ahead) // before anything is written
		go func() { l.Drain(ctx, r); close(done) }()
		go func() {
			for {
				if _, err := w.Write(make([]byte, 1000)); err != nil {
					return
				}
			}
		}()
		at := func(want int64, paused string) {
			t.Helper()
			synctest.Wait()
			if _, end, why := l.State(); end != want || why != paused {
				t.Fatalf("end %d (%q), want %d (%q)", end, why, want, paused)
			}
		}
		at(ahead, wire.PausedReader)
		if h.Taken(ahead + 1) {
			t.Error("taken what was never there")
		}
		h.Taken(2500)
		at(ahead+2500, wire.PausedReader)
		if h.Taken(2499) {
			t.Error("taken back")
		}
		// A second reader may be further behind than the first.
		late, start := l.Hold(0, 1000)
		if start != 0 {
			t.Fatalf("start %d", start)
		}
		h.Taken(50_000)
		at(ahead+2500, wire.PausedReader)
		late.Release()
		at(ahead+50_000, wire.PausedReader)
		late.Release() // a second Release does nothing
		cancel()
		h.Release()
		<-done
		_ = w.Close()
		_ = r.Close()
	})
}

// TestHoldWhileBytesAreBeingRead begins a hold at the oldest byte of a full ring. The
// writer already waits for bytes that would take the place of that byte.
func TestHoldWhileBytesAreBeingRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 256 << 10
		data := pattern(size + 1000)
		l := NewRing(size)
		r, w := io.Pipe()
		done := make(chan struct{})
		go func() { l.Drain(context.Background(), r); close(done) }()
		_, _ = w.Write(data[:size])
		synctest.Wait() // the writer is in Read
		got := make(chan []byte)
		h, _ := l.Hold(0, l.max-spare)
		go func() { _, _ = w.Write(data[size:]); _ = w.Close() }()
		synctest.Wait()
		if base, end, _ := l.State(); base != 0 || end != size {
			t.Fatalf("%d..%d: the reader's bytes are gone", base, end)
		}
		go func() { got <- held(t, l, 0, l.max-spare, 0, func() { h.Release() }) }()
		if out := <-got; !bytes.Equal(out, data) {
			t.Fatalf("%d bytes of %d", len(out), len(data))
		}
		<-done
	})
}

// TestHoldBeforeTheLastBytes begins a hold at the oldest byte of a full ring, between the
// end of the program and the last bytes of its terminal. Those are not lost.
func TestHoldBeforeTheLastBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 512 << 10
		data := pattern(size + 10_000)
		l := NewRing(size)
		r, w := io.Pipe()
		done := make(chan struct{})
		go func() { l.Drain(context.Background(), r); close(done) }()
		_, _ = w.Write(data[:size])
		synctest.Wait()
		l.Lift()
		h, start := l.Hold(0, 10_000)
		_, _ = w.Write(data[size:])
		_ = w.Close()
		<-done
		if _, end, _ := l.State(); start != spare || end != int64(len(data)) {
			t.Errorf("from %d to %d of %d", start, end, len(data))
		}
		h.Release()
	})
}

// TestHoldAfterTheEnd has the program end while its reader is behind. Its last output
// is kept beyond ahead, but a flood that goes on is cut off at the ring's size.
func TestHoldAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 512 << 10
		l := NewRing(size)
		r, w := io.Pipe()
		done := make(chan struct{})
		go func() { l.Drain(context.Background(), r); close(done) }()
		h, _ := l.Hold(0, 10_000)
		go func() {
			for {
				if _, err := w.Write(make([]byte, 1000)); err != nil {
					return
				}
			}
		}()
		synctest.Wait()
		l.Lift()
		<-done
		_ = r.Close()
		if base, end, paused := l.State(); base != 0 || end != size || paused != "" || !ended(l) {
			t.Fatalf("%d..%d %q", base, end, paused)
		}
		h.Release()
	})
}

// TestRingTakesMemoryAsItFills, and loses nothing at any fill level.
func TestRingTakesMemoryAsItFills(t *testing.T) {
	const size = 10*ringBlock + 777
	l := NewRing(size)
	blocks := func() (n int) {
		for _, b := range l.ring {
			n += len(b)
		}
		return n
	}
	if blocks() != 0 {
		t.Fatal("an idle ring takes memory")
	}
	data := pattern(3 * size)
	got := make([]byte, size)
	for at := 0; at < len(data); {
		n := min(len(data)-at, 1+rand.IntN(5000))
		l.appendRing(data[at : at+n])
		at += n
		base, end, _ := l.State()
		if base != max(0, end-size) || end != int64(at) {
			t.Fatalf("%d..%d after %d", base, end, at)
		}
		if took := blocks(); took > size || took < min(at, size) || took > at+ringBlock {
			t.Fatalf("%d bytes of memory for %d", took, at)
		}
		n, err := l.Next(t.Context(), got, base)
		if err != nil || !bytes.Equal(got[:n], data[base:end]) {
			t.Fatalf("%d..%d: %d bytes, %v", base, end, n, err)
		}
	}
}

func BenchmarkRing(b *testing.B) {
	l := NewRing(1 << 20)
	buf := make([]byte, 4096) // as much as one read of a terminal gives
	b.SetBytes(int64(len(buf)))
	for b.Loop() {
		l.appendRing(buf)
	}
}

// TestExpectedReader has a program print at once. The program waits for its first
// reader, who gets everything. Without a reader it goes on after the time that a reader
// may take to come.
func TestExpectedReader(t *testing.T) {
	const size, wait = 256 << 10, 5 * time.Second
	data := pattern(2 * size)
	for name, read := range map[string]func(t *testing.T, l *Log) []byte{
		"held": func(t *testing.T, l *Log) []byte { return held(t, l, 0, l.max-spare, 0, nil) },
		"plain": func(t *testing.T, l *Log) []byte {
			_, err := l.Next(t.Context(), make([]byte, 1), 0)
			return []byte(fmt.Sprint(err))
		},
		"none": nil,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := NewRing(size)
				l.Expect(wait)
				done := make(chan struct{})
				began := time.Now()
				go func() { l.Drain(context.Background(), bytes.NewReader(data)); close(done) }()
				synctest.Wait()
				if base, end, paused := l.State(); base != 0 || end != l.max-spare || paused != wire.PausedReader {
					t.Fatalf("%d..%d %q", base, end, paused)
				}
				if read == nil {
					<-done
					if took := time.Since(began); took != wait {
						t.Fatalf("waited %v", took)
					}
					return
				}
				if got := read(t, l); name == "held" && !bytes.Equal(got, data) {
					t.Fatalf("%d bytes of %d", len(got), len(data))
				}
				<-done
				if took := time.Since(began); took != 0 {
					t.Errorf("waited %v", took)
				}
			})
		})
	}
}
