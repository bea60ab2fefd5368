package policy

import (
	"strings"
	"testing"
)

func TestSiteRules(t *testing.T) {
	e := compiled(t, Policy{Name: NameAgent, DefaultDecision: Allow, SiteRules: []SiteRule{
		{ID: "off", Sites: []string{"*"}, Decision: Deny, Off: true},
		{ID: "admin", Sites: []string{"admin.example.com"}, Decision: Deny, Message: "Not there.", Advice: "Ask."},
		{ID: "example", Sites: []string{"Example.COM.", "*.example.com"}, Decision: Allow},
		{ID: "below", Sites: []string{"*.pages.dev"}, Decision: Allow},
		{ID: "address", Sites: []string{"192.0.2.1", "[2001:DB8::1]"}, Decision: Allow},
		{ID: "idn", Sites: []string{"xn--bcher-kva.de"}, Decision: Allow},
		{ID: "rest", Sites: []string{"*"}, Decision: Approve},
	}})
	for host, rule := range map[string]string{
		"example.com": "example", "EXAMPLE.com": "example", "example.com.": "example", "a.b.example.com": "example",
		"admin.example.com": "admin", "ADMIN.example.com.": "admin", "notexample.com": "rest", "example.com.evil.net": "rest", "com": "rest",
		"pages.dev": "rest", "x.pages.dev": "below", "192.0.2.1": "address", "192.0.2.10": "rest", "2001:db8::1": "address",
		"2001:db8:0:0::1": "address", "xn--bcher-kva.de": "idn", "bcher-kva.de": "rest",
	} {
		if v := e.Site(host); v.Rule != rule {
			t.Errorf("%s: %+v, want %s", host, v, rule)
		}
	}
	if v := e.Site("admin.example.com"); v.Decision != Deny || v.Told() != "Not there. Ask." {
		t.Errorf("%+v", v)
	}
	for _, host := range []string{"", ".", "a..b", "bücher.de", "a b", "a/b", "a@b", "a:80", strings.Repeat("a", 64) + ".com", strings.Repeat("a.", 200)} {
		if v := e.Site(host); v.Decision != Deny || v.Rule != "" {
			t.Errorf("%q: %+v", host, v)
		}
	}
}

// TestProjectsOnlyTightenSites: neither an allow nor the order of a project's file loosens.
func TestProjectsOnlyTightenSites(t *testing.T) {
	base, err := Baseline(NameAgent, Place{})
	if err != nil {
		t.Fatal(err)
	}
	person := Policy{SiteRules: []SiteRule{{ID: "mine", Sites: []string{"a.com"}, Decision: Allow}}}
	project := Policy{DefaultDecision: Allow, SiteRules: []SiteRule{
		{ID: "theirs", Sites: []string{"b.com"}, Decision: Allow}, {ID: "no", Sites: []string{"a.com"}, Decision: Deny},
	}}
	alone, both := compiled(t, Merge(base, person)), compiled(t, Merge(base, person, project).SitesAlone())
	for host, want := range map[string][2]Decision{"a.com": {Allow, Deny}, "b.com": {Approve, Approve}, "c.com": {Approve, Approve}} {
		if got := [2]Decision{alone.Site(host).Decision, both.Site(host).Decision}; got != want {
			t.Errorf("%s: %v, want %v", host, got, want)
		}
	}
	if v := alone.Site("c.com"); v.Rule != RuleNewSite || v.Category != Ordinary {
		t.Errorf("%+v", v)
	}
	own, err := Baseline(NamePerson, Place{})
	if err != nil {
		t.Fatal(err)
	}
	if v := compiled(t, own).Site("c.com"); v.Decision != Allow {
		t.Errorf("a person is asked: %+v", v)
	}
	for _, name := range []string{NameAgent, NamePerson, NameSystem, NamePlan} {
		p, err := Baseline(name, Place{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range p.SiteRules {
			if r.Decision == Allow {
				t.Errorf("%s of %s allows", r.ID, name)
			}
		}
	}
}

func TestSupervisorsGetNoSiteRules(t *testing.T) {
	rules := []SiteRule{{Sites: []string{"a.com"}, Decision: Deny}}
	p := Policy{DefaultDecision: Allow, SiteRules: rules, Tighten: []Policy{{DefaultDecision: Allow, SiteRules: rules}},
		Agents: &Agents{Files: []string{"/a"}, Policy: Policy{DefaultDecision: Allow, SiteRules: rules}}}
	if doc := string(p.WithoutSites().Encode()); strings.Contains(doc, "site_rules") {
		t.Error(doc)
	}
	if doc := string(p.Encode()); strings.Count(doc, "site_rules") != 3 {
		t.Error(doc)
	}
}

func TestSiteOf(t *testing.T) {
	for host, want := range map[string]string{
		"example.com": "example.com", "www.Example.com.": "example.com", "a.b.example.co.uk": "example.co.uk", "co.uk": "co.uk",
		"me.github.io": "me.github.io", "x.me.github.io": "me.github.io", "github.io": "github.io", "intranet": "intranet",
		"192.0.2.1": "192.0.2.1", "2001:DB8:0::1": "2001:db8::1", "www.xn--bcher-kva.de": "xn--bcher-kva.de",
	} {
		if got, err := SiteOf(host); err != nil || got != want {
			t.Errorf("%s: %q, %v", host, got, err)
		}
	}
	if got, err := SiteOf("bücher.de"); err == nil {
		t.Errorf("%q", got)
	}
	if r := SuggestSite("192.0.2.1"); len(r.Sites) != 1 || r.SiteWords() != "Allow opening 192.0.2.1." {
		t.Errorf("%+v", r)
	}
	if r := SuggestSite("example.com"); r.SiteWords() != "Allow opening example.com and its subdomains." {
		t.Errorf("%s", r.SiteWords())
	}
}

func TestSiteRulesAreReadStrictly(t *testing.T) {
	for doc, part := range map[string]string{
		`{"sites":["https://a.com"],"decision":"deny"}`:             "not the name of a host",
		`{"sites":["a.com:80"],"decision":"deny"}`:                  "not the name of a host",
		`{"sites":["bücher.de"],"decision":"deny"}`:                 "xn--",
		`{"sites":["a*.com"],"decision":"deny"}`:                    "not the name of a host",
		`{"sites":["*.192.0.2.1"],"decision":"deny"}`:               "nothing is below an address",
		`{"sites":["a.com"]}`:                                       "has no decision",
		`{"sites":["a.com"],"decision":"deny","category":"socket"}`: "no key \"category\"",
		`{"sites":"a.com","decision":"deny"}`:                       "must be a list",
		`{"sites":["a.com"],"decision":"maybe"}`:                    "nobody knows this decision",
		`{"sites":["a.com"],"decision":"deny","sites":["b.com"]}`:   "a second time",
		`{"hosts":["a.com"],"decision":"deny","message":"x"}`:       "no key \"hosts\"",
		`{"sites":[""],"decision":"deny"}`:                          "not the name of a host",
		`{"sites":["[::1%eth0]"],"decision":"deny"}`:                "no address",
	} {
		_, err := Parse([]byte(`{"default_decision":"allow","site_rules":[` + doc + `]}`))
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v, want %q", doc, err, part)
		}
	}
}

func TestCoversSite(t *testing.T) {
	rule := func(sites ...string) SiteRule { return SiteRule{Sites: sites, Decision: Allow} }
	for _, c := range []struct {
		earlier, later SiteRule
		covers         bool
	}{
		{rule("*"), rule("a.com", "*.b.com"), true},
		{rule(), rule("*"), true},
		{rule("*.a.com"), rule("x.a.com"), true},
		{rule("*.a.com"), rule("*.x.a.com"), true},
		{rule("*.a.com"), rule("a.com"), false},
		{rule("a.com"), rule("*.a.com"), false},
		{rule("a.com", "*.a.com"), rule("*.a.com", "a.com"), true},
		{rule("a.com"), rule("*"), false},
		{rule("a.com"), rule(), false},
	} {
		if got := c.earlier.CoversSite(c.later); got != c.covers {
			t.Errorf("%v covers %v: %v", c.earlier.Sites, c.later.Sites, got)
		}
	}
}

func FuzzSite(f *testing.F) {
	f.Add("example.com", "*.example.com")
	f.Add("2001:db8::1", "[2001:db8::1]")
	f.Fuzz(func(t *testing.T, host, pattern string) {
		site, err := SiteOf(host)
		if err == nil {
			if again, err := SiteOf(site); err != nil || again != site {
				t.Errorf("%q is of %q, which is of %q (%v)", host, site, again, err)
			}
		}
		r := SiteRule{Sites: []string{pattern}, Decision: Allow}
		if r.Check() != nil {
			return
		}
		e, cerr := Compile(Policy{DefaultDecision: Approve, SiteRules: []SiteRule{r}})
		if cerr != nil {
			t.Fatal(cerr)
		}
		if v := e.Site(host); err != nil && v.Decision != Deny {
			t.Errorf("%q is no host, and %+v", host, v)
		}
	})
}
