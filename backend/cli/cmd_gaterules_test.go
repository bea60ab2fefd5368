package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/core"
)

func TestGateRuleCommands(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rules.json")
	if err := os.WriteFile(file, []byte(`{"file_rules":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	rules := core.GateRuleList{Mode: "shadow", ModeFrom: "/app", Undo: &core.GateRuleUndo{ID: "u1", Text: "Added: it"}, Rules: []core.GateRule{
		{Number: 1, ID: "gate.files", Origin: core.RuleFirst, Decision: "deny", Text: "Deny that."},
		{Number: 2, ID: "mine\x1b[2J", Origin: core.RuleYours, Class: core.RuleOfFiles, Decision: "allow", Text: "Allow this.", Hits: 7, Scope: core.ScopeAlways,
			Index: 3, Rule: `{"decision":"allow"}`, Editable: true, ShadowedBy: 1},
		{Number: 3, ID: "third", Origin: core.RuleYours, Class: core.RuleOfFiles, Decision: "deny", Text: "Deny it.", Scope: core.ScopeAlways,
			Index: 4, Rule: `{"decision":"deny","off":true}`, Editable: true, Off: true},
	}, Files: []core.GateRuleFile{{Path: "/c.json", Problems: []core.SettingsProblem{{Line: 4, Message: "It is wrong."}}}}}
	for name, tc := range map[string]struct {
		args   []string
		method string
		answer any
		sent   string
		says   string
		code   int
	}{
		"list":            {[]string{"rules"}, "GateRules.List", rules, `["","agent"]`, "never reached: 1", exitOK},
		"list says where": {[]string{"rules", "list"}, "GateRules.List", rules, `["","agent"]`, "/c.json:4: It is wrong.", exitOK},
		"mode is said":    {[]string{"rules", "list", "--policy", "plan"}, "GateRules.List", rules, `["","plan"]`, "The mode is shadow", exitOK},
		"export by flag":  {[]string{"rules", "--export"}, "GateRules.Export", "{}\n", `["","always"]`, "{}", exitOK},
		"export":          {[]string{"rules", "export", "--scope", "project"}, "GateRules.Export", "{}\n", `["","project"]`, "{}", exitOK},
		"import":          {[]string{"rules", "import", file}, "GateRules.Import", 2, `["","always","{\"file_rules\":[]}"]`, "2 rules were added", exitOK},
		"add a file's": {[]string{"rules", "add", `{"decision":"deny"}`}, "GateRules.Edit", rules,
			`[{"action":"add","scope":"always","class":"file_rules","index":0,"rule":"{\"decision\":\"deny\"}","by":"command line"}]`, "Added.", exitOK},
		"add a command's": {[]string{"rules", "add", `{"commands":["x"],"decision":"deny"}`, "--at", "2"}, "GateRules.Edit", rules,
			`[{"action":"add","scope":"always","class":"command_rules","index":2,"rule":"{\"commands\":[\"x\"],\"decision\":\"deny\"}","by":"command line"}]`, "Added.", exitOK},
		"remove": {[]string{"rules", "remove", "2"}, "GateRules.Edit", rules,
			`[{"action":"remove","scope":"always","class":"file_rules","index":3,"was":"{\"decision\":\"allow\"}","by":"command line"}]`, "Allow this.", exitOK},
		"off": {[]string{"rules", "off", "2"}, "GateRules.Edit", rules,
			`[{"action":"off","scope":"always","class":"file_rules","index":3,"was":"{\"decision\":\"allow\"}","by":"command line"}]`, "Off: Allow this.", exitOK},
		"on": {[]string{"rules", "on", "3"}, "GateRules.Edit", rules,
			`[{"action":"on","scope":"always","class":"file_rules","index":4,"was":"{\"decision\":\"deny\",\"off\":true}","by":"command line"}]`, "On: Deny it.", exitOK},
		"list says off": {[]string{"rules"}, "GateRules.List", rules, `["","agent"]`, "Deny it. (off)", exitOK},
		"remove Loop's": {[]string{"rules", "remove", "gate.files"}, "GateRules.Edit", rules, "", "not one of yours", exitUsage},
		"remove none":   {[]string{"rules", "remove", "99"}, "GateRules.Edit", rules, "", "no rule", exitUsage},
		"undo":          {[]string{"rules", "undo"}, "GateRules.Undo", rules, `["","u1"]`, "Taken back: Added: it", exitOK},
		"mode of none":  {[]string{"mode", "shadow"}, "GateRules.SetMode", rules, "", "--channel", exitUsage},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.fake.answers["GateRules.List"] = rules
			r.fake.answers[tc.method] = tc.answer
			code := r.run(append([]string{"gate"}, tc.args...)...)
			said := r.out.String() + r.err.String()
			if (code != exitOK) != (tc.code != exitOK) || !strings.Contains(said, tc.says) || strings.Contains(said, "\x1b[2J") {
				t.Fatalf("exit %d, said %q", code, said)
			}
			sent := ""
			if args := r.fake.last[tc.method]; args != nil {
				raw, err := json.Marshal(args)
				if err != nil {
					t.Fatal(err)
				}
				sent = string(raw)
			}
			if sent != tc.sent {
				t.Errorf("sent %s", sent)
			}
		})
	}
}
