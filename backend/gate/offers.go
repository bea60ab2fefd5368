package gate

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"loop/backend/core"
	"loop/backend/policy"
	"loop/backend/wire"
)

// Rule is one rule of a policy, of one of its classes.
type Rule struct {
	File    *policy.FileRule
	Command *policy.CommandRule
	Path    *policy.PathRule
	Site    *policy.SiteRule
}

// JSON is the rule as it stands in the settings.
func (r Rule) JSON() string {
	var v any = r.File
	switch {
	case r.Command != nil:
		v = r.Command
	case r.Path != nil:
		v = r.Path
	case r.Site != nil:
		v = r.Site
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
	case kindNavigate:
		r := policy.SuggestSite(a.Identity)
		r.Decision = d
		return Rule{Site: &r}
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

// programOf is the name of the file that would be executed, and its arguments as rules
// see them, joined by spaces. It is not ok where no rule tells the command from others:
// where the program is called by another name, an argument has a space in it or is not
// printable, or the end of the line is missing.
func programOf(a wire.Approval) (name, args string, ok bool) {
	name = path.Base(a.From)
	argv, ok := unquoted(a.Target)
	if !ok || path.Base(strings.TrimPrefix(argv[0], "-")) != name ||
		slices.ContainsFunc(argv[1:], func(arg string) bool { return arg == "" || strings.ContainsFunc(arg, unicode.IsSpace) }) {
		return name, "", false
	}
	return name, strings.Join(argv[1:], " "), true
}

// unquoted reads a command line that the guest has written for a shell: words as they are
// or in single quotes. What only the other kind of quotes can say, it does not read.
func unquoted(line string) (argv []string, ok bool) {
	word, quoted := "", false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'':
			quoted = !quoted
		case quoted:
			word += line[i : i+1]
		case c == ' ':
			argv, word = append(argv, word), ""
		case c == '\\' && strings.HasPrefix(line[i:], `\'`):
			word += "'"
			i++
		case c == '$', c == '\\', c >= utf8.RuneSelf: // other quotes; the ellipsis of a line that was cut
			return nil, false
		default:
			word += line[i : i+1]
		}
	}
	return append(argv, word), !quoted
}

// storable says that a rule can tell an act from others, and tells it again. What is not
// UTF-8 has a replacement character here, by which no file is called.
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

// patternOf is what an answer that is remembered is about.
func patternOf(a wire.Approval) string {
	if a.Kind == kindNavigate {
		return policy.SiteWords(policy.SuggestSite(a.Identity).Sites)
	}
	return a.Target
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
		out = append(out, core.ApprovalOffer{Scope: sc, Pattern: patternOf(a), Rule: rule.JSON(), Matches: matches, Of: of})
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
		if p.kind == a.Kind && p.operation == a.Operation && p.object == core.Shortened(objectOf(a), 200) {
			out = append(out, core.RuleMatch{At: p.at, What: p.target, Decision: p.decision})
		}
	}
	return out, len(list)
}
