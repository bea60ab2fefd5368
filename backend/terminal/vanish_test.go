package terminal

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// A shell container that is found and gone before its first program is replaced.
func TestCreateInAContainerThatVanishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s *Service
		var b *boxes
		starts := 0
		s, _, b = rig(t, Options{Programs: &programs{next: func(st Start) (Program, error) {
			if starts++; starts == 1 {
				// A busy engine takes its time until it says so.
				time.AfterFunc(9*time.Second, func() { _ = b.Remove(context.Background(), st.Container.ID) })
				return nil, core.Fail(core.CodeNoLink, core.ErrLinkDown, "It broke off.", "")
			}
			return newProgram(), nil
		}}})
		create(t, s, core.TerminalSpec{})
		if b.made != 2 || starts != 2 {
			t.Errorf("%d containers, %d starts", b.made, starts)
		}
	})
}

// One that stays is not replaced, and the failure is told.
func TestCreateThatFailsInALivingContainer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starts := 0
		s, _, b := rig(t, Options{Programs: &programs{next: func(Start) (Program, error) {
			starts++
			return nil, core.Fail(core.CodeNoLink, core.ErrLinkDown, "It broke off.", "")
		}}})
		if _, err := s.Create(t.Context(), core.TerminalSpec{ChannelID: "c1"}); core.AsFailure(err).Code != core.CodeNoLink {
			t.Error(err)
		}
		if b.made != 1 || starts != 1 {
			t.Errorf("%d containers, %d starts", b.made, starts)
		}
	})
}

// Stopping a session whose programs cannot be ended removes the container all
// the same, and the session with it.
func TestStopOfWhatCannotBeEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, b := rig(t, Options{})
		i := create(t, s, core.TerminalSpec{})
		f.endErr = errors.New("the link is held still")
		if err := s.Stop(t.Context(), i.ID); err != nil {
			t.Error(err)
		}
		if len(b.removed) != 1 || len(s.List("")) != 0 {
			t.Errorf("%v %v", b.removed, s.List(""))
		}
		f.exit()
	})
}
