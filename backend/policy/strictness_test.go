package policy

import (
	"math/rand/v2"
	"testing"
)

func TestTighter(t *testing.T) {
	order := []Decision{Allow, Approve, Deny}
	for i, a := range order {
		for j, b := range order {
			v := Tighter(Verdict{Decision: a, Rule: "a"}, Verdict{Decision: b, Rule: "b"})
			want := "a"
			if j > i {
				want = "b"
			}
			if v.Rule != want {
				t.Errorf("%s and %s: %q", a, b, v.Rule)
			}
		}
	}
	if v := Tighter(Verdict{Decision: Approve}, Verdict{Decision: "else"}); v.Decision != "else" {
		t.Errorf("an unknown word is laxer than a question: %+v", v)
	}
}

func TestMerge(t *testing.T) {
	base := shipped(t, NameAgent)
	everything := Policy{DefaultDecision: Approve,
		FileRules:    []FileRule{{ID: "mine", Decision: Allow}},
		PathRules:    []PathRule{{ID: "mine", Pattern: "/**", Decision: Allow}},
		CommandRules: []CommandRule{{ID: "mine", Decision: Allow}},
	}
	e := compiled(t, Merge(base, everything))
	for _, c := range []struct {
		op   Operation
		path string
		want string
	}{
		{Write, "/home/ada/.bashrc", "mine"},
		{Read, "/home/ada/.ssh/id_ed25519", "mine"}, // the person may
		{Write, "/run/loop/gate/x.json", "gate.files"},
		{Write, "/etc/loop/gate-policy.json", "gate.files"},
		{Delete, "/opt/loop/bin/loop", "gate.files"},
		{Write, "/run/loop/runs/7f/x", "gate.run"},
	} {
		if got := e.File(c.op, c.path); got.Rule != c.want {
			t.Errorf("%s %s: by %q, want %q", c.op, c.path, got.Rule, c.want)
		}
	}
	if v := e.Connect("/run/loop/private/init.sock"); v.Rule != "gate.socket" {
		t.Errorf("connect to the gate: %+v", v)
	}
	if v := e.Connect("@x"); v.Decision != Approve {
		t.Errorf("the person's default does not count: %+v", v)
	}
}

// TestProjectsOnlyTighten tries random projects on random policies.
func TestProjectsOnlyTighten(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	tighter := 0
	for range 2000 {
		base, person, project := randomPolicy(r), randomPolicy(r), randomPolicy(r)
		without, with := compiled(t, Merge(base, person)), compiled(t, Merge(base, person, project))
		alone := compiled(t, project)
		for range 20 {
			path, op := randomPath(r), operations[r.IntN(len(operations))]
			got, before, own := with.File(op, path), without.File(op, path), alone.File(op, path)
			if got != Tighter(before, own) {
				t.Fatalf("%s %q: %+v of %+v and %+v", op, path, got, before, own)
			}
			if got != before {
				tighter++
			}
		}
	}
	if tighter < 1000 {
		t.Errorf("projects counted %d times, so this shows little", tighter)
	}
}

func TestStack(t *testing.T) {
	person, agent := shipped(t, NamePerson), shipped(t, NameAgent)
	both := compiled(t, Stack(person, Merge(agent, Policy{}, Policy{FileRules: []FileRule{{ID: "project", Paths: []string{"/x"}, Decision: Deny}}})))
	for path, want := range map[string]string{
		"/home/ada/.bashrc": "startup.shell", "/home/ada/.ssh/id": "credential.home", "/x": "project", "/y": "",
	} {
		got := both.File(Write, path)
		if got.Rule != want {
			t.Errorf("%s: %+v, want %q", path, got, want)
		}
	}
	if v := both.File(Read, "/home/ada/.ssh/id"); v.Decision != Deny {
		t.Errorf("the agent's denial is not the one that holds: %+v", v)
	}
	if _, err := Compile(Policy{DefaultDecision: Allow, Tighten: []Policy{{Tighten: []Policy{{}}}}}); err == nil {
		t.Error("what tightens is tightened")
	}
}

func TestRulesThatAreOffCountForNothing(t *testing.T) {
	const doc = `{"default_decision":"allow","path_rules":[{"pattern":"/s","decision":"deny","off":true},{"pattern":"/s","decision":"approve"}],` +
		`"command_rules":[{"commands":["rm"],"decision":"deny","off":true}],` +
		`"file_rules":[{"paths":["/x"],"operations":["read"],"decision":"deny","off":true},{"paths":["/x"],"operations":["write"],"decision":"approve"}]}`
	p, err := Parse([]byte(doc))
	if err != nil || string(p.Encode()) != doc {
		t.Fatalf("%s %v", p.Encode(), err)
	}
	e, err := Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	if got := e.File(Read, "/x").Decision; got != Allow || e.ReadsMatter() {
		t.Errorf("a rule that is off decides on a file: %s", got)
	}
	if got := e.File(Write, "/x").Decision; got != Approve {
		t.Errorf("the rule after one that is off says %s", got)
	}
	if got := e.Connect("/s").Decision; got != Approve {
		t.Errorf("the rule for a socket after one that is off says %s", got)
	}
	if got := e.Exec(Command{Path: "/bin/rm", Argv: []string{"rm"}}).Decision; got != Allow || e.ExecMatters() {
		t.Errorf("a rule that is off decides on a program: %s", got)
	}
	merged := Merge(Policy{DefaultDecision: Allow}, p)
	if len(merged.PathRules) != 1 || len(merged.CommandRules) != 0 || len(merged.FileRules) != 1 || len(p.FileRules) != 2 {
		t.Errorf("%+v", merged)
	}
}
