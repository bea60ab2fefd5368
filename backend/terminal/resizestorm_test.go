package terminal

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"loop/backend/core"
)

// slowSizes is a program behind a slow link, on which sizes take long.
type slowSizes struct {
	*program
	turn chan struct{}
}

func (p slowSizes) Resize(ctx context.Context, cols, rows uint16) error {
	<-p.turn
	return p.program.Resize(ctx, cols, rows)
}

// TestResizesDoNotQueueBehindALink: a thousand sizes that are set while one is on its
// way become one more.
func TestResizesDoNotQueueBehindALink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := slowSizes{newProgram(), make(chan struct{})}
		s, _, _ := rig(t, Options{Programs: &programs{next: func(Start) (Program, error) { return f, nil }}})
		i := create(t, s, core.TerminalSpec{})
		var wg sync.WaitGroup
		ask := func(cols uint16) {
			wg.Go(func() {
				if err := s.Resize(t.Context(), i.ID, cols, 40); err != nil {
					t.Error(err)
				}
			})
		}
		ask(100)
		synctest.Wait()
		for n := range uint16(1000) {
			ask(101 + n%300)
		}
		synctest.Wait()
		ask(499)
		synctest.Wait()
		close(f.turn)
		wg.Wait()
		if len(f.sizes) != 2 || f.sizes[1].cols != 499 {
			t.Errorf("%d sizes: %v", len(f.sizes), f.sizes[:min(5, len(f.sizes))])
		}
		if got := s.List("")[0]; got.Cols != 499 {
			t.Errorf("%+v", got)
		}
	})
}
