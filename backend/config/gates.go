package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"loop/backend/policy"
)

// Gates are what holds acts of agents until a person answers.
type Gates struct {
	AgentGate AgentGate `json:"agentgate"`
}

// AgentGate is the gate at system calls. The person's rules come before the baseline
// that Loop ships; a project's only ever make it stricter, so that they need no approval.
type AgentGate struct {
	Enabled         bool                 `json:"enabled" default:"true" project:"never"`
	Mode            string               `json:"mode" default:"\"enforce\"" oneof:"record,shadow,enforce" project:"never"`
	Modes           map[string]string    `json:"modes" merge:"by key" project:"never" check:"modes"`
	DefaultDecision string               `json:"default_decision" default:"\"allow\"" oneof:"allow,approve,deny" project:"tighten"`
	PathRules       []policy.PathRule    `json:"path_rules" merge:"append" project:"tighten"`
	CommandRules    []policy.CommandRule `json:"command_rules" merge:"append" project:"tighten"`
	FileRules       []policy.FileRule    `json:"file_rules" merge:"append" project:"tighten"`
	SiteRules       []policy.SiteRule    `json:"site_rules" merge:"append" project:"tighten"`
	TimeoutSec      int                  `json:"timeout_sec" default:"300" min:"10" max:"86400" unit:"seconds" project:"never"`
	HoldUntilBack   bool                 `json:"hold_until_back" default:"false" project:"never"`
	Debuggers       bool                 `json:"debuggers" default:"false" project:"never"`
	Dialog          string               `json:"dialog" default:"\"hidden\"" oneof:"hidden,always,never" project:"never"`
}

// Modes of the gate. All but the last only record, except for what is never remembered.
const (
	ModeRecord  = "record"
	ModeShadow  = "shadow" // and names what would have been asked or denied
	ModeEnforce = "enforce"
)

// checkModes looks at the modes of folders.
func checkModes(modes map[string]string) error {
	for dir, mode := range modes {
		switch {
		case !filepath.IsAbs(dir) || filepath.Clean(dir) != dir:
			return &wrongError{msg: "must name folders from the root on", remedy: "Write the folder of the channel, as Loop shows it."}
		case !slices.Contains([]string{"", ModeRecord, ModeShadow, ModeEnforce}, mode):
			return &wrongError{msg: "has a mode that is none of record, shadow and enforce", remedy: "Correct it, or remove the folder."}
		}
	}
	return nil
}

// decisions orders the values of default_decision.
var decisions = []string{string(policy.Allow), string(policy.Approve), string(policy.Deny)}

// isRules says that a field is a list of rules.
func isRules(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct && t != reflect.TypeFor[[]Agent]()
}

// rules reads a list of rules, strictly: a name that nobody knows may be a slip that
// would make the rule say something else.
func rules(raw []byte, into any) error {
	if err := json.Unmarshal(raw, into, json.RejectUnknownMembers(true)); err != nil {
		w := &wrongError{msg: "must be a list of rules", remedy: "docs/configuration.md has the form of a rule."}
		if at, ok := errors.AsType[*json.SemanticError](err); ok && at.JSONPointer != "" {
			index, part, _ := strings.Cut(string(at.JSONPointer[1:]), "/")
			n, _ := strconv.Atoi(index)
			w.entry = n + 1
			w.msg = fmt.Sprintf("has in rule %d something that a rule does not have at “%s”", n+1, printable(part))
		}
		return w
	}
	v := reflect.ValueOf(into).Elem()
	for i := range v.Len() {
		if err := rule(v.Index(i)); err != nil {
			return &wrongError{msg: fmt.Sprintf("has in rule %d %v", i+1, err), remedy: "Correct it.", entry: i + 1}
		}
	}
	return nil
}

// rule checks one rule of any kind. Whether a pattern that begins in a folder
// may stand in this file is checked where the policy is put together, before anything starts.
func rule(v reflect.Value) error {
	d, _ := v.FieldByName("Decision").Interface().(policy.Decision)
	if !slices.Contains(decisions, string(d)) {
		return errors.New("no decision of allow, approve and deny")
	}
	if c := v.FieldByName("Category"); c.IsValid() && c.String() != "" {
		return errors.New("a category, which only Loop's own rules have")
	}
	if p := v.FieldByName("Pattern"); p.IsValid() && strings.TrimSpace(p.String()) == "" {
		return errors.New("no pattern")
	}
	var err error
	switch r := v.Interface().(type) {
	case policy.FileRule:
		r.Paths = within(r.Paths, "")
		err = r.Check()
	case policy.PathRule:
		r.Pattern = within([]string{r.Pattern}, "")[0]
		err = r.Check()
	case policy.CommandRule:
		err = r.Check()
	case policy.SiteRule:
		err = r.Check()
	}
	if err != nil {
		return fmt.Errorf("something that cannot be read: %w", err)
	}
	return nil
}

// rulesHold has those rules of a project's file count that it says are off, and warns of
// them. Only the person turns rules off, and only their own.
func (doc *document) rulesHold() {
	g := &doc.config.Gates.AgentGate
	g.PathRules = turnedOn(doc, "path_rules", g.PathRules, func(r *policy.PathRule) *bool { return &r.Off })
	g.CommandRules = turnedOn(doc, "command_rules", g.CommandRules, func(r *policy.CommandRule) *bool { return &r.Off })
	g.FileRules = turnedOn(doc, "file_rules", g.FileRules, func(r *policy.FileRule) *bool { return &r.Off })
	g.SiteRules = turnedOn(doc, "site_rules", g.SiteRules, func(r *policy.SiteRule) *bool { return &r.Off })
}

func turnedOn[R any](doc *document, list string, rules []R, off func(*R) *bool) []R {
	rules = slices.Clone(rules) // as it is written it is another field's
	for i := range rules {
		if at := off(&rules[i]); *at {
			*at = false
			field := "gates.agentgate." + list
			doc.add(doc.set[fmt.Sprintf("%s[%d]", field, i)], field, true,
				fmt.Sprintf("“%s” has in rule %d “off”, which a project's file cannot say; the rule holds.", field, i+1),
				"Remove the rule here if it is not to hold.")
		}
	}
	return rules
}

// within makes patterns that begin with a name begin in a folder. Patterns have no “..”, so
// that none leads out of it. One that begins with “~” stays, and is refused: it would be a
// folder of that name.
func within(patterns []string, dir string) (out []string) {
	for _, p := range patterns {
		if p != "" && !strings.ContainsRune("/@~", rune(p[0])) {
			p = policy.Quote(dir) + "/" + p
		}
		out = append(out, p)
	}
	return out
}

// resolve makes the relative patterns of a project begin in each of its folders: the file of
// a project holds in its worktrees, too. Where a folder has another path in a container, as
// on Windows, they stay relative, which is refused.
func (g *AgentGate) resolve(dirs ...string) {
	for _, dir := range dirs {
		if !strings.HasPrefix(dir, "/") {
			return
		}
	}
	each := func(patterns []string) (out []string) {
		for _, dir := range dirs {
			for _, p := range within(patterns, dir) {
				if !slices.Contains(out, p) {
					out = append(out, p)
				}
			}
		}
		return out
	}
	g.FileRules = slices.Clone(g.FileRules)
	for i := range g.FileRules {
		g.FileRules[i].Paths = each(g.FileRules[i].Paths)
	}
	var sockets []policy.PathRule
	for _, r := range g.PathRules {
		for _, p := range each([]string{r.Pattern}) {
			r.Pattern = p
			sockets = append(sockets, r)
		}
	}
	g.PathRules = sockets
}
