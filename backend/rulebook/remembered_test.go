package rulebook

import (
	"os"
	"testing"

	"loop/backend/core"
	"loop/backend/gate"
	"loop/backend/policy"
)

func allow(path string) gate.Rule {
	return gate.Rule{File: &policy.FileRule{Paths: []string{path}, Operations: []policy.Operation{policy.Write}, Decision: policy.Allow}}
}

func TestRememberedAnswers(t *testing.T) {
	ctx := t.Context()
	for _, scope := range []core.ApprovalScope{core.ScopeAlways, core.ScopeProject} {
		r := newBookRig(t)
		m := r.Answers
		r.write(r.source.Path(), "{\n  // mine\n}\n")
		list := func() []policy.FileRule {
			t.Helper()
			if scope == core.ScopeAlways {
				return m.Settings.Current().Gates.AgentGate.FileRules
			}
			p, err := m.forChannel(ctx, core.Channel{ID: "app"})
			if err != nil {
				t.Fatal(err)
			}
			return p.FileRules
		}
		remember := func(path string) func() {
			t.Helper()
			undo, err := m.Remember(ctx, scope, "thread", allow(path))
			if err != nil {
				t.Fatal(err)
			}
			return func() {
				t.Helper()
				if err := undo(ctx); err != nil {
					t.Fatal(err)
				}
			}
		}
		remember("/one")
		takeBack := remember("/two")
		if got := list(); len(got) != 2 || got[0].Paths[0] != "/two" {
			t.Errorf("%s: %+v", scope, got)
		}
		takeBack()
		if got := list(); len(got) != 1 || got[0].Paths[0] != "/one" {
			t.Errorf("%s, undone: %+v", scope, got)
		}
		// A rule that was there before stays, where it was.
		remember("/three")
		again := remember("/one")
		if got := list(); len(got) != 2 || got[0].Paths[0] != "/one" {
			t.Errorf("%s, again: %+v", scope, got)
		}
		again()
		if got := list(); len(got) != 2 || got[0].Paths[0] != "/three" || got[1].Paths[0] != "/one" {
			t.Errorf("%s: an equal rule of before is gone: %+v", scope, got)
		}
		// What was changed since is not lost.
		undo, err := m.Remember(ctx, scope, "thread", allow("/four"))
		if err != nil {
			t.Fatal(err)
		}
		remember("/five")
		if err := undo(ctx); core.AsFailure(err).Code != core.CodeConflict || len(list()) != 4 {
			t.Errorf("%s: %v %+v", scope, err, list())
		}
	}
}

func TestAnswersBelongToTheirProject(t *testing.T) {
	r := newBookRig(t)
	ctx, m := t.Context(), r.Answers
	if _, err := m.Remember(ctx, core.ScopeProject, "app", allow("/one")); err != nil {
		t.Fatal(err)
	}
	if other, err := m.forChannel(ctx, core.Channel{ID: "other"}); err != nil || len(other.FileRules) != 0 {
		t.Errorf("another project: %+v, %v", other, err)
	}
	if trial, err := m.forChannel(ctx, core.Channel{ID: "trial"}); err != nil || len(trial.FileRules) != 0 {
		t.Errorf("a trial: %+v, %v", trial, err)
	}
	// Without its project nobody knows what was denied there.
	if _, err := m.forChannel(ctx, core.Channel{ID: "orphan", ParentID: "gone"}); err == nil {
		t.Error("a channel whose project is gone has no rules, and starts")
	}
}

func TestRulesAreEditedAndTakenBack(t *testing.T) {
	r := newBookRig(t)
	ctx := t.Context()
	text := func() string {
		raw, err := os.ReadFile(r.source.Path())
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	first := r.ruleOf("cache")
	second := r.list("").Rules[first.Number]
	for i, e := range []core.GateRuleEdit{
		{Action: core.RuleMove, Index: 1, To: 0, Was: second.Rule},
		{Action: core.RuleChange, Index: 1, Was: first.Rule, Rule: `{"id":"cache","paths":["/home/ana/.cache/**"],"decision":"approve"}`},
		{Action: core.RuleRemove, Index: 0, Was: second.Rule},
		{Action: core.RuleAdd, Index: 1, Rule: `{"paths":["/srv/**"],"decision":"deny"}`},
	} {
		e.ChannelID, e.Scope, e.Class = "app", core.ScopeAlways, core.RuleOfFiles
		if err := r.Edit(ctx, e); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
	rules := r.Answers.Settings.Current().Gates.AgentGate.FileRules
	if len(rules) != 2 || rules[0].Decision != policy.Approve || rules[1].Paths[0] != "/srv/**" {
		t.Errorf("%+v\n%s", rules, text())
	}
	if u := r.list("").Undo; u == nil || u.Text != "Added: Deny reading or any change of /srv/**." {
		t.Errorf("%+v", u)
	}
	for range 4 {
		if err := r.Undo(ctx, "app", ""); err != nil {
			t.Fatal(err)
		}
	}
	if text() != personsRules {
		t.Errorf("taken back, it is\n%s", text())
	}
	if err := r.Undo(ctx, "app", ""); core.AsFailure(err).Code != core.CodeNotFound {
		t.Error(err)
	}
	for name, e := range map[string]core.GateRuleEdit{
		"another rule":  {Action: core.RuleRemove, Index: 0, Was: second.Rule},
		"no rule":       {Action: core.RuleRemove, Index: 7, Was: first.Rule},
		"no place":      {Action: core.RuleAdd, Index: 7, Rule: `{"decision":"deny"}`},
		"no action":     {Action: "burn", Was: first.Rule},
		"keys":          {Action: core.RuleAdd, Rule: `{"paths":["/home/ana/.ssh/id_rsa"],"decision":"allow"}`},
		"no pattern":    {Action: core.RuleAdd, Rule: `{"paths":["a"],"decision":"deny"}`},
		"no scope":      {Action: core.RuleAdd, Rule: `{"decision":"deny"}`, Scope: "run"},
		"another class": {Action: core.RuleAdd, Rule: `{"decision":"deny"}`, Class: "rules"},
	} {
		e.ChannelID = "app"
		if e.Scope == "" {
			e.Scope = core.ScopeAlways
		}
		if e.Class == "" {
			e.Class = core.RuleOfFiles
		}
		if err := r.Edit(ctx, e); err == nil || core.AsFailure(err).Code == core.CodeInternal || text() != personsRules {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func (r *bookRig) ruleOf(id string) core.GateRule {
	for _, one := range r.list("").Rules {
		if one.ID == id {
			return one
		}
	}
	r.t.Fatalf("no rule %s", id)
	return core.GateRule{}
}

func TestTheFirstRuleIsTakenBack(t *testing.T) {
	r := newBookRig(t)
	if err := os.Remove(r.source.Path()); err != nil {
		t.Fatal(err)
	}
	r.source.Reload()
	add := core.GateRuleEdit{Action: core.RuleAdd, Scope: core.ScopeAlways, Class: core.RuleOfSockets, Rule: `{"pattern":"/s","decision":"deny"}`}
	for range 2 { // once more, as there is a file by then
		if err := r.Edit(t.Context(), add); err != nil {
			t.Fatal(err)
		}
		if n := len(r.Answers.Settings.Current().Gates.AgentGate.PathRules); n != 1 {
			t.Fatalf("%d rules", n)
		}
		if err := r.Undo(t.Context(), "", ""); err != nil {
			t.Fatal(err)
		}
		if n := len(r.Answers.Settings.Current().Gates.AgentGate.PathRules); n != 0 {
			t.Fatalf("%d rules", n)
		}
	}
}

func TestRulesAreExportedAndImported(t *testing.T) {
	r := newBookRig(t)
	ctx := t.Context()
	text, err := r.Export(ctx, "app", core.ScopeAlways)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := r.Import(ctx, "app", core.ScopeProject, text); err != nil || n != 3 {
		t.Errorf("%d %v", n, err)
	}
	if again, err := r.Export(ctx, "thread", core.ScopeProject); err != nil || again != text {
		t.Errorf("%s %v", again, err)
	}
	if n, err := r.Import(ctx, "app", core.ScopeProject, text); err != nil || n != 0 {
		t.Errorf("a second time: %d %v", n, err)
	}
	for _, bad := range []string{"", "[]", `{"file_rules":[{"decision":"allow"}]}`, `{"tighten":[]}x`, `{"name":"agent"}`,
		`{"file_rules":[{"paths":["/a"],"decision":"deny"},{"paths":["/home/*/.ssh/x"],"decision":"allow"}]}`,
		`{"file_rules":[{"decision":"deny","category":"gate"}]}`} {
		if _, err := r.Import(ctx, "app", core.ScopeAlways, bad); err == nil {
			t.Errorf("%s is imported", bad)
		}
	}
	if got := r.Answers.Settings.Current().Gates.AgentGate.FileRules; len(got) != 2 {
		t.Errorf("%+v", got)
	}
}

func TestModeOfAChannel(t *testing.T) {
	r := newBookRig(t)
	ctx := t.Context()
	if err := r.SetMode(ctx, "thread", "shadow"); err != nil {
		t.Fatal(err)
	}
	if l := r.list(""); l.Mode != "shadow" || l.ModeFrom != r.dir {
		t.Errorf("%s from %s", l.Mode, l.ModeFrom)
	}
	if got, err := r.Try(ctx, core.GateTryRequest{ChannelID: "app", Call: core.GateCall{Operation: "write", Path: "~/.bashrc"}}); err != nil ||
		got.Decision != "approve" || got.Now != "allow" || got.Note == "" {
		t.Errorf("%+v %v", got, err)
	}
	if mode, _ := modeOf(r.Answers.Settings.Current().Gates.AgentGate, core.Channel{Dir: "/worktree", ParentDir: r.dir}); mode != "shadow" {
		t.Errorf("a worktree: %s", mode)
	}
	if mode, _ := modeOf(r.Answers.Settings.Current().Gates.AgentGate, core.Channel{Dir: "/elsewhere"}); mode != "enforce" {
		t.Errorf("another folder: %s", mode)
	}
	if err := r.SetMode(ctx, "app", "off"); core.AsFailure(err).Code != core.CodeInvalid {
		t.Error(err)
	}
	if err := r.SetMode(ctx, "app", ""); err != nil {
		t.Fatal(err)
	}
	if l := r.list(""); l.Mode != "enforce" {
		t.Errorf("%s", l.Mode)
	}
}
