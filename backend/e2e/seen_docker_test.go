//go:build docker

package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"loop/backend/core"
)

// TestContainersSeenAndSteered: a container is listed, looked into, drifts from the settings,
// is refused while a terminal holds it, and goes by rm and by prune.
func TestContainersSeenAndSteered(t *testing.T) {
	t.Parallel()
	r := newWarmRig(t)
	box, _, _ := r.ran("true")
	answer := func(v any, args ...string) {
		t.Helper()
		got := r.h.run(args...)
		if got.code != 0 {
			t.Fatalf("%v: exit %d: %s", args, got.code, got.err)
		}
		if err := json.Unmarshal([]byte(got.out), v); err != nil {
			t.Fatalf("%v: %v in %.300s", args, err, got.out)
		}
	}
	refused := func(want string, args ...string) {
		t.Helper()
		if got := r.h.run(args...); got.code == 0 || !strings.Contains(got.err, want) {
			t.Errorf("%v: exit %d: %s%s", args, got.code, got.out, got.err)
		}
	}

	var list []map[string]any
	r.until("the run gave its container back", func() bool { // which it does after its end was told
		list = nil
		answer(&list, "ps", "--json")
		return len(list) == 1 && list[0]["warm"] == true
	})
	if len(list) != 1 || list[0]["sessionKey"] != "session:"+string(r.ch) || list[0]["warm"] != true || list[0]["lastUsedAtMs"].(float64) < 1e12 ||
		len(list[0]["configHash"].(string)) != 64 {
		t.Fatalf("%v", list)
	}

	var in core.ContainerInspection
	answer(&in, "inspect", string(box[:6]), "--json")
	if short(in.ID) != box || !in.Engine.Running || in.Engine.Limits.MemoryBytes == 0 || len(in.Engine.Mounts) == 0 || in.EndsAt.IsZero() {
		t.Errorf("%+v", in)
	}
	if in.Drift.Unknown != "" || in.Drift.Changed {
		t.Errorf("nothing was changed: %+v", in.Drift)
	}
	r.set("container_memory_mb", 768)
	answer(&in, "inspect", in.Name, "--json")
	if !in.Drift.Changed || in.Drift.Replaced || strings.Join(in.Drift.Parts, " ") != "limits" {
		t.Errorf("another limit: %+v", in.Drift)
	}
	r.set("container_network", "none")
	answer(&in, "inspect", in.Name, "--json")
	if !in.Drift.Replaced {
		t.Errorf("another network: %+v", in.Drift)
	}
	r.set("container_network", "bridge")
	r.set("container_memory_mb", 2048)
	if got := r.h.run("inspect", string(box)); got.code != 0 || !strings.Contains(got.out, in.Name) {
		t.Errorf("exit %d: %s%s", got.code, got.out, got.err)
	}
	refused("There is no such container", "inspect", "none-such")

	// Loop init wrote that it had started a program; following ends with the container.
	var log core.ContainerLog
	r.s.must("Containers.Log", &log, string(box), "", 5000)
	if !strings.HasPrefix(log.Text, "time=") || !strings.Contains(log.Text, "msg=spawned") || !log.Running {
		t.Errorf("%+v", log)
	}
	// The CLI of the next prompt is started soon after the run, which is written once more.
	r.until("nothing more is written", func() bool {
		var later core.ContainerLog
		r.s.must("Containers.Log", &later, string(box), log.Next, 0)
		same := later.Next == log.Next
		if same != (later.Text == "") {
			t.Errorf("%+v after %s", later, log.Next)
		}
		log.Next = later.Next
		return same
	})
	followed := make(chan result, 1)
	go func() { followed <- r.h.run("logs", string(box), "--follow") }()

	var term core.TerminalInfo
	r.s.must("Terminals.Create", &term, core.TerminalSpec{ChannelID: r.ch, ContainerID: in.ID, Plain: true, Cols: 80, Rows: 24, Cmd: []string{"sleep", "1000"}})
	refused("terminal "+string(term.ID), "rm", string(box))
	var none []core.PrunedContainer
	if answer(&none, "prune", "--dry-run", "--json"); len(none) != 0 || !r.running(box) {
		t.Errorf("%+v; it runs: %v", none, r.running(box))
	}
	r.s.must("Terminals.Close", nil, term.ID)

	if got := r.h.run("stop", string(box)); got.code != 0 {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
	if got := <-followed; got.code != 0 || !strings.HasPrefix(got.out, log.Text) {
		t.Errorf("exit %d: %s%s", got.code, got.out, got.err)
	}
	var some []core.PrunedContainer
	answer(&some, "prune", "--dry-run", "--json")
	if len(some) != 1 || some[0].Why != "has stopped: it was stopped by a person" || len(r.h.containers()) != 1 {
		t.Errorf("%+v, %d containers", some, len(r.h.containers()))
	}
	if answer(&some, "prune", "--json"); len(some) != 1 || len(r.h.containers()) != 0 {
		t.Errorf("%+v, %d containers", some, len(r.h.containers()))
	}

	next, _, _ := r.ran("true")
	r.until("the run gave its container back", func() bool {
		list = nil
		answer(&list, "ps", "--json")
		return len(list) == 1 && list[0]["warm"] == true
	})
	if got := r.h.run("rm", string(next)); got.code != 0 || len(r.h.containers()) != 0 {
		t.Errorf("exit %d: %s%s", got.code, got.out, got.err)
	}
}
