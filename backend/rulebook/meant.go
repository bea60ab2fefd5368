package rulebook

import (
	"slices"

	"loop/backend/policy"
)

// asPlanned leaves of the person's rules what holds for a run that plans: it may change
// nothing, so what allows is left out, and a change that would be asked about is denied.
// For other spawns the rules stay as they are.
func asPlanned(p policy.Policy, name string) policy.Policy {
	if name != policy.NamePlan {
		return p
	}
	if p.DefaultDecision == policy.Allow {
		p.DefaultDecision = "" // the baseline's
	}
	p.PathRules = slices.DeleteFunc(slices.Clone(p.PathRules), func(r policy.PathRule) bool { return r.Decision == policy.Allow })
	p.CommandRules = slices.DeleteFunc(slices.Clone(p.CommandRules), func(r policy.CommandRule) bool { return r.Decision == policy.Allow })
	p.SiteRules = slices.DeleteFunc(slices.Clone(p.SiteRules), func(r policy.SiteRule) bool { return r.Decision == policy.Allow })
	var files []policy.FileRule
	for _, r := range p.FileRules {
		if r.Decision == policy.Allow {
			continue
		}
		if changes := changesOf(r); r.Decision == policy.Approve && len(changes) > 0 {
			denied := r
			denied.Operations, denied.Decision = changes, policy.Deny
			files = append(files, denied)
		}
		files = append(files, r)
	}
	p.FileRules = files
	return p
}

// changesOf are the operations of a rule that change something.
func changesOf(r policy.FileRule) []policy.Operation {
	all := []policy.Operation{policy.Write, policy.Create, policy.Delete, policy.Chmod, policy.Chown, policy.Link}
	return slices.DeleteFunc(all, func(op policy.Operation) bool {
		return len(r.Operations) > 0 && !slices.Contains(r.Operations, op)
	})
}

// unasked is a policy for what Loop starts by itself: nobody looks at its questions, so
// what would be asked about is denied at once.
func unasked(p policy.Policy) policy.Policy {
	p.PathRules, p.CommandRules, p.FileRules = slices.Clone(p.PathRules), slices.Clone(p.CommandRules), slices.Clone(p.FileRules)
	p.SiteRules = slices.Clone(p.SiteRules)
	for i := range p.SiteRules {
		deny(&p.SiteRules[i].Decision, &p.SiteRules[i].Advice)
	}
	for i := range p.PathRules {
		deny(&p.PathRules[i].Decision, &p.PathRules[i].Advice)
	}
	for i := range p.CommandRules {
		deny(&p.CommandRules[i].Decision, &p.CommandRules[i].Advice)
	}
	for i := range p.FileRules {
		deny(&p.FileRules[i].Decision, &p.FileRules[i].Advice)
	}
	if p.DefaultDecision == policy.Approve {
		p.DefaultDecision = policy.Deny
	}
	p.Tighten = slices.Clone(p.Tighten)
	for i := range p.Tighten {
		p.Tighten[i] = unasked(p.Tighten[i])
	}
	return p
}

func deny(d *policy.Decision, advice *string) {
	if *d == policy.Approve {
		*d, *advice = policy.Deny,
			"A rule says to ask, but Loop started this by itself and asks nobody. Allow it in the settings, or run it in a terminal."
	}
}
