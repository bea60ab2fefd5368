package runner

import (
	"encoding/json"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// decisions are a person's, who has yet to decide.
type decisions struct {
	mu      sync.Mutex
	path    string
	changed chan struct{}
	asked   int
	only    core.ChannelID // the others know their image
}

func (d *decisions) Undecided(ch core.Channel, _ core.Run) (string, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.only != "" && d.only != ch.ID {
		return "", d.changed
	}
	d.asked++
	return d.path, d.changed
}

func (d *decisions) say(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.changed)
	d.path, d.changed = path, make(chan struct{})
}

// steps counts how often a run was said to be at a step.
func (r *rig) steps(id core.RunID, step string) (n int) {
	for _, e := range r.store.timeline(id) {
		var st core.Status
		if e.Type == core.EventStatus && json.Unmarshal(e.Data, &st) == nil && st.Step == step {
			n++
		}
	}
	return n
}

// TestRunWaitsForADecision: nothing is made before the person has decided; what they wait for is
// said once, a change that decides nothing lets nobody pass, and the time limit does not run.
func TestRunWaitsForADecision(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, _ := newSpawnRig(t, fine, fine)
		d := &decisions{path: "/repo/.loop/setup.sh", changed: make(chan struct{})}
		r.ports.Toolchains = d
		r.start()
		defer r.quit()
		run := r.prompt("c", "x")
		r.pass(100 * time.Hour)
		d.say("/repo/.loop/setup.sh")
		r.pass(time.Hour)
		if n := r.steps(run.ID, stepToolchain); n != 1 || r.steps(run.ID, stepImage) != 0 || d.asked < 2 {
			t.Fatalf("told %d times, asked %d times, %d images", n, d.asked, r.steps(run.ID, stepImage))
		}
		if !r.s.Undecided("c") || r.s.Undecided("d") {
			t.Error("the channel is not said to wait for the person")
		}
		if w := r.prompt("c", "after it").WaitsFor.Reason; w != core.WaitRun {
			t.Errorf("the next prompt waits for %q", w)
		}
		d.say("")
		if got := r.ended(run.ID, time.Minute); got.State != core.RunDone || r.steps(run.ID, stepSlot) != 0 {
			t.Fatalf("%+v", got)
		}
		if r.s.Undecided("c") {
			t.Error("the channel is said to wait after its run")
		}
	})
}

// TestRunIsStoppedWhileUndecided: it ends at once, and nothing was made.
func TestRunIsStoppedWhileUndecided(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, _ := newSpawnRig(t, fine)
		r.ports.Toolchains = &decisions{path: "/repo/.loop/setup.sh", changed: make(chan struct{})}
		r.start()
		defer r.quit()
		run := r.prompt("c", "x")
		r.pass(time.Second)
		if err := r.s.Cancel(t.Context(), run.ID); err != nil {
			t.Fatal(err)
		}
		if got := r.ended(run.ID, time.Minute); got.State != core.RunCancelled || r.steps(run.ID, stepImage) != 0 {
			t.Fatalf("%+v", got)
		}
	})
}

// TestOthersRunWhileOneIsUndecided: it has no slot until the decision, and one afterwards.
func TestOthersRunWhileOneIsUndecided(t *testing.T) {
	for _, end := range []string{"decided", "cancelled", "closed"} {
		inBubble(t, func(t *testing.T) {
			r, _ := newSpawnRig(t, fine, slow, fine, fine)
			r.store.channels["e"] = &core.Channel{ID: "e"}
			r.opts.Parallel = 1
			d := &decisions{path: "/repo/.loop/setup.sh", changed: make(chan struct{}), only: "c"}
			r.ports.Toolchains = d
			r.start()
			defer func() {
				r.quit()
				if n, m := len(r.s.slots), r.s.apart.Load(); n != 0 || m != 0 {
					t.Errorf("%s: %d slots are taken, %d wait without", end, n, m)
				}
			}()
			run := r.prompt("c", "x")
			r.pass(time.Second)
			other := r.prompt("d", "y")
			if got := r.ended(other.ID, time.Minute); got.State != core.RunDone {
				t.Fatalf("%s: %+v", end, got)
			}
			if end == "closed" {
				return
			}
			long := r.prompt("d", "slow") // it has the one slot
			synctest.Wait()
			if w := r.prompt("e", "after it").WaitsFor.Reason; w != core.WaitLimit {
				t.Errorf("%s: the next prompt waits for %q", end, w)
			}
			if !r.s.Undecided("c") || r.steps(run.ID, stepSlot) != 0 {
				t.Errorf("%s: it does not wait for the decision", end)
			}
			d.say("")
			synctest.Wait()
			if r.get(long.ID).State.Terminal() || r.steps(run.ID, stepImage) != 0 {
				t.Fatalf("%s: two are under way", end)
			}
			if r.s.Undecided("c") || r.steps(run.ID, stepSlot) != 1 {
				t.Errorf("%s: it is decided, and is said to wait for that", end)
			}
			d.say("/repo/.loop/setup.sh") // another text, while the run waits for a slot
			want := core.RunDone
			if end == "cancelled" {
				want = core.RunCancelled
				if err := r.s.Cancel(t.Context(), run.ID); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.s.Cancel(t.Context(), long.ID); err != nil {
				t.Fatal(err)
			}
			r.pass(time.Minute)
			if n := r.steps(run.ID, stepToolchain); end == "decided" && n != 2 || r.steps(run.ID, stepImage) != 0 {
				t.Errorf("%s: asked %d times", end, n)
			}
			d.say("")
			if got := r.ended(run.ID, time.Minute); got.State != want {
				t.Errorf("%s: %+v", end, got)
			}
			r.pass(time.Minute)
		})
	}
}
