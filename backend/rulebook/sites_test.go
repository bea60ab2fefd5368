package rulebook

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/core"
	"loop/backend/gate"
	"loop/backend/policy"
)

// TestSites: the person's rules and answers, and a project's, which only tighten.
func TestSites(t *testing.T) {
	r := newBookRig(t)
	home := filepath.Dir(r.dir)
	write := func(global, project string) {
		r.write(filepath.Join(home, "config.json"), `{"gates":{"agentgate":{`+global+`}}}`)
		r.write(filepath.Join(r.dir, ".loop", "config.json"), `{"gates":{"agentgate":{`+project+`}}}`)
	}
	write(`"site_rules":[{"id":"mine","sites":["a.com","*.a.com"],"decision":"allow"}]`,
		`"site_rules":[{"id":"theirs","sites":["evil.a.com"],"decision":"deny","off":true},{"sites":["c.com"],"decision":"allow"}]`)
	ch, err := r.Answers.Channels.Channel(t.Context(), "app")
	if err != nil {
		t.Fatal(err)
	}
	says := func(host string) string {
		t.Helper()
		e, err := r.Policies.Sites(ch)
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			return "off"
		}
		v := e.Site(host)
		return string(v.Decision) + " " + v.Rule
	}
	for host, want := range map[string]string{
		"a.com": "allow mine", "www.a.com": "allow mine", "evil.a.com": "deny theirs", "c.com": "approve site.new", "b.com": "approve site.new",
	} {
		if got := says(host); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
	rule := policy.SuggestSite("b.com")
	undo, err := r.Answers.Remember(t.Context(), core.ScopeProject, ch.ID, gate.Rule{Site: &rule})
	if err != nil {
		t.Fatal(err)
	}
	if got := says("x.b.com"); !strings.HasPrefix(got, "allow rule-") {
		t.Error(got)
	}
	doc, err := r.Policies.Policy(policy.NameAgent, ch, core.Spec{Agent: core.AgentUser{Home: "/home/a"}}, "s")
	if err != nil || strings.Contains(string(doc), "site") {
		t.Errorf("a supervisor gets %s (%v)", doc, err)
	}
	if err := undo(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := says("x.b.com"); got != "approve site.new" {
		t.Error(got)
	}
	write(`"mode":"record"`, "")
	if got := says("b.com"); got != "allow site.new" {
		t.Error(got)
	}
	write(`"mode":"shadow"`, "")
	if got := says("b.com"); got != "allow would ask: site.new" {
		t.Error(got)
	}
	write(`"enabled":false`, "")
	if got := says("b.com"); got != "off" {
		t.Error(got)
	}
}

// TestSitesInTheList: they are listed, tried, changed and matched as other rules are.
func TestSitesInTheList(t *testing.T) {
	r := newBookRig(t)
	add := func(rule string) error {
		return r.Edit(t.Context(), core.GateRuleEdit{ChannelID: "app", Action: core.RuleAdd, Scope: core.ScopeAlways, Class: core.RuleOfSites, Rule: rule})
	}
	if err := add(`{"sites":["https://a.com/"],"decision":"allow"}`); err == nil {
		t.Error("an address was taken for a host")
	}
	if err := add(`{"sites":["a.com","*.a.com"],"decision":"allow"}`); err != nil {
		t.Fatal(err)
	}
	l, err := r.List(t.Context(), "app", "")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, rule := range l.Rules {
		if rule.Class == core.RuleOfSites {
			texts = append(texts, string(rule.Origin)+": "+rule.Text)
		}
	}
	want := "yours: Allow opening a.com and its subdomains.|built_in: Ask before opening every site."
	if got := strings.Join(texts, "|"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for site, want := range map[string]string{"https://www.a.com:8443/x?y": "allow", "b.com": "approve", "[::1]": "approve", "a b": ""} {
		got, err := r.Try(t.Context(), core.GateTryRequest{ChannelID: "app", Call: core.GateCall{Site: site}})
		if want == "" && err == nil && got.Decision != "deny" || want != "" && (err != nil || got.Decision != want) {
			t.Errorf("%s: %+v, %v", site, got, err)
		}
	}
	r.records = []core.GateRecord{{Kind: "navigate", Operation: "navigate", Target: "https://www.b.com/", Decision: "denied", Rule: policy.RuleNewSite, Digest: "d"}}
	m, err := r.Matches(t.Context(), "app", core.GateCandidate{Class: core.RuleOfSites, Rule: `{"sites":["*.b.com"],"decision":"allow"}`})
	if err != nil || m.Total != 1 || m.Denied != 1 {
		t.Errorf("%+v, %v", m, err)
	}
	text, err := r.Export(t.Context(), "app", core.ScopeAlways)
	if err != nil || !strings.Contains(text, `"site_rules"`) {
		t.Errorf("%s, %v", text, err)
	}
	test, err := ParseTest([]byte(`{"site_rules":[{"sites":["x.org"],"decision":"deny"}],
		"cases":[{"site":"https://x.org/","want":"deny"},{"site":"a.com","want":"allow"},{"site":"new.org","want":"approve"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	ch, err := r.Answers.Channels.Channel(t.Context(), "app")
	if err != nil {
		t.Fatal(err)
	}
	results, err := r.Policies.Test(test, ch)
	if err != nil {
		t.Fatal(err)
	}
	for _, res := range results {
		if res.Got != res.Want {
			t.Errorf("%+v", res)
		}
	}
}
