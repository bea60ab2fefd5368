package rulebook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"time"

	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/gate"
	"loop/backend/policy"
)

// Book lists, tries and changes the rules of the gate. Its methods may be called from any
// goroutine. All fields are required.
type Book struct {
	Policies Policies
	Answers  *Answers
	Global   func() config.Snapshot
	// Spec is what a channel's next container would be; an error has the rules be listed for
	// a usual one.
	Spec func(ctx context.Context, ch core.Channel) (core.Spec, error)
	// Recent are the newest named decisions in channels, newest first.
	Recent  func(channels []core.ChannelID, most int) ([]core.GateRecord, error)
	Tree    func(ctx context.Context) ([]core.Channel, error)
	Hits    *Hits
	Publish func(...core.Event)
	Now     func() time.Time
}

// maxRecent is how many decisions rules are tried on.
const maxRecent = 500

// row is one line of the list, with the rules that it stands for: none where it is the
// default, or off.
type row struct {
	shown   core.GateRule
	rules   []gate.Rule
	project int // which of the projects' files, from 1; 0 is the policy itself
}

// table is the list for one channel and policy.
type table struct {
	list    core.GateRuleList
	rows    []row
	channel core.Channel
	place   policy.Place
	name    string
	base    policy.Policy
	dflt    policy.Decision
}

// channelOf finds a channel; without an id it has the person's settings alone.
func (b *Book) channelOf(ctx context.Context, id core.ChannelID) (core.Channel, error) {
	if id == "" {
		return core.Channel{Kind: core.KindDemo}, nil
	}
	return b.Answers.Channels.Channel(ctx, id)
}

// read is the table of a channel, without what is known of the past.
func (b *Book) read(ctx context.Context, id core.ChannelID, name string) (*table, error) {
	ch, err := b.channelOf(ctx, id)
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = policy.NameAgent
	}
	t := &table{channel: ch, name: name}
	e, stopped := b.Policies.Settings.ForPolicy(ch)
	if len(e.Layers) == 0 {
		return nil, stopped
	}
	var guessed bool
	t.place, guessed = b.place(ctx, ch)
	if t.base, err = policy.Baseline(name, t.place); err != nil {
		return nil, core.Fail(core.CodeInvalid, err, "The gate has no rules of that name, or none for this container.",
			"Name agent, person, system or plan.")
	}
	answered := policy.Policy{}
	if name != policy.NameSystem && id != "" {
		if answered, err = b.Answers.forChannel(ctx, ch); err != nil {
			return nil, err
		}
	}
	mode, from := modeOf(e.Config.Gates.AgentGate, ch)
	t.list = core.GateRuleList{
		ChannelID: id, Policy: name, Mode: mode, ModeFrom: from, Enabled: e.Config.Gates.AgentGate.Enabled, Guessed: guessed,
		Uncounted: uncounted, Files: b.files(ctx, ch, e, stopped),
	}
	t.dflt = policy.Merge(t.base, asPlanned(personOf(e, name), name)).DefaultDecision
	t.builtIn(func(c policy.Category) bool { return c == policy.GateOwn }, core.RuleFirst)
	t.projects(e)
	t.persons(answered, core.RuleRemembered, core.ScopeProject, b.Answers.file(b.topOf(ctx, ch)), nil)
	own := e.Layers[0]
	t.persons(ownRules(own.Config.Gates.AgentGate), core.RuleYours, core.ScopeAlways, own.Path, own.RuleLine)
	t.builtIn(func(c policy.Category) bool { return c != policy.GateOwn }, core.RuleBuiltIn)
	t.last()
	t.shadowed()
	t.list.Version = t.version()
	return t, nil
}

// topOf is the channel whose project a channel belongs to, or the channel itself.
func (b *Book) topOf(ctx context.Context, ch core.Channel) core.ChannelID {
	if top, err := b.Answers.projectOf(ctx, ch.ID); err == nil {
		return top
	}
	return ch.ID
}

// anySpawn stands for the id of a spawn.
const anySpawn = "ID"

// place is where things lie in a channel's container, or would in a usual one.
func (b *Book) place(ctx context.Context, ch core.Channel) (p policy.Place, guessed bool) {
	if ch.ID != "" {
		if spec, err := b.Spec(ctx, ch); err == nil {
			return placeOf(spec, anySpawn), false
		}
	}
	p = placeOf(core.Spec{Agent: core.AgentUser{Home: testHome}}, anySpawn)
	if ch.Dir != "" && ch.Dir != "/" {
		p.Workspaces = []string{ch.Dir}
	}
	return p, true
}

func (t *table) add(r row) {
	r.shown.Number = len(t.rows) + 1
	t.rows = append(t.rows, r)
}

// builtIn adds those rules of the baseline whose category fits. Equal ids are one row.
func (t *table) builtIn(fits func(policy.Category) bool, origin core.GateRuleOrigin) {
	begin := len(t.rows)
	base := t.base
	if t.name == policy.NameSystem {
		base = unasked(base)
	}
	for _, r := range rulesOf(base) {
		says := sayingOf(r)
		if !fits(says.category) {
			continue
		}
		patterns, args := t.patterns(r, true)
		same := slices.IndexFunc(t.rows[begin:], func(o row) bool { return o.shown.ID == says.id && o.shown.Class == classOf(r) })
		if same >= 0 {
			at := &t.rows[begin+same]
			at.rules, at.shown.Patterns = append(at.rules, r), append(at.shown.Patterns, patterns...)
			at.shown.Text = textOf(r, at.shown.Patterns)
			continue
		}
		t.add(row{rules: []gate.Rule{r}, shown: shownOf(r, origin, 0, patterns, args)})
	}
}

// persons adds a person's rules, those of a class in the order in which they are tried.
func (t *table) persons(
	p policy.Policy, origin core.GateRuleOrigin, scope core.ApprovalScope, path string, line func(field string, i int) int,
) {
	index := map[core.GateRuleClass]int{}
	for _, r := range rulesOf(p) {
		class, written := classOf(r), r.JSON()
		i := index[class]
		index[class]++
		off := sayingOf(r).off
		r = called(switched(r, false), idOf(r))
		now := asPlanned(with(policy.Policy{}, r), t.name)
		if t.name == policy.NameSystem {
			now = unasked(now)
		}
		in := rulesOf(now)
		if len(in) == 0 {
			continue // it does not count in a run that plans
		}
		patterns, args := t.patterns(r, false)
		s := shownOf(in[0], origin, i, patterns, args)
		s.Path, s.Scope, s.Rule, s.Editable, s.Off = path, scope, written, true, off
		if off {
			in = nil
		}
		if line != nil {
			s.Line = line("gates.agentgate."+string(class), i)
		}
		t.add(row{rules: in, shown: s})
	}
}

// projects adds the rules of the project's files.
func (t *table) projects(e config.Effective) {
	for n, p := range projectsOf(e) {
		layer := e.Layers[layerOfProject(e, n)]
		index := map[core.GateRuleClass]int{}
		for _, r := range rulesOf(p) {
			class := classOf(r)
			patterns, args := t.patterns(r, false)
			s := shownOf(r, core.RuleProject, index[class], patterns, args)
			s.Path, s.Scope, s.Line = layer.Path, core.ScopeProject, layer.RuleLine("gates.agentgate."+string(class), index[class])
			index[class]++
			if t.name == policy.NameSystem {
				r = rulesOf(unasked(with(policy.Policy{}, r)))[0]
				s.Decision = string(sayingOf(r).decision)
			}
			t.add(row{rules: []gate.Rule{r}, shown: s, project: n + 1})
		}
	}
}

// last adds the default.
func (t *table) last() {
	words := map[policy.Decision]string{
		policy.Allow: "Allow everything else.", policy.Approve: "Ask before everything else.", policy.Deny: "Deny everything else.",
	}
	if t.name == policy.NameSystem && t.dflt == policy.Approve {
		t.dflt = policy.Deny
	}
	t.add(row{shown: core.GateRule{Origin: core.RuleDefault, Class: core.RuleOfAll, Decision: string(t.dflt), Text: words[t.dflt],
		Calls: []string{}, Patterns: []string{}}})
}

func shownOf(r gate.Rule, origin core.GateRuleOrigin, index int, patterns, args []string) core.GateRule {
	says := sayingOf(r)
	return core.GateRule{
		ID: says.id, Origin: origin, Class: classOf(r), Index: index, Decision: string(says.decision), Calls: callsOf(r),
		Patterns: patterns, Args: args, Text: textOf(r, patterns), Message: says.message, Advice: says.advice, Category: string(says.category),
	}
}

// patterns are those of a rule as a person reads them.
func (t *table) patterns(r gate.Rule, short bool) (patterns, args []string) {
	list := []string{}
	switch {
	case r.Command != nil:
		return append(list, r.Command.Commands...), r.Command.ArgsPatterns
	case r.Path != nil:
		list = append(list, r.Path.Pattern)
	case r.Site != nil:
		return append(list, r.Site.Sites...), nil
	default:
		list = append(list, r.File.Paths...)
	}
	if !short {
		return list, nil
	}
	out := []string{}
	for _, p := range list {
		if p = policy.Shown(p, t.place.Workspaces, "<project>"); p != "" && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out, nil
}

func textOf(r gate.Rule, patterns []string) string {
	switch {
	case r.Command != nil:
		return r.Command.CommandWords()
	case r.Path != nil:
		return r.Path.SocketWords(patterns)
	case r.Site != nil:
		return r.Site.SiteWords()
	}
	return r.File.FileWords(patterns)
}

func callsOf(r gate.Rule) []string {
	switch {
	case r.Command != nil:
		return []string{"run"}
	case r.Path != nil:
		return []string{"connect"}
	case r.Site != nil:
		return []string{string(core.ApprovalNavigate)}
	}
	ops := r.File.Operations
	if len(ops) == 0 {
		ops = testable
	}
	out := make([]string, 0, len(ops))
	for _, op := range ops {
		out = append(out, string(op))
	}
	return out
}

// shadowed notes which rows an earlier one leaves nothing.
func (t *table) shadowed() {
	for i := range t.rows {
		for j := range i {
			if t.rows[j].project == t.rows[i].project && leavesNothing(t.rows[j], t.rows[i]) {
				t.rows[i].shown.ShadowedBy = t.rows[j].shown.Number
				break
			}
		}
	}
}

// leavesNothing: each rule of the later row is covered by one of the earlier.
func leavesNothing(earlier, later row) bool {
	if len(later.rules) == 0 || later.shown.Origin == core.RuleFirst || later.shown.Origin == core.RuleBuiltIn {
		return false // what Loop ships cannot be moved or removed
	}
	return !slices.ContainsFunc(later.rules, func(l gate.Rule) bool {
		return !slices.ContainsFunc(earlier.rules, func(e gate.Rule) bool { return covers(e, l) })
	})
}

// version names what is listed.
func (t *table) version() string {
	h := sha256.New()
	for _, r := range t.rows {
		h.Write([]byte(string(r.shown.Origin) + r.shown.ID + r.shown.Decision + strconv.Itoa(r.project) + strconv.FormatBool(r.shown.Off)))
		for _, one := range r.rules {
			h.Write([]byte(one.JSON()))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// List is every rule in force for programs that a channel starts from now on.
func (b *Book) List(ctx context.Context, id core.ChannelID, name string) (core.GateRuleList, error) {
	t, err := b.read(ctx, id, name)
	if err != nil {
		return core.GateRuleList{}, err
	}
	recent, err := b.recent(ctx, t.channel)
	if err != nil {
		return core.GateRuleList{}, err
	}
	t.list.Recent = len(recent)
	tree, err := b.tree(ctx, t.channel)
	if err != nil {
		return core.GateRuleList{}, err
	}
	for i := range t.rows {
		t.rows[i].shown.Recent = len(t.rows[i].matching(recent))
	}
	b.Hits.fill(t, tree, b.Now())
	for _, r := range t.rows {
		t.list.Rules = append(t.list.Rules, r.shown)
	}
	t.list.Undo = b.Answers.lastEdit(b.topOf(ctx, t.channel))
	return t.list, nil
}

// tree are the channels of a project; nil means all.
func (b *Book) tree(ctx context.Context, ch core.Channel) ([]core.ChannelID, error) {
	if ch.ID == "" {
		return nil, nil
	}
	all, err := b.Tree(ctx)
	if err != nil {
		return nil, err
	}
	parents := map[core.ChannelID]core.ChannelID{}
	for _, c := range all {
		parents[c.ID] = c.ParentID
	}
	top := func(id core.ChannelID) core.ChannelID {
		for range maxDepth {
			if parents[id] == "" {
				break
			}
			id = parents[id]
		}
		return id
	}
	own, out := top(ch.ID), []core.ChannelID{ch.ID}
	for _, c := range all {
		if c.ID != ch.ID && top(c.ID) == own {
			out = append(out, c.ID)
		}
	}
	return out, nil
}

// recent are the newest decisions of a channel's project.
func (b *Book) recent(ctx context.Context, ch core.Channel) ([]core.GateRecord, error) {
	tree, err := b.tree(ctx, ch)
	if err != nil {
		return nil, err
	}
	return b.Recent(tree, maxRecent)
}

// RuleOf is a rule as it is now, by the id by which a decision in a channel names it; nil
// where there is none any more.
func (b *Book) RuleOf(ctx context.Context, id core.ChannelID, rule string) *core.GateRule {
	if rule == "" {
		return nil
	}
	l, err := b.List(ctx, id, "")
	if err != nil {
		return nil // it is shown in the list of rules itself
	}
	i := slices.IndexFunc(l.Rules, func(r core.GateRule) bool { return r.ID == plainRule(rule) })
	if i < 0 {
		return nil
	}
	return &l.Rules[i]
}
