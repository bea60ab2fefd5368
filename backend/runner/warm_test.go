package runner

import (
	"context"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

// approve answers the plan that is asked about in channel c.
func (r *rig) approve(a core.AnswerAction) core.RunID {
	r.t.Helper()
	answer := core.Answer{Action: a}
	if a == core.AnswerRevise {
		answer.Text = "shorter"
	}
	q, err := r.s.Answer(context.Background(), r.asked("c").ID, answer)
	if err != nil {
		r.t.Fatal(err)
	}
	return q.NextRunID
}

// policies are those that the programs went by, in the order of their starts.
func policies(cli *spawns) string {
	var names []string
	for _, req := range cli.all() {
		name, _, _ := strings.Cut(string(req.Policy), " ")
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// TestApprovedPlan: where the gate holds a plan, what is approved goes on in the channel's
// container under the agent's policy. Otherwise the plan had a container of its own.
func TestApprovedPlan(t *testing.T) {
	planned := plays(recording(t, "plan"), 1)
	for name, c := range map[string]struct {
		unsure     bool
		before     func(r *rig, gate *fakeGate) // the answer
		answer     core.AnswerAction
		containers int
		policies   string
	}{
		"approved":          {containers: 1, policies: "plan agent"},
		"to be changed":     {answer: core.AnswerRevise, containers: 1, policies: "plan plan"},
		"gate not seen yet": {unsure: true, containers: 2, policies: "plan agent"},
		"gate does not hold by now": {before: func(_ *rig, gate *fakeGate) { gate.set(true) }, answer: core.AnswerRevise,
			containers: 2, policies: "plan plan"},
		"container ended":  {before: func(r *rig, _ *fakeGate) { r.boxes.die(0, 137) }, containers: 2, policies: "plan agent"},
		"after a restart":  {before: func(r *rig, _ *fakeGate) { r.quit(); r.start() }, containers: 1, policies: "plan agent"},
		"another run next": {answer: core.AnswerCancel, containers: 1, policies: "plan agent"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r, cli := newSpawnRig(t, planned, fine)
				gate := &fakeGate{unsure: c.unsure}
				r.ports.Gate = gate
				r.boxes.warm = true
				r.start()
				defer func() { r.quit() }() // of the launch that runs by then
				r.ended(r.promptPlan(), time.Minute)
				if c.before != nil {
					c.before(r, gate)
				}
				var next core.RunID
				switch c.answer {
				case core.AnswerCancel:
					r.approve(c.answer)
					next = r.prompt("c", "another").ID
				case "":
					next = r.approve(core.AnswerApprove)
				default:
					next = r.approve(c.answer)
				}
				done := r.ended(next, time.Minute)
				if done.State != core.RunDone || policies(cli) != c.policies {
					t.Errorf("ended %s by the policies %s: %+v", done.State, policies(cli), done.Outcome.Failure)
				}
				if plans := r.boxes.planned(); len(plans) != c.containers || plans[0] != c.unsure {
					t.Errorf("containers %v", plans)
				}
				r.boxes.mu.Lock()
				defer r.boxes.mu.Unlock()
				for _, x := range r.boxes.all {
					if len(x.holders) > 0 || x.running && x.plan {
						t.Errorf("%s runs: %v, held by %q\n%s", x.c.ID, x.running, x.holders, strings.Join(r.boxes.calls, "\n"))
					}
				}
			})
		})
	}
}

// TestWarmContainer: runs of a channel use one container. Nothing of a run is left in it,
// and where that is not known, the next run gets another.
func TestWarmContainer(t *testing.T) {
	for name, c := range map[string]struct {
		between    func(r *rig) // two runs
		containers int
	}{
		"one after the other":    {func(*rig) {}, 1},
		"after a restart":        {func(r *rig) { r.quit(); r.start() }, 1},
		"loop init answers not":  {func(r *rig) { r.boxes.mu.Lock(); defer r.boxes.mu.Unlock(); r.boxes.all[0].deaf = true }, 2},
		"the container ended":    {func(r *rig) { r.boxes.die(0, 137) }, 2},
		"it reaches other files": {func(r *rig) { r.fixed = "changed" }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r, cli := newSpawnRig(t, fine)
				r.boxes.warm = true
				r.start()
				defer func() { r.quit() }()
				r.ended(r.prompt("c", "first").ID, time.Minute)
				c.between(r)
				run := r.ended(r.prompt("c", "second").ID, time.Minute)
				if run.State != core.RunDone || len(cli.all()) != 2 || len(r.boxes.all) != c.containers {
					t.Errorf("ended %s, %d spawns in %d containers\n%s", run.State, len(cli.all()), len(r.boxes.all), strings.Join(r.boxes.calls, "\n"))
				}
				last := r.boxes.all[len(r.boxes.all)-1]
				if len(last.dropped) == 0 || len(last.holders) > 0 || !last.running || last.drained {
					t.Errorf("%+v", last)
				}
				if first := r.boxes.all[0]; first != last && first.running && !first.drained && c.between != nil && r.fixed == "" {
					t.Errorf("the first goes on: %+v", first)
				}
			})
		})
	}
}

// TestTakenPorts: a run hears once which ports are taken in a container that it shares.
func TestTakenPorts(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, _ := newSpawnRig(t, fine)
		r.boxes.warm = true
		r.boxes.ports = []core.ListeningPort{{Port: 5173, Process: "node\x1b[31m"}, {Port: 8000}}
		r.start()
		defer r.quit()
		first := r.ended(r.prompt("c", "first").ID, time.Minute)
		second := r.ended(r.prompt("c", "second").ID, time.Minute)
		const said = "listen already: 5173 (node[31m), 8000 (not known which program)."
		if text := r.dump(first.ID); strings.Contains(text, "listen already") {
			t.Errorf("in a new container: %s", text)
		}
		if text := r.dump(second.ID); strings.Count(text, said) != 1 {
			t.Errorf("in one that was there: %s", text)
		}
	})
	many := make([]core.ListeningPort, 30)
	if text := takenPorts(many); strings.Count(text, "0 (") != maxPorts || !strings.Contains(text, "and 20 more") {
		t.Error(text)
	}
}

// TestPlanNeedsItsPolicy: a run that plans is not started without a policy in a container
// that could write, as when the gate is switched off while the container is made.
func TestPlanNeedsItsPolicy(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, cli := newSpawnRig(t, fine)
		r.ports.Gate = &brokenGate{}
		r.start()
		defer r.quit()
		run := r.ended(r.promptPlan(), time.Minute)
		if f := run.Outcome.Failure; run.State != core.RunFailed || f == nil || f.Code != core.CodeForbidden || len(cli.all()) > 0 {
			t.Errorf("ended %s, %d spawns: %+v", run.State, len(cli.all()), f)
		}
	})
}
