package terminal

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"loop/backend/core"
)

// TestATerminalHoldsItsContainer from before its program starts until the program has
// ended, in whatever way.
func TestATerminalHoldsItsContainer(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		start error
		ended bool // the container ends after it was looked at
		code  core.Code
		end   func(*testing.T, *Service, *program, core.TerminalID)
	}{
		"the program ends": {end: func(_ *testing.T, _ *Service, p *program, _ core.TerminalID) { p.exit() }},
		"the program is gone": {end: func(_ *testing.T, _ *Service, p *program, _ core.TerminalID) {
			p.change(func() { p.gone = core.ErrNotFound })
		}},
		"closed": {end: func(t *testing.T, s *Service, _ *program, id core.TerminalID) {
			if err := s.CloseSession(t.Context(), id); err != nil {
				t.Error(err)
			}
		}},
		"not started":        {start: boom, code: core.CodeInternal},
		"the container ends": {ended: true, code: core.CodeConflict},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newProgram()
				var b *boxes
				s, _, b := rig(t, Options{Programs: &programs{next: func(st Start) (Program, error) {
					if got := b.holders(); !slices.Equal(got, []core.TerminalID{st.ID}) {
						t.Errorf("held by %v before the start", got)
					}
					return f, c.start
				}}})
				b.shells["other"], b.ended = core.Container{ID: "box", ChannelID: "other", Type: core.TypeAgent}, c.ended
				info, err := s.Create(t.Context(), core.TerminalSpec{ContainerID: "box", Plain: true})
				if c.end == nil {
					if err == nil || c.code == core.CodeConflict && code(err) != c.code || len(b.holders()) != 0 {
						t.Errorf("%v, held by %v", err, b.holders())
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				c.end(t, s, f, info.ID)
				synctest.Wait()
				if got := b.holders(); len(got) != 0 {
					t.Errorf("still held by %v", got)
				}
			})
		})
	}
}

// TestTerminalsThatCameBack keep their containers. Holds of other terminals of an
// earlier launch are given back.
func TestTerminalsThatCameBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		id := core.TerminalID(core.NewID())
		k := &keeper{rows: map[core.TerminalID]Saved{id: {Info: core.TerminalInfo{ID: id, ChannelID: "c", ContainerID: "box", Cols: 80, Rows: 24}}}}
		s, f, b := rig(t, Options{Keeper: k})
		s.o.Programs.(*programs).resume = func(Saved, func(int64)) Program { return f }
		for _, t := range []core.TerminalID{id, "lost"} {
			_ = b.Hold(context.Background(), "box", holderOf(t))
		}
		if err := s.Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = s.Run(ctx)
		}()
		synctest.Wait()
		stop()
		<-done
		if got := b.holders(); !slices.Equal(got, []core.TerminalID{id}) {
			t.Errorf("held by %v", got)
		}
	})
}
