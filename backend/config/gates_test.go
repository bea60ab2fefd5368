package config

import (
	"path/filepath"
	"slices"
	"testing"

	"loop/backend/core"
	"loop/backend/policy"
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

// TestPatternsOfAProject begin in its folder, and in that of a worktree as well. One that
// cannot be read is a problem of the file that has it.
func TestPatternsOfAProject(t *testing.T) {
	const text = `{"gates": {"agentgate": {
		"file_rules": [{"paths": ["secrets/**", "/etc/x", "**/*.pem"], "decision": "deny"}, {"decision": "approve"}],
		"path_rules": [{"pattern": "run/a.sock", "decision": "deny"}, {"pattern": "@name", "decision": "deny"}]}}}`
	dir := project(t, filepath.Join(t.TempDir(), "a{b"), text)
	gate := ForDir(global(t, `{}`), openTrust(t), dir, "").Config.Gates.AgentGate
	at := policy.Quote(dir)
	if len(gate.FileRules) != 2 || !slices.Equal(gate.FileRules[0].Paths, []string{at + "/secrets/**", "/etc/x", at + "/**/*.pem"}) ||
		len(gate.FileRules[1].Paths) != 0 || len(gate.PathRules) != 2 || gate.PathRules[0].Pattern != at+"/run/a.sock" || gate.PathRules[1].Pattern != "@name" {
		t.Errorf("%+v", gate)
	}
	tree := t.TempDir()
	paths := ForDir(global(t, `{}`), openTrust(t), tree, dir).Config.Gates.AgentGate.FileRules[0].Paths
	if !slices.Contains(paths, at+"/secrets/**") || !slices.Contains(paths, tree+"/secrets/**") {
		t.Errorf("a worktree has %q", paths)
	}
	for _, wrong := range []string{`"../x"`, `"a/../../x"`, `"~/x"`, `"a[b"`, `""`, `"./../x"`, `"{a,../x}/y"`} {
		dir := project(t, t.TempDir(), "{\n\"gates\": {\"agentgate\": {\"file_rules\": [{\"paths\": ["+wrong+"], \"decision\": \"deny\"}]}}}")
		e := ForDir(global(t, `{}`), openTrust(t), dir, "")
		if e.Err == nil || len(e.Problems) != 1 || e.Problems[0].Path != ProjectPath(dir) || e.Problems[0].Line != 2 {
			t.Errorf("%s: %v, %+v", wrong, e.Err, e.Problems)
		}
	}
}
