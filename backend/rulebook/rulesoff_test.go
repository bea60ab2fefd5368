package rulebook

import (
	"os"
	"strings"
	"testing"

	"loop/backend/core"
	"loop/backend/gate"
	"loop/backend/policy"
)

func TestRulesAreTurnedOffAndOnAgain(t *testing.T) {
	ctx := t.Context()
	for _, scope := range []core.ApprovalScope{core.ScopeAlways, core.ScopeProject} {
		r := newBookRig(t)
		id := "cache"
		if scope == core.ScopeProject {
			text, err := r.Export(ctx, "app", core.ScopeAlways)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Import(ctx, "app", core.ScopeProject, text); err != nil {
				t.Fatal(err)
			}
			r.write(r.source.Path(), "{}\n")
		}
		turn := func(action core.GateRuleAction) error {
			one := r.ruleOf(id)
			return r.Edit(ctx, core.GateRuleEdit{
				ChannelID: "app", Action: action, Scope: scope, Class: one.Class, Index: one.Index, Was: one.Rule,
			})
		}
		decides := func() string {
			t.Helper()
			got, err := r.Try(ctx, core.GateTryRequest{ChannelID: "app", Call: core.GateCall{Operation: "write", Path: "~/.cache/go/trim.txt"}})
			if err != nil {
				t.Fatal(err)
			}
			return got.Decision
		}
		on := r.list("")
		under := r.ruleOf(id).Number // the row after it is the one that it shadows
		if err := turn(core.RuleOff); err != nil {
			t.Fatal(err)
		}
		off := r.list("")
		one := r.ruleOf(id)
		if !one.Off || one.Recent != 0 || off.Version == on.Version || off.Rules[under].ShadowedBy != 0 || decides() != "approve" {
			t.Errorf("%s, off: %+v, then %+v; %s", scope, one, off.Rules[under], decides())
		}
		if off.Undo == nil || !strings.HasPrefix(off.Undo.Text, "Turned off: Allow") {
			t.Errorf("%s: %+v", scope, off.Undo)
		}
		if err := turn(core.RuleOff); core.AsFailure(err).Code != core.CodeInvalid {
			t.Errorf("%s, a second time: %v", scope, err)
		}
		if err := r.Undo(ctx, "app", ""); err != nil || r.ruleOf(id).Off || decides() != "allow" {
			t.Errorf("%s, taken back: %v %+v", scope, err, r.ruleOf(id))
		}
		for _, action := range []core.GateRuleAction{core.RuleOff, core.RuleOn} {
			if err := turn(action); err != nil {
				t.Fatal(err)
			}
		}
		if now := r.list(""); now.Version != on.Version || decides() != "allow" {
			t.Errorf("%s, on again: %+v", scope, r.ruleOf(id))
		}
		raw, err := os.ReadFile(r.source.Path())
		if scope == core.ScopeAlways && (err != nil || string(raw) != personsRules) {
			t.Errorf("on again, the file is\n%s %v", raw, err)
		}
	}
}

func TestARuleThatIsOffGoesWithNoSpawn(t *testing.T) {
	r := newBookRig(t)
	r.write(r.source.Path(), `{"gates":{"agentgate":{
  "file_rules":[{"id":"wide","decision":"allow","off":true},{"id":"nameless","paths":["/x"],"decision":"deny"}],
  "command_rules":[{"commands":["rm"],"decision":"deny","off":true}],
  "path_rules":[{"pattern":"/s","decision":"allow","off":true}]
}}}`)
	ch := core.Channel{ID: "app", Kind: core.KindProject, Dir: r.dir}
	spec, _ := r.Spec(t.Context(), ch)
	doc, err := r.Policies.Policy(policy.NamePerson, ch, spec, anySpawn)
	if err != nil || strings.Contains(string(doc), `"off"`) || strings.Contains(string(doc), "wide") || !strings.Contains(string(doc), "nameless") {
		t.Errorf("%s %v", doc, err)
	}
	rm := gate.Rule{Command: &policy.CommandRule{Commands: []string{"rm"}, Decision: policy.Deny}}
	if idOf(rm) != idOf(switched(rm, true)) || r.ruleOf(idOf(rm)).Off != true {
		t.Error("a rule without an id has another one while it is off, so its hits would be lost")
	}
	// It could not be stored today, so it is not turned on either; turning it off is no harm.
	wide := r.ruleOf("wide")
	on := core.GateRuleEdit{ChannelID: "app", Action: core.RuleOn, Scope: core.ScopeAlways, Class: wide.Class, Index: wide.Index, Was: wide.Rule}
	if err := r.Edit(t.Context(), on); core.AsFailure(err).Code != core.CodeForbidden || !r.ruleOf("wide").Off {
		t.Errorf("%v", err)
	}
}

func TestMatchesOfARuleThatIsOff(t *testing.T) {
	r := newBookRig(t)
	r.records = []core.GateRecord{{ID: "r", At: r.now, Kind: "file", Operation: "write", Target: "/home/ana/.cache/pip/x", Decision: "allowed",
		By: "a person", Digest: "d", RunID: "run", Calls: 1}}
	for off, shadows := range map[string]int{"": 2, `,"off":true`: 0} {
		m, err := r.Matches(t.Context(), "app", core.GateCandidate{Class: core.RuleOfFiles, Rule: `{"paths":["/home/ana/.cache/**"],"decision":"allow"` + off + `}`})
		if err != nil || m.Total != 1 || len(m.Shadows) != shadows {
			t.Errorf("%q: %+v %v", off, m, err)
		}
	}
	// The rule is its own row also where an equal one stands before it.
	if _, err := r.Answers.Remember(t.Context(), core.ScopeProject, "app", allow("/home/ana/x")); err != nil {
		t.Fatal(err)
	}
	again := core.GateCandidate{Class: core.RuleOfFiles, Rule: allow("/home/ana/x").JSON(), Scope: core.ScopeAlways}
	m, err := r.Matches(t.Context(), "app", again)
	if err != nil || m.ShadowedBy == "" || len(m.Shadows) != 0 {
		t.Errorf("%+v %v", m, err)
	}
}
