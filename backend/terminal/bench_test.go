package terminal

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"loop/backend/core"
)

// flood is a program that prints without end, as fast as it is read.
func flood() *program {
	f := newProgram()
	block := make([]byte, frameSize)
	lines(block, 0)
	f.make = func(p []byte, _ int64) { copy(p, block) }
	f.size = 1 << 62
	return f
}

// BenchmarkStream measures how fast a session takes a program's output and gives
// it to viewers that acknowledge at once, against reading the program alone.
func BenchmarkStream(b *testing.B) {
	b.Run("read alone", func(b *testing.B) {
		r, _, _ := flood().Output(b.Context(), 0)
		buf := make([]byte, frameSize)
		b.SetBytes(frameSize)
		for b.Loop() {
			if _, err := io.ReadFull(r, buf); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, n := range []int{0, 1, 4} {
		b.Run(fmt.Sprintf("%d viewers", n), func(b *testing.B) {
			f := flood()
			s := New(Options{Programs: &programs{next: func(Start) (Program, error) { return f, nil }}, Containers: &boxes{shells: map[core.ChannelID]core.Container{}}})
			info, err := s.Create(b.Context(), core.TerminalSpec{ChannelID: "c"})
			if err != nil {
				b.Fatal(err)
			}
			tt, _ := s.session(info.ID)
			ctx, cancel := context.WithCancel(b.Context())
			var wg sync.WaitGroup
			var frames atomic.Int64
			for range n {
				v := tt.attach(core.TerminalAttach{Acks: true})
				wg.Go(func() {
					defer v.Close()
					got := int64(0)
					for {
						f, err := v.Next(ctx)
						if err != nil {
							return
						}
						got += int64(len(f.Data))
						frames.Add(1)
						v.Ack(got)
					}
				})
			}
			at := func() int64 {
				tt.mu.Lock()
				defer tt.mu.Unlock()
				return tt.screenAt
			}
			from, start := at(), time.Now()
			for b.Loop() {
				for want := at() + frameSize; at() < want; {
					runtime.Gosched()
				}
			}
			moved := at() - from
			b.ReportMetric(float64(moved)/1e6/time.Since(start).Seconds(), "MB/s")
			if n > 0 {
				b.ReportMetric(float64(frames.Load())/float64(n)/(float64(moved)/1e6), "frames/MB")
			}
			cancel()
			wg.Wait()
			f.exit()
			f.change(func() { f.size = 0 })
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkIdleSessions reports the memory of fifty sessions with a screenful.
func BenchmarkIdleSessions(b *testing.B) {
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		s := New(Options{Programs: &programs{next: func(Start) (Program, error) { return newProgram(), nil }}, Containers: &boxes{shells: map[core.ChannelID]core.Container{}}})
		for range 50 {
			info, err := s.Create(b.Context(), core.TerminalSpec{ChannelID: "c"})
			if err != nil {
				b.Fatal(err)
			}
			tt, _ := s.session(info.ID)
			tt.program.(*program).print("$ make test\r\nok\r\n$ ")
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/50/1024, "KiB/session")
		b.ReportMetric(float64(runtime.NumGoroutine())/50, "goroutines/session")
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAttach measures the first frame of a viewer on a session whose
// scrollback is full.
func BenchmarkAttach(b *testing.B) {
	f := newProgram()
	s := New(Options{Programs: &programs{next: func(Start) (Program, error) { return f, nil }}, Containers: &boxes{shells: map[core.ChannelID]core.Container{}}})
	info, err := s.Create(b.Context(), core.TerminalSpec{ChannelID: "c", Cols: 120, Rows: 40})
	if err != nil {
		b.Fatal(err)
	}
	f.change(func() { f.make, f.size = lines, 1<<20 })
	tt, _ := s.session(info.ID)
	for tt.screenOffset() < 1<<20 {
		runtime.Gosched()
	}
	size := 0
	for b.Loop() {
		v := tt.attach(core.TerminalAttach{})
		g, err := v.Next(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		size = len(g.Data)
		v.Close()
	}
	b.ReportMetric(float64(size), "snapshot-bytes")
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}
