package terminal

import (
	"testing"
	"testing/synctest"

	"loop/backend/core"
)

// TestContainerOfSeveralChannels: one channel's word ends its own terminals there. The
// container goes with the channel whose state it has.
func TestContainerOfSeveralChannels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, b := rig(t, Options{Programs: &programs{next: func(Start) (Program, error) { return newProgram(), nil }}})
		box := core.Container{ID: "box", ChannelID: "c1", Scope: "agent:main:c1", Type: core.TypeAgent}
		b.shells["c1"], b.shells["c2"] = box, box
		one := create(t, s, core.TerminalSpec{ChannelID: "c1"})
		create(t, s, core.TerminalSpec{ChannelID: "c2"})
		if err := s.Kill(t.Context(), "c2"); err != nil {
			t.Fatal(err)
		}
		if all := s.List(""); len(all) != 1 || all[0].ID != one.ID || len(b.removed) != 0 {
			t.Fatalf("after one channel: %+v, removed %v", all, b.removed)
		}
		if err := s.Stop(t.Context(), one.ID); err != nil || len(b.removed) != 0 {
			t.Fatalf("a terminal was stopped: %v, removed %v", err, b.removed)
		}
		create(t, s, core.TerminalSpec{ChannelID: "c2"})
		if err := s.EndChannel(t.Context(), "c2"); err != nil || len(b.removed) != 0 {
			t.Fatalf("the end of a thread: %v, removed %v", err, b.removed)
		}
		if err := s.EndChannel(t.Context(), "c1"); err != nil || len(b.removed) != 1 {
			t.Fatalf("the end of the owner: %v, removed %v", err, b.removed)
		}
	})
}
