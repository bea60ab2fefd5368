//go:build docker

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"loop/backend/core"
)

// warmRig is a running Loop with one channel, whose agent runs one command in each run.
type warmRig struct {
	t    *testing.T
	h    *home
	s    *server
	m    *model
	work string
	ch   core.ChannelID
}

func newWarmRig(t *testing.T) *warmRig {
	t.Helper()
	r := &warmRig{t: t, m: newModel(t, "127.0.0.1:0"), work: t.TempDir()}
	r.h = newHome(t, fmt.Sprintf(`{"anthropic_base_url":"http://127.0.0.1:%s","anthropic_api_key":"k","envs":{"MARK":"one"}}`, r.m.port))
	r.s = r.h.serve()
	r.ch = r.s.add(r.work)
	return r
}

// set changes one of the settings.
func (r *warmRig) set(field string, value any) {
	r.t.Helper()
	r.s.must("Settings.Set", nil, "global", "", field, value)
}

// short is how a container knows itself.
func short(id core.ContainerID) core.ContainerID { return id[:12] }

// ran lets the agent run a command and returns the container that it ran in, what it
// printed, and the notices of the run.
func (r *warmRig) ran(command string) (box core.ContainerID, out, notices string) {
	r.t.Helper()
	r.m.mu.Lock()
	r.m.command = command + "; cat /proc/sys/kernel/hostname > box.txt"
	r.m.mu.Unlock()
	var run core.Run
	r.s.must("Runs.Prompt", &run, map[string]any{
		"client_id": core.NewID(), "channel_id": r.ch, "prompt": "Go on", "session": core.SessionStart{Mode: core.SessionFresh},
	})
	p := r.s.finished(r.ch, run.ID)
	for _, e := range kept(p, run.ID, core.EventToolResult) {
		out += e
	}
	for _, e := range kept(p, run.ID, core.EventNotice) {
		notices += e
	}
	if end := kept(p, run.ID, core.EventStatus); !strings.Contains(end[len(end)-1], `"state":"done"`) {
		r.t.Fatalf("the run ended %s", end[len(end)-1])
	}
	text, err := os.ReadFile(filepath.Join(r.work, "box.txt"))
	if err != nil {
		r.t.Fatal(err)
	}
	return core.ContainerID(strings.TrimSpace(string(text))), out, notices
}

func (r *warmRig) running(id core.ContainerID) bool {
	for _, c := range r.h.containers() {
		if strings.HasPrefix(c.ID, string(id)) {
			return c.State.Running
		}
	}
	return false
}

// until waits for something that the engine does.
func (r *warmRig) until(what string, ok func() bool) {
	r.t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !ok(); <-tick.C {
		if time.Now().After(end) {
			r.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// TestWarmReuse: the runs and terminals of a channel use one container, for as long as it
// is what the settings say. Nothing of a run is left in it.
func TestWarmReuse(t *testing.T) {
	t.Parallel()
	r := newWarmRig(t)
	first, _, _ := r.ran(`(setsid sleep 7777 >/dev/null 2>&1 &) ; echo "$MARK $CHANNEL_ID"`)
	if !r.running(first) {
		t.Fatal("the container ended with its run")
	}

	// Variables go with a program, so that a change of them needs no other container.
	r.set("envs", map[string]string{"MARK": "two"})
	second, out, _ := r.ran(`echo "$MARK $CHANNEL_ID"; ls /run/loop/runs | wc -l; ps -e -o args 2>/dev/null | grep -c '[s]leep 7777'; true`)
	if second != first || !strings.Contains(out, "two "+string(r.ch)+`\n1\n0`) {
		t.Errorf("in %s, which printed %s; the first was %s", second, out, first)
	}

	// A terminal joins, and outlives the end of a run.
	var term core.TerminalInfo
	r.s.must("Terminals.Create", &term, core.TerminalSpec{ChannelID: r.ch, Plain: true, Cols: 80, Rows: 24, Cmd: []string{"sleep", "1000"}})
	if short(term.ContainerID) != first {
		t.Errorf("the terminal is in %s", term.ContainerID)
	}

	// What may wait does, and the person hears of it.
	r.set("container_memory_mb", 768)
	third, _, notices := r.ran("true")
	if third != first || !strings.Contains(notices, "loop recreate --channel "+string(r.ch)) {
		t.Errorf("in %s, with the notices %s", third, notices)
	}
	var was bool
	if r.s.must("Containers.Recreate", &was, r.ch); !was {
		t.Error("there was no container to make anew")
	}
	fourth, _, notices := r.ran("true")
	if fourth == first || strings.Contains(notices, "recreate") || !r.running(first) {
		t.Errorf("in %s, with the notices %s; the terminal's runs: %v", fourth, notices, r.running(first))
	}
	r.s.must("Terminals.Close", nil, term.ID)
	r.until("the drained container to end", func() bool { return !r.running(first) })

	// What a container reaches never waits.
	r.set("container_network", "none")
	fifth, _, _ := r.ran("true")
	if fifth == fourth {
		t.Error("the run has the network of before")
	}
	r.until("the container with a network to end", func() bool { return !r.running(fourth) })
}

// TestWarmContainerThatIsTroubled: whatever was done to a container behind Loop's back, the
// next run works.
func TestWarmContainerThatIsTroubled(t *testing.T) {
	r := newWarmRig(t)
	box, _, _ := r.ran("true")
	engine := func(args ...string) {
		t.Helper()
		if out, err := docker(context.Background(), args...); err != nil {
			t.Fatalf("%v: %v %s", args, err, out)
		}
	}
	for _, c := range []struct {
		name string
		do   func()
		same bool
	}{
		{"paused", func() { engine("pause", string(box)) }, true},
		{"killed", func() { engine("kill", string(box)) }, true},
		{"stopped", func() { engine("stop", "-t", "1", string(box)) }, true},
		{"renamed", func() { engine("rename", string(box), "renamed-by-somebody-"+string(box)) }, true},
		{"Loop was closed", func() { r.s.stop(); r.s = r.h.serve() }, true},
		{"Loop was killed", func() { r.s.kill(); r.s = r.h.serve() }, true},
		{"the folder was replaced", func() {
			if err := os.Rename(r.work, r.work+".old"); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(r.work, 0o700); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"removed", func() { engine("rm", "-f", string(box)) }, false},
	} {
		c.do()
		got, _, _ := r.ran("true")
		if (got == box) != c.same {
			t.Errorf("%s: was %s and is %s", c.name, box, got)
		}
		box = got
	}
	if n := len(r.h.containers()); n != 2 { // one was drained, and is kept for a look
		t.Errorf("%d containers are left", n)
	}
}

// TestOneContainerUnderLoad: whoever wants a channel's container at one time gets one and
// the same.
func TestOneContainerUnderLoad(t *testing.T) {
	r := newWarmRig(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	boxes := map[core.ContainerID]bool{}
	r.s.must("Containers.Warm", nil, r.ch)
	for range 12 {
		all.Go(func() {
			var term core.TerminalInfo
			spec := core.TerminalSpec{ChannelID: r.ch, Plain: true, Cols: 80, Rows: 24, Cmd: []string{"sleep", "1000"}}
			if err := r.s.call("Terminals.Create", &term, spec); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			boxes[short(term.ContainerID)] = true
		})
	}
	box, _, _ := r.ran("true")
	all.Wait()
	boxes[box] = true
	if len(boxes) != 1 || len(r.h.containers()) != 1 {
		t.Errorf("%v; the engine has %d", boxes, len(r.h.containers()))
	}
}

// TestOwnContainers: where the settings say so, each run has a container of its own, which
// ends with it.
func TestOwnContainers(t *testing.T) {
	t.Parallel()
	r := newWarmRig(t)
	r.set("container_scope", "run")
	first, _, _ := r.ran("true")
	second, _, _ := r.ran("true")
	if first == second || r.running(first) {
		t.Errorf("%s and %s; the first runs: %v", first, second, r.running(first))
	}
	var one, two core.TerminalInfo
	r.s.must("Terminals.Create", &one, core.TerminalSpec{ChannelID: r.ch, Plain: true, Cols: 80, Rows: 24})
	r.s.must("Terminals.Create", &two, core.TerminalSpec{ChannelID: r.ch, Plain: true, Cols: 80, Rows: 24})
	if one.ContainerID != two.ContainerID || short(one.ContainerID) == second {
		t.Errorf("terminals in %s and %s", one.ContainerID, two.ContainerID)
	}

	// It ends with the last of them, and says so when it keeps settings of before.
	notices := func() (all string) {
		var p timeline
		r.s.must("Channels.Timeline", &p, r.ch, 0, 100)
		for _, e := range p.Events {
			if e.Type == core.EventNotice {
				all += string(e.Data)
			}
		}
		return all
	}
	r.set("container_memory_mb", 768)
	var three core.TerminalInfo
	r.s.must("Terminals.Create", &three, core.TerminalSpec{ChannelID: r.ch, Plain: true, Cols: 80, Rows: 24})
	if three.ContainerID != one.ContainerID || !strings.Contains(notices(), "loop recreate --channel "+string(r.ch)) {
		t.Errorf("the third terminal is in %s, and the timeline says %s", three.ContainerID, notices())
	}
	box := short(one.ContainerID)
	for _, term := range []core.TerminalInfo{one, two} {
		r.s.must("Terminals.Close", nil, term.ID)
	}
	if !r.running(box) {
		t.Error("it ended under a terminal")
	}
	r.s.must("Terminals.Close", nil, three.ID)
	r.until("the end of the terminals' container", func() bool { return !r.running(box) })
}

// TestContainersWhenLoopEnds: what nobody holds goes on, stops or is removed with Loop, as the
// settings say, and what is left serves the next launch. One that a person has stopped is
// started again.
func TestContainersWhenLoopEnds(t *testing.T) {
	t.Parallel()
	r := newWarmRig(t)
	box, _, _ := r.ran("true")
	for _, c := range []struct {
		exit        string
		runs, there bool
	}{{"keep", true, true}, {"stop", false, true}, {"remove", false, false}} {
		r.set("on_app_exit", c.exit)
		r.s.stop()
		if there := len(r.h.containers()) == 1; r.running(box) != c.runs || there != c.there {
			t.Errorf("%s: it runs: %v, it is there: %v", c.exit, r.running(box), there)
		}
		r.s = r.h.serve()
		again, _, _ := r.ran("true")
		if (again == box) != c.there {
			t.Errorf("%s: was %s and is %s", c.exit, box, again)
		}
		box = again
	}
	var stopped core.Container
	r.s.must("Containers.Stop", &stopped, string(box))
	if short(stopped.ID) != box || r.running(box) {
		t.Errorf("stopped %+v; it runs: %v", stopped, r.running(box))
	}
	var list []core.Container
	if r.s.must("System.ListContainers", &list); len(list) != 1 || list[0].Why != "was stopped by a person" {
		t.Errorf("%+v", list)
	}
	if again, _, _ := r.ran("true"); again != box {
		t.Errorf("was %s and is %s", box, again)
	}
}
