package rulebook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"loop/backend/core"
	"loop/backend/gate"
	"loop/backend/policy"
)

// rulesOf are the rules of a policy, those of one class after the other.
func rulesOf(p policy.Policy) (out []gate.Rule) {
	for i := range p.FileRules {
		out = append(out, gate.Rule{File: &p.FileRules[i]})
	}
	for i := range p.CommandRules {
		out = append(out, gate.Rule{Command: &p.CommandRules[i]})
	}
	for i := range p.PathRules {
		out = append(out, gate.Rule{Path: &p.PathRules[i]})
	}
	for i := range p.SiteRules {
		out = append(out, gate.Rule{Site: &p.SiteRules[i]})
	}
	return out
}

// with adds a rule to the end of its list.
func with(p policy.Policy, r gate.Rule) policy.Policy {
	switch {
	case r.Command != nil:
		p.CommandRules = append(p.CommandRules, *r.Command)
	case r.Path != nil:
		p.PathRules = append(p.PathRules, *r.Path)
	case r.Site != nil:
		p.SiteRules = append(p.SiteRules, *r.Site)
	case r.File != nil:
		p.FileRules = append(p.FileRules, *r.File)
	}
	return p
}

func classOf(r gate.Rule) core.GateRuleClass {
	switch {
	case r.Command != nil:
		return core.RuleOfCommands
	case r.Path != nil:
		return core.RuleOfSockets
	case r.Site != nil:
		return core.RuleOfSites
	}
	return core.RuleOfFiles
}

// saying is what all kinds of rules have in common.
type saying struct {
	id, message, advice string
	decision            policy.Decision
	category            policy.Category
	off                 bool
}

func sayingOf(r gate.Rule) saying {
	switch {
	case r.Command != nil:
		return saying{r.Command.ID, r.Command.Message, r.Command.Advice, r.Command.Decision, r.Command.Category, r.Command.Off}
	case r.Path != nil:
		return saying{r.Path.ID, r.Path.Message, r.Path.Advice, r.Path.Decision, r.Path.Category, r.Path.Off}
	case r.Site != nil:
		return saying{r.Site.ID, r.Site.Message, r.Site.Advice, r.Site.Decision, policy.Ordinary, r.Site.Off}
	}
	return saying{r.File.ID, r.File.Message, r.File.Advice, r.File.Decision, r.File.Category, r.File.Off}
}

// copied is a rule that can be changed without the other, by its id and by whether it is off.
func copied(r gate.Rule) (c gate.Rule, id *string, off *bool) {
	switch {
	case r.Command != nil:
		one := *r.Command
		return gate.Rule{Command: &one}, &one.ID, &one.Off
	case r.Path != nil:
		one := *r.Path
		return gate.Rule{Path: &one}, &one.ID, &one.Off
	case r.Site != nil:
		one := *r.Site
		return gate.Rule{Site: &one}, &one.ID, &one.Off
	}
	one := *r.File
	return gate.Rule{File: &one}, &one.ID, &one.Off
}

// called is a rule with an id in the place of its own.
func called(r gate.Rule, id string) gate.Rule {
	c, at, _ := copied(r)
	*at = id
	return c
}

// switched is a rule that is off, or on.
func switched(r gate.Rule, off bool) gate.Rule {
	c, _, at := copied(r)
	*at = off
	return c
}

// named gives the rules of a person's or a project's file that have no id one that is made
// of their content: decisions name them by it, wherever they stand in their list.
func named(p policy.Policy) policy.Policy {
	p.FileRules, p.CommandRules, p.PathRules = slices.Clone(p.FileRules), slices.Clone(p.CommandRules), slices.Clone(p.PathRules)
	p.SiteRules = slices.Clone(p.SiteRules)
	for i, r := range p.FileRules {
		p.FileRules[i].ID = idOf(gate.Rule{File: &r})
	}
	for i, r := range p.CommandRules {
		p.CommandRules[i].ID = idOf(gate.Rule{Command: &r})
	}
	for i, r := range p.PathRules {
		p.PathRules[i].ID = idOf(gate.Rule{Path: &r})
	}
	for i, r := range p.SiteRules {
		p.SiteRules[i].ID = idOf(gate.Rule{Site: &r})
	}
	return p
}

// idOf is the id by which decisions name a rule.
func idOf(r gate.Rule) string {
	if id := sayingOf(r).id; id != "" {
		return id
	}
	sum := sha256.Sum256([]byte(switched(r, false).JSON())) // its hits stay its own while it is off
	return "rule-" + hex.EncodeToString(sum[:4])
}

// covers tells whether an earlier rule leaves a later one of its class nothing.
func covers(earlier, later gate.Rule) bool {
	switch {
	case earlier.Command != nil && later.Command != nil:
		return earlier.Command.CoversCommand(*later.Command)
	case earlier.Path != nil && later.Path != nil:
		return earlier.Path.CoversSocket(*later.Path)
	case earlier.Site != nil && later.Site != nil:
		return earlier.Site.CoversSite(*later.Site)
	case earlier.File != nil && later.File != nil:
		return earlier.File.CoversFile(*later.File)
	}
	return false
}

// parseRule reads a rule that a person wrote, strictly. An error is a Failure.
func parseRule(class core.GateRuleClass, text string) (gate.Rule, error) {
	bad := func(err error) (gate.Rule, error) {
		f := core.Fail(core.CodeInvalid, err, "The rule cannot be read.", "docs/gate-policy.md has the form of a rule.")
		return gate.Rule{}, f
	}
	if len(text) > maxRule {
		return bad(nil)
	}
	if !slices.Contains([]core.GateRuleClass{core.RuleOfFiles, core.RuleOfCommands, core.RuleOfSockets, core.RuleOfSites}, class) {
		return bad(nil)
	}
	if !json.Valid([]byte(text)) || !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return gate.Rule{}, core.Fail(core.CodeInvalid, nil, "The rule is not a JSON object.", "Correct it, or write it anew.")
	}
	p, err := policy.Parse([]byte(`{"default_decision":"allow","` + string(class) + `":[` + text + `]}`))
	if err != nil {
		f := core.AsFailure(ruleFailure(err))
		return gate.Rule{}, core.Fail(core.CodeInvalid, err, strings.Replace(f.Cause, "A rule of the gate", "The rule", 1), f.Remedy)
	}
	r := rulesOf(p)[0]
	if sayingOf(r).category != policy.Ordinary {
		return gate.Rule{}, core.Fail(core.CodeInvalid, nil, "The rule has a category, which only Loop's own rules have.", "Remove the category.")
	}
	return r, nil
}

// maxRule bounds the text of one rule.
const maxRule = 64 << 10
