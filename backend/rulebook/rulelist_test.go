package rulebook

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/gate"
	"loop/backend/policy"
)

// bookRig is a Loop folder with a person's settings, a project with a file of its own, and
// decisions of before.
type bookRig struct {
	*Book
	t       *testing.T
	source  *config.Source
	dir     string // of the project
	now     time.Time
	records []core.GateRecord
	nowhere error // no container is known
}

const personsRules = `{
  // What I want everywhere.
  "gates": {"agentgate": {
    "file_rules": [
      {"id": "cache", "paths": ["/home/ana/.cache/go/**"], "operations": ["write", "create"], "decision": "allow"},
      // never reached
      {"paths": ["/home/ana/.cache/go/trim.txt"], "operations": ["write"], "decision": "approve", "message": "Mine."}
    ],
    "command_rules": [{"commands": ["curl", "wget"], "decision": "approve"}]
  }}
}
`

func newBookRig(t *testing.T) *bookRig {
	t.Helper()
	home := t.TempDir()
	r := &bookRig{t: t, dir: filepath.Join(home, "app"), now: time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)}
	r.write(filepath.Join(home, "config.json"), personsRules)
	r.write(filepath.Join(r.dir, ".loop", "config.json"), `{"gates":{"agentgate":{
  "file_rules":[{"id":"migrations","paths":["`+r.dir+`/migrations/**"],"operations":["write"],"decision":"approve"}]
}}}`)
	r.source = config.NewSource(filepath.Join(home, "config.json"))
	kept := &treeOfOne{dir: r.dir}
	answers := &Answers{Home: home, Settings: &setInFile{r.source, home}, Channels: kept}
	r.Book = &Book{
		Policies: Policies{Settings: r, Answers: answers}, Answers: answers, Global: r.source.Current,
		Spec: func(context.Context, core.Channel) (core.Spec, error) {
			return core.Spec{Agent: core.AgentUser{Home: "/home/ana"}, Mounts: []core.Mount{{Kind: core.MountWorkspace, Target: r.dir}}}, r.nowhere
		},
		Tree:    kept.Channels,
		Recent:  func([]core.ChannelID, int) ([]core.GateRecord, error) { return r.records, nil },
		Hits:    OpenHits(home, noAudit{}, r.now, nil),
		Publish: func(...core.Event) {}, Now: func() time.Time { return r.now },
	}
	return r
}

func (r *bookRig) ForPolicy(ch core.Channel) (config.Effective, error) {
	e := config.ForDir(r.source.Current(), new(config.Trust), ch.Dir, ch.ParentDir)
	return e, e.Err
}

func (r *bookRig) write(name, text string) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	if r.source != nil {
		r.source.Reload()
	}
}

func (r *bookRig) list(policy string) core.GateRuleList {
	r.t.Helper()
	l, err := r.List(r.t.Context(), "app", policy)
	if err != nil {
		r.t.Fatal(err)
	}
	return l
}

type noAudit struct{}

func (noAudit) Append(gate.Record) error { return nil }

type treeOfOne struct{ dir string }

func (k *treeOfOne) Channel(ctx context.Context, id core.ChannelID) (core.Channel, error) {
	all, _ := k.Channels(ctx)
	for _, ch := range all {
		if ch.ID == id {
			return ch, nil
		}
	}
	return core.Channel{}, core.ErrNotFound
}

func (k *treeOfOne) Channels(context.Context) ([]core.Channel, error) {
	return []core.Channel{
		{ID: "app", Kind: core.KindProject, Dir: k.dir}, {ID: "thread", ParentID: "app", Kind: core.KindThread, Dir: k.dir},
		{ID: "other", Kind: core.KindProject, Dir: "/elsewhere"},
	}, nil
}

// setInFile is the person's own file as package settings has it.
type setInFile struct {
	source *config.Source
	home   string
}

func (s *setInFile) editor() config.Editor {
	return config.Editor{History: config.OpenHistory(filepath.Join(s.home, "history")), Trust: new(config.Trust)}
}

func (s *setInFile) Current() config.Config { return s.source.Current().Config }

func (s *setInFile) Set(_ context.Context, _ string, _ core.ChannelID, field string, value any) error {
	defer s.source.Reload()
	return s.editor().Set(config.GlobalFile(s.source.Path()), field, value)
}

func (s *setInFile) Unset(ctx context.Context, scope string, ch core.ChannelID, field string) error {
	return s.Set(ctx, scope, ch, field, nil)
}

func (s *setInFile) EditList(_ context.Context, _ string, _ core.ChannelID, c config.ListChange) error {
	defer s.source.Reload()
	return s.editor().List(config.GlobalFile(s.source.Path()), c)
}

func (s *setInFile) History(context.Context, string, core.ChannelID) ([]core.SettingsRevision, error) {
	e := s.editor()
	if err := e.History.Record(config.GlobalFile(s.source.Path()), config.SourceExternal); err != nil {
		return nil, err
	}
	return e.History.List(config.GlobalFile(s.source.Path()))
}

func (s *setInFile) Restore(_ context.Context, id string) (core.ChannelID, error) {
	defer s.source.Reload()
	_, err := s.editor().Restore(id, func(path string) (config.File, bool) { return config.GlobalFile(path), true })
	return "", err
}

func TestRulesAreListedInTheirOrder(t *testing.T) {
	r := newBookRig(t)
	if _, err := r.Answers.Remember(t.Context(), core.ScopeProject, "thread", allow("/home/ana/.npmrc")); err != nil {
		t.Fatal(err)
	}
	l := r.list("")
	var origins []core.GateRuleOrigin
	for i, one := range l.Rules {
		if one.Number != i+1 {
			t.Errorf("row %d has the number %d", i+1, one.Number)
		}
		origins = append(origins, one.Origin)
		if one.Text == "" || one.Origin != core.RuleDefault && (one.ID == "" || len(one.Calls) == 0) {
			t.Errorf("%+v", one)
		}
	}
	origins = slices.Compact(origins)
	if want := []core.GateRuleOrigin{core.RuleFirst, core.RuleProject, core.RuleRemembered, core.RuleYours, core.RuleBuiltIn, core.RuleDefault}; !slices.Equal(origins, want) {
		t.Errorf("the order is %v", origins)
	}
	at := func(id string) core.GateRule {
		i := slices.IndexFunc(l.Rules, func(o core.GateRule) bool { return o.ID == id })
		if i < 0 {
			t.Fatalf("no rule %s", id)
		}
		return l.Rules[i]
	}
	cache := at("cache")
	if cache.Line != 5 || !strings.HasSuffix(cache.Path, "config.json") || !cache.Editable || cache.Scope != core.ScopeAlways {
		t.Errorf("%+v", cache)
	}
	shadowed := l.Rules[cache.Number]
	if shadowed.ShadowedBy != cache.Number || shadowed.Index != 1 || shadowed.Line != 7 || !strings.HasPrefix(shadowed.ID, "rule-") {
		t.Errorf("%+v", shadowed)
	}
	if m := at("migrations"); m.Origin != core.RuleProject || m.Line != 2 || m.Editable {
		t.Errorf("%+v", m)
	}
	if g := at("startup.git-config"); !slices.Contains(g.Patterns, "<project>/.git/config") || g.Text == "" || g.Rule != "" {
		t.Errorf("%+v", g)
	}
	if s := at("socket.host"); len(s.Patterns) < 8 {
		t.Errorf("the sockets of the computer are several rows: %+v", s)
	}
	if len(l.Files) != 3 || l.Mode != "enforce" || l.ModeFrom != "settings" || l.Guessed {
		t.Errorf("%+v", l)
	}
}

// TestListSaysWhatDecides: the rows, tried in their order, are the policy that goes with a
// spawn.
func TestListSaysWhatDecides(t *testing.T) {
	r := newBookRig(t)
	if _, err := r.Answers.Remember(t.Context(), core.ScopeProject, "app", allow("/home/ana/.npmrc")); err != nil {
		t.Fatal(err)
	}
	r.write(r.source.Path(), strings.Replace(personsRules, `"approve"}]`, `"approve", "off": true}]`, 1))
	ch := core.Channel{ID: "app", Kind: core.KindProject, Dir: r.dir}
	spec, _ := r.Spec(t.Context(), ch)
	for _, name := range []string{policy.NameAgent, policy.NamePerson, policy.NameSystem, policy.NamePlan} {
		tab, err := r.read(t.Context(), "app", name)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := r.Policies.Policy(name, ch, spec, anySpawn)
		if err != nil {
			t.Fatal(err)
		}
		real, err := policy.Parse(doc)
		if err != nil {
			t.Fatal(err)
		}
		real.Agents = nil
		if want, got := string(unnamed(real).Encode()), string(unnamed(tab.numbered()).WithoutSites().Encode()); got != want {
			at := 0
			for at < min(len(want), len(got)) && want[at] == got[at] {
				at++
			}
			t.Errorf("%s is listed as …%.200s and goes by …%.200s", name, got[at:], want[at:])
		}
	}
}

// unnamed is a policy without the ids of its rules.
func unnamed(p policy.Policy) policy.Policy {
	out := policy.Policy{Name: p.Name, DefaultDecision: p.DefaultDecision}
	for _, r := range rulesOf(p) {
		out = with(out, called(r, ""))
	}
	for _, t := range p.Tighten {
		out.Tighten = append(out.Tighten, unnamed(t))
	}
	return out
}

func TestTry(t *testing.T) {
	r := newBookRig(t)
	for name, c := range map[string]struct {
		call     core.GateCall
		decision string
		rule     string
	}{
		"by the person":   {core.GateCall{Operation: "write", Path: "~/.cache/go/trim.txt"}, "allow", "cache"},
		"by the project":  {core.GateCall{Operation: "write", Path: "<project>/migrations/1.sql"}, "approve", "migrations"},
		"by the baseline": {core.GateCall{Operation: "read", Path: "~/.ssh/id_rsa"}, "deny", "credential.home"},
		"by the gate":     {core.GateCall{Operation: "write", Path: "/run/loop/x"}, "deny", "gate.files"},
		"by the default":  {core.GateCall{Operation: "write", Path: "/srv/x"}, "allow", ""},
		"a socket":        {core.GateCall{Connect: "/run/docker.sock.host"}, "deny", "socket.host"},
		"a command":       {core.GateCall{Line: "/usr/bin/curl https://x"}, "approve", ""},
	} {
		got, err := r.Try(t.Context(), core.GateTryRequest{ChannelID: "app", Call: c.call})
		if err != nil || got.Decision != c.decision || c.rule != "" && got.Rule != c.rule || got.Reason == "" || !strings.Contains(got.Case, `"want":"`+c.decision) {
			t.Errorf("%s: %+v %v", name, got, err)
		}
		if i := slices.IndexFunc(got.Steps, func(s core.GateTryStep) bool { return s.Outcome == "decides" }); i < 0 || got.Steps[i].From != got.Number {
			t.Errorf("%s: %+v", name, got)
		}
	}
	late, err := r.Try(t.Context(), core.GateTryRequest{ChannelID: "app", Call: core.GateCall{Operation: "write", Path: "~/.cache/go/trim.txt"}})
	if err != nil || !slices.ContainsFunc(late.Steps, func(s core.GateTryStep) bool { return s.Outcome == "late" && strings.Contains(s.Text, "ask") }) {
		t.Errorf("%+v %v", late, err)
	}
	candidate := &core.GateCandidate{Class: core.RuleOfFiles, Rule: `{"paths":["/srv/**"],"decision":"deny","message":"Not there."}`}
	got, err := r.Try(t.Context(), core.GateTryRequest{ChannelID: "app", Call: core.GateCall{Operation: "write", Path: "/srv/x"}, Candidate: candidate})
	if err != nil || got.Decision != "deny" || got.Reason != "Not there." {
		t.Errorf("%+v %v", got, err)
	}
	for name, c := range map[string]core.GateCall{
		"nothing": {}, "relative": {Operation: "write", Path: "x"}, "two": {Operation: "read", Path: "/x", Connect: "/y"},
		"operation": {Operation: "fly", Path: "/x"}, "long": {Operation: "read", Path: "/" + strings.Repeat("x", maxTried)},
	} {
		if _, err := r.Try(t.Context(), core.GateTryRequest{ChannelID: "app", Call: c}); core.AsFailure(err).Code != core.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRuleMatches(t *testing.T) {
	r := newBookRig(t)
	for i := range 30 {
		r.records = append(r.records, core.GateRecord{ID: "r", At: r.now.Add(-time.Duration(i) * time.Minute), Kind: "file", Operation: "write",
			Target: "/home/ana/.cache/pip/x", Decision: "allowed", By: "a person", Digest: "d", RunID: "run", Calls: 1})
	}
	r.records[3].Decision = "denied"
	m, err := r.Matches(t.Context(), "app", core.GateCandidate{Class: core.RuleOfFiles, Rule: `{"paths":["/home/ana/.cache/**"],"decision":"allow"}`})
	if err != nil || m.Total != 30 || m.Of != 30 || len(m.Matches) != maxMatched || m.Denied != 1 || m.Refused != nil || len(m.Shadows) != 2 {
		t.Errorf("%+v %v", m, err)
	}
	for _, wide := range []string{`{"paths":["/home/ana/**"],"decision":"allow"}`, `{"decision":"allow"}`, `{"paths":["/**/id_*"],"decision":"allow"}`} {
		m, err = r.Matches(t.Context(), "app", core.GateCandidate{Class: core.RuleOfFiles, Rule: wide})
		if err != nil || m.Refused == nil || !strings.Contains(m.Refused.Cause, "would also allow") {
			t.Errorf("%s: %+v %v", wide, m.Refused, err)
		}
	}
	for _, bad := range []string{``, `{}`, `[]`, `{"decision":"allow"},{"decision":"allow"}`, `{"decision":"allow","x":1}`,
		`{"decision":"allow","category":"gate"}`, `{"paths":["x"],"decision":"allow"}`} {
		if _, err := r.Matches(t.Context(), "app", core.GateCandidate{Class: core.RuleOfFiles, Rule: bad}); core.AsFailure(err).Code != core.CodeInvalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestFilesWithErrorsAreListed(t *testing.T) {
	r := newBookRig(t)
	r.write(r.source.Path(), strings.Replace(personsRules, `"decision": "allow"`, `"decision": "alow"`, 1))
	l := r.list("")
	if f := l.Files[0]; len(f.Problems) != 1 || f.Problems[0].Line != 5 || !f.LastGood {
		t.Errorf("%+v", f)
	}
	if !slices.ContainsFunc(l.Rules, func(o core.GateRule) bool { return o.ID == "cache" }) {
		t.Error("the last good version is not listed")
	}
	r.write(filepath.Join(r.dir, ".loop", "config.json"), "{")
	l = r.list("")
	if i := slices.IndexFunc(l.Files, func(f core.GateRuleFile) bool { return f.Origin == core.RuleProject }); i < 0 || l.Files[i].Stopped == "" {
		t.Errorf("%+v", l.Files)
	}
	r.nowhere = errors.New("no engine")
	if l = r.list(""); !l.Guessed || len(l.Rules) < 20 {
		t.Errorf("%+v", l)
	}
}

func TestHitsOfRules(t *testing.T) {
	r := newBookRig(t)
	first := r.list("")
	count := func(ch, rule, decision string, at time.Time, calls int) {
		if err := r.Hits.Append(gate.Record{At: at, Channel: ch, Rule: rule, Decision: decision, Calls: calls}); err != nil {
			t.Fatal(err)
		}
	}
	count("app", "cache", "allowed", r.now, 7)
	count("other", "cache", "allowed", r.now.AddDate(0, 0, -40), 100)
	count("other", "migrations", "denied", r.now, 3)
	count("app", "migrations", "waiting", r.now, 3)
	count("thread", "would ask: startup.shell", "allowed", r.now.Add(-time.Hour), 2)
	hits := func(l core.GateRuleList, id string) core.GateRule {
		return l.Rules[slices.IndexFunc(l.Rules, func(o core.GateRule) bool { return o.ID == id })]
	}
	l := r.list("")
	if got := hits(l, "cache"); got.Hits != 7 || !got.LastUsed.Equal(r.now) {
		t.Errorf("%+v", got)
	}
	if got := hits(l, "migrations"); got.Hits != 0 || got.Stale {
		t.Errorf("another project's hits: %+v", got)
	}
	if got := hits(l, "startup.shell"); got.Hits != 2 {
		t.Errorf("%+v", got)
	}
	r.Hits.Keep()
	r.Hits = OpenHits(r.Answers.Home, noAudit{}, r.now, nil)
	r.now = r.now.AddDate(0, 0, 91)
	l = r.list("")
	if got := hits(l, "cache"); got.Hits != 0 || !got.Stale || !hits(l, "migrations").Stale || hits(l, "startup.shell").Stale {
		t.Errorf("after 91 days: %+v", got)
	}
	if l.Version != first.Version {
		t.Error("the rules are others")
	}
	for i := range maxHits + 10 {
		count("app", strings.Repeat("x", i%90)+string(rune('a'+i%26))+time.Duration(i).String(), "allowed", r.now.Add(time.Duration(i)), 1)
	}
	n := 0
	for _, of := range r.Hits.kept.Rules {
		n += len(of)
	}
	if n > maxHits {
		t.Errorf("%d rules are counted", n)
	}
}
