package rulebook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/gate"
	"loop/backend/policy"
	"loop/backend/wire"
)

// alone is an engine in which a row is all there is.
func (r row) alone() *policy.Engine {
	p := policy.Policy{DefaultDecision: policy.Allow}
	for _, one := range r.rules {
		p = with(p, called(one, soleRule))
	}
	e, err := policy.Compile(p)
	if err != nil {
		return nil // the list of all rules is refused, and says why
	}
	return e
}

const soleRule = "it"

// matching are those of the records whose call the row matches by itself.
func (r row) matching(records []core.GateRecord) (out []core.GateRecord) {
	if len(r.rules) == 0 {
		return nil
	}
	e := r.alone()
	if e == nil {
		return nil
	}
	for _, rec := range records {
		if _, v, known := decideAgain(e, rec); known && v.Rule == soleRule {
			out = append(out, rec)
		}
	}
	return out
}

// numbered is the table as a policy in which each rule is called by its row's number.
func (t *table) numbered() policy.Policy {
	p := policy.Policy{Name: t.name, DefaultDecision: t.dflt}
	for _, r := range t.rows {
		for _, one := range r.rules {
			one = called(one, strconv.Itoa(r.shown.Number))
			if r.project == 0 {
				p = with(p, one)
				continue
			}
			for len(p.Tighten) < r.project {
				p.Tighten = append(p.Tighten, policy.Policy{DefaultDecision: policy.Allow})
			}
			p.Tighten[r.project-1] = with(p.Tighten[r.project-1], one)
		}
	}
	return p
}

// call is a call as the engine judges it.
type call struct {
	class core.GateRuleClass
	what  string
	judge func(*policy.Engine) policy.Verdict
	test  TestCase
}

const maxTried = 32 << 10

// callOf reads what a person typed.
func (t *table) callOf(c core.GateCall) (call, error) {
	bad := func(why, remedy string) (call, error) {
		return call{}, core.Fail(core.CodeInvalid, nil, why, remedy)
	}
	if c.Line != "" {
		c.Exec = strings.Fields(c.Line)
	}
	test := TestCase{
		Operation: policy.Operation(c.Operation), Path: c.Path, Connect: c.Connect, Exec: c.Exec, Site: hostOf(c.Site), Want: policy.Allow,
	}
	if test.Path == "" {
		test.Operation = ""
	}
	if err := test.check(); err != nil {
		return bad("This is no call that can be tried: "+err.Error()+".", "Name an operation with a path, a socket, a command, or a site.")
	}
	size := len(c.Path) + len(c.Connect) + len(c.Site)
	for _, a := range c.Exec {
		size += len(a)
	}
	if size > maxTried {
		return bad("The call is longer than 32 KiB.", "Shorten it.")
	}
	if test.Path, test.Connect = t.resolved(test.Path), t.resolved(test.Connect); len(test.Exec) > 0 {
		test.Exec = slices.Clone(test.Exec)
		test.Exec[0] = t.resolved(test.Exec[0])
	}
	if test.Path != "" && test.Path[0] != '/' || test.Connect != "" && test.Connect[0] != '/' && test.Connect[0] != '@' {
		return bad("The path does not begin with “/”, “~/” or “<project>/”.", "Write it from the root on.")
	}
	class := core.RuleOfFiles
	switch {
	case test.Connect != "":
		class = core.RuleOfSockets
	case len(test.Exec) > 0:
		class = core.RuleOfCommands
	case test.Site != "":
		class = core.RuleOfSites
	}
	what, _ := test.try(nothing, t.place.Home)
	return call{class, what, func(e *policy.Engine) policy.Verdict {
		_, v := test.try(e, t.place.Home)
		return v
	}, test}, nil
}

// nothing is an engine without rules.
var nothing = func() *policy.Engine {
	e, err := policy.Compile(policy.Policy{DefaultDecision: policy.Allow})
	if err != nil {
		panic("a policy without rules: " + err.Error()) // it has nothing that could be wrong
	}
	return e
}()

// resolved is a path with what stands for folders written out.
func (t *table) resolved(path string) string {
	if rest, ok := strings.CutPrefix(path, "<project>"); ok && (rest == "" || rest[0] == '/') && len(t.place.Workspaces) > 0 {
		return t.place.Workspaces[0] + rest
	}
	if path == "~" {
		return t.place.Home
	}
	return inHome(path, t.place.Home)
}

// Try says what would become of a call by the rules in force, or with a candidate.
func (b *Book) Try(ctx context.Context, req core.GateTryRequest) (core.GateTry, error) {
	t, err := b.read(ctx, req.ChannelID, req.Policy)
	if err != nil {
		return core.GateTry{}, err
	}
	if c := req.Candidate; c != nil {
		if _, err := t.insert(*c); err != nil {
			return core.GateTry{}, err
		}
	}
	c, err := t.callOf(req.Call)
	if err != nil {
		return core.GateTry{}, err
	}
	p := t.numbered()
	e, err := policy.Compile(p)
	if err != nil {
		return core.GateTry{}, ruleFailure(err)
	}
	inForce, err := policy.Compile(inMode(t.list.Mode, p))
	if err != nil {
		return core.GateTry{}, ruleFailure(err)
	}
	v := c.judge(e)
	out := core.GateTry{
		What: core.Shortened(c.what, 2000), Decision: string(v.Decision), Now: string(c.judge(inForce).Decision), Mode: t.list.Mode,
		Reason: v.Message, Advice: v.Advice, Category: string(v.Category), Number: len(t.rows), Note: t.note(c, v),
	}
	if n, err := strconv.Atoi(v.Rule); err == nil && n >= 1 && n <= len(t.rows) {
		out.Number, out.Rule = n, t.rows[n-1].shown.ID
	}
	if out.Reason == "" {
		out.Reason = t.rows[out.Number-1].shown.Text
	}
	out.Steps = t.steps(c, out.Number)
	c.test.Want = v.Decision
	raw, err := json.Marshal(c.test.asWritten())
	if err != nil {
		return out, fmt.Errorf("encode case: %w", err)
	}
	out.Case = string(raw)
	return out, nil
}

// asWritten leaves out what a case does not have.
func (c TestCase) asWritten() any {
	switch {
	case c.Connect != "":
		return struct {
			Connect string          `json:"connect"`
			Want    policy.Decision `json:"want"`
		}{c.Connect, c.Want}
	case c.Site != "":
		return struct {
			Site string          `json:"site"`
			Want policy.Decision `json:"want"`
		}{c.Site, c.Want}
	case len(c.Exec) > 0:
		return struct {
			Exec []string        `json:"exec"`
			Want policy.Decision `json:"want"`
		}{c.Exec, c.Want}
	}
	return struct {
		Operation policy.Operation `json:"operation"`
		Path      string           `json:"path"`
		Want      policy.Decision  `json:"want"`
	}{c.Operation, c.Path, c.Want}
}

// note says what the rules alone do not.
func (t *table) note(c call, v policy.Verdict) string {
	puts := c.test.Operation == policy.Write || c.test.Operation == policy.Create
	switch {
	case !t.list.Enabled:
		return "The gate is switched off in the settings, so nothing is asked or denied."
	case c.class == core.RuleOfSites && v.Decision != policy.Allow:
		return "What you open yourself, and pages of the agent's own container, are never asked about."
	case c.class == core.RuleOfCommands && v.Decision != policy.Allow:
		return "Rules for commands are advice: the same program under another name is not found by them."
	case v.Decision == policy.Approve && v.Category == policy.Startup && puts:
		return "A change that runs nothing and sends nothing elsewhere may pass silently, in git's configuration and the agent's settings."
	case t.list.Mode != config.ModeEnforce && v.Decision != policy.Allow && v.Category.Remembered():
		return "In this mode it is only written down."
	}
	return ""
}

// steps says of each row of the call's class what it says, those without a match together.
func (t *table) steps(c call, decides int) (out []core.GateTryStep) {
	first := map[int]bool{} // of each layer, whether a row has matched
	for _, r := range t.rows {
		if r.shown.Class != c.class && r.shown.Class != core.RuleOfAll {
			continue
		}
		var step core.GateTryStep
		n, verb := r.shown.Number, verbOf[policy.Decision(r.shown.Decision)]
		matches := r.shown.Class == core.RuleOfAll
		if e := r.alone(); len(r.rules) > 0 && e != nil {
			matches = c.judge(e).Rule == soleRule
		}
		switch {
		case n == decides:
			step = core.GateTryStep{Outcome: "decides", Text: "matches and decides"}
		case !matches:
			step = core.GateTryStep{Outcome: "none", Text: "no match"}
		case first[r.project]:
			step = core.GateTryStep{Outcome: "late", Text: "would match and " + verb + ", never reached"}
		default:
			step = core.GateTryStep{Outcome: "weaker", Text: "matches and would " + verb + "; a stricter rule decides"}
		}
		first[r.project] = first[r.project] || matches
		if last := len(out) - 1; last >= 0 && step.Outcome == "none" && out[last].Outcome == "none" {
			out[last].To = n
			continue
		}
		step.From, step.To = n, n
		out = append(out, step)
	}
	return out
}

var verbOf = map[policy.Decision]string{policy.Allow: "allow", policy.Approve: "ask", policy.Deny: "deny"}

// insert puts a candidate into the table, at the place that it would have, and says which
// row it is.
func (t *table) insert(c core.GateCandidate) (at int, err error) {
	r, err := parseRule(c.Class, c.Rule)
	if err != nil {
		return 0, err
	}
	off := sayingOf(r).off
	r = switched(r, false)
	origin := core.RuleYours
	if c.Scope == core.ScopeProject {
		origin = core.RuleRemembered
	}
	in := rulesOf(asPlanned(with(policy.Policy{}, called(r, idOf(r))), t.name))
	patterns, args := t.patterns(r, false)
	one := row{rules: in, shown: shownOf(called(r, idOf(r)), origin, c.Index, patterns, args)}
	if one.shown.Off = off; off {
		one.rules = nil
	}
	at = slices.IndexFunc(t.rows, func(o row) bool {
		return o.shown.Origin == origin && o.shown.Class == c.Class && o.shown.Index >= c.Index
	})
	if at < 0 { // at the end of its list: before the first row that comes after it
		at = slices.IndexFunc(t.rows, func(o row) bool {
			later := o.shown.Origin == core.RuleBuiltIn || o.shown.Origin == core.RuleDefault
			return later || origin == core.RuleRemembered && o.shown.Origin == core.RuleYours
		})
	} else if c.Replaces {
		t.rows = slices.Delete(t.rows, at, at+1)
	}
	t.rows = slices.Insert(t.rows, at, one)
	for i := range t.rows {
		t.rows[i].shown.Number, t.rows[i].shown.ShadowedBy = i+1, 0
	}
	t.shadowed()
	return at, nil
}

// maxMatched bounds the decisions that are listed for a candidate.
const maxMatched = 20

// Matches says which recent decisions a candidate would have covered.
func (b *Book) Matches(ctx context.Context, id core.ChannelID, c core.GateCandidate) (core.GateRuleMatches, error) {
	t, err := b.read(ctx, id, "")
	if err != nil {
		return core.GateRuleMatches{}, err
	}
	r, err := parseRule(c.Class, c.Rule)
	if err != nil {
		return core.GateRuleMatches{}, err
	}
	recent, err := b.recent(ctx, t.channel)
	if err != nil {
		return core.GateRuleMatches{}, err
	}
	r = switched(r, false) // one that is off would match the same
	patterns, _ := t.patterns(r, false)
	out := core.GateRuleMatches{Text: textOf(r, patterns), Of: len(recent)}
	for _, rec := range (row{rules: []gate.Rule{r}}).matching(recent) {
		out.Total++
		if rec.Decision == string(core.ApprovalDenied) {
			out.Denied++
		}
		if len(out.Matches) < maxMatched {
			out.Matches = append(out.Matches, core.RuleMatch{
				At: rec.At, What: core.Shortened(rec.Operation+" "+rec.Target, 200), Decision: core.ApprovalState(rec.Decision),
			})
		}
	}
	if err := t.refuses(r); err != nil {
		out.Refused = core.AsFailure(err)
	}
	own, err := t.insert(c)
	if err != nil {
		return out, err
	}
	for i, o := range t.rows {
		switch by := o.shown.ShadowedBy; {
		case i == own && by > 0:
			out.ShadowedBy = t.rows[by-1].shown.ID
		case by == own+1:
			out.Shadows = append(out.Shadows, o.shown.ID)
		}
	}
	return out, nil
}

// refuses is why a rule cannot be stored: it would allow for good what is never
// remembered, or what could not be written down.
func (t *table) refuses(r gate.Rule) error {
	if !utf8.ValidString(r.JSON()) {
		return core.Fail(core.CodeInvalid, nil, "The rule is not UTF-8.", "Use “?” for each byte that is not.")
	}
	base, err := policy.Baseline(policy.NameAgent, t.place)
	if err != nil {
		return err
	}
	if id, pattern := policy.Loosens(base, r.File, r.Path); id != "" {
		return core.Fail(core.CodeForbidden, nil,
			fmt.Sprintf("The rule would also allow what %s guards (%s), and that is never allowed for good.", id, pattern),
			"Write a narrower pattern, or have the rule ask.")
	}
	return nil
}

// Suggestions are rules for what the person was asked and has always allowed.
func (b *Book) Suggestions(ctx context.Context, id core.ChannelID) ([]core.GateSuggestion, error) {
	t, err := b.read(ctx, id, "")
	if err != nil {
		return nil, err
	}
	tree, err := b.tree(ctx, t.channel)
	if err != nil {
		return nil, err
	}
	recent, err := b.Recent(tree, maxSuggestedFrom)
	if err != nil {
		return nil, err
	}
	return t.suggestions(recent)
}

// maxSuggestedFrom is how many decisions suggestions are made of, and maxSuggestions how
// many are made.
const (
	maxSuggestedFrom = 2000
	maxSuggestions   = 20
)

// suggestions are the rules that would have answered the questions in the records.
func (t *table) suggestions(records []core.GateRecord) (out []core.GateSuggestion, err error) {
	p := t.numbered()
	e, err := policy.Compile(p)
	if err != nil {
		return nil, ruleFailure(err)
	}
	for _, rec := range records {
		asked := rec.Decision == string(core.ApprovalAllowed) && decidedThen(rec) == policy.Approve
		watched := strings.HasPrefix(rec.Rule, would[policy.Approve])
		if rec.Kind != wire.KindFile || !asked && !watched || e.File(policy.Operation(rec.Operation), rec.Target).Decision != policy.Approve {
			continue // it was not asked, or is not any more
		}
		rules := policy.Suggest(policy.Operation(rec.Operation), rec.Target, t.place)
		if len(rules) == 0 {
			continue
		}
		r := gate.Rule{File: &rules[len(rules)-1]} // the widest: one for a whole cache says more than many
		if slices.ContainsFunc(out, func(s core.GateSuggestion) bool { return s.Rule == r.JSON() }) || t.refuses(r) != nil {
			continue
		}
		if s := t.suggestion(r, records, watched); s.Denied == 0 {
			out = append(out, s)
		}
		if len(out) >= maxSuggestions {
			break
		}
	}
	slices.SortStableFunc(out, func(a, b core.GateSuggestion) int { return b.Asked - a.Asked })
	return out, nil
}

func (t *table) suggestion(r gate.Rule, records []core.GateRecord, watched bool) core.GateSuggestion {
	patterns, _ := t.patterns(r, false)
	s := core.GateSuggestion{Class: classOf(r), Rule: r.JSON(), Text: textOf(r, patterns), From: "answers"}
	if watched {
		s.From = "shadow"
	}
	runs, channels := map[core.RunID]bool{}, map[core.ChannelID]bool{}
	for _, rec := range (row{rules: []gate.Rule{r}}).matching(records) {
		switch {
		case rec.Decision == string(core.ApprovalDenied):
			s.Denied++
		case decidedThen(rec) == policy.Approve || strings.HasPrefix(rec.Rule, would[policy.Approve]):
			s.Asked += max(rec.Calls, 1)
			runs[rec.RunID], channels[rec.ChannelID] = true, true
		}
	}
	s.Runs, s.Channels = len(runs), len(channels)
	return s
}
