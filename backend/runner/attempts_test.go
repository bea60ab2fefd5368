package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"loop/backend/core"
)

// spawns plays one CLI after another and keeps the requests.
type spawns struct {
	mu   sync.Mutex
	reqs []core.SpawnRequest
	cli  []func(*proc) // the last one repeats
}

func (s *spawns) play(p *proc) {
	s.mu.Lock()
	s.reqs = append(s.reqs, p.req)
	cli := s.cli[min(len(s.reqs), len(s.cli))-1]
	s.mu.Unlock()
	cli(p)
}

func (s *spawns) all() []core.SpawnRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.reqs)
}

// prompts lists the prompts, each with the session that was resumed.
func (s *spawns) prompts() (out []string) {
	for _, r := range s.all() {
		text := prompt(r.Stdin)
		if i := slices.Index(r.Argv, "--resume"); i >= 0 {
			text += " @" + r.Argv[i+1]
		}
		if slices.Contains(r.Argv, "--fork-session") {
			text += " forked"
		}
		if i := slices.Index(r.Argv, "--resume-session-at"); i >= 0 {
			text += " at " + r.Argv[i+1]
		}
		if i := slices.Index(r.Argv, "--permission-mode"); i >= 0 {
			text += " " + r.Argv[i+1]
		}
		out = append(out, text)
	}
	return out
}

func newSpawnRig(t *testing.T, cli ...func(*proc)) (*rig, *spawns) {
	s := &spawns{cli: cli}
	return newRig(t, s.play), s
}

func resultLine(text string, more string) string {
	return fmt.Sprintf(`{"type":"result","subtype":"success","is_error":true,"result":%q,"session_id":"sess","num_turns":1,"total_cost_usd":0.01%s}`+"\n", text, more)
}

var (
	busy    = plays(resultLine("API Error: 529 Overloaded", `,"api_error_status":529`), 1)
	tooLong = plays(resultLine("Prompt is too long", `,"api_error_status":400,"terminal_reason":"prompt_too_long"`), 1)
	odd     = plays("npm ERR! bad\n", 1)
	fine    = plays(turn("done")+goodResult, 0)
)

// attempts lists the stored steps between the tries of a run.
func (r *rig) attempts(id core.RunID) (out []core.Attempt) {
	for _, s := range r.told(id, core.EventAttempt) {
		var a core.Attempt
		if err := json.Unmarshal([]byte(s), &a); err != nil {
			r.t.Fatal(err)
		}
		out = append(out, a)
	}
	return out
}

func TestRetryPaths(t *testing.T) {
	for name, tc := range map[string]struct {
		session core.SessionID
		retry   Retry
		cli     []func(*proc)
		prompts []string
		kinds   []core.AttemptKind
		state   core.RunState
		cause   string
		detail  string
		took    time.Duration // at least this long
	}{
		"busy, then well": {cli: []func(*proc){busy, busy, fine}, prompts: []string{"x", "x", "x"},
			kinds: []core.AttemptKind{core.AttemptTransient, core.AttemptTransient}, state: core.RunDone, took: 15 * time.Second},
		"busy with a session": {session: "old", cli: []func(*proc){busy, fine}, prompts: []string{"x @old", "x @sess"},
			kinds: []core.AttemptKind{core.AttemptTransient}, state: core.RunDone, took: 5 * time.Second},
		"busy after work": {cli: []func(*proc){plays(turn("working")+resultLine("API Error: 529 Overloaded", `,"api_error_status":529`), 1), fine},
			prompts: []string{"x", "x @sess"}, kinds: []core.AttemptKind{core.AttemptTransient}, state: core.RunDone},
		"busy for ever": {cli: []func(*proc){busy}, prompts: []string{"x", "x", "x", "x", "x"},
			kinds: []core.AttemptKind{core.AttemptTransient, core.AttemptTransient, core.AttemptTransient, core.AttemptTransient},
			state: core.RunFailed, cause: "The model is overloaded (529). Loop tried 5 times.", took: 75 * time.Second},
		"no second try wanted": {retry: Retry{MaxAttempts: 1}, cli: []func(*proc){busy}, prompts: []string{"x"}, state: core.RunFailed, cause: "overloaded"},
		"waits are bounded": {retry: Retry{MaxAttempts: 4, Base: time.Second, Max: 2 * time.Second}, cli: []func(*proc){busy, busy, busy, fine},
			prompts: []string{"x", "x", "x", "x"}, kinds: []core.AttemptKind{core.AttemptTransient, core.AttemptTransient, core.AttemptTransient}, state: core.RunDone, took: 5 * time.Second},
		"too long": {session: "old", cli: []func(*proc){tooLong, plays(goodResult, 0), fine}, prompts: []string{"x @old", "/compact @sess", "x @sess"},
			kinds: []core.AttemptKind{core.AttemptCompact, core.AttemptCompacted}, state: core.RunDone},
		"too long and busy while compacting": {session: "old", cli: []func(*proc){tooLong, busy, plays(goodResult, 0), fine},
			prompts: []string{"x @old", "/compact @sess", "/compact @sess", "x @sess"},
			kinds:   []core.AttemptKind{core.AttemptCompact, core.AttemptCompact, core.AttemptCompacted}, state: core.RunDone},
		"too long after compacting": {session: "old", cli: []func(*proc){tooLong, plays(goodResult, 0), tooLong}, prompts: []string{"x @old", "/compact @sess", "x @sess"},
			kinds: []core.AttemptKind{core.AttemptCompact, core.AttemptCompacted}, state: core.RunFailed, cause: "too long"},
		"compacting fails": {session: "old", cli: []func(*proc){tooLong, odd}, prompts: []string{"x @old", "/compact @sess"},
			kinds: []core.AttemptKind{core.AttemptCompact}, state: core.RunFailed, cause: "too long", detail: "npm ERR! bad"},
		"too long at once": {cli: []func(*proc){tooLong}, prompts: []string{"x"}, state: core.RunFailed, cause: "too long"},
		"other with a session": {session: "old", cli: []func(*proc){odd, fine}, prompts: []string{"x @old", "x @old"},
			kinds: []core.AttemptKind{core.AttemptLatest}, state: core.RunDone},
		"other twice": {session: "old", cli: []func(*proc){plays("first words\n", 3), odd}, prompts: []string{"x @old", "x @old"},
			kinds: []core.AttemptKind{core.AttemptLatest}, state: core.RunFailed, cause: "exit code 3", detail: "npm ERR! bad"},
		"other without a session": {cli: []func(*proc){odd}, prompts: []string{"x"}, state: core.RunFailed, cause: "exit code 1"},
		"lost session": {session: "old", cli: []func(*proc){plays(recording(t, "error-no-conversation"), 1), fine}, prompts: []string{"x @old", "x"},
			kinds: []core.AttemptKind{core.AttemptLatest}, state: core.RunDone},
		"usage limit":          {session: "old", cli: []func(*proc){plays(resultLine("You've hit your session limit · resets 3pm", ""), 1)}, prompts: []string{"x @old"}, state: core.RunFailed, cause: "limit"},
		"limit with status":    {session: "old", cli: []func(*proc){plays(resultLine("Claude AI usage limit reached|1900000000", `,"api_error_status":429`), 1)}, prompts: []string{"x @old"}, state: core.RunFailed, cause: "usage limit"},
		"billing":              {session: "old", cli: []func(*proc){plays(recording(t, "error-billing"), 1)}, prompts: []string{"x @old"}, state: core.RunFailed, cause: "credit"},
		"credentials":          {session: "old", cli: []func(*proc){plays(recording(t, "error-401"), 1)}, prompts: []string{"x @old"}, state: core.RunFailed, cause: "credentials"},
		"full disk":            {session: "old", cli: []func(*proc){func(p *proc) { p.stderr("ENOSPC: no space left on device"); p.end(1) }}, prompts: []string{"x @old"}, state: core.RunFailed, cause: "disk is full"},
		"full disk in result":  {session: "old", cli: []func(*proc){plays(resultLine("ENOSPC: no space left on device, 529", ""), 1)}, prompts: []string{"x @old"}, state: core.RunFailed, cause: "disk is full"},
		"killed":               {session: "old", cli: []func(*proc){plays(turn("one"), 137)}, prompts: []string{"x @old"}, state: core.RunFailed, cause: "137"},
		"result, then hanging": {session: "old", cli: []func(*proc){func(p *proc) { p.print(resultLine("Overloaded", `,"api_error_status":529`)); <-p.killed }, fine}, prompts: []string{"x @old", "x @sess"}, kinds: []core.AttemptKind{core.AttemptTransient}, state: core.RunDone},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r, cli := newSpawnRig(t, tc.cli...)
				r.launch.Retry = tc.retry
				r.store.channels["c"].SessionID = tc.session
				r.start()
				defer r.quit()
				began := time.Now()
				run := r.ended(r.prompt("c", "x").ID, time.Hour)
				if run.State != tc.state {
					t.Fatalf("ended %s: %+v", run.State, run.Outcome.Failure)
				}
				if got := cli.prompts(); !slices.Equal(got, tc.prompts) {
					t.Errorf("spawned %q", got)
				}
				var kinds []core.AttemptKind
				for i, a := range r.attempts(run.ID) {
					kinds = append(kinds, a.Kind)
					if a.Number != i+2 || a.Reason == "" {
						t.Errorf("attempt %+v", a)
					}
				}
				if !slices.Equal(kinds, tc.kinds) {
					t.Errorf("attempts %q", kinds)
				}
				if f := run.Outcome.Failure; tc.state == core.RunFailed && (!strings.Contains(f.Cause, tc.cause) || !strings.Contains(f.Detail, tc.detail)) {
					t.Errorf("failure %+v", f)
				}
				if d := time.Since(began); d < tc.took {
					t.Errorf("took %s, want %s or more", d, tc.took)
				}
				if r.did("start") != 1 {
					t.Errorf("%d containers", r.did("start"))
				}
				if ch := r.store.channels["c"]; tc.state == core.RunFailed && ch.SessionID != tc.session && name != "lost session" {
					t.Errorf("session is %q", ch.SessionID)
				}
				r.nothingLeft(run.ID)
			})
		})
	}
}

func TestCostOfAllTries(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, _ := newSpawnRig(t, busy, busy, fine)
		r.start()
		defer r.quit()
		run := r.ended(r.prompt("c", "x").ID, time.Hour)
		if got := fmt.Sprintf("%.2f", run.Outcome.CostUSD); got != "0.03" {
			t.Errorf("cost %s", got)
		}
	})
}

// TestCancelWhileWaiting stops a run between two tries.
func TestCancelWhileWaiting(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, cli := newSpawnRig(t, busy)
		r.start()
		defer r.quit()
		id := r.prompt("c", "x").ID
		r.pass(2 * time.Second)
		if got := len(cli.all()); got != 1 {
			t.Fatalf("%d tries", got)
		}
		if err := r.s.Cancel(context.Background(), id); err != nil {
			t.Fatal(err)
		}
		if run := r.ended(id, time.Second); run.State != core.RunCancelled {
			t.Errorf("ended %s: %+v", run.State, run.Outcome.Failure)
		}
		r.nothingLeft(id)
		r.pass(time.Minute)
		if got := len(cli.all()); got != 1 {
			t.Errorf("%d tries", got)
		}
	})
}

// TestTimeoutCountsWaits: the time limit of a run covers all its tries. A wait that
// would exceed it does not begin.
func TestTimeoutCountsWaits(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, cli := newSpawnRig(t, busy)
		r.launch.Timeout = 12 * time.Second
		r.start()
		defer r.quit()
		run := r.ended(r.prompt("c", "x").ID, time.Minute)
		if run.State != core.RunFailed || !strings.Contains(run.Outcome.Failure.Cause, "overloaded") || len(cli.all()) != 2 {
			t.Errorf("%d tries, %+v", len(cli.all()), run.Outcome.Failure)
		}
	})
}

// TestTimeoutDoesNotCountTheSetUp: nor the build of an image. It counts what the agent does.
func TestTimeoutDoesNotCountTheSetUp(t *testing.T) {
	for work, want := range map[time.Duration]core.RunState{8 * time.Second: core.RunDone, time.Minute: core.RunFailed} {
		inBubble(t, func(t *testing.T) {
			r, _ := newSpawnRig(t, func(p *proc) {
				select {
				case <-time.After(work):
					fine(p)
				case <-p.killed:
				}
			})
			r.launch.Timeout, r.setup, r.boxes.setup = 12*time.Second, "apt-get install tool", 10*time.Second
			r.start()
			defer r.quit()
			if run := r.ended(r.prompt("c", "x").ID, 5*time.Minute); run.State != want {
				t.Errorf("after %s of work it ended %s: %+v", work, run.State, run.Outcome.Failure)
			}
		})
	}
}

// TestContainerDiesWhileWaiting: the next try gets a new container.
func TestContainerDiesWhileWaiting(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, cli := newSpawnRig(t, busy, fine)
		r.start()
		defer r.quit()
		id := r.prompt("c", "x").ID
		r.pass(2 * time.Second)
		r.boxes.die(0, 137)
		run := r.ended(id, time.Minute)
		if run.State != core.RunDone || len(cli.all()) != 2 || r.did("start") != 2 {
			t.Errorf("ended %s after %d tries in %d containers: %+v", run.State, len(cli.all()), r.did("start"), run.Outcome.Failure)
		}
		r.nothingLeft(id)
	})
}

// TestRestartInEveryTry closes Loop at many moments of a run with retries and opens it
// again. Each step happens once, whatever the moment.
func TestRestartInEveryTry(t *testing.T) {
	for _, dies := range []bool{false, true} {
		for at := 0 * time.Second; at < 20*time.Second; at += 370 * time.Millisecond {
			t.Run(fmt.Sprint(at, dies), func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					r, cli := newSpawnRig(t, busy, tooLong, plays(goodResult, 0), busy, fine)
					r.store.channels["c"].SessionID = "old"
					r.start()
					id := r.prompt("c", "x").ID
					r.pass(at)
					r.quit()
					if dies {
						r.boxes.mu.Lock()
						for _, b := range r.boxes.all {
							r.boxes.halt(b, 137)
						}
						r.boxes.mu.Unlock()
					}
					r.start()
					defer r.quit()
					run := r.ended(id, time.Hour)
					want := []string{"x @old", "x @sess", "/compact @sess", "x @sess", "x @sess"}
					if dies && run.State == core.RunInterrupted {
						return // this CLI died with its container
					}
					if run.State != core.RunDone {
						t.Fatalf("ended %s: %+v\n%s", run.State, run.Outcome.Failure, r.dump(id))
					}
					if got := cli.prompts(); !slices.Equal(got, want) {
						t.Errorf("spawned %q", got)
					}
					if n := len(r.attempts(id)); n != 4 {
						t.Errorf("%d attempts told", n)
					}
				})
			})
		}
	}
}
