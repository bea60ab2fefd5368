package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

// plans checks everything that a planned prompt started: each container was made
// read-only, and each CLI was in plan mode, except one that was compacting.
func (r *rig) plans(cli *spawns, containers int) {
	r.t.Helper()
	made := r.boxes.planned()
	if len(made) < containers || slices.Contains(made, false) {
		r.t.Errorf("containers that plan: %v, want %d", made, containers)
	}
	for i, req := range cli.all() {
		if prompt(req.Stdin) != compactPrompt && !slices.Contains(req.Argv, "plan") {
			r.t.Errorf("spawn %d is not in plan mode: %q", i, req.Argv)
		}
	}
}

func (r *rig) promptPlan() core.RunID {
	r.t.Helper()
	run, err := r.s.Prompt(context.Background(), core.Run{ChannelID: "c", Prompt: "x", Plan: true})
	if err != nil {
		r.t.Fatal(err)
	}
	return run.ID
}

// TestPlanSurvivesRestarts closes Loop at each moment of a planned run that has tries
// of every kind. The container ends or stays. Every later try plans too.
func TestPlanSurvivesRestarts(t *testing.T) {
	for _, dies := range []bool{false, true} {
		for at := 0 * time.Second; at < 16*time.Second; at += 730 * time.Millisecond {
			t.Run(fmt.Sprint(at, dies), func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					r, cli := newSpawnRig(t, busy, tooLong, plays(goodResult, 0), busy, fine)
					r.store.channels["c"].SessionID = "old"
					r.start()
					id := r.promptPlan()
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
					r.ended(id, time.Hour)
					r.plans(cli, 1)
				})
			})
		}
	}
}

// TestPlanGoesOn: runs that follow a planned run plan too, whether Loop or the person
// starts them.
func TestPlanGoesOn(t *testing.T) {
	ctx := context.Background()
	for name, tc := range map[string]struct {
		first func(*proc)
		then  func(r *rig, id core.RunID)
	}{
		"sent again": {fine, func(r *rig, id core.RunID) {
			if _, err := r.s.Retry(ctx, id); err != nil {
				r.t.Fatal(err)
			}
		}},
		"after a limit": {plays(limitLine(time.Unix(946684860, 0), "five_hour")+resultLine("usage limit reached", ""), 1), func(*rig, core.RunID) {}},
		"an answer": {plays(recording(t, "ask"), 1), func(r *rig, _ core.RunID) {
			if _, err := r.s.Answer(ctx, r.asked("c").ID, core.Answer{Action: core.AnswerGiven, Choices: [][]string{{"Blue"}}}); err != nil {
				r.t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r, cli := newSpawnRig(t, tc.first, fine)
				r.launch.Retry.SessionLimitContinue = true
				r.start()
				defer r.quit()
				id := r.promptPlan()
				r.ended(id, time.Minute)
				tc.then(r, id)
				r.pass(10 * time.Minute)
				if len(cli.all()) != 2 {
					t.Fatalf("spawned %q", cli.prompts())
				}
				r.plans(cli, 2)
			})
		})
	}
}

// TestNoWritableContainerForAPlan: a spec that can write is refused before its
// container is made.
func TestNoWritableContainerForAPlan(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, cli := newSpawnRig(t, fine)
		resolve := r.ports.Provision.(provisioner).resolve
		r.ports.Provision = provisioner{r.boxes, func(run core.Run, ch core.Channel) (made, error) {
			run.Plan = false
			return resolve(run, ch)
		}}
		r.start()
		defer r.quit()
		run := r.ended(r.promptPlan(), time.Minute)
		if run.State != core.RunFailed || r.did("start") > 0 || len(cli.all()) > 0 {
			t.Errorf("ended %s with %d containers: %+v", run.State, r.did("start"), run.Outcome.Failure)
		}
	})
}

// TestSettingsOfTheCommandLine: a supervised CLI asks why something was denied, also
// while it plans and in a terminal; there is one object of settings.
func TestSettingsOfTheCommandLine(t *testing.T) {
	const (
		plans = `"useAutoModeDuringPlan":false`
		asks  = `"hooks":{"PostToolUseFailure":[{"hooks":[{"command":"/opt/loop/bin/loop gate-reason","timeout":10,"type":"command"}]}]}`
	)
	for _, c := range []struct {
		gated, plan bool
		want        string
	}{{false, false, ""}, {false, true, "{" + plans + "}"}, {true, false, "{" + asks + "}"}, {true, true, "{" + asks + "," + plans + "}"}} {
		args := argv(Launch{Gated: c.gated}, core.Run{Plan: c.plan}, startAt{}, nil)
		var got []string
		for i, a := range args {
			if a == "--settings" {
				got = append(got, args[i+1])
			}
		}
		if strings.Join(got, " and ") != c.want {
			t.Errorf("gated %v, plan %v: %q", c.gated, c.plan, got)
		}
	}
	cli, err := InteractiveCommand(Launch{Gated: true}, core.Channel{ID: "c"}, false, "t1", "/w", nil, InteractiveStart{})
	if err != nil || !strings.Contains(cli.Line, " --settings '{"+asks+"}'") {
		t.Errorf("%q %v", cli.Line, err)
	}
}
