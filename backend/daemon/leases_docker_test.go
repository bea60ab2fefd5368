//go:build docker

package daemon

import (
	"testing"
	"time"

	"loop/backend/core"
)

// TestTerminalOutlivesTheRun: a terminal opened in a run's container works there after
// the run was cancelled, and nothing of the run does. Closed, it leaves the container to
// the next.
func TestTerminalOutlivesTheRun(t *testing.T) {
	d, ch := started(t)
	run, err := d.runner.Prompt(t.Context(), core.Run{ChannelID: ch.ID, Prompt: "x", Demo: true, Script: "error-hang"})
	if err != nil {
		t.Fatal(err)
	}
	if !eventually(func() bool {
		run, err = d.store.Run(t.Context(), run.ID)
		return err == nil && run.State == core.RunRunning
	}) {
		t.Fatalf("%+v %v", run, err)
	}
	spec := core.TerminalSpec{ChannelID: ch.ID, ContainerID: run.ContainerID, Plain: true, Cols: 80, Rows: 24}
	term, err := d.terminals.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.runner.Cancel(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	if run, err = d.store.Run(t.Context(), run.ID); err != nil || run.State != core.RunCancelled {
		t.Fatalf("%+v %v", run, err)
	}
	v, err := d.terminals.Attach(t.Context(), term.ID, core.TerminalAttach{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if err := d.terminals.Input(t.Context(), term.ID, []byte("ps -e -o args | grep -c '[c]laude --'; echo fi''ne\r")); err != nil {
		t.Fatal(err)
	}
	(&screenText{v: v}).until(t, "fine")
	runs := func() bool {
		f, err := d.engine.Inspect(t.Context(), run.ContainerID)
		return err == nil && f.Running
	}
	if !runs() {
		t.Fatal("the container ended under the terminal")
	}
	if err := d.terminals.CloseSession(t.Context(), term.ID); err != nil {
		t.Fatal(err)
	}
	if d.containers.HeldBy(run.ContainerID, core.HolderRun, core.HolderTerminal) || !runs() {
		t.Errorf("held by nobody that is known: %v; runs: %v", d.containers.List(), runs())
	}
}

// eventually reports whether ok became true in time.
func eventually(ok func() bool) bool {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !ok(); <-tick.C {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}
