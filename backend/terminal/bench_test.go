package terminal

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"loop/backend/core"
	"loop/backend/terminal/vt"
)

// prints is a program that prints size bytes as fast as they are read, and ends.
func prints(size int64) *program {
	f := newProgram()
	block := make([]byte, frameSize)
	lines(block, 0)
	f.make = func(p []byte, _ int64) { copy(p, block) }
	f.size, f.ended = size, true
	return f
}

// BenchmarkStream measures how fast a session passes a program's output to its screen
// and to viewers that acknowledge at once. The screen alone is the limit, since every
// byte has to pass it.
func BenchmarkStream(b *testing.B) {
	const size = 32 << 20
	block := make([]byte, frameSize)
	lines(block, 0)
	b.Run("screen alone", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			screen := vt.New(80, 24, vt.Options{})
			for range size / frameSize {
				_, _ = screen.Write(block)
			}
		}
	})
	for _, n := range []int{0, 1, 4} {
		b.Run(fmt.Sprintf("%d viewers", n), func(b *testing.B) {
			b.SetBytes(size)
			var given atomic.Int64
			for b.Loop() {
				f := prints(size)
				s := New(whole(Options{Programs: &programs{next: func(Start) (Program, error) { return f, nil }}}, &boxes{shells: map[core.ChannelID]core.Container{}}))
				info, err := s.Create(b.Context(), core.TerminalSpec{ChannelID: "c"})
				if err != nil {
					b.Fatal(err)
				}
				t, _ := s.session(info.ID)
				var wg sync.WaitGroup
				for range n {
					v := t.attach(core.TerminalAttach{Acks: true})
					wg.Go(func() {
						defer v.Close()
						for got := int64(0); ; given.Add(1) {
							f, err := v.Next(b.Context())
							if err != nil {
								return
							}
							got += int64(len(f.Data))
							v.Ack(got)
						}
					})
				}
				wg.Wait()
				t.work.Wait()
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
			if n > 0 {
				b.ReportMetric(float64(given.Load())/float64(n)/float64(b.N)/(size/1e6), "frames/MB")
			}
		})
	}
}

// BenchmarkIdleSessions reports the memory of fifty sessions that show a full screen.
func BenchmarkIdleSessions(b *testing.B) {
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		s := New(whole(Options{Programs: &programs{next: func(Start) (Program, error) { return newProgram(), nil }}}, &boxes{shells: map[core.ChannelID]core.Container{}}))
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

// BenchmarkAttach measures the time to a viewer's first frame, on a session with a full
// scrollback.
func BenchmarkAttach(b *testing.B) {
	f := newProgram()
	s := New(whole(Options{Programs: &programs{next: func(Start) (Program, error) { return f, nil }}}, &boxes{shells: map[core.ChannelID]core.Container{}}))
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
