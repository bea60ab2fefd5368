//go:build docker

package e2e

import (
	"testing"
	"time"

	"loop/backend/core"
)

// BenchmarkEightChannels sends one prompt to each of eight channels at once, in real
// containers. It measures from each call to the agent's first activity in that run, and
// to the end of all runs. It also measures one channel alone.
func BenchmarkEightChannels(b *testing.B) {
	h := newHome(b, `{"container_keep_alive_sec":1}`)
	s := h.serve()
	defer s.stop()
	round := func(ids []core.ChannelID) (started, all time.Duration) {
		began := time.Now()
		runs := make([]core.RunID, len(ids))
		for i, ch := range ids {
			var run core.Run
			s.must("Runs.Prompt", &run, map[string]any{"client_id": core.NewID(), "channel_id": ch, "prompt": "Hello", "demo": true, "script": "quick"})
			runs[i] = run.ID
		}
		for i, ch := range ids {
			page := s.until(ch, "the end of a run", func(p timeline) bool { return ended(p, runs[i]) })
			if st := outcome(page, runs[i]); st.State != core.RunDone {
				b.Fatalf("%+v %+v", st, st.Failure)
			}
			for _, e := range page.Events {
				if e.RunID == runs[i] && e.Type == core.EventActivity { // the CLI's first line of output
					started = max(started, time.UnixMilli(e.Timestamp).Sub(began))
					break
				}
			}
		}
		return started, time.Since(began)
	}
	ids := make([]core.ChannelID, 8)
	for i := range ids {
		ids[i] = s.add(b.TempDir())
	}
	round(ids[:1]) // makes the image and the guest's volume
	var one, eight, oneStart, eightStart []time.Duration
	for b.Loop() {
		first, all := round(ids[:1])
		oneStart, one = append(oneStart, first), append(one, all)
		first, all = round(ids)
		eightStart, eight = append(eightStart, first), append(eight, all)
	}
	b.ReportMetric(median(oneStart), "one-start-ms")
	b.ReportMetric(median(one), "one-ms")
	b.ReportMetric(median(eightStart), "eight-last-start-ms")
	b.ReportMetric(median(eight), "eight-ms")
}
