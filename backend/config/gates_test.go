package config

import (
	"testing"

	"loop/backend/core"
)

// TestAProjectMakesTheGateStricter without an approval, and cannot switch it off with one.
func TestAProjectMakesTheGateStricter(t *testing.T) {
	g := global(t, `{"gates": {"agentgate": {"file_rules": [{"paths": ["/mine"], "decision": "allow"}]}}}`)
	dir := project(t, t.TempDir(), `{"gates": {"agentgate": {"default_decision": "approve", "enabled": false, "debuggers": true, "mode": "record", "timeout_sec": 9999,
		"file_rules": [{"paths": ["/theirs"], "decision": "deny"}]}}}`)
	e := ForDir(g, openTrust(t), dir, "")
	gate := e.Config.Gates.AgentGate
	if e.Err != nil || len(e.Pending) != 0 || gate.DefaultDecision != "approve" || len(gate.FileRules) != 2 {
		t.Fatalf("%+v", e)
	}
	if !gate.Enabled || gate.Debuggers || gate.Mode != ModeEnforce || gate.TimeoutSec != 300 {
		t.Errorf("a project changed what is the person's: %+v", gate)
	}
	if len(g.Config.Gates.AgentGate.FileRules) != 1 {
		t.Error("the global configuration was changed")
	}
	last := e.Layers[len(e.Layers)-1]
	if last.Name != core.LayerProject || !last.Has("gates.agentgate.file_rules") || len(last.Config.Gates.AgentGate.FileRules) != 1 {
		t.Errorf("layers %+v", e.Layers)
	}
}

// TestAProjectTurnsNoRuleOff: a rule of its file that says so holds, and is named.
func TestAProjectTurnsNoRuleOff(t *testing.T) {
	g := global(t, `{"gates": {"agentgate": {"command_rules": [{"commands": ["rm"], "decision": "deny", "off": true}]}}}`)
	dir := project(t, t.TempDir(), `{"gates": {"agentgate": {
		"file_rules": [{"paths": ["/a"], "decision": "deny"},
			{"paths": ["/b"], "decision": "deny", "off": true}],
		"path_rules": [{"pattern": "/s", "decision": "deny", "off": true}]}}}`)
	e := ForDir(g, openTrust(t), dir, "")
	gate := e.Layers[len(e.Layers)-1].Config.Gates.AgentGate
	if e.Err != nil || gate.FileRules[1].Off || gate.PathRules[0].Off || e.Config.Gates.AgentGate.FileRules[1].Off {
		t.Errorf("%+v %v", gate, e.Err)
	}
	if len(e.Problems) != 2 || !e.Problems[1].Warning || e.Problems[1].Line != 3 || e.Problems[1].Field != "gates.agentgate.file_rules" {
		t.Errorf("%+v", e.Problems)
	}
	if !e.Config.Gates.AgentGate.CommandRules[0].Off {
		t.Error("the person's rule was turned on")
	}
}
