package store

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"loop/backend/core"
)

// BenchmarkStore reports the time per event or row. WAL+NORMAL should take a quarter of
// WAL+FULL, and batches of 100 far less than single inserts.
func BenchmarkStore(b *testing.B) {
	ctx := context.Background()
	payload := notice("c", "r", strings.Repeat("x", 400))
	for _, sync := range []string{"NORMAL", "FULL"} {
		for _, batch := range []int{1, 100} {
			b.Run(fmt.Sprintf("append/sync=%s/batch=%d", sync, batch), func(b *testing.B) {
				s := open(b)
				if _, err := s.writer.Exec("pragma synchronous = " + sync); err != nil {
					b.Fatal(err)
				}
				addChannel(b, s, "c")
				enqueue(b, s, core.Run{ID: "r", ChannelID: "c"})
				s.ClaimNext(ctx, "c")
				evs := make([]core.Event, batch)
				for i := range evs {
					evs[i] = payload
				}
				var off int64
				for b.Loop() {
					if _, err := s.AppendEvents(ctx, "r", off, off+1, evs...); err != nil {
						b.Fatal(err)
					}
					off++
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch), "ns/event")
			})
		}
	}
	s := open(b)
	addChannel(b, s, "c")
	enqueue(b, s, core.Run{ID: "r", ChannelID: "c"})
	for range 100 {
		evs := make([]core.Event, 100)
		for i := range evs {
			evs[i] = payload
		}
		if _, err := s.AddEvents(ctx, evs...); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("run by id", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Run(ctx, "r"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("timeline of 50", func(b *testing.B) {
		for b.Loop() {
			if l, _, err := s.Timeline(ctx, "c", 0, 50); err != nil || len(l) != 50 {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkQueue takes one prompt through the store: queued, claimed, ended. Behind it
// n others wait.
func BenchmarkQueue(b *testing.B) {
	ctx := context.Background()
	for _, waiting := range []int{0, 100} {
		b.Run(fmt.Sprintf("waiting=%d", waiting), func(b *testing.B) {
			s := open(b)
			addChannel(b, s, "c")
			for i := range waiting {
				enqueue(b, s, core.Run{ID: core.RunID(fmt.Sprint("w", i)), ChannelID: "c", Prompt: "later"})
			}
			for n := 0; b.Loop(); n++ {
				id := core.RunID(fmt.Sprint("r", n))
				if _, _, _, err := s.Enqueue(ctx, core.Run{ID: id, ChannelID: "c", Prompt: "x", Priority: 1}, notice("c", id, "asked")); err != nil {
					b.Fatal(err)
				}
				run, ok, err := s.ClaimNext(ctx, "c")
				if err != nil || !ok || run.ID != id {
					b.Fatal(run.ID, err)
				}
				run.State = core.RunDone
				if _, err := s.FinishRun(ctx, run, notice("c", id, "ended")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
