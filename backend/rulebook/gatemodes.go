package rulebook

import (
	"fmt"
	"slices"

	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/policy"
)

// modeOf is the mode in a channel, and where it comes from: the settings, or the folder
// that has one of its own. A worktree that has none goes by its project's.
func modeOf(g config.AgentGate, ch core.Channel) (mode, from string) {
	for _, dir := range []string{ch.Dir, ch.ParentDir} {
		if m := g.Modes[dir]; dir != "" && m != "" {
			return m, dir
		}
	}
	return g.Mode, modeOfSettings
}

const modeOfSettings = "settings"

// inMode is a policy that only records, or also names what it would have asked and denied,
// where the mode says so. What is never remembered still holds: credentials, protected
// sockets, what leads out of the container, and the gate's own. So does all of a run that
// only plans. A mode that nobody knows enforces.
func inMode(mode string, p policy.Policy) policy.Policy {
	if mode != config.ModeRecord && mode != config.ModeShadow || p.Name == policy.NamePlan {
		return p
	}
	p = loosened(mode, p)
	p.Tighten = slices.Clone(p.Tighten)
	for i, t := range p.Tighten {
		p.Tighten[i] = loosened(mode, t)
	}
	return p
}

func loosened(mode string, p policy.Policy) policy.Policy {
	p.DefaultDecision = policy.Allow
	p.FileRules = passing(p.FileRules, func(r *policy.FileRule, i int) (policy.Category, *policy.Decision, *string, string) {
		return r.Category, &r.Decision, &r.ID, fmt.Sprint("file-rule-", i)
	}, mode)
	p.CommandRules = passing(p.CommandRules, func(r *policy.CommandRule, i int) (policy.Category, *policy.Decision, *string, string) {
		return r.Category, &r.Decision, &r.ID, fmt.Sprint("command-rule-", i)
	}, mode)
	p.PathRules = passing(p.PathRules, func(r *policy.PathRule, i int) (policy.Category, *policy.Decision, *string, string) {
		return r.Category, &r.Decision, &r.ID, fmt.Sprint("path-rule-", i)
	}, mode)
	p.SiteRules = passing(p.SiteRules, func(r *policy.SiteRule, i int) (policy.Category, *policy.Decision, *string, string) {
		return policy.Ordinary, &r.Decision, &r.ID, fmt.Sprint("site-rule-", i)
	}, mode)
	return p
}

// passing has the rules allow that would ask or deny. They go after the others: a rule that
// now allows must not come before one that still holds.
func passing[R any](rules []R, of func(r *R, i int) (policy.Category, *policy.Decision, *string, string), mode string) []R {
	var keep, pass []R
	for i, r := range rules {
		category, decision, id, nameless := of(&r, i+1)
		if *decision == policy.Allow || !category.Remembered() {
			keep = append(keep, r)
			continue
		}
		if *id == "" {
			*id = nameless
		}
		if mode == config.ModeShadow {
			*id = would[*decision] + *id
		}
		*decision = policy.Allow
		pass = append(pass, r)
	}
	return append(keep, pass...)
}

// would goes before the id of a rule in the record of what it would have done.
var would = map[policy.Decision]string{policy.Approve: policy.WouldAsk, policy.Deny: policy.WouldDeny}
