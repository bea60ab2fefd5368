package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/provision"
)

// racingStore calls read after a run was read and before its caller goes on.
type racingStore struct {
	*memStore
	read func(core.RunID)
}

func (s *racingStore) Run(ctx context.Context, id core.RunID) (core.Run, error) {
	run, err := s.memStore.Run(ctx, id)
	if s.read != nil {
		s.read(id)
	}
	return run, err
}

func TestCancelOfARunThatIsClaimedMeanwhile(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, func(p *proc) { <-p.killed })
		racing := &racingStore{memStore: r.store}
		r.ports.Store = racing
		r.start()
		defer r.quit()
		first, second := r.prompt("c", "x"), r.prompt("c", "y")
		r.until(first.ID, time.Minute, core.RunRunning)
		racing.read = func(id core.RunID) {
			if id == second.ID {
				racing.read = nil
				r.boxes.die(0, 137) // the first run ends, and the second could be claimed
				r.pass(time.Minute)
			}
		}
		if err := r.s.Cancel(context.Background(), second.ID); err != nil {
			t.Fatal(err)
		}
		if run := r.get(second.ID); run.State != core.RunCancelled {
			t.Errorf("%s %+v", run.State, run.Outcome.Failure)
		}
		if n := r.did("spawn"); n != 1 {
			t.Errorf("%d spawns", n)
		}
	})
}

// TestAnswersOfTheStoreGetLost does each write once but reports a failure. The run must
// neither hang nor differ, and its container must not stay.
func TestAnswersOfTheStoreGetLost(t *testing.T) {
	text := recording(t, "tools")
	want := whole(t, text)
	for _, call := range []string{"update", "append", "finish"} {
		for nth := 1; nth <= 3; nth++ {
			inBubble(t, func(t *testing.T) {
				r := newRig(t, plays(text, 0))
				n := 0
				r.store.fault = func(c string, after bool) error {
					if c == call && after {
						if n++; n == nth {
							return errors.New("the answer is lost")
						}
					}
					return nil
				}
				r.start()
				defer r.quit()
				run := r.ended(r.prompt("c", "x").ID, time.Minute)
				got := r.told(run.ID, storedKinds...)[1:]
				if call == "update" { // the step is stored twice
					got = want
				}
				if run.State != core.RunDone || fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s %d: %s, %d events, want %d", call, nth, run.State, len(got), len(want))
				}
				r.nothingLeft(run.ID)
				told := false
				r.mu.Lock()
				for _, e := range r.bus {
					told = told || e.Type == core.EventStatus && strings.Contains(string(e.Data), `"state":"done"`)
				}
				r.mu.Unlock()
				if !told {
					t.Errorf("%s %d: nobody was told of the end", call, nth)
				}
			})
		}
	}
}

func TestRunEndedBySomebodyElse(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, func(p *proc) {
			for range 100 {
				select {
				case <-time.After(time.Second):
					p.print(turn("more"))
				case <-p.killed:
					return
				}
			}
		})
		r.start()
		defer r.quit()
		run := r.prompt("c", "x")
		r.until(run.ID, time.Minute, core.RunRunning)
		r.pass(1500 * time.Millisecond)
		gone := r.get(run.ID)
		gone.State = core.RunFailed
		if _, err := r.store.FinishRun(context.Background(), gone, core.NewEvent(core.EventStatus, "c", run.ID, time.Now(), statusOf(gone, ""))); err != nil {
			t.Fatal(err)
		}
		r.pass(10 * time.Second)
		r.nothingLeft(run.ID)
	})
}

func TestLinksThatAreRefusedForAWhile(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, func(p *proc) {
			select {
			case <-time.After(time.Minute):
				p.print(goodResult)
				p.end(0)
			case <-p.killed:
			}
		})
		r.start()
		defer r.quit()
		run := r.prompt("c", "x")
		r.until(run.ID, time.Minute, core.RunRunning)
		r.boxes.mu.Lock()
		r.boxes.noHello = true
		r.boxes.mu.Unlock()
		r.boxes.breakLinks()
		r.pass(20 * time.Second)
		r.boxes.mu.Lock()
		r.boxes.noHello = false
		r.boxes.mu.Unlock()
		if run = r.ended(run.ID, 5*time.Minute); run.State != core.RunDone {
			t.Errorf("%s %+v", run.State, run.Outcome.Failure)
		}
	})
}

func TestSilentToolOutlivesManyLinks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, func(p *proc) {
			select {
			case <-time.After(20 * time.Minute):
				p.print(goodResult)
				p.end(0)
			case <-p.killed:
			}
		})
		r.start()
		defer r.quit()
		run := r.prompt("c", "x")
		r.until(run.ID, time.Minute, core.RunRunning)
		for range 2 * stuckReads {
			r.pass(time.Minute)
			r.boxes.breakLinks()
		}
		if run = r.ended(run.ID, 10*time.Minute); run.State != core.RunDone {
			t.Errorf("%s %+v", run.State, run.Outcome.Failure)
		}
	})
}

// TestMadeOnceMore: provisioning may begin again, but the run begins only once.
func TestMadeOnceMore(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, plays(goodResult, 0))
		r.ports.Provision = twice{r.ports.Provision.(provisioner)}
		r.start()
		defer r.quit()
		run := r.ended(r.prompt("c", "x").ID, time.Minute)
		told := strings.Join(r.told(run.ID, core.EventStatus), ", ")
		if run.State != core.RunDone || strings.Count(told, stepContainer) != 1 || r.did("start") != 1 {
			t.Errorf("%s, told %s", run.State, told)
		}
	})
}

type twice struct{ provisioner }

func (p twice) Ensure(ctx context.Context, w provision.Want) (*provision.Lease, error) {
	r, err := p.Resolve(ctx, w)
	if err == nil {
		err = w.Ready(r)
	}
	if err != nil {
		return nil, err
	}
	return p.provisioner.Ensure(ctx, w)
}

// TestStrayContainerIsGivenBack: an earlier launch made a container and died before it
// knew of it.
func TestStrayContainerIsGivenBack(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, id := crashed(t, "", "")
		if _, err := r.boxes.Start(context.Background(), core.Spec{RunID: "r", ChannelID: "c"}); err != nil {
			t.Fatal(err)
		}
		r.start()
		defer r.quit()
		r.ended(id, time.Minute)
		if stray := r.boxes.all[0]; stray.running || stray.after < 0 {
			t.Errorf("the stray container runs: %v, removal after %s", stray.running, stray.after)
		}
	})
}

func TestModelHintIsNoDetailOfADemoRun(t *testing.T) {
	for _, demo := range []bool{true, false} {
		inBubble(t, func(t *testing.T) {
			r := newRig(t, func(p *proc) {
				p.stderr("[claude-code:unrecognized_model] demo-tour is not known\nreal trouble\n")
				p.end(1)
			})
			r.start()
			defer r.quit()
			run, err := r.s.Prompt(context.Background(), core.Run{ChannelID: "c", Prompt: "x", Demo: demo})
			if err != nil {
				t.Fatal(err)
			}
			f := r.ended(run.ID, time.Minute).Outcome.Failure
			if f == nil || strings.Contains(f.Detail, modelHint) == demo || !strings.Contains(f.Detail, "real trouble") {
				t.Errorf("demo %v: %+v", demo, f)
			}
		})
	}
}

// TestQueueIsToldInOrder: a page hears that a run is queued before it hears that the
// run was claimed, however soon that is.
func TestQueueIsToldInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, plays(goodResult, 0))
		r.ports.Store = slowEnqueue{r.store}
		r.start()
		defer r.quit()
		var ids []core.RunID
		for range 4 { // the drain is awake while these are stored
			run, err := r.s.Prompt(context.Background(), core.Run{ChannelID: "c", Prompt: "x"})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, run.ID)
		}
		for _, id := range ids {
			r.ended(id, time.Minute)
		}
		seen := map[core.RunID]bool{}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, e := range r.bus {
			if e.Type == core.EventQueueChanged && strings.Contains(string(e.Data), `"state":"queued"`) {
				seen[e.RunID] = true
			} else if !seen[e.RunID] && e.Type != core.EventMessageCreated {
				t.Fatalf("%s %s before the run was told as queued", e.Type, e.Data)
			}
		}
	})
}

// slowEnqueue answers long after its run could be claimed.
type slowEnqueue struct{ *memStore }

func (s slowEnqueue) Enqueue(ctx context.Context, run core.Run, evs ...core.Event) (core.Run, []core.Event, bool, error) {
	stored, out, created, err := s.memStore.Enqueue(ctx, run, evs...)
	<-time.After(300 * time.Millisecond)
	return stored, out, created, err
}

// earlyStore lists the runs under way only after before was called. At first it refuses
// to list the queues and to read the channel.
type earlyStore struct {
	*memStore
	before  func()
	begun   bool
	refused int
	channel int
}

func (s *earlyStore) Channel(ctx context.Context, id core.ChannelID) (core.Channel, error) {
	if id == "c" && s.before == nil {
		if s.channel++; s.channel < 3 {
			return core.Channel{}, errors.New("busy")
		}
	}
	return s.memStore.Channel(ctx, id)
}

func (s *earlyStore) ActiveRuns(ctx context.Context) ([]core.Run, error) {
	if before := s.before; before != nil && !s.begun { // prompts ask for the runs too
		s.begun = true
		before()
		s.before = nil // from here on, the first reads of the channel fail
	}
	return s.memStore.ActiveRuns(ctx)
}

func (s *earlyStore) QueueLengths(ctx context.Context) (map[core.ChannelID]int, error) {
	if s.refused++; s.refused < 3 {
		return nil, errors.New("busy")
	}
	return s.memStore.QueueLengths(ctx)
}

// TestPromptBeforeRecovery: prompts arrive while Loop still looks for the runs of an
// earlier launch. The run of that launch is still taken over, and the prompts follow.
func TestPromptBeforeRecovery(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, id := crashed(t, core.RunRunning, turn("one")+goodResult)
		(spoolFiles{r.boxes}).find("spawn").end(0)
		var after []core.Run
		r.ports.Store = &earlyStore{memStore: r.store, before: func() {
			after = append(after, r.prompt("c", "same channel"), r.prompt("d", "another"))
			<-time.After(time.Second) // time for everything that the prompts caused
		}}
		r.start()
		defer r.quit()
		if run := r.ended(id, time.Minute); run.State != core.RunDone {
			t.Errorf("the earlier run: %s %+v", run.State, run.Outcome.Failure)
		}
		for _, p := range after {
			if run := r.ended(p.ID, time.Minute); run.State != core.RunDone {
				t.Errorf("%s: %s", p.Prompt, run.State)
			}
		}
	})
}
