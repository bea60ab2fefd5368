package rulebook

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/policy"
)

// personsFile implements Settings with the person's file alone.
type personsFile struct{ gate config.AgentGate }

func (p personsFile) ForPolicy(core.Channel) (config.Effective, error) {
	c := config.Defaults()
	p.gate.Enabled = true
	c.Gates.AgentGate = p.gate
	return config.Effective{Config: c, Layers: []config.Layer{{Config: c}}}, nil
}

// engine is what a spawn goes by under the person's rules.
func engine(t *testing.T, name string, g config.AgentGate) *policy.Engine {
	t.Helper()
	doc, err := Policies{Settings: personsFile{g}}.Policy(name, core.Channel{ID: "c"}, core.Spec{
		Agent: core.AgentUser{Home: "/home/ana"},
		Mounts: []core.Mount{
			{Kind: core.MountWorkspace, Target: "/work"}, {Kind: core.MountWorkspace, Target: "/tmp/extra"},
			{Kind: core.MountState, Target: "/home/ana"}, {Kind: core.MountState, Target: "/opt/loop/.claude"},
			{Kind: core.MountExtra, Target: "/data"}, {Kind: core.MountVolume, Target: "/home/ana/.cache/pip", Volume: true},
			{Kind: core.MountExtra, Target: "/opt/loop/.claude/notes"},
		},
	}, "spawn")
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

func TestAPlanKeepsWhatIsStricter(t *testing.T) {
	e := engine(t, policy.NamePlan, config.AgentGate{
		DefaultDecision: "approve",
		FileRules: []policy.FileRule{
			{Paths: []string{"/work/allowed"}, Decision: policy.Allow},
			{Paths: []string{"/work/asked", "/tmp/asked"}, Decision: policy.Approve},
			{Paths: []string{"/work/denied"}, Decision: policy.Deny},
		},
		CommandRules: []policy.CommandRule{
			{Commands: []string{"ls"}, Decision: policy.Allow}, {Commands: []string{"curl"}, Decision: policy.Approve},
			{Commands: []string{"nc"}, Decision: policy.Deny},
		},
		PathRules: []policy.PathRule{{Pattern: "/work/a.sock", Decision: policy.Allow}, {Pattern: "/work/b.sock", Decision: policy.Deny}},
	})
	for what, c := range map[string]struct{ got, want policy.Decision }{
		"write where allowed":   {e.File(policy.Write, "/work/allowed").Decision, policy.Deny},
		"write where asked":     {e.File(policy.Write, "/work/asked").Decision, policy.Deny},
		"write to a draft":      {e.File(policy.Write, "/tmp/asked").Decision, policy.Deny},
		"write to another":      {e.File(policy.Write, "/tmp/other").Decision, policy.Allow},
		"read where asked":      {e.File(policy.Read, "/work/asked").Decision, policy.Approve},
		"read where denied":     {e.File(policy.Read, "/work/denied").Decision, policy.Deny},
		"allowed command":       {e.Exec(policy.Command{Path: "/bin/ls", Argv: []string{"ls"}}).Decision, policy.Approve},
		"asked command":         {e.Exec(policy.Command{Path: "/bin/curl", Argv: []string{"curl"}}).Decision, policy.Approve},
		"denied command":        {e.Exec(policy.Command{Path: "/bin/nc", Argv: []string{"nc"}}).Decision, policy.Deny},
		"socket that was free":  {e.Connect("/work/a.sock").Decision, policy.Approve},
		"socket that is denied": {e.Connect("/work/b.sock").Decision, policy.Deny},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", what, c.got, c.want)
		}
	}
	free := engine(t, policy.NamePlan, config.AgentGate{DefaultDecision: "allow"})
	if d := free.File(policy.Read, "/work/x").Decision; d != policy.Allow {
		t.Errorf("read: %s", d)
	}
}

// TestWhatAPlanMayWrite: its own state and temporary files, wherever a folder of the person's
// is mounted, and nothing in them that a later run executes. An agent may write all but that.
func TestWhatAPlanMayWrite(t *testing.T) {
	plan, agent := engine(t, policy.NamePlan, config.AgentGate{}), engine(t, policy.NameAgent, config.AgentGate{})
	for _, name := range []string{
		"/tmp/draft", "/var/tmp/x", "/dev/null", "/opt/loop/.claude/plans/p.md", "/opt/loop/.claude/projects/p/s.jsonl",
		"/home/ana/.cache/go-build/x", "/home/ana/.claude/todos/1",
	} {
		if d := plan.File(policy.Create, name).Decision; d != policy.Allow {
			t.Errorf("a plan is denied %s", name)
		}
	}
	for name, agents := range map[string]policy.Decision{
		"/work/x": policy.Allow, "/tmp/extra/x": policy.Allow, "/data/x": policy.Allow, "/home/ana/.cache/pip/x": policy.Allow,
		"/opt/loop/.claude/notes/x": policy.Allow, "/elsewhere": policy.Allow, "/home/ana/.local/bin/git": policy.Approve, "/home/ana/.local/bin/semver": policy.Allow, "/home/ana/x": policy.Allow,
		"/opt/loop/.claude/local/claude": policy.Allow, "/home/ana/.local/share/claude/versions/2": policy.Allow,
		"/opt/loop/.claude/settings.json": policy.Approve, "/opt/loop/.claude/hooks/h": policy.Approve, "/opt/loop/.claude/CLAUDE.md": policy.Approve,
		"/opt/loop/.claude/commands/c.md": policy.Approve, "/home/ana/.bashrc": policy.Approve, "/home/ana/.gitconfig": policy.Approve,
		"/work/.git/hooks/pre-push": policy.Approve,
	} {
		for _, op := range []policy.Operation{policy.Write, policy.Create, policy.Delete, policy.Chmod, policy.Link} {
			if d := plan.File(op, name).Decision; d != policy.Deny {
				t.Errorf("a plan, %s of %s: %s", op, name, d)
			}
		}
		if d := agent.File(policy.Create, name).Decision; d != agents {
			t.Errorf("an agent, %s: %s", name, d)
		}
	}
}

// Nobody is asked on behalf of what Loop starts by itself.
func TestWhatLoopStartsAsksNobody(t *testing.T) {
	g := config.AgentGate{
		DefaultDecision: "approve",
		FileRules:       []policy.FileRule{{Paths: []string{"/work/**"}, Decision: policy.Approve, Message: "mine"}},
		CommandRules:    []policy.CommandRule{{Commands: []string{"git"}, Decision: policy.Approve}},
		PathRules:       []policy.PathRule{{Pattern: "/work/**", Decision: policy.Approve}},
	}
	e := engine(t, policy.NameSystem, g)
	for what, v := range map[string]policy.Verdict{
		"file": e.File(policy.Write, "/work/x"), "command": e.Exec(policy.Command{Path: "/bin/git", Argv: []string{"git"}}),
		"socket": e.Connect("/work/x"),
	} {
		if v.Decision != policy.Deny || !strings.Contains(v.Told(), "asks nobody") {
			t.Errorf("%s: %+v", what, v)
		}
	}
	if v := e.File(policy.Write, "/elsewhere"); v.Decision != policy.Allow {
		t.Errorf("what no rule is about: %+v", v)
	}
	if v := engine(t, policy.NamePerson, g).File(policy.Write, "/work/x"); v.Decision != policy.Approve {
		t.Errorf("a person's shell: %+v", v)
	}
}

// badTrial is a gate of which a trial has shown that it does not hold.
type badTrial struct{}

func (badTrial) Holds() error { return errors.New("it does not hold") }

// TestNothingStartsAfterABadTrial: not under any policy.
func TestNothingStartsAfterABadTrial(t *testing.T) {
	p := Policies{Settings: personsFile{config.AgentGate{}}, Trial: badTrial{}}
	for _, name := range []string{policy.NameAgent, policy.NamePerson, policy.NameSystem, policy.NamePlan} {
		if doc, err := p.Policy(name, core.Channel{ID: "c"}, core.Spec{Agent: core.AgentUser{Home: "/home/ana"}}, "spawn"); err == nil {
			t.Errorf("%s: %s", name, doc)
		}
	}
}

// TestPlacesOfMounts: what cannot be written is no project, and what Loop mounts for itself
// is no state of the agent's.
func TestPlacesOfMounts(t *testing.T) {
	p := placeOf(core.Spec{Mounts: []core.Mount{
		{Kind: core.MountWorkspace, Target: "/work"}, {Kind: core.MountWorkspace, Target: "/read", ReadOnly: true},
		{Kind: core.MountState, Target: "/opt/loop/.claude"}, {Kind: core.MountState, Target: "/run/loop/private"},
		{Kind: core.MountExtra, Target: "/data", ReadOnly: true},
	}}, "spawn")
	if !slices.Equal(p.Workspaces, []string{"/work"}) || !slices.Equal(p.State, []string{"/opt/loop/.claude"}) || len(p.Mounts) != 0 {
		t.Errorf("%+v", p)
	}
}

// TestDefaultsOfThePerson: a default that allows loosens no plan, and one that asks denies
// where Loop asks nobody.
func TestDefaultsOfThePerson(t *testing.T) {
	if d := asPlanned(policy.Policy{DefaultDecision: policy.Allow}, policy.NamePlan).DefaultDecision; d != "" {
		t.Errorf("a plan's default is %s", d)
	}
	if d := unasked(policy.Policy{DefaultDecision: policy.Approve}).DefaultDecision; d != policy.Deny {
		t.Errorf("what Loop starts has the default %s", d)
	}
}
