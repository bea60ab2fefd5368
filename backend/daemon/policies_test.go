package daemon

import (
	"strings"
	"testing"

	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/policy"
	"loop/backend/rulebook"
)

// policed compiles the policy of a spawn in a container like one of the rig.
func policed(t *testing.T, r *specRig, name string) *policy.Engine {
	t.Helper()
	spec, _, _, err := r.resolve(t.Context(), core.Run{ID: "r1", ChannelID: "c1"}, r.channel)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := rulebook.Policies{Settings: r.settingsReader}.Policy(name, r.channel, spec, "spawn")
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse(doc)
	if err != nil {
		t.Fatal(err)
	}
	e, err := policy.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEachSpawnHasAPolicy(t *testing.T) {
	r := newSpecRig(t)
	spec, _, _, err := r.resolve(t.Context(), core.Run{ID: "r1", ChannelID: "c1"}, r.channel)
	if err != nil {
		t.Fatal(err)
	}
	profile, project := spec.Agent.Home+"/.bashrc", r.channel.Dir+"/main.go"
	for name, want := range map[string][2]policy.Decision{
		policy.NameAgent:  {policy.Approve, policy.Allow},
		policy.NamePerson: {policy.Allow, policy.Allow},
		policy.NameSystem: {policy.Allow, policy.Allow},
		policy.NamePlan:   {policy.Deny, policy.Deny},
	} {
		e := policed(t, r, name)
		if got := e.File(policy.Write, profile).Decision; got != want[0] {
			t.Errorf("%s: a start-up file: %s", name, got)
		}
		if got := e.File(policy.Write, project).Decision; got != want[1] {
			t.Errorf("%s: the project: %s", name, got)
		}
	}
}

func TestRulesOfThePersonAndTheProject(t *testing.T) {
	r := newSpecRig(t)
	spec, _, _, err := r.resolve(t.Context(), core.Run{ID: "r1", ChannelID: "c1"}, r.channel)
	if err != nil {
		t.Fatal(err)
	}
	profile, other := spec.Agent.Home+"/.bashrc", spec.Agent.Home+"/.zshrc"
	own := r.snap.Config
	own.Gates.AgentGate.FileRules = []policy.FileRule{{Paths: []string{profile}, Decision: policy.Allow}}
	r.ruled.effective = func(core.Channel) config.Effective {
		e := config.ForDir(config.Snapshot{Config: own, Good: true}, new(config.Trust), "", "")
		project := config.Config{}
		project.Gates.AgentGate.FileRules = []policy.FileRule{
			{Paths: []string{"/tmp/x"}, Decision: policy.Deny}, {Paths: []string{other}, Decision: policy.Allow},
		}
		e.Layers = append(e.Layers, config.Layer{Name: core.LayerProject, Config: project})
		return e
	}
	e := policed(t, r, policy.NameAgent)
	for path, want := range map[string]policy.Decision{profile: policy.Allow, other: policy.Approve, "/tmp/x": policy.Deny, "/tmp/y": policy.Allow} {
		if got := e.File(policy.Write, path).Decision; got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if got := policed(t, r, policy.NamePlan).File(policy.Write, profile).Decision; got != policy.Deny {
		t.Errorf("a run that plans may write: %s", got)
	}
}

func TestTheGateSwitchedOff(t *testing.T) {
	r := newSpecRig(t)
	has := func() bool {
		spec, _, _, err := r.resolve(t.Context(), core.Run{ID: "r1", ChannelID: "c1"}, r.channel)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range spec.Env {
			if v.Name == "LOOP_GATE_ENABLED" {
				return v.Value == "1"
			}
		}
		return false
	}
	if !has() {
		t.Error("the container does not insist on policies")
	}
	r.snap.Config.Gates.AgentGate.Enabled = false
	doc, err := rulebook.Policies{Settings: r.settingsReader}.Policy(policy.NameAgent, r.channel, core.Spec{}, "spawn")
	if has() || doc != nil || err != nil {
		t.Errorf("the gate is not off: %s, %v", doc, err)
	}
}

// badTrial is a gate whose trial went badly.
type badTrial struct{ why error }

func (b badTrial) Holds() error { return b.why }

// TestNothingStartsUnderAGateThatDoesNotHold: after a bad trial there is no policy, and so
// no start, whatever the program. Only the person's own settings do without the gate.
func TestNothingStartsUnderAGateThatDoesNotHold(t *testing.T) {
	r := newSpecRig(t)
	bad := core.Fail(core.CodeForbidden, nil, "A write came through.", "Look.")
	book := rulebook.Policies{Settings: r.settingsReader, Trial: badTrial{bad}}
	for _, name := range []string{policy.NameAgent, policy.NamePerson, policy.NameSystem, policy.NamePlan} {
		if doc, err := book.Policy(name, r.channel, core.Spec{}, "spawn"); doc != nil || core.AsFailure(err) != bad {
			t.Errorf("%s: %s, %v", name, doc, err)
		}
	}
	book.Trial = badTrial{}
	if doc, err := book.Policy(policy.NameAgent, r.channel, core.Spec{}, "spawn"); doc == nil || err != nil {
		t.Errorf("after a good one: %s, %v", doc, err)
	}
	book.Trial = badTrial{bad}
	r.snap.Config.Gates.AgentGate.Enabled = false
	if doc, err := book.Policy(policy.NameAgent, r.channel, core.Spec{}, "spawn"); doc != nil || err != nil {
		t.Errorf("switched off: %s, %v", doc, err)
	}
}

func TestARuleThatCannotBeUsed(t *testing.T) {
	r := newSpecRig(t)
	r.snap.Config.Gates.AgentGate.CommandRules = []policy.CommandRule{{ArgsPatterns: []string{"("}, Decision: policy.Deny}}
	_, err := rulebook.Policies{Settings: r.settingsReader}.Policy(policy.NameAgent, r.channel, core.Spec{}, "spawn")
	f := core.AsFailure(err)
	if f.Code != core.CodeConfig || !strings.HasPrefix(f.Cause, "A rule of the gate") || f.Remedy == "" {
		t.Errorf("%+v", f)
	}
}
