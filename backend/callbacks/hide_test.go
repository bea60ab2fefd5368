package callbacks

import (
	"strings"
	"testing"

	"loop/backend/core"
)

// TestAgentsRepeatNoSecret: messages to other channels hide secrets, as the run's own
// output does.
func TestAgentsRepeatNoSecret(t *testing.T) {
	w := newWorld()
	s := w.service()
	s.o.Hide = func(run core.RunID, text string) string {
		return strings.ReplaceAll(text, "CANARY-of-"+string(run), "•")
	}
	if err := s.SendMessage(t.Context(), me, "", "my key is CANARY-of-r"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.QueueMessage(t.Context(), me, core.GuestMessage{Content: "use CANARY-of-r"}); err != nil {
		t.Fatal(err)
	}
	if said := string(w.events[0].Data) + w.queued[0].Prompt; strings.Contains(said, "CANARY") || !strings.Contains(said, "use •") {
		t.Error(said)
	}
}
