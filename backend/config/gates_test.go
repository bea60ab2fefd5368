package config

import (
	"testing"

	"loop/backend/core"
)

// TestAProjectMakesTheGateStricter without an approval, and cannot switch it off with one.
func TestAProjectMakesTheGateStricter(t *testing.T) {
	g := global(t, `{"gates": {"agentgate": {"file_rules": [{"paths": ["/mine"], "decision": "allow"}]}}}`)
	dir := project(t, t.TempDir(), `{"gates": {"agentgate": {"default_decision": "approve", "enabled": false, "mode": "record", "timeout_sec": 9999,
		"file_rules": [{"paths": ["/theirs"], "decision": "deny"}]}}}`)
	e := ForDir(g, openTrust(t), dir, "")
	gate := e.Config.Gates.AgentGate
	if e.Err != nil || len(e.Pending) != 0 || gate.DefaultDecision != "approve" || len(gate.FileRules) != 2 {
		t.Fatalf("%+v", e)
	}
	if !gate.Enabled || gate.Mode != ModeEnforce || gate.TimeoutSec != 300 {
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
