package store

import (
	"testing"

	"loop/backend/core"
)

func TestNamesPicture(t *testing.T) {
	s := open(t)
	for _, id := range []core.ChannelID{"c", "d"} {
		if err := s.AddChannel(t.Context(), core.Channel{ID: id, Kind: core.KindProject, Name: "x", Dir: "/" + string(id), CreatedAt: epoch}); err != nil {
			t.Fatal(err)
		}
	}
	run := core.Run{ID: "r", ChannelID: "c", State: core.RunQueued, CreatedAt: epoch, Attachments: []core.Attachment{{ID: "aa11"}}}
	shown := core.NewEvent(core.EventToolResult, "c", "r", epoch, core.ToolResult{ToolUseID: "t", Pictures: []core.Attachment{{ID: "bb22"}}})
	if _, _, _, err := s.Enqueue(t.Context(), run, shown); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]bool{"aa11": true, "bb22": true, "cc33": false} {
		if got, err := s.NamesPicture(t.Context(), "c", id); err != nil || got != want {
			t.Errorf("%s: %v %v", id, got, err)
		}
		if got, err := s.NamesPicture(t.Context(), "d", id); err != nil || got {
			t.Errorf("%s in another channel: %v %v", id, got, err)
		}
	}
}
