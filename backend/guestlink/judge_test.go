package guestlink

import (
	"context"
	"testing"
	"testing/synctest"

	"loop/backend/core"
	"loop/backend/wire"
)

// TestAnIDThatIsUsedAgain: the late answer to a question that was withdrawn takes
// nothing from the one that has its id now.
func TestAnIDThatIsUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var asked []context.Context
		j := judge{open: map[uint64]*context.CancelCauseFunc{}, answer: func(ctx context.Context, _ core.HeldCall) core.Verdict {
			asked = append(asked, ctx)
			if len(asked) == 1 {
				<-release
			} else {
				<-ctx.Done()
			}
			return core.Verdict{}
		}}
		take := func(q wire.Question) {
			if err := j.take(t.Context(), q); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		take(wire.Question{ID: 1, Kind: "file"})
		take(wire.Question{ID: 1, Withdrawn: true})
		take(wire.Question{ID: 1, Kind: "file"})
		close(release)
		synctest.Wait()
		if len(asked) != 2 || j.open[1] == nil || asked[1].Err() != nil {
			t.Errorf("%d were asked, listed: %v", len(asked), j.open[1] != nil)
		}
		take(wire.Question{ID: 1, Withdrawn: true})
		j.wg.Wait()
		if asked[1].Err() == nil {
			t.Error("it could not be withdrawn")
		}
	})
}
