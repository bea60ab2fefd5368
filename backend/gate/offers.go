package gate

import (
	"encoding/json"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"loop/backend/core"
	"loop/backend/policy"
	"loop/backend/wire"
)

// Rule is one rule of a policy, of one of its three classes.
type Rule struct {
	File    *policy.FileRule
	Command *policy.CommandRule
	Path    *policy.PathRule
}

// JSON is the rule as it stands in the settings.
func (r Rule) JSON() string {
	var v any = r.File
	switch {
	case r.Command != nil:
		v = r.Command
	case r.Path != nil:
		v = r.Path
	}
	raw, err := json.Marshal(v)
	if err != nil { // strings alone
		return ""
	}
	return string(raw)
}

// ruleOf is the narrowest rule that says of an act what a person said of it.
func ruleOf(a wire.Approval, state core.ApprovalState) Rule {
	d := policy.Deny
	if state == core.ApprovalAllowed {
		d = policy.Allow
	}
	switch a.Kind {
	case wire.KindExec:
		name, args, _ := programOf(a)
		return Rule{Command: &policy.CommandRule{
			Commands: []string{literal(name)}, ArgsPatterns: []string{"^" + regexp.QuoteMeta(args) + "$"}, Decision: d,
		}}
	case wire.KindConnect:
		return Rule{Path: &policy.PathRule{Pattern: literal(a.Target), Decision: d}}
	}
	op := policy.Operation(a.Operation)
	if isGit(a.Target) && policy.Category(a.Category) == policy.Startup {
		// Git writes its configuration beside it and renames, so that the file itself is not all.
		if rules := policy.Suggest(op, a.Target, placeOf(a)); len(rules) > 0 {
			r := rules[0]
			r.Decision = d
			return Rule{File: &r}
		}
	}
	return Rule{File: &policy.FileRule{Paths: []string{literal(a.Target)}, Operations: []policy.Operation{op}, Decision: d}}
}

// placeOf is as much of a container's layout as an act shows: the repository whose
// configuration it changes, which git does by way of a lock file beside it.
func placeOf(a wire.Approval) policy.Place {
	if root, _, in := strings.Cut(a.Target, "/.git/"); in && path.IsAbs(root) && path.Clean(root) == root && root != "/" {
		return policy.Place{Workspaces: []string{root}}
	}
	return policy.Place{}
}

// programOf is the name of the file that would be executed, and its arguments. It is not
// ok where the program is called by another name: then no rule tells it from others.
func programOf(a wire.Approval) (name, args string, ok bool) {
	name = path.Base(a.From)
	first, _, _ := strings.Cut(a.Target, " ")
	if path.Base(strings.TrimPrefix(first, "-")) == name {
		_, args, _ = strings.Cut(a.Target, " ")
		return name, args, true
	}
	for _, called := range []string{a.From, name} { // where it has a space
		if args, ok = strings.CutPrefix(a.Target+" ", called+" "); ok {
			return name, strings.TrimSuffix(args, " "), true
		}
	}
	return name, "", false
}

// storable says that a rule can tell an act from others, and tells it again. What is not
// UTF-8 reaches Loop with another character in its place, and no rule would match it.
func storable(a wire.Approval) bool {
	if strings.ContainsRune(a.Target+a.From, utf8.RuneError) {
		return false
	}
	if a.Kind != wire.KindExec {
		return true
	}
	_, _, ok := programOf(a)
	return ok
}

// literal is a glob that matches this text alone.
func literal(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(`*?[]{}\`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// maxMatches bounds the decisions that an offer lists.
const maxMatches = 20

// offers are the answers to an act that can be remembered, narrowest first.
func (s *Service) offers(who *asker, a wire.Approval) []core.ApprovalOffer {
	if never(a) || a.Act == "" {
		return nil
	}
	scopes := []core.ApprovalScope{core.ScopeRun}
	if s.o.Rules != nil && storable(a) {
		scopes = append(scopes, core.ScopeProject, core.ScopeAlways)
	}
	rule := ruleOf(a, core.ApprovalAllowed)
	matches, of := s.matches(who, a)
	var out []core.ApprovalOffer
	for _, sc := range scopes {
		out = append(out, core.ApprovalOffer{Scope: sc, Pattern: a.Target, Rule: rule.JSON(), Matches: matches, Of: of})
	}
	return out
}

// matches looks among recent decisions of the channel for those that the rule would
// have covered: it names one object, so these are the ones on that object.
func (s *Service) matches(who *asker, a wire.Approval) (out []core.RuleMatch, of int) {
	list := s.recent[who.ChannelID]
	out = append(out, core.RuleMatch{At: s.o.Now(), What: core.Shortened(a.Target, 200), Decision: core.ApprovalWaiting, Own: true})
	for i := len(list) - 1; i >= 0 && len(out) < maxMatches; i-- {
		p := list[i]
		if p.kind == a.Kind && p.operation == a.Operation && p.target == core.Shortened(a.Target, 200) {
			out = append(out, core.RuleMatch{At: p.at, What: p.target, Decision: p.decision})
		}
	}
	return out, len(list)
}
