package rulebook

import (
	"slices"
	"testing"

	"loop/backend/config"
	"loop/backend/policy"
)

// TestWhoMayDebug: the setting counts for agents and for plain shells, not for agents in
// these, nor for a run that plans or what Loop starts by itself.
func TestWhoMayDebug(t *testing.T) {
	for _, on := range []bool{false, true} {
		for name, may := range map[string]bool{policy.NameAgent: true, policy.NamePerson: true, policy.NamePlan: false, policy.NameSystem: false} {
			e := engine(t, name, config.AgentGate{DefaultDecision: "allow", Debuggers: on})
			if e.Debuggers() != (on && may) {
				t.Errorf("%s, setting %t: %t", name, on, e.Debuggers())
			}
			if _, agents := e.Agents(); agents != nil && agents.Debuggers() {
				t.Errorf("an agent under %s debugs", name)
			}
		}
	}
}

// TestAgentsInAPlainShell: what asks an agent asks one that was started in a shell, and
// not the shell. No other policy has agents in it.
func TestAgentsInAPlainShell(t *testing.T) {
	person := engine(t, policy.NamePerson, config.AgentGate{DefaultDecision: "allow"})
	agent := engine(t, policy.NameAgent, config.AgentGate{DefaultDecision: "allow"})
	files, stacked := person.Agents()
	if stacked == nil || !slices.Contains(files, "/usr/local/bin/claude") || !slices.Contains(files, "/home/ana/.local/bin/claude") {
		t.Fatalf("agents are %v", files)
	}
	for _, path := range []string{"/home/ana/.bashrc", "/work/.git/config", "/work/.git/hooks/pre-commit", "/work/main.go"} {
		for _, op := range []policy.Operation{policy.Write, policy.Create, policy.Delete} {
			shell, within, own := person.File(op, path).Decision, stacked.File(op, path).Decision, agent.File(op, path).Decision
			if shell != policy.Allow || within != own {
				t.Errorf("%s %s: %s in the shell, %s for an agent in it, %s for another agent", op, path, shell, within, own)
			}
		}
	}
	if within := stacked.File(policy.Write, "/home/ana/.bashrc").Decision; within != policy.Approve {
		t.Errorf("an agent in a shell writes .bashrc: %s", within)
	}
	for _, name := range []string{policy.NameAgent, policy.NamePlan, policy.NameSystem} {
		if _, has := engine(t, name, config.AgentGate{DefaultDecision: "allow"}).Agents(); has != nil {
			t.Errorf("%s has agents", name)
		}
	}
	if got := agentFiles("/opt/claude", ""); !slices.Equal(got, []string{"/usr/local/bin/claude", "/usr/bin/claude", "/opt/claude"}) {
		t.Errorf("%v", got)
	}
}
