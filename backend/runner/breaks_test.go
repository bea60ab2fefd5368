package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// whole lists what an undisturbed run of a recording stores.
func whole(t *testing.T, text string) (want []string) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, plays(text, 0))
		r.start()
		defer r.quit()
		want = r.told(r.ended(r.prompt("c", "x").ID, time.Minute).ID, storedKinds...)[1:] // the prompt's id is random
	})
	return want
}

func TestLinkBreaksAtAnyMoment(t *testing.T) {
	text := recording(t, "tools")
	want := whole(t, text)
	for at := time.Duration(0); at < 2*time.Second; at += 97 * time.Millisecond {
		inBubble(t, func(t *testing.T) {
			r := newRig(t, plays(text, 0))
			r.start()
			defer r.quit()
			run := r.prompt("c", "x")
			for range 3 {
				r.pass(at/3 + time.Millisecond)
				r.boxes.breakLinks()
			}
			run = r.ended(run.ID, time.Minute)
			if got := r.told(run.ID, storedKinds...)[1:]; run.State != core.RunDone || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("broken at %s: %s, %d events, want %d\n%s", at, run.State, len(got), len(want), r.dump(run.ID))
			}
			r.nothingLeft(run.ID)
		})
	}
}

func TestContainerDies(t *testing.T) {
	for _, complete := range []bool{true, false} {
		inBubble(t, func(t *testing.T) {
			text := turn("one")
			if complete {
				text += goodResult
			}
			r := newRig(t, func(p *proc) { p.print(text); <-p.killed })
			r.opts.Flush = time.Second // late enough that the turn is not stored yet
			r.start()
			defer r.quit()
			run := r.prompt("c", "x")
			r.until(run.ID, time.Minute, core.RunRunning)
			r.boxes.die(0, 137)
			run = r.ended(run.ID, time.Minute)
			if len(r.told(run.ID, core.EventMessageCreated)) != 2 {
				t.Error("the turn is lost")
			}
			if complete != (run.State == core.RunDone) || !complete && run.Outcome.Failure.Code != core.CodeKilled {
				t.Errorf("complete %v: %s %+v", complete, run.State, run.Outcome.Failure)
			}
			r.nothingLeft(run.ID)
			if r.did("drop spool") != 1 {
				t.Error("the spool is left")
			}
		})
	}
}

func TestEngineGoesAway(t *testing.T) {
	for _, tc := range []struct {
		name  string
		away  time.Duration
		state core.RunState
	}{{"for a while", time.Minute, core.RunDone}, {"for good", time.Hour, core.RunFailed}} {
		inBubble(t, func(t *testing.T) {
			r := newRig(t, func(p *proc) {
				p.print(turn("one"))
				select {
				case <-time.After(90 * time.Second):
					p.print(goodResult)
					p.end(0)
				case <-p.killed:
				}
			})
			if tc.state == core.RunFailed {
				r.boxes.cli = func(p *proc) { p.print(turn("one")); <-p.killed }
			}
			r.start()
			defer r.quit()
			run := r.prompt("c", "x")
			r.until(run.ID, time.Minute, core.RunRunning)
			r.pass(time.Second)
			r.boxes.mu.Lock()
			r.boxes.down = true
			r.boxes.mu.Unlock()
			r.boxes.breakLinks()
			go func() {
				<-time.After(tc.away)
				r.boxes.back()
			}()
			run = r.ended(run.ID, 10*time.Minute)
			if run.State != tc.state {
				t.Fatalf("%s: %s %+v", tc.name, run.State, run.Outcome.Failure)
			}
			if r.published(core.EventNotice) == 0 {
				t.Error("nobody was told")
			}
			if tc.state == core.RunFailed {
				if run.Outcome.Failure.Code != core.CodeEngineLost {
					t.Errorf("%+v", run.Outcome.Failure)
				}
				r.pass(2 * time.Hour) // the engine comes back, and the container is stopped then
			}
			r.nothingLeft(run.ID)
		})
	}
}

func TestCancelQueuedNeverStarts(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, func(p *proc) { <-p.killed })
		r.start()
		defer r.quit()
		first, second, third := r.prompt("c", "x"), r.prompt("c", "y"), r.prompt("c", "z")
		synctest.Wait()
		ctx := context.Background()
		if err := r.s.Cancel(ctx, second.ID); err != nil {
			t.Fatal(err)
		}
		if err := r.s.Remove(ctx, third.ID); err != nil {
			t.Fatal(err)
		}
		if err := r.s.Remove(ctx, first.ID); core.AsFailure(err).Code != core.CodeConflict {
			t.Errorf("removing a run under way: %v", err)
		}
		if _, err := r.s.Retry(ctx, first.ID); core.AsFailure(err).Code != core.CodeConflict {
			t.Errorf("retrying a run under way: %v", err)
		}
		if err := r.s.CancelChannel(ctx, "c"); err != nil {
			t.Fatal(err)
		}
		for _, run := range []core.Run{first, second, third} {
			if s := r.get(run.ID).State; s != core.RunCancelled {
				t.Errorf("%s is %s", run.Prompt, s)
			}
			if err := r.s.Cancel(ctx, run.ID); err != nil {
				t.Errorf("cancelling what has ended: %v", err)
			}
		}
		if n := r.did("spawn"); n != 1 {
			t.Errorf("%d spawns", n)
		}
		r.nothingLeft(first.ID)
		again, err := r.s.Retry(ctx, second.ID)
		if err != nil || again.Prompt != "y" || again.ID == second.ID {
			t.Errorf("retry: %+v %v", again, err)
		}
		if err := r.s.Cancel(ctx, again.ID); err != nil { // its CLI would outlive the test
			t.Fatal(err)
		}
		if err := r.s.Cancel(ctx, "none"); core.AsFailure(err).Code != core.CodeNotFound {
			t.Errorf("cancelling nothing: %v", err)
		}
	})
}

func TestCancelWhileRunning(t *testing.T) {
	for name, prepare := range map[string]func(*rig){
		"link up":   func(*rig) {},
		"link down": func(r *rig) { r.boxes.noHello = true; r.boxes.breakLinks() },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r := newRig(t, func(p *proc) { p.print(turn("one")); <-p.killed; p.print(turn("last words")) })
				r.start()
				defer r.quit()
				run := r.prompt("c", "x")
				r.until(run.ID, time.Minute, core.RunRunning)
				r.pass(time.Second)
				prepare(r)
				if err := r.s.Cancel(context.Background(), run.ID); err != nil {
					t.Fatal(err)
				}
				run = r.get(run.ID)
				if run.State != core.RunCancelled || run.Outcome.Failure.Code != core.CodeCancelled {
					t.Errorf("%s %+v", run.State, run.Outcome.Failure)
				}
				r.nothingLeft(run.ID)
				if len(r.told(run.ID, core.EventMessageCreated)) < 2 {
					t.Error("the turn is lost")
				}
			})
		})
	}
}

func TestCancelIsOnlyToldWhenProven(t *testing.T) {
	for name, meanwhile := range map[string]func(*rig){
		"the container went on": func(*rig) {},
		"the container ended":   func(r *rig) { r.boxes.die(0, 143) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) { cancelWithTheEngineAway(t, meanwhile) })
		})
	}
}

func cancelWithTheEngineAway(t *testing.T, meanwhile func(*rig)) {
	r := newRig(t, func(p *proc) { <-p.killed })
	r.start()
	defer r.quit()
	run := r.prompt("c", "x")
	r.until(run.ID, time.Minute, core.RunRunning)
	r.boxes.mu.Lock()
	r.boxes.down = true
	r.boxes.mu.Unlock()
	r.boxes.breakLinks()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := r.s.Cancel(ctx, run.ID); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancel with the engine away: %v", err)
	}
	if s := r.get(run.ID).State; s != core.RunRunning {
		t.Errorf("told as %s without proof", s)
	}
	meanwhile(r)
	r.boxes.back()
	if run = r.ended(run.ID, time.Minute); run.State != core.RunCancelled {
		t.Errorf("ended %s", run.State)
	}
	r.nothingLeft(run.ID)
}

func TestCancelDuringSetup(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, plays(goodResult, 0))
		r.boxes.ensure = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		r.start()
		defer r.quit()
		run := r.prompt("c", "x")
		synctest.Wait()
		if err := r.s.Cancel(context.Background(), run.ID); err != nil {
			t.Fatal(err)
		}
		if s := r.get(run.ID).State; s != core.RunCancelled || r.did("start") != 0 {
			t.Errorf("%s, %d containers", s, r.did("start"))
		}
	})
}

func TestOutputThatCannotBeRead(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, func(p *proc) { p.print(turn("one")); <-p.killed })
		r.start()
		defer r.quit()
		run := r.prompt("c", "x")
		r.until(run.ID, time.Minute, core.RunRunning)
		r.pass(time.Second)
		r.boxes.mu.Lock()
		r.boxes.noHello = true
		r.boxes.mu.Unlock()
		r.boxes.breakLinks()
		run = r.ended(run.ID, 5*time.Minute)
		if f := run.Outcome.Failure; run.State != core.RunFailed || f.Code != core.CodeNoLink || !strings.Contains(f.Cause, "could not link") || !strings.Contains(f.Cause, "Nothing answered") {
			t.Errorf("%s %+v", run.State, f)
		}
		r.nothingLeft(run.ID)
	})
}

// TestOthersUseTheContainer: when a terminal holds the container too, the end of a run
// ends only the run's programs.
func TestOthersUseTheContainer(t *testing.T) {
	for name, c := range map[string]struct {
		cli   func(p *proc)
		act   func(r *rig, id core.RunID)
		state core.RunState
	}{
		"done": {plays(turn("one")+goodResult, 0), func(*rig, core.RunID) {}, core.RunDone},
		"stopped": {func(p *proc) { <-p.killed }, func(r *rig, id core.RunID) {
			if err := r.s.Cancel(context.Background(), id); err != nil {
				r.t.Error(err)
			}
		}, core.RunCancelled},
		"killed": {func(p *proc) { p.print(turn("one")); p.end(137) }, func(*rig, core.RunID) {}, core.RunFailed},
		"no link for a while": {func(p *proc) { <-p.killed }, func(r *rig, id core.RunID) {
			r.boxes.mu.Lock()
			r.boxes.noHello = true
			r.boxes.mu.Unlock()
			r.boxes.breakLinks()
			r.pass(time.Minute)
			r.boxes.mu.Lock()
			r.boxes.noHello = false
			r.boxes.mu.Unlock()
		}, core.RunFailed},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r := newRig(t, func(p *proc) {
					p.b.mu.Lock()
					p.b.all[0].others = true
					p.b.mu.Unlock()
					c.cli(p)
				})
				r.start()
				defer r.quit()
				id := r.prompt("c", "x").ID
				r.pass(5 * time.Second)
				c.act(r, id)
				if run := r.ended(id, time.Hour); run.State != c.state {
					t.Errorf("%s %+v", run.State, run.Outcome.Failure)
				}
				r.pass(time.Minute)
				r.boxes.mu.Lock()
				defer r.boxes.mu.Unlock()
				x := r.boxes.all[0]
				if !x.running || len(x.holders) > 0 {
					t.Errorf("the container runs: %v, held by %q", x.running, x.holders)
				}
				for _, p := range x.procs {
					p.mu.Lock()
					if p.exit == nil {
						t.Error("the run's program goes on")
					}
					p.mu.Unlock()
				}
			})
		})
	}
}
