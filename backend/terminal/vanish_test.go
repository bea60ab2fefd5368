package terminal

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// TestCreateInAContainerThatVanishes: a shell container is found, but gone before its
// first program. Another one takes its place.
func TestCreateInAContainerThatVanishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s *Service
		var b *boxes
		starts := 0
		s, _, b = rig(t, Options{Programs: &programs{next: func(st Start) (Program, error) {
			if starts++; starts == 1 {
				// A busy engine takes long to report it.
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

// TestCreateInAContainerThatIsGone: the engine no longer knows the container. Another one takes
// its place; where it is only the program that nobody knows, the failure is returned at once.
func TestCreateInAContainerThatIsGone(t *testing.T) {
	for _, gone := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var b *boxes
			var s *Service
			starts := 0
			s, _, b = rig(t, Options{Programs: &programs{next: func(st Start) (Program, error) {
				if starts++; starts > 1 {
					return newProgram(), nil
				}
				if gone {
					_ = b.Remove(context.Background(), st.Container.ID)
				}
				return nil, core.Fail(core.CodeNotFound, fmt.Errorf("prepare a terminal: %w", core.ErrNotFound), "There is none.", "")
			}}})
			began := time.Now()
			_, err := s.Create(t.Context(), core.TerminalSpec{ChannelID: "c1"})
			if (err == nil) != gone || (b.made == 2) != gone || time.Since(began) > time.Second {
				t.Errorf("gone: %v: %v, %d containers, after %s", gone, err, b.made, time.Since(began))
			}
		})
	}
}

// TestCreateThatFailsInALivingContainer: a container that stays is not replaced, and
// the failure is returned.
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

// TestStopOfWhatCannotBeEnded: a session's programs cannot be ended. Stopping the
// session still removes the container, and the session with it.
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
