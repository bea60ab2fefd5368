package runner

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/store"
)

// benchRunner is a runner on a real database and fake containers. It calls started with
// the prompt when a CLI is spawned.
func benchRunner(b *testing.B, channels int, started func(prompt string)) (*Service, []core.ChannelID) {
	b.Helper()
	ctx := context.Background()
	db, err := store.Open(ctx, filepath.Join(b.TempDir(), "loop.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var ids []core.ChannelID
	for i := range channels {
		id := core.ChannelID(fmt.Sprintf("c%02d", i))
		if err := db.AddChannel(ctx, core.Channel{ID: id, Kind: core.KindProject, Name: string(id), Dir: "/repo/" + string(id)}); err != nil {
			b.Fatal(err)
		}
		ids = append(ids, id)
	}
	bx := &boxes{cli: func(p *proc) {
		started(p.prompt())
		p.print(turn("done") + goodResult)
		p.end(0)
	}}
	makes := provisioner{bx, func(run core.Run, ch core.Channel) (made, error) {
		return made{Spec: specOf(run, ch), Launch: Launch{APIKey: "x", BaseURL: "http://model"}}, nil
	}}
	s := New(Ports{
		Store: db, Containers: bx, Links: bx, Spools: spoolFiles{bx}, Sessions: unknownSession, Log: quiet,
		Publish:   func(...core.Event) {},
		Provision: makes, Settings: makes,
	}, Options{Parallel: channels})
	run, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Run(run)
	}()
	b.Cleanup(func() {
		stop()
		<-done
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	return s, ids
}

func percentile(list []time.Duration, p int) float64 {
	slices.Sort(list)
	return float64(list[(len(list)-1)*p/100].Microseconds()) / 1000
}

// BenchmarkQueueToStart measures from the call that sends a prompt to the spawn of its
// CLI, in an idle channel. The times of engine and image are not part of it.
func BenchmarkQueueToStart(b *testing.B) {
	spawned := make(chan struct{}, 1)
	s, ids := benchRunner(b, 1, func(string) { spawned <- struct{}{} })
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		run, err := s.Prompt(context.Background(), core.Run{ChannelID: ids[0], Prompt: "x"})
		if err != nil {
			b.Fatal(err)
		}
		<-spawned
		took = append(took, time.Since(began))
		waitEnded(b, s, run.ID)
	}
	b.ReportMetric(percentile(took, 50), "p50-ms")
	b.ReportMetric(percentile(took, 99), "p99-ms")
}

// BenchmarkFiftyChannels sends one prompt to each of 50 channels at once.
func BenchmarkFiftyChannels(b *testing.B) {
	const channels = 50
	var mu sync.Mutex
	began := map[string]time.Time{}
	var took []time.Duration
	s, ids := benchRunner(b, channels, func(prompt string) {
		mu.Lock()
		defer mu.Unlock()
		took = append(took, time.Since(began[prompt]))
	})
	round := 0
	for b.Loop() {
		round++
		var wg sync.WaitGroup
		for _, id := range ids {
			wg.Go(func() {
				prompt := fmt.Sprint(id, " ", round)
				mu.Lock()
				began[prompt] = time.Now()
				mu.Unlock()
				run, err := s.Prompt(context.Background(), core.Run{ChannelID: id, Prompt: prompt})
				if err != nil {
					b.Error(err)
					return
				}
				waitEnded(b, s, run.ID)
			})
		}
		wg.Wait()
	}
	mu.Lock()
	defer mu.Unlock()
	b.ReportMetric(percentile(took, 50), "start-p50-ms")
	b.ReportMetric(percentile(took, 99), "start-p99-ms")
}

func waitEnded(b *testing.B, s *Service, id core.RunID) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		run, err := s.p.Store.Run(context.Background(), id)
		if err != nil {
			b.Error(err)
			return
		}
		if run.State.Terminal() {
			return
		}
		<-tick.C
	}
}
