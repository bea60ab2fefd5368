//go:build docker

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/core"
)

// spawned counts the programs that loop init has started in a container.
func (r *warmRig) spawned(box core.ContainerID) int {
	r.t.Helper()
	var log core.ContainerLog
	r.s.must("Containers.Log", &log, string(box), "", 5000)
	return strings.Count(log.Text, "msg=spawned")
}

// on sends a prompt that goes on with the conversation, and waits for its end.
func (r *warmRig) on() timeline {
	r.t.Helper()
	var run core.Run
	r.s.must("Runs.Prompt", &run, map[string]any{"client_id": core.NewID(), "channel_id": r.ch, "prompt": "Go on"})
	p := r.s.finished(r.ch, run.ID)
	if st := outcome(p, run.ID); st.State != core.RunDone {
		r.t.Fatalf("%s: %+v", st.State, st.Failure)
	}
	return p
}

// TestTheNextPromptFindsItsAgent: after a run the CLI of the next prompt waits, and is what
// works on it. It does not where the project's commands have changed since, which it would
// not know.
func TestTheNextPromptFindsItsAgent(t *testing.T) {
	t.Parallel()
	r := newWarmRig(t)
	r.set("claude_ahead", true)
	box, _, _ := r.ran("true")
	waits := func(n int) {
		t.Helper()
		r.until("the CLI of the next prompt", func() bool { return r.spawned(box) == n })
	}
	waits(2)
	r.on()
	waits(3) // the one that waited, and the next
	if err := os.MkdirAll(filepath.Join(r.work, ".claude", "commands"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.work, ".claude", "commands", "new.md"), []byte("Do it."), 0o600); err != nil {
		t.Fatal(err)
	}
	r.on()
	waits(5)
	// A prompt that is written keeps the same one.
	r.s.must("Containers.Warm", nil, r.ch)
	r.on()
	waits(6)
	if got := r.h.run("stop", string(box)); got.code != 0 {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
	r.on()
}
