package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"loop/backend/bus"
	"loop/backend/core"
	"loop/backend/wire"
)

// BenchmarkThousandApprovals holds 1,000 calls of 50 runs, then answers each. One
// operation is all of it, with events and verdicts.
func BenchmarkThousandApprovals(b *testing.B) {
	for b.Loop() {
		s := New(Options{Bus: bus.New(), Timeline: &fakeTimeline{}, Audit: &fakeAudit{}})
		ctx, end := context.WithCancel(b.Context())
		var all, runs sync.WaitGroup
		runs.Go(func() { _ = s.Run(ctx) })
		for run := range 50 {
			id := core.SpawnID(fmt.Sprintf("spawn-%d", run))
			s.Admit("box", id, core.Identity{ChannelID: "chan", RunID: core.RunID(id)})
			for i := range maxPerRun {
				raw, err := json.Marshal(inPlace(fmt.Sprintf("/home/ana/f%d", i), "8:5"))
				if err != nil {
					b.Fatal(err)
				}
				all.Go(func() { s.Held(ctx, "box", core.HeldCall{Spawn: id, Kind: wire.KindFile, Detail: raw}) })
			}
		}
		for answered := 0; answered < 50*maxPerRun; {
			for _, q := range s.Pending() {
				a := core.ApprovalAnswer{Allow: true, Scope: core.ScopeOnce, Digest: q.Digest}
				if _, err := s.Answer(ctx, q.ID, a); err != nil {
					b.Fatal(err)
				}
				answered++
			}
		}
		all.Wait()
		end()
		runs.Wait()
	}
}
