package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loop/backend/core"
)

func TestQuitLeavesRunsAloneAndTheNextStartGoesOn(t *testing.T) {
	text := recording(t, "tools")
	want := whole(t, text)
	for at := 200 * time.Millisecond; at < 1700*time.Millisecond; at += 130 * time.Millisecond {
		inBubble(t, func(t *testing.T) {
			r := newRig(t, plays(text, 0))
			r.launch.Upstream = core.ModelUpstream{BaseURL: "http://127.0.0.1:9"}
			r.start()
			run := r.prompt("c", "x")
			r.pass(at)
			r.quit()
			x := r.boxes.all[0]
			if st := r.get(run.ID).State; st == core.RunRunning && !x.running {
				t.Fatalf("quitting stopped the container")
			}
			clear(x.was)
			r.pass(time.Duration(at.Milliseconds()%3) * time.Second) // the CLI goes on or ends without Loop
			r.start()
			defer r.quit()
			run = r.ended(run.ID, time.Minute)
			if got := r.told(run.ID, storedKinds...)[1:]; run.State != core.RunDone || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("quit at %s: %s, %d events, want %d\n%s", at, run.State, len(got), len(want), r.dump(run.ID))
			}
			if n := r.told(run.ID, core.EventNotice); len(n) != 1 || !strings.Contains(n[0], "re-attached") {
				t.Errorf("notices %v", n)
			}
			if who := x.was[run.SpawnID]; who.RunID != run.ID || who.Upstream.BaseURL == "" {
				t.Errorf("the new link was told that the run is %+v", who)
			}
			r.nothingLeft(run.ID)
		})
	}
}

// crashed is the state that an earlier launch left behind.
func crashed(t *testing.T, state core.RunState, out string) (*rig, core.RunID) {
	r := newRig(t, plays(goodResult, 0))
	ctx := context.Background()
	_, _, _, err := r.store.Enqueue(ctx, core.Run{ID: "r", ChannelID: "c", Prompt: "x"})
	if err != nil {
		t.Fatal(err)
	}
	run, _, _ := r.store.ClaimNext(ctx, "c")
	if state == "" {
		return r, "r"
	}
	c, _ := r.boxes.Start(ctx, core.Spec{RunID: "r", ChannelID: "c"})
	run.State, run.ContainerID, run.SpawnID = state, c.ID, "spawn"
	if _, err := r.store.UpdateRun(ctx, run); err != nil {
		t.Fatal(err)
	}
	if out != "" {
		r.boxes.all[0].procs["spawn"] = &proc{req: core.SpawnRequest{ID: "spawn"}, b: r.boxes, out: []byte(out), killed: make(chan struct{}), change: make(chan struct{})}
	}
	return r, "r"
}

func TestRecovery(t *testing.T) {
	for name, tc := range map[string]struct {
		state  core.RunState // "": claimed, but the container is not known yet
		out    string        // printed output; "": never spawned
		dead   bool
		gone   bool
		want   core.RunState
		spawns int
		notice string
	}{
		"alive, spawned, running":        {state: core.RunRunning, out: turn("one") + goodResult, want: core.RunDone, notice: "re-attached"},
		"alive, spawned, not yet stored": {state: core.RunStarting, out: turn("one") + goodResult, want: core.RunDone, notice: "re-attached"},
		"alive, never spawned":           {state: core.RunStarting, want: core.RunDone, spawns: 1, notice: "queued again"},
		"claimed only":                   {state: "", want: core.RunDone, spawns: 1, notice: "queued again"},
		"dead, never spawned":            {state: core.RunStarting, dead: true, want: core.RunDone, spawns: 1, notice: "queued again"},
		"dead, result in the spool":      {state: core.RunRunning, out: turn("one") + goodResult, dead: true, want: core.RunDone},
		"dead, half a result":            {state: core.RunRunning, out: turn("one") + goodResult[:40], dead: true, want: core.RunInterrupted},
		"dead, no result":                {state: core.RunRunning, out: turn("one"), dead: true, want: core.RunInterrupted},
		"dead, printed while starting":   {state: core.RunStarting, out: turn("one"), dead: true, want: core.RunInterrupted},
		"gone, no spool":                 {state: core.RunRunning, dead: true, gone: true, want: core.RunInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r, id := crashed(t, tc.state, tc.out)
				if p := (spoolFiles{r.boxes}).find("spawn"); p != nil && !tc.dead {
					go func() { <-time.After(time.Second); p.end(0) }()
				}
				if tc.dead {
					r.boxes.die(0, 137)
				}
				if tc.gone {
					r.boxes.all = nil
				}
				r.start()
				run := r.ended(id, 5*time.Minute)
				if run.State != tc.want {
					t.Fatalf("%s %+v", run.State, run.Outcome.Failure)
				}
				if tc.out != "" && len(r.told(id, core.EventMessageCreated)) != 1 {
					t.Error("the turn is lost")
				}
				if n := r.did("spawn"); n != tc.spawns {
					t.Errorf("%d spawns, want %d", n, tc.spawns)
				}
				if n := strings.Join(r.told(id, core.EventNotice), "\n"); !strings.Contains(n, tc.notice) {
					t.Errorf("notices %s", n)
				}
				r.nothingLeft(id)
				events := len(r.store.timeline(id))
				r.quit()
				r.start() // a single start is enough
				defer r.quit()
				r.pass(time.Minute)
				if got := len(r.store.timeline(id)); got != events {
					t.Errorf("another start added %d events", got-events)
				}
				// The channel is free for another run.
				if next := r.ended(r.prompt("c", "next").ID, time.Minute); next.State != core.RunDone {
					t.Errorf("next run %s", next.State)
				}
			})
		})
	}
}

func TestRecoveryWaitsForTheEngine(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, id := crashed(t, core.RunRunning, turn("one")+goodResult)
		p := (spoolFiles{r.boxes}).find("spawn")
		p.end(0)
		r.boxes.down = true
		r.start()
		defer r.quit()
		r.pass(time.Hour)
		if s := r.get(id).State; s != core.RunRunning {
			t.Fatalf("%s while the engine is away", s)
		}
		r.boxes.mu.Lock()
		r.boxes.down = false
		r.boxes.mu.Unlock()
		if run := r.ended(id, time.Minute); run.State != core.RunDone {
			t.Errorf("%s %+v", run.State, run.Outcome.Failure)
		}
		r.nothingLeft(id)
	})
}

func TestLeftoverContainersAreStopped(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, id := crashed(t, core.RunRunning, turn("one"))
		run := r.get(id)
		run.State = core.RunFailed
		if _, err := r.store.FinishRun(context.Background(), run, core.NewEvent(core.EventStatus, "c", id, time.Now(), statusOf(run, ""))); err != nil {
			t.Fatal(err)
		}
		r.start()
		defer r.quit()
		r.pass(time.Second)
		r.nothingLeft(id)
	})
}

// TestKilledBeforeTheCleanUp: Loop died after a run's end was stored, and before the channel's
// container was given back. It serves again if loop init says that nothing of the run is left.
func TestKilledBeforeTheCleanUp(t *testing.T) {
	for name, c := range map[string]struct {
		before func(r *rig, run *core.Run, p *proc) // the launch
		same   bool                                 // container
	}{
		"its program had ended":     {func(_ *rig, _ *core.Run, p *proc) { p.end(0) }, true},
		"its program goes on":       {func(*rig, *core.Run, *proc) {}, true},
		"its program was forgotten": {func(r *rig, _ *core.Run, p *proc) { delete(r.boxes.all[0].procs, "spawn") }, true},
		"loop init answers not":     {func(r *rig, _ *core.Run, _ *proc) { r.boxes.all[0].deaf = true }, false},
		"the engine answers not":    {func(r *rig, _ *core.Run, _ *proc) { r.boxes.down = true }, false},
		"the container ended":       {func(r *rig, _ *core.Run, _ *proc) { r.boxes.die(0, 137) }, false},
		"its second try":            {func(_ *rig, run *core.Run, _ *proc) { run.Attempt.Number = 2 }, false},
		"it holds another container too": {func(r *rig, _ *core.Run, _ *proc) {
			r.boxes.Start(context.Background(), specOf(core.Run{ID: "r"}, core.Channel{ID: "d"}))
		}, false},
		"its channel is gone": {func(r *rig, _ *core.Run, _ *proc) { r.boxes.all[0].holders = []string{"unknown"} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r, id := crashed(t, core.RunRunning, turn("one")+goodResult)
				r.boxes.warm = true
				p := (spoolFiles{r.boxes}).find("spawn")
				run := r.get(id)
				c.before(r, &run, p)
				run.State = core.RunDone
				if _, err := r.store.FinishRun(context.Background(), run, core.NewEvent(core.EventStatus, "c", id, time.Now(), statusOf(run, ""))); err != nil {
					t.Fatal(err)
				}
				first := r.boxes.all[0]
				r.start()
				defer r.quit()
				r.pass(100 * time.Millisecond)
				r.boxes.mu.Lock()
				r.boxes.down = false
				if len(first.holders) > 0 || len(first.admitted) > 0 || c.same && (len(first.procs) > 0 || first.drained) {
					t.Errorf("held by %v, admitted %v, with %d programs, drained: %v", first.holders, first.admitted, len(first.procs), first.drained)
				}
				r.boxes.mu.Unlock()
				next := r.ended(r.prompt("c", "next").ID, time.Minute)
				if same := next.ContainerID == run.ContainerID; next.State != core.RunDone || same != c.same {
					t.Errorf("ended %s, in the same container: %v\n%s", next.State, same, strings.Join(r.boxes.calls, "\n"))
				}
			})
		})
	}
}

// TestCleanUpComesBeforeTheQueue: what waits in the channel does not join a container in which
// a program of an ended run may still be.
func TestCleanUpComesBeforeTheQueue(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, id := crashed(t, core.RunRunning, turn("one")+goodResult)
		r.boxes.warm = true
		run := r.get(id)
		run.State = core.RunDone
		if _, err := r.store.FinishRun(context.Background(), run); err != nil {
			t.Fatal(err)
		}
		if _, _, _, err := r.store.Enqueue(context.Background(), core.Run{ID: "next", ChannelID: "c", Prompt: "x"}); err != nil {
			t.Fatal(err)
		}
		r.start()
		defer r.quit()
		r.ended("next", time.Minute)
		calls := strings.Join(r.boxes.calls, ", ")
		if !strings.HasPrefix(calls, "start box1, kill, forget, join box1, spawn in box1") {
			t.Error(calls)
		}
	})
}

// TestCrashAtEveryStoreCall lets the app die before and after each write of a run and
// starts it again. The timeline must be the same every time.
func TestCrashAtEveryStoreCall(t *testing.T) {
	text := recording(t, "tools")
	want := whole(t, text)
	errDead := errors.New("the app is dead")
	calls := 0
	run := func(die int) {
		inBubble(t, func(t *testing.T) {
			r := newRig(t, plays(text, 0))
			n := 0
			var dead atomic.Bool
			r.store.fault = func(call string, after bool) error {
				if dead.Load() {
					return errDead
				}
				if n++; n == die {
					dead.Store(true)
					r.stop()
					return errDead
				}
				return nil
			}
			r.start()
			got, err := r.s.Prompt(context.Background(), core.Run{ID: "r", ChannelID: "c", Prompt: "x"})
			if err == nil {
				for limit := time.Now().Add(time.Minute); time.Now().Before(limit) && !dead.Load() && !r.get(got.ID).State.Terminal(); {
					r.pass(50 * time.Millisecond)
				}
				r.pass(time.Second)
			}
			r.quit()
			if calls = max(calls, n); die == 0 {
				return
			}
			r.store.fault = nil
			r.start()
			defer r.quit()
			if err != nil { // no answer came, so the page sends it again with the same id
				if _, err = r.s.Prompt(context.Background(), core.Run{ID: "r", ChannelID: "c", Prompt: "x"}); err != nil {
					t.Fatal(err)
				}
			}
			end := r.ended("r", time.Minute)
			if got := r.told("r", storedKinds...)[1:]; end.State != core.RunDone || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("died at write %d: %s, %d events, want %d\n%s", die, end.State, len(got), len(want), r.dump("r"))
			}
			if n := r.did("spawn"); n != 1 && r.store.claims != n {
				t.Errorf("died at write %d: %d spawns of %d claims", die, n, r.store.claims)
			}
			r.nothingLeft("r")
		})
	}
	run(0)
	if calls < 20 {
		t.Fatalf("only %d writes seen", calls)
	}
	for die := 1; die <= calls && !t.Failed(); die++ {
		run(die)
	}
	t.Logf("%d points", calls)
}
