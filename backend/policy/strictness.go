package policy

import "slices"

// strictness orders decisions. A word that nobody knows is as strict as deny.
func (d Decision) strictness() int {
	switch d {
	case Allow:
		return 0
	case Approve:
		return 1
	default:
		return 2
	}
}

// Tighter is the stricter of two verdicts, and a where they are equally strict.
func Tighter(a, b Verdict) Verdict {
	if b.Decision.strictness() > a.Decision.strictness() {
		return b
	}
	return a
}

// Merge puts together what a spawn goes by. The person's own rules come before the
// baseline's, except those of the gate itself, which nothing precedes, and without those
// that are off; the person's default decision, where there is one, replaces the baseline's. Each of the projects'
// policies counts only where it is stricter than what would be decided without it:
// neither an allow nor an order of rules in a project's file loosens anything. Whether
// a project's file is trusted at all is for the caller to know.
func Merge(baseline, person Policy, projects ...Policy) Policy {
	person = person.inForce()
	merged := Policy{
		Name:            baseline.Name,
		DefaultDecision: baseline.DefaultDecision,
		PathRules:       between(baseline.PathRules, person.PathRules),
		CommandRules:    between(baseline.CommandRules, person.CommandRules),
		FileRules:       between(baseline.FileRules, person.FileRules),
		SiteRules:       between(baseline.SiteRules, person.SiteRules),
		Agents:          baseline.Agents,
		Debuggers:       person.Debuggers,
	}
	if person.DefaultDecision != "" {
		merged.DefaultDecision = person.DefaultDecision
	}
	for _, stack := range [][]Policy{baseline.Tighten, person.Tighten, projects} {
		for _, p := range stack {
			merged.Tighten = append(merged.Tighten, flat(p)...)
		}
	}
	return merged
}

// Stack is a, made stricter by b: what a spawn goes by whose starter goes by a and
// which has a policy b of its own.
func Stack(a, b Policy) Policy {
	tighten := make([]Policy, 0, len(a.Tighten)+len(b.Tighten)+1)
	a.Tighten = append(append(tighten, a.Tighten...), flat(b)...)
	return a
}

// flat is p without a Tighten, and what it has in it.
func flat(p Policy) []Policy {
	inner := p.Tighten
	p.Tighten, p.Agents, p.Debuggers = nil, nil, false
	all := []Policy{p}
	for _, q := range inner {
		all = append(all, flat(q)...)
	}
	return all
}

// rule is what all kinds have in common.
type rule interface {
	PathRule | CommandRule | FileRule | SiteRule
	category() Category
	off() bool
}

func (r PathRule) category() Category    { return r.Category }
func (r CommandRule) category() Category { return r.Category }
func (r FileRule) category() Category    { return r.Category }
func (r SiteRule) category() Category    { return Ordinary }

func (r PathRule) off() bool    { return r.Off }
func (r CommandRule) off() bool { return r.Off }
func (r FileRule) off() bool    { return r.Off }
func (r SiteRule) off() bool    { return r.Off }

// inForce is p without the rules that are off.
func (p Policy) inForce() Policy {
	p.PathRules, p.CommandRules, p.FileRules = rulesOn(p.PathRules), rulesOn(p.CommandRules), rulesOn(p.FileRules)
	p.SiteRules = rulesOn(p.SiteRules)
	return p
}

func rulesOn[R rule](rules []R) []R {
	return slices.DeleteFunc(slices.Clone(rules), func(r R) bool { return r.off() })
}

// between puts the person's rules after those of the gate itself.
func between[R rule](baseline, person []R) []R {
	all := make([]R, 0, len(baseline)+len(person))
	for _, r := range baseline {
		if r.category() == GateOwn {
			all = append(all, r)
		}
	}
	all = append(all, person...)
	for _, r := range baseline {
		if r.category() != GateOwn {
			all = append(all, r)
		}
	}
	return all
}
