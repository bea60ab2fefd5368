package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

// seen is a container that a run and a terminal hold.
func seen() core.ContainerView {
	used := time.UnixMilli(1_790_000_000_123)
	return core.ContainerView{
		Container: core.Container{ID: core.ContainerID(strings.Repeat("f", 64)), Name: "loop-x-1", Type: core.TypeAgent,
			Status: core.ContainerRunning, CreatedAt: used, LastUsedAt: used, Scope: "session:c", Hash: "abc", Why: "takes\x1b[1m over"},
		SessionKey: "session:c", CreatedAtMs: used.UnixMilli(), LastUsedAtMs: used.UnixMilli(), ConfigHash: "abc",
		Holders: []core.Holder{{Kind: core.HolderRun, ID: "r1"}, {Kind: core.HolderTerminal, ID: "t1"}},
		Policy:  core.ContainerPolicy{IdleSec: 86400}, EndsWhy: "stays while it is held",
	}
}

func TestPs(t *testing.T) {
	r := newRig(t)
	warm := seen()
	warm.Warm, warm.Holders = true, []core.Holder{}
	r.fake.answers["System.ListContainers"] = []core.ContainerView{seen(), warm}
	if code := r.run("ps"); code != exitOK {
		t.Errorf("exit %d", code)
	}
	for _, want := range []string{"ffffffffffff  loop-x-1  agent  running  session:c", "run r1, terminal t1", "  warm ", "takes␛[1m over"} {
		r.wantIn("out", want)
	}
	if code := r.run("ps", "--json"); code != exitOK {
		t.Errorf("exit %d", code)
	}
	var list []map[string]any
	if err := json.Unmarshal(r.out.Bytes(), &list); err != nil || len(list) != 2 {
		t.Fatal(err)
	}
	for name, want := range map[string]any{"sessionKey": "session:c", "configHash": "abc", "lastUsedAtMs": 1_790_000_000_123.0,
		"createdAtMs": 1_790_000_000_123.0, "container_name": "loop-x-1", "warm": false} {
		if list[0][name] != want {
			t.Errorf("%s: %v", name, list[0][name])
		}
	}
}

func TestInspect(t *testing.T) {
	r := newRig(t)
	in := core.ContainerInspection{ContainerView: seen(), Engine: core.ContainerState{ExitCode: 137, OOMKilled: true, ImageID: "sha256:1",
		Limits: core.Limits{MemoryBytes: 512 << 20, CPUs: 1.5}, Mounts: []core.Mount{{Source: "/w", Target: "/in", ReadOnly: true}}},
		Drift: core.ContainerDrift{Changed: true, Replaced: true, Parts: []string{"mounts", "image"}}}
	r.fake.answers["Containers.Inspect"] = in
	if code := r.run("inspect", "ffff"); code != exitOK {
		t.Errorf("exit %d", code)
	}
	for _, want := range []string{"run r1, terminal t1", "It stays while it is held.", "exit code 137, out of memory", "512 MiB of memory, 1.5 processors",
		"/in from /w (read only)", "The next run or terminal gets another. What differs: mounts; image.", "idle 24h0m0s, age without end"} {
		r.wantIn("out", want)
	}
	for _, c := range []struct {
		drift core.ContainerDrift
		want  string
	}{
		{core.ContainerDrift{}, "what the settings say now"}, {core.ContainerDrift{Unknown: "Gone."}, "Gone."},
		{core.ContainerDrift{Changed: true, Parts: []string{"limits"}}, "five minutes"},
	} {
		in.Drift = c.drift
		r.fake.answers["Containers.Inspect"] = in
		r.run("inspect", "ffff")
		r.wantIn("out", c.want)
	}
	if code := r.run("inspect", "ffff", "--json"); code != exitOK || !json.Valid(r.out.Bytes()) {
		t.Errorf("exit %d", code)
	}
	if code := r.run("inspect"); code != exitUsage {
		t.Errorf("exit %d", code)
	}
}

// TestLogs: a log is followed from where it was read until the container stops, and what it
// holds cannot steer the terminal.
func TestLogs(t *testing.T) {
	r := newRig(t)
	var asked []string
	answers := []core.ContainerLog{{Text: "one\x1b[2J\n", Next: "n1", Running: true}, {Next: "n1", Running: true}, {Text: "two", Next: "n2"}}
	r.fake.handle = func(method string, args []json.RawMessage) (any, bool, error) {
		if method != "Containers.Log" {
			return nil, false, nil
		}
		asked = append(asked, string(args[1])+string(args[2]))
		return answers[len(asked)-1], true, nil
	}
	if code := r.run("logs", "box", "--follow", "--tail", "7"); code != exitOK || r.out.String() != "one␛[2J\ntwo\n" {
		t.Errorf("exit %d, %q", code, r.out.String())
	}
	if got := strings.Join(asked, " "); got != `""7 "n1"7 "n1"7` {
		t.Error(got)
	}
	asked = nil
	if code := r.run("logs", "box"); code != exitOK || len(asked) != 1 || asked[0] != `""100` {
		t.Errorf("exit %d, %v", code, asked)
	}
	for _, tail := range []string{"0", "5001", "x"} {
		if code := r.run("logs", "box", "--tail", tail); code != exitUsage {
			t.Errorf("%s: exit %d", tail, code)
		}
	}
	gone := core.Fail(core.CodeNotFound, nil, "There is no such container of this Loop folder.", "“loop ps” lists them.")
	looks := 0
	r.fake.handle = func(string, []json.RawMessage) (any, bool, error) {
		if looks++; looks > 1 {
			return nil, false, gone
		}
		return core.ContainerLog{Text: "last\n", Running: true}, true, nil
	}
	if code := r.run("logs", "box", "-f"); code != exitOK {
		t.Errorf("exit %d", code)
	}
	r.wantIn("err", "The container was removed.")
	if code := r.run("logs", "box"); code == exitOK {
		t.Error("a container that is not there was shown")
	}
}

func TestRemoveAndPrune(t *testing.T) {
	r := newRig(t)
	r.fake.answers["Containers.Remove"] = seen().Container
	if code := r.run("rm", "ffff", "--force"); code != exitOK || string(r.fake.last["Containers.Remove"][1]) != "true" {
		t.Errorf("exit %d", code)
	}
	r.wantIn("out", "Removed loop-x-1.")
	r.fake.fails["Containers.Remove"] = core.Fail(core.CodeConflict, nil, "Somebody uses this container: run r1.", "Wait.")
	if code := r.run("rm", "ffff"); code == exitOK || string(r.fake.last["Containers.Remove"][1]) != "false" {
		t.Errorf("exit %d", code)
	}
	r.wantIn("err", "Somebody uses this container: run r1.")
	r.fake.answers["Containers.Prune"] = []core.PrunedContainer{{ID: "abcd", Name: "loop-y", Why: "has stopped"}}
	if code := r.run("prune", "--dry-run"); code != exitOK || string(r.fake.last["Containers.Prune"][0]) != "true" {
		t.Errorf("exit %d", code)
	}
	r.wantIn("out", "Would remove loop-y (abcd): it has stopped.")
	r.fake.answers["Containers.Prune"] = []core.PrunedContainer{}
	if code := r.run("prune"); code != exitOK || string(r.fake.last["Containers.Prune"][0]) != "false" {
		t.Errorf("exit %d", code)
	}
	r.wantIn("out", "There is nothing to remove.")
}
