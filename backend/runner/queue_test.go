package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

func codeOf(err error) core.Code {
	if f, ok := errors.AsType[*core.Failure](err); ok {
		return f.Code
	}
	return ""
}

// slow takes long for the first prompt and is quick with the others.
func slow(p *proc) {
	if strings.HasPrefix(p.prompt(), "slow") {
		p.print(`{"type":"system","subtype":"init","session_id":"sess"}` + "\n" + turn("working"))
		select {
		case <-p.killed:
		case <-time.After(time.Hour):
			p.print(goodResult)
			p.end(0)
		}
		return
	}
	p.print(goodResult)
	p.end(0)
}

func (r *rig) prompts(ch core.ChannelID, texts ...string) (ids []core.RunID) {
	for _, t := range texts {
		ids = append(ids, r.prompt(ch, t).ID)
	}
	return ids
}

func TestInterrupt(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, cli := newSpawnRig(t, slow)
		r.start()
		defer r.quit()
		ids := r.prompts("c", "slow", "later")
		r.pass(time.Second)
		if _, err := r.s.Interrupt(context.Background(), core.Run{ID: "now", ChannelID: "c", Prompt: "now", Delay: time.Hour}); err != nil {
			t.Fatal(err)
		}
		if s := r.get(ids[0]).State; s != core.RunCancelled {
			t.Errorf("the run in the way is %s", s)
		}
		run, err := r.s.Interrupt(context.Background(), core.Run{ID: "now", ChannelID: "c", Prompt: "now"})
		if err != nil {
			t.Errorf("the same again: %v", err)
		}
		r.ended(run.ID, time.Minute)
		r.ended(ids[1], time.Minute)
		// The message continues the conversation of the stopped run.
		if got := cli.prompts(); !slices.Equal(got, []string{"slow", "now @sess", "later @sess"}) {
			t.Errorf("spawned %q", got)
		}
		if n := r.store.channels["c"].NextSession; n != (core.SessionStart{}) {
			t.Errorf("next start %+v is kept", n)
		}
	})
}

// TestStopKeepsWhatWasChosen: what a person chose for the next run while one was under
// way still counts when that one is stopped.
func TestStopKeepsWhatWasChosen(t *testing.T) {
	for _, chosen := range []core.SessionStart{{Mode: core.SessionResume, SessionID: "other"}, {}} {
		inBubble(t, func(t *testing.T) {
			r, _ := newSpawnRig(t, slow)
			ch := r.store.channels["c"]
			ch.SessionID = "own"
			r.start()
			defer r.quit()
			id := r.prompts("c", "slow")[0]
			r.pass(time.Second)
			if err := r.store.SetChannelNext(context.Background(), "c", false, chosen, ""); err != nil {
				t.Fatal(err)
			}
			if err := r.s.Cancel(context.Background(), id); err != nil {
				t.Fatal(err)
			}
			if ch.NextSession != chosen {
				t.Errorf("next start %+v, want %+v", ch.NextSession, chosen)
			}
		})
	}
}

// TestInterruptBeforeTheFirstWord: a run is stopped while the model still thinks about
// its prompt. The interrupting message still continues that conversation, if the CLI
// has written the prompt down.
func TestInterruptBeforeTheFirstWord(t *testing.T) {
	for name, tc := range map[string]struct {
		exists, known bool
		want          string
	}{"written": {true, true, "now @sess"}, "not written": {false, true, "now"}, "who knows": {false, false, "now"}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				silent := func(p *proc) {
					if !strings.HasPrefix(p.prompt(), "slow") {
						slow(p)
						return
					}
					p.print(`{"type":"system","subtype":"init","session_id":"sess"}` + "\n")
					<-p.killed
				}
				r, cli := newSpawnRig(t, silent)
				r.ports.Sessions = func(core.Channel, string, core.SessionID) (bool, bool) { return tc.exists, tc.known }
				r.start()
				defer r.quit()
				r.prompts("c", "slow")
				r.pass(time.Second)
				run, err := r.s.Interrupt(context.Background(), core.Run{ID: "now", ChannelID: "c", Prompt: "now"})
				if err != nil {
					t.Fatal(err)
				}
				r.ended(run.ID, time.Minute)
				if got := cli.prompts(); !slices.Equal(got, []string{"slow", tc.want}) {
					t.Errorf("spawned %q", got)
				}
			})
		})
	}
}

// TestPromoteBeforeCancel: a crash between the two changes only the order of the
// prompts, and loses none.
func TestPromoteBeforeCancel(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, cli := newSpawnRig(t, slow)
		r.start()
		ids := r.prompts("c", "slow", "one", "two")
		r.pass(time.Second)
		r.boxes.mu.Lock()
		r.boxes.down = true // the stop cannot be proven
		r.boxes.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		r.boxes.breakLinks()
		err := r.s.Steer(ctx, ids[2])
		if codeOf(err) != core.CodeTimeout {
			t.Errorf("steer: %v", err)
		}
		r.quit()
		r.boxes.back()
		r.start()
		defer r.quit()
		r.pass(time.Second)
		if err := r.s.Cancel(context.Background(), ids[0]); err != nil {
			t.Fatal(err)
		}
		r.ended(ids[1], time.Minute)
		if got := cli.prompts(); len(got) != 3 || !strings.HasPrefix(got[1], "two") {
			t.Errorf("spawned %q", got)
		}
	})
}

// lateStore is late to answer which runs are under way.
type lateStore struct {
	Store
	late time.Duration
}

func (s lateStore) ActiveRuns(ctx context.Context) ([]core.Run, error) {
	<-time.After(s.late)
	return s.Store.ActiveRuns(ctx)
}

// TestSteeredAndOverAlready: the running run ends by itself. When the list of runs
// arrives, the steered run is over, too. The run that then runs was behind it, and must
// not be interrupted.
func TestSteeredAndOverAlready(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, _ := newSpawnRig(t, slow)
		r.launch.Timeout = 2 * time.Hour // the slow run ends by itself
		r.start()
		defer r.quit()
		ids := r.prompts("c", "slow", "slow later", "now")
		r.pass(time.Second)
		r.s.p.Store = lateStore{r.store, time.Hour + time.Minute}
		if err := r.s.Steer(context.Background(), ids[2]); err != nil {
			t.Error(err)
		}
		r.s.p.Store = r.store
		r.pass(time.Second)
		for i, want := range []core.RunState{core.RunDone, core.RunRunning, core.RunDone} {
			if s := r.get(ids[i]).State; s != want {
				t.Errorf("prompt %d is %s, want %s", i, s, want)
			}
		}
		if err := r.s.Cancel(context.Background(), ids[1]); err != nil {
			t.Error(err)
		}
	})
}

func TestQueueChanges(t *testing.T) {
	ctx := context.Background()
	inBubble(t, func(t *testing.T) {
		r, cli := newSpawnRig(t, slow)
		r.start()
		defer r.quit()
		ids := r.prompts("c", "slow", "a", "b", "d")
		r.pass(time.Second)
		order := []core.RunID{ids[3], ids[1], ids[2]}
		if _, err := r.s.Reorder(ctx, "c", order); err != nil {
			t.Fatal(err)
		}
		if _, err := r.s.Reorder(ctx, "c", order[:2]); codeOf(err) != core.CodeConflict {
			t.Errorf("part of the queue: %v", err)
		}
		if run, err := r.s.Edit(ctx, ids[1], "edited"); err != nil || run.Prompt != "edited" {
			t.Errorf("edit: %v %+v", err, run)
		}
		if _, err := r.s.Edit(ctx, ids[0], "edited"); codeOf(err) != core.CodeConflict {
			t.Errorf("edit of a started run: %v", err)
		}
		if _, err := r.s.Edit(ctx, ids[1], " "); codeOf(err) != core.CodeInvalid {
			t.Errorf("edit to nothing: %v", err)
		}
		for name, err := range map[string]error{
			"hold": second(r.s.Hold(ctx, "none")), "release": r.s.Release(ctx, "none"), "steer": r.s.Steer(ctx, "none"), "edit": second(r.s.Edit(ctx, "none", "x")),
		} {
			if codeOf(err) != core.CodeNotFound {
				t.Errorf("%s of no run: %v", name, err)
			}
		}
		if err := r.s.Steer(ctx, ids[0]); codeOf(err) != core.CodeConflict {
			t.Errorf("steer of a started run: %v", err)
		}
		if err := r.s.Cancel(ctx, ids[0]); err != nil {
			t.Fatal(err)
		}
		r.ended(ids[2], time.Minute)
		var got []string
		for _, p := range cli.prompts() {
			got = append(got, strings.Fields(p)[0])
		}
		if fmt.Sprint(got) != "[slow d edited b]" {
			t.Errorf("spawned %q", got)
		}
		if n := len(r.told(ids[1], core.EventMessageUpdated)); n != 1 {
			t.Errorf("%d updates told", n)
		}
	})
}

func second[T any](_ T, err error) error { return err }

// TestHold: a held prompt keeps the prompts behind it waiting, for five minutes at
// most.
func TestHold(t *testing.T) {
	ctx := context.Background()
	for name, free := range map[string]func(r *rig, id core.RunID){
		"released":  func(r *rig, id core.RunID) { _ = r.s.Release(ctx, id) },
		"edited":    func(r *rig, id core.RunID) { _, _ = r.s.Edit(ctx, id, "other") },
		"steered":   func(r *rig, id core.RunID) { _ = r.s.Steer(ctx, id) },
		"removed":   func(r *rig, id core.RunID) { _ = r.s.Remove(ctx, id) },
		"forgotten": func(r *rig, _ core.RunID) { r.pass(3*time.Minute + time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r, _ := newSpawnRig(t, slow)
				r.start()
				defer r.quit()
				ids := r.prompts("c", "slow", "a", "b")
				if _, err := r.s.Hold(ctx, ids[1]); err != nil {
					t.Fatal(err)
				}
				r.pass(time.Second)
				if err := r.s.Cancel(ctx, ids[0]); err != nil {
					t.Fatal(err)
				}
				r.pass(2 * time.Minute)
				if _, err := r.s.Hold(ctx, ids[1]); err != nil {
					t.Fatal(err)
				}
				r.pass(2 * time.Minute)
				for _, id := range ids[1:] {
					if s := r.get(id).State; s != core.RunQueued {
						t.Fatalf("%s while it is held", s)
					}
				}
				free(r, ids[1])
				r.ended(ids[2], 2*time.Second)
			})
		})
	}
}

// TestClockPutBack: a delay or a hold lasts no longer than was meant, however the clock
// is set.
func TestClockPutBack(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, _ := newSpawnRig(t, slow)
		off := time.Duration(0)
		now := func() time.Time { return time.Now().Add(off) }
		r.opts.Now, r.store.now = now, now
		r.start()
		defer r.quit()
		delayed, err := r.s.Prompt(context.Background(), core.Run{ChannelID: "c", Prompt: "x", Delay: 10 * time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		held := r.prompts("d", "slow", "y")
		if _, err := r.s.Hold(context.Background(), held[1]); err != nil {
			t.Fatal(err)
		}
		r.pass(time.Minute)
		off = -24 * time.Hour
		if err := r.s.Cancel(context.Background(), held[0]); err != nil {
			t.Fatal(err)
		}
		r.ended(held[1], 2*time.Minute)
		r.pass(8 * time.Minute)
		if s := r.get(delayed.ID).State; s != core.RunQueued {
			t.Errorf("%s before its delay has passed", s)
		}
		r.ended(delayed.ID, 5*time.Minute)
	})
}

func TestWishesAreChecked(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, _ := newSpawnRig(t, fine)
		r.start()
		defer r.quit()
		for name, run := range map[string]core.Run{
			"no session":      {Session: core.SessionStart{Mode: core.SessionResume}},
			"option":          {Session: core.SessionStart{Mode: core.SessionResume, SessionID: "--help"}},
			"path":            {Session: core.SessionStart{Mode: core.SessionFork, SessionID: "../x"}},
			"message option":  {Session: core.SessionStart{Mode: core.SessionFork, SessionID: "a", At: "-p"}},
			"resume at":       {Session: core.SessionStart{Mode: core.SessionResume, SessionID: "a", At: "b"}},
			"fresh of one":    {Session: core.SessionStart{Mode: core.SessionFresh, SessionID: "a"}},
			"session unasked": {Session: core.SessionStart{SessionID: "a"}},
			"mode":            {Session: core.SessionStart{Mode: "other"}},
			"delay":           {Delay: MaxDelay + 1},
			"back in time":    {Delay: -1},
			"model option":    {Model: "--settings=x"},
			"model of two":    {Model: "opus sonnet"},
			"hidden model":    {Model: "o\u202epus"},
			"effort":          {Effort: "huge"},
		} {
			run.ChannelID, run.Prompt = "c", "x"
			if _, err := r.s.Prompt(context.Background(), run); codeOf(err) != core.CodeInvalid {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestSessionStarts(t *testing.T) {
	fork := core.SessionStart{Mode: core.SessionFork}
	for name, tc := range map[string]struct {
		own  core.SessionID
		run  core.SessionStart
		next core.SessionStart
		gone []core.SessionID
		want string
	}{
		"none":              {want: "x"},
		"own":               {own: "own", want: "x @own"},
		"resume":            {own: "own", run: core.SessionStart{Mode: core.SessionResume, SessionID: "b"}, want: "x @b"},
		"fork own":          {own: "own", run: fork, want: "x @own forked"},
		"fork nothing":      {run: fork, want: "x"},
		"fork at":           {own: "own", run: core.SessionStart{Mode: core.SessionFork, SessionID: "b", At: "m"}, want: "x @b forked at m"},
		"fresh":             {own: "own", run: core.SessionStart{Mode: core.SessionFresh}, want: "x"},
		"kept fork":         {own: "own", next: fork, want: "x @own forked"},
		"kept fresh":        {own: "own", next: core.SessionStart{Mode: core.SessionFresh}, want: "x"},
		"run over kept":     {own: "own", next: fork, run: core.SessionStart{Mode: core.SessionFresh}, want: "x"},
		"pruned":            {own: "own", gone: []core.SessionID{"own"}, want: "x"},
		"pruned fork":       {own: "own", next: fork, gone: []core.SessionID{"own"}, want: "x"},
		"pruned other":      {own: "own", run: core.SessionStart{Mode: core.SessionResume, SessionID: "b"}, gone: []core.SessionID{"b"}, want: "x @own"},
		"all pruned":        {own: "own", run: core.SessionStart{Mode: core.SessionResume, SessionID: "b"}, gone: []core.SessionID{"b", "own"}, want: "x"},
		"an option as own":  {own: "--settings=x", want: "x"},
		"an option as next": {next: core.SessionStart{Mode: core.SessionResume, SessionID: "-c"}, want: "x"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r, cli := newSpawnRig(t, fine)
				r.ports.Sessions = func(_ core.Channel, _ string, id core.SessionID) (bool, bool) {
					return !slices.Contains(tc.gone, id), true
				}
				ch := r.store.channels["c"]
				ch.SessionID, ch.NextSession = tc.own, tc.next
				r.start()
				defer r.quit()
				run, err := r.s.Prompt(context.Background(), core.Run{ChannelID: "c", Prompt: "x", Session: tc.run})
				if err != nil {
					t.Fatal(err)
				}
				r.ended(run.ID, time.Minute)
				if got := cli.prompts(); len(got) != 1 || got[0] != tc.want {
					t.Errorf("spawned %q", got)
				}
				if ch.SessionID != "sess" || ch.NextSession != (core.SessionStart{}) {
					t.Errorf("session %q, next %+v", ch.SessionID, ch.NextSession)
				}
			})
		})
	}
}

// TestFailureKeepsTheStart: a channel keeps the way in which its next run starts. It
// drops that only after a run that succeeded.
func TestFailureKeepsTheStart(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, cli := newSpawnRig(t, plays(recording(t, "error-401"), 1), fine)
		ch := r.store.channels["c"]
		ch.SessionID, ch.NextSession = "own", core.SessionStart{Mode: core.SessionFork}
		r.start()
		defer r.quit()
		r.ended(r.prompt("c", "a").ID, time.Minute)
		if ch.SessionID != "own" || ch.NextSession.Mode != core.SessionFork {
			t.Errorf("session %q, next %+v", ch.SessionID, ch.NextSession)
		}
		r.ended(r.prompt("c", "b").ID, time.Minute)
		if got := cli.prompts(); fmt.Sprint(got) != "[a @own forked b @own forked]" {
			t.Errorf("spawned %q", got)
		}
	})
}

func TestPlanFirst(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, cli := newSpawnRig(t, fine)
		r.start()
		defer r.quit()
		run, err := r.s.Prompt(context.Background(), core.Run{ChannelID: "c", Prompt: "x", Plan: true})
		if err != nil {
			t.Fatal(err)
		}
		r.ended(run.ID, time.Minute)
		req := cli.all()[0]
		if got := cli.prompts()[0]; got != "x plan" || slices.Contains(req.Argv, "--dangerously-skip-permissions") {
			t.Errorf("spawned %q %q", got, req.Argv)
		}
		synctest.Wait()
	})
}
