package runner

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// listeners are CLIs that wait for their prompts and keep them, in the order of their starts.
type listeners struct {
	spawns
	prompts []string
}

func (l *listeners) play(p *proc) {
	l.mu.Lock()
	n := len(l.reqs)
	l.reqs, l.prompts = append(l.reqs, p.req), append(l.prompts, "")
	l.mu.Unlock()
	said := p.prompt()
	l.mu.Lock()
	l.prompts[n] = said
	l.mu.Unlock()
	if said != "" {
		slow(p)
	}
}

// fed are the prompts that the CLIs got, empty for one that got none.
func (l *listeners) fed() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.prompts)
}

type aheadRig struct {
	*rig
	cli   *listeners
	stamp atomic.Value
}

// newAheadRig has a container of channel c, in which a first prompt was worked on.
func newAheadRig(t *testing.T) *aheadRig {
	r := &aheadRig{cli: &listeners{}}
	r.stamp.Store("")
	r.rig = newRig(t, r.cli.play)
	r.ports.Stamp = func(core.Channel, string, core.SessionID) string { return r.stamp.Load().(string) }
	r.boxes.warm, r.launch.Ahead = true, true
	r.start()
	r.ended(r.prompt("c", "first").ID, time.Minute)
	return r
}

func (r *aheadRig) ahead(ch core.ChannelID) {
	r.t.Helper()
	if err := r.s.StartAhead(context.Background(), ch, r.boxes.all[0].c); err != nil {
		r.t.Fatal(err)
	}
	synctest.Wait()
}

// live counts the programs of the first container that have not ended.
func (r *aheadRig) live() (n int) {
	r.boxes.mu.Lock()
	defer r.boxes.mu.Unlock()
	for _, p := range r.boxes.all[0].procs {
		p.mu.Lock()
		if p.exit == nil {
			n++
		}
		p.mu.Unlock()
	}
	return n
}

// TestAPromptTakesTheCLIThatWaits: what was started for it is what it would have started,
// knows the run from then on, and gets the prompt once.
func TestAPromptTakesTheCLIThatWaits(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newAheadRig(t)
		defer r.quit()
		r.ahead("c")
		r.ahead("c") // the next word changes nothing
		if got := r.cli.all(); len(got) != 2 || !got[1].OpenStdin || got[1].StdinWithin != waitsFor || got[1].Stdin != nil {
			t.Fatalf("%d spawns, the last %+v", len(got), got[len(got)-1])
		}
		waiting := r.boxes.all[0].was[r.cli.all()[1].ID]
		if !waiting.Pending || waiting.RunID != "" || waiting.ChannelID != "c" {
			t.Errorf("while it waits it is %+v", waiting)
		}
		run := r.ended(r.prompt("c", "second").ID, time.Minute)
		if run.State != core.RunDone || len(r.cli.all()) != 2 || r.boxes.all[0].procs[r.cli.all()[1].ID] != nil {
			t.Errorf("%s, %d spawns\n%s", run.State, len(r.cli.all()), r.dump(run.ID))
		}
		if got := r.cli.fed(); !slices.Equal(got, []string{"first", "second"}) {
			t.Errorf("prompts %q", got)
		}
		if who := r.boxes.all[0].was[r.cli.all()[1].ID]; who.Pending || who.RunID != run.ID {
			t.Errorf("with its prompt it is %+v", who)
		}
	})
}

// TestTheCLIThatWaitsDoesNotFit: what has changed since its start has it end, and the prompt
// gets another.
func TestTheCLIThatWaitsDoesNotFit(t *testing.T) {
	for name, change := range map[string]func(r *aheadRig, run *core.Run){
		"model":        func(r *aheadRig, _ *core.Run) { r.launch.Model = "other" },
		"own model":    func(_ *aheadRig, run *core.Run) { run.Model = "sonnet" },
		"own effort":   func(_ *aheadRig, run *core.Run) { run.Effort = "max" },
		"key":          func(r *aheadRig, _ *core.Run) { r.launch.APIKey = "other" },
		"conversation": func(_ *aheadRig, run *core.Run) { run.Session = core.SessionStart{Mode: core.SessionFresh} },
		"author":       func(_ *aheadRig, run *core.Run) { run.AuthorID = "agent:x" },
		"files":        func(r *aheadRig, _ *core.Run) { r.stamp.Store("changed") },
		"it has ended": func(r *aheadRig, _ *core.Run) { r.waiting().kill() },
		"no link takes it": func(r *aheadRig, _ *core.Run) {
			r.boxes.pour = func(l *fakeLink, _ []byte) (int, error) {
				l.b.pour = nil
				r.waiting().kill()
				return 0, errors.New("the program has ended")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r := newAheadRig(t)
				defer r.quit()
				r.ahead("c")
				req := core.Run{ChannelID: "c", Prompt: "second"}
				change(r, &req)
				run, err := r.s.Prompt(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				run = r.ended(run.ID, time.Minute)
				got := r.cli.all()
				if run.State != core.RunDone || len(got) != 3 || r.live() != 0 {
					t.Fatalf("%s, %d spawns, %d live\n%s", run.State, len(got), r.live(), r.dump(run.ID))
				}
				if fed := r.cli.fed(); !slices.Equal(fed, []string{"first", "", "second"}) {
					t.Errorf("prompts %q", fed)
				}
				if run.SpawnID != got[2].ID {
					t.Errorf("the run has %s of %s", run.SpawnID, got[2].ID)
				}
			})
		})
	}
}

// waiting is the program that waits.
func (r *aheadRig) waiting() *proc {
	r.boxes.mu.Lock()
	defer r.boxes.mu.Unlock()
	for _, p := range r.boxes.all[0].procs {
		p.mu.Lock()
		open := p.inOpen && p.exit == nil
		p.mu.Unlock()
		if open {
			return p
		}
	}
	return nil
}

// TestWhatWaitsIsRenewed: a word starts another CLI where the one that waits is not what a
// prompt would start any more, is old, or has ended.
func TestWhatWaitsIsRenewed(t *testing.T) {
	for name, change := range map[string]func(r *aheadRig){
		"settings": func(r *aheadRig) { r.launch.Model = "other" },
		"files":    func(r *aheadRig) { r.stamp.Store("changed") },
		"age":      func(r *aheadRig) { r.pass(renewAfter) },
		"its end":  func(r *aheadRig) { r.waiting().kill() },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r := newAheadRig(t)
				defer r.quit()
				r.ahead("c")
				change(r)
				r.ahead("c")
				if got := len(r.cli.all()); got != 3 || r.live() != 1 {
					t.Errorf("%d spawns, %d live", got, r.live())
				}
				r.ended(r.prompt("c", "second").ID, time.Minute)
				if got := r.cli.fed(); len(got) != 3 || got[2] != "second" {
					t.Errorf("prompts %q", got)
				}
			})
		})
	}
}

// TestWhatIsNotStartedAhead: nothing waits beside a run, over the limit, outside of a
// container, or in one that a prompt would not get.
func TestWhatIsNotStartedAhead(t *testing.T) {
	for name, set := range map[string]func(r *aheadRig){
		"a run is under way": func(r *aheadRig) { r.prompt("c", "slow"); r.pass(time.Second) },
		"switched off":       func(r *aheadRig) { r.launch.Ahead = false },
		"limit":              func(r *aheadRig) { r.s.o.Spares = 0 },
		"on this computer":   func(r *aheadRig) { r.launch = r.launch.OnHost(HostPlace{}) },
		"over TCP":           func(r *aheadRig) { r.launch.APIURL = "http://172.17.0.1:1" },
		"another container":  func(r *aheadRig) { r.fixed = "other" },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r := newAheadRig(t)
				defer r.boxes.die(0, 137) // after the end, with what is slow
				defer r.quit()
				set(r)
				before := len(r.cli.all())
				r.ahead("c")
				if got := len(r.cli.all()) - before; got != 0 {
					t.Errorf("%d were started", got)
				}
			})
		})
	}
}

// TestARunBeginsWhileTheCLIStarts for its channel: it waits for it, unless that takes too long.
func TestARunBeginsWhileTheCLIStarts(t *testing.T) {
	for name, c := range map[string]struct {
		takes time.Duration
		want  []string
	}{"soon": {startTime / 2, []string{"first", "slow"}}, "too long": {2 * startTime, []string{"first", "slow", ""}}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r := newAheadRig(t)
				defer r.boxes.die(0, 137) // after the end, with what is slow
				defer r.quit()
				var once sync.Once
				r.boxes.spawning = func(req core.SpawnRequest) {
					if req.OpenStdin {
						once.Do(func() { r.prompt("c", "slow"); r.pass(c.takes) })
					}
				}
				r.ahead("c")
				r.pass(time.Second)
				if got := r.cli.fed(); !slices.Equal(got, c.want) || r.live() != 1 {
					t.Errorf("prompts %q, %d live", got, r.live())
				}
			})
		})
	}
}

// TestNothingWaitsForNobody: it ends with its hold, and when Loop does.
func TestNothingWaitsForNobody(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newAheadRig(t)
		r.ahead("c")
		r.s.EndAhead(t.Context(), "c")
		if r.live() != 0 {
			t.Error("it outlives its hold")
		}
		r.ahead("c")
		r.quit()
		if r.live() != 0 || len(r.cli.all()) != 3 {
			t.Errorf("Loop has quit, and %d of %d are left", r.live(), len(r.cli.all()))
		}
	})
}

// TestTheNextPromptAfterARun finds a CLI that waits, for a while. Nothing waits for agents, for
// nobody, or after what has not ended well.
func TestTheNextPromptAfterARun(t *testing.T) {
	for name, c := range map[string]struct {
		req   core.Run
		limit time.Duration
		waits bool
	}{
		"a person's":   {core.Run{}, time.Minute, true},
		"an agent's":   {core.Run{AuthorID: "agent:x"}, time.Minute, false},
		"nobody's":     {core.Run{Unattended: true}, time.Minute, false},
		"switched off": {core.Run{}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r := newAheadRig(t)
				defer r.quit()
				r.s.o.AfterRun = c.limit
				c.req.ChannelID, c.req.Prompt = "c", "second"
				run, err := r.s.Prompt(t.Context(), c.req)
				if err != nil {
					t.Fatal(err)
				}
				r.ended(run.ID, time.Minute)
				if got := len(r.cli.all()) == 3; got != c.waits {
					t.Fatalf("%d spawns", len(r.cli.all()))
				}
				r.ended(r.prompt("c", "third").ID, time.Minute)
				if fed := r.cli.fed(); fed[2] != "third" {
					t.Errorf("prompts %q", fed)
				}
				r.pass(c.limit)
				if r.live() != 0 {
					t.Error("it waits for ever")
				}
			})
		})
	}
}

// TestTheNextPromptIsWritten: then what waits since the run's end does so for as long.
func TestTheNextPromptIsWritten(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newAheadRig(t)
		defer r.quit()
		r.s.o.AfterRun = time.Minute
		r.ended(r.prompt("c", "second").ID, time.Minute)
		r.ahead("c")
		r.pass(2 * time.Minute)
		if r.live() != 1 {
			t.Error("it ends while somebody writes")
		}
		r.s.EndAhead(t.Context(), "c")
		if r.live() != 0 {
			t.Error("it outlives its hold")
		}
	})
}

// TestTheQueueGoesOn: between two prompts of a queue nothing is started.
func TestTheQueueGoesOn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newAheadRig(t)
		defer r.quit()
		r.s.o.AfterRun = time.Minute
		r.prompt("c", "second")
		r.ended(r.prompt("c", "third").ID, time.Minute)
		if fed := r.cli.fed(); !slices.Equal(fed, []string{"first", "second", "third", ""}) {
			t.Errorf("prompts %q", fed)
		}
	})
}

// TestTheLinkBreaksWhileThePromptIsGiven: through the next one it goes on where it was.
func TestTheLinkBreaksWhileThePromptIsGiven(t *testing.T) {
	for _, taken := range []int{0, 1, 20} {
		inBubble(t, func(t *testing.T) {
			r := newAheadRig(t)
			defer r.quit()
			r.ahead("c")
			r.boxes.pour = func(l *fakeLink, _ []byte) (int, error) {
				l.b.pour = nil
				l.breakOff()
				return taken, core.ErrLinkDown
			}
			run := r.ended(r.prompt("c", "second").ID, time.Minute)
			if got := r.cli.fed(); run.State != core.RunDone || !slices.Equal(got, []string{"first", "second"}) {
				t.Errorf("%d bytes: %s, prompts %q\n%s", taken, run.State, got, r.dump(run.ID))
			}
		})
	}
}

// TestLoopDiesBeforeThePromptIsGiven: the next launch gives the rest of it to a CLI that has
// some, and starts another where it has none, which may not be what the run is to start.
func TestLoopDiesBeforeThePromptIsGiven(t *testing.T) {
	for taken, want := range map[int]string{0: "first,,second", 1: "first,second", 30: "first,second"} {
		inBubble(t, func(t *testing.T) {
			r := newAheadRig(t)
			r.ahead("c")
			died := make(chan struct{})
			r.boxes.pour = func(l *fakeLink, _ []byte) (int, error) {
				l.b.pour = nil
				close(died)
				<-r.s.ctx.Done() // the rest of this launch is lost
				return taken, context.Canceled
			}
			id := r.prompt("c", "second").ID
			<-died
			r.quit()
			r.boxes.pour = nil
			r.start()
			defer r.quit()
			run := r.ended(id, time.Minute)
			if got := strings.Join(r.cli.fed(), ","); run.State != core.RunDone || got != want || r.live() != 0 {
				t.Errorf("%d bytes: %s, prompts %q, %d live\n%s", taken, run.State, got, r.live(), r.dump(id))
			}
		})
	}
}
