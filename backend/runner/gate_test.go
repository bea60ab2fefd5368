package runner

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/wire"
)

// fakeGate holds a run as the test says.
type fakeGate struct {
	mu      sync.Mutex
	total   time.Duration
	before  time.Duration // of earlier launches
	since   time.Time     // of the call that is held now
	stopped []core.RunID
	onStop  func()
	gone    []core.SpawnID
	unsure  bool
}

func (g *fakeGate) Enforces() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.unsure
}

func (g *fakeGate) set(unsure bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.unsure = unsure
}

func (g *fakeGate) HeldFor(core.RunID) (time.Duration, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.since.IsZero() {
		return g.total + time.Since(g.since), true
	}
	return g.total, false
}

func (g *fakeGate) TakeOver(context.Context, core.RunID) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.total += g.before
	return nil
}

func (g *fakeGate) Stop(run core.RunID, _ string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped = append(g.stopped, run); g.onStop != nil {
		g.onStop()
	}
}

func (g *fakeGate) Dismiss(spawn core.SpawnID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gone = append(g.gone, spawn)
}

func (g *fakeGate) Policy(name string, _ core.Channel, _ core.Spec, spawn core.SpawnID) ([]byte, error) {
	return []byte(name + " " + string(spawn)), nil
}

// hold begins and ends a held call.
func (g *fakeGate) hold(now bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now {
		g.since = time.Now()
		return
	}
	g.total, g.since = g.total+time.Since(g.since), time.Time{}
}

// TestTimeStandsStillWhileACallIsHeld: a person who thinks for hours costs the run
// nothing of its limit; a run that is ended is let go first.
func TestTimeStandsStillWhileACallIsHeld(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, func(p *proc) { <-p.killed })
		gate := &fakeGate{}
		r.ports.Gate = gate
		r.launch.Timeout = 10 * time.Minute
		r.start()
		defer r.quit()
		run := r.prompt("c", "work")
		r.until(run.ID, time.Minute, core.RunRunning)
		r.pass(5 * time.Minute)
		gate.hold(true)
		r.pass(3 * time.Hour)
		if got := r.get(run.ID); got.State != core.RunRunning {
			t.Fatalf("the run is %s while it is held", got.State)
		}
		gate.hold(false)
		r.pass(4 * time.Minute)
		if got := r.get(run.ID); got.State != core.RunRunning {
			t.Fatalf("the run is %s before its time is up", got.State)
		}
		done := r.ended(run.ID, 3*time.Minute)
		if done.Outcome.Failure == nil || done.Outcome.Failure.Code != core.CodeTimeout {
			t.Fatalf("outcome %+v", done.Outcome)
		}
		if len(gate.stopped) == 0 || gate.stopped[0] != run.ID {
			t.Error("what the run held was not denied before its end")
		}
		r.pass(time.Second)
		if len(gate.gone) == 0 || gate.gone[0] != done.SpawnID {
			t.Errorf("dismissed %v, not %s", gate.gone, done.SpawnID)
		}
	})
}

// TestHeldTimeOfAnEarlierLaunchCounts: a run that stood still for hours under a Loop that
// was ended then has as much of its limit left under the next one.
func TestHeldTimeOfAnEarlierLaunchCounts(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, func(p *proc) { <-p.killed })
		gate := &fakeGate{}
		r.ports.Gate = gate
		r.launch.Timeout = 10 * time.Minute
		r.start()
		run := r.prompt("c", "work")
		r.until(run.ID, time.Minute, core.RunRunning)
		r.pass(5 * time.Minute)
		gate.hold(true)
		r.pass(3 * time.Hour)
		r.quit()
		r.ports.Gate = &fakeGate{before: 3 * time.Hour}
		r.start()
		defer r.quit()
		r.pass(4 * time.Minute)
		if got := r.get(run.ID); got.State != core.RunRunning {
			t.Fatalf("the run is %s before its time is up", got.State)
		}
		r.ended(run.ID, 3*time.Minute)
	})
}

// TestHeldTimeIsNotWorked: the CLI's clock goes on while a call is held, and the end of the
// run does not count that.
func TestHeldTimeIsNotWorked(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		gate := &fakeGate{}
		r := newRig(t, func(p *proc) {
			<-time.After(10 * time.Second)
			gate.hold(true)
			<-time.After(3 * time.Minute)
			gate.hold(false)
			p.print(wardInit + turn("did it") + `{"type":"result","subtype":"success","duration_ms":190000,"num_turns":1,"result":"ok","session_id":"s"}` + "\n")
			p.end(0)
		})
		r.ports.Gate = gate
		r.start()
		defer r.quit()
		run := r.ended(r.prompt("c", "work").ID, 10*time.Minute)
		if d := run.Outcome.Duration; d < 10*time.Second || d > 15*time.Second || run.Outcome.DurationMs != d.Milliseconds() {
			t.Errorf("it worked for %s (%d ms)", d, run.Outcome.DurationMs)
		}
	})
}

// TestWhatIsHeldIsDeniedBeforeTheSignal: a program that is held takes no signal but the
// last, so a stop lets it go first.
func TestWhatIsHeldIsDeniedBeforeTheSignal(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var killed <-chan struct{}
		r := newRig(t, func(p *proc) { killed = p.killed; <-p.killed })
		gate := &fakeGate{onStop: func() {
			select {
			case <-killed:
				t.Error("it was signalled while its calls were held")
			default:
			}
		}}
		r.ports.Gate = gate
		r.start()
		defer r.quit()
		run := r.prompt("c", "work")
		r.until(run.ID, time.Minute, core.RunRunning)
		if err := r.s.Cancel(context.Background(), run.ID); err != nil {
			t.Fatal(err)
		}
		if run = r.ended(run.ID, time.Minute); len(gate.stopped) == 0 || run.State != core.RunCancelled {
			t.Errorf("ended %s, denied for %v", run.State, gate.stopped)
		}
	})
}

// TestUnattendedIsWhoAsks: the link and so the gate hear that nobody answers for a run.
func TestUnattendedIsWhoAsks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, plays(goodResult, 0))
		r.start()
		defer r.quit()
		for _, alone := range []bool{true, false} {
			run, err := r.s.Prompt(context.Background(), core.Run{ChannelID: "c", Prompt: "x", Unattended: alone})
			if err != nil {
				t.Fatal(err)
			}
			run = r.ended(run.ID, time.Minute)
			if who := r.boxes.all[len(r.boxes.all)-1].was[run.SpawnID]; who.RunID != run.ID || who.Unattended != alone {
				t.Errorf("unattended %v: the link was told %+v", alone, who)
			}
		}
	})
}

// TestALostSupervisorIsTheReason: a run whose container ended for want of a supervisor says
// so, and is not tried again.
func TestALostSupervisorIsTheReason(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, func(p *proc) { <-p.killed })
		r.start()
		defer r.quit()
		run := r.prompt("c", "work")
		r.until(run.ID, time.Minute, core.RunRunning)
		r.boxes.die(0, wire.ExitUnsupervised)
		run = r.ended(run.ID, time.Minute)
		f := run.Outcome.Failure
		if run.State != core.RunFailed || f == nil || f.Code != core.CodeKilled || !strings.Contains(f.Cause, "supervisor") || run.Attempt.Number != 1 {
			t.Errorf("ended %s at try %d: %+v", run.State, run.Attempt.Number, f)
		}
	})
}

// brokenGate has no policy for anybody.
type brokenGate struct {
	fakeGate
	why error
}

func (g *brokenGate) Policy(string, core.Channel, core.Spec, core.SpawnID) ([]byte, error) {
	return nil, g.why
}

// TestNoRunWithoutTheGate: where the gate cannot hold it, a run fails with the reason and
// the remedy, and its agent is not started.
func TestNoRunWithoutTheGate(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, cli := newSpawnRig(t, fine)
		r.ports.Gate = &brokenGate{why: core.Fail(core.CodeForbidden, nil, "The kernel cannot hold calls.", "Use a newer one.")}
		r.start()
		defer r.quit()
		run := r.ended(r.prompt("c", "work").ID, time.Minute)
		f := run.Outcome.Failure
		if run.State != core.RunFailed || f == nil || f.Cause != "The kernel cannot hold calls." || f.Remedy != "Use a newer one." {
			t.Errorf("ended %s: %+v", run.State, f)
		}
		if n := len(cli.all()); n != 0 {
			t.Errorf("the agent was started %d times", n)
		}
	})
}
