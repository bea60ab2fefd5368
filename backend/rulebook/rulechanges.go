package rulebook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/gate"
	"loop/backend/policy"
)

// projectFor is the project that a scope means; empty is the settings.
func (b *Book) projectFor(ctx context.Context, scope core.ApprovalScope, id core.ChannelID) (core.ChannelID, error) {
	switch scope {
	case core.ScopeAlways:
		return "", nil
	case core.ScopeProject:
		if id == "" {
			return "", core.Fail(core.CodeInvalid, nil, "The rules of which project is not said.", "Name a channel.")
		}
		return b.Answers.projectOf(ctx, id)
	}
	return "", core.Fail(core.CodeInvalid, nil, "Rules are kept for a project or for always.", "Say project or always.")
}

// Edit changes one of the person's own rules. A rule that would allow for good what is never
// remembered is refused; nothing is changed then.
func (b *Book) Edit(ctx context.Context, e core.GateRuleEdit) error {
	project, err := b.projectFor(ctx, e.Scope, e.ChannelID)
	if err != nil {
		return err
	}
	t, err := b.read(ctx, e.ChannelID, "")
	if err != nil {
		return err
	}
	c := change{action: e.Action, index: e.Index, to: e.To}
	switch e.Action {
	case core.RuleAdd, core.RuleChange:
		if c.rule, err = parseRule(e.Class, e.Rule); err != nil {
			return err
		}
		if err := t.refuses(c.rule); err != nil {
			return err
		}
	case core.RuleMove, core.RuleRemove:
		if c.rule, err = parseRule(e.Class, e.Was); err != nil {
			return err
		}
	case core.RuleOff, core.RuleOn:
		c.action = core.RuleChange
		if c.rule, err = t.turned(e); err != nil {
			return err
		}
	default:
		return core.Fail(core.CodeInvalid, nil, "That is no change of a rule.", "Say add, change, move, remove, off or on.")
	}
	b.Answers.mu.Lock()
	defer b.Answers.mu.Unlock()
	list, err := b.Answers.listOf(project, e.Class)
	if err != nil {
		return err
	}
	if e.Action != core.RuleAdd && (e.Index < 0 || e.Index >= len(list) || list[e.Index] != e.Was) {
		return core.Fail(core.CodeConflict, core.ErrConflict, "The rule is not the one that was shown.", "Look at the rules again.")
	}
	if e.Action == core.RuleAdd && (e.Index < 0 || e.Index > len(list)) {
		return core.Fail(core.CodeConflict, core.ErrConflict, "There is no such place among the rules any more.", "Look at the rules again.")
	}
	c.text = doneWords[e.Action] + wordsOf(c.rule)
	if _, err := b.Answers.carryOut(ctx, e.Scope, project, c); err != nil {
		return err
	}
	b.changed(e.ChannelID)
	return nil
}

var doneWords = map[core.GateRuleAction]string{
	core.RuleAdd: "Added: ", core.RuleChange: "Changed to: ", core.RuleMove: "Moved: ", core.RuleRemove: "Removed: ",
	core.RuleOff: "Turned off: ", core.RuleOn: "Turned on: ",
}

// turned is the rule that a change turns off or on.
func (t *table) turned(e core.GateRuleEdit) (gate.Rule, error) {
	r, err := parseRule(e.Class, e.Was)
	if err != nil {
		return r, err
	}
	off := e.Action == core.RuleOff
	if sayingOf(r).off == off {
		return r, core.Fail(core.CodeInvalid, nil, "The rule is "+string(e.Action)+" already.", "Look at the rules again.")
	}
	r = switched(r, off)
	if off {
		return r, nil // it may be one that could not be stored today
	}
	return r, t.refuses(r)
}

// changed has pages read the rules again.
func (b *Book) changed(ch core.ChannelID) {
	b.Publish(core.NewEvent(core.EventGateRules, ch, "", b.Now(), struct{}{}))
}

// Undo takes back the change with an id, or the last one.
func (b *Book) Undo(ctx context.Context, id core.ChannelID, of string) error {
	project := core.ChannelID("")
	if id != "" {
		var err error
		if project, err = b.Answers.projectOf(ctx, id); err != nil {
			return err
		}
	}
	if err := b.Answers.Undo(ctx, "", project, of); err != nil {
		return err
	}
	b.changed(id)
	return nil
}

// exported are rules as they stand under gates.agentgate.
type exported struct {
	FileRules    []policy.FileRule    `json:"file_rules,omitempty"`
	CommandRules []policy.CommandRule `json:"command_rules,omitempty"`
	PathRules    []policy.PathRule    `json:"path_rules,omitempty"`
	SiteRules    []policy.SiteRule    `json:"site_rules,omitempty"`
}

// Export writes the rules of a scope as they would stand under gates.agentgate.
func (b *Book) Export(ctx context.Context, id core.ChannelID, scope core.ApprovalScope) (string, error) {
	project, err := b.projectFor(ctx, scope, id)
	if err != nil {
		return "", err
	}
	p := ownRules(b.Answers.Settings.Current().Gates.AgentGate)
	if project != "" {
		if p, err = b.Answers.read(project); err != nil {
			return "", err
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(exported{p.FileRules, p.CommandRules, p.PathRules, p.SiteRules}); err != nil {
		return "", fmt.Errorf("encode rules: %w", err)
	}
	return out.String(), nil
}

// maxImport bounds the rules of one import.
const maxImport = 200

// Import adds rules, as Export writes them, before those of a scope. Rules that are there
// already are left out. One that cannot be stored has none be stored.
func (b *Book) Import(ctx context.Context, id core.ChannelID, scope core.ApprovalScope, text string) (int, error) {
	project, err := b.projectFor(ctx, scope, id)
	if err != nil {
		return 0, err
	}
	t, err := b.read(ctx, id, "")
	if err != nil {
		return 0, err
	}
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") || len(text) > policy.MaxDocument {
		return 0, core.Fail(core.CodeInvalid, nil, "This is no list of rules.", "Import what “loop gate rules export” has written.")
	}
	p, err := policy.Parse([]byte(withDefault(text)))
	if err != nil {
		f := core.AsFailure(ruleFailure(err))
		return 0, core.Fail(core.CodeInvalid, err, f.Cause, f.Remedy)
	}
	rules := rulesOf(p)
	if len(rules) > maxImport || len(p.Tighten) > 0 || p.Agents != nil || p.Name != "" {
		return 0, core.Fail(core.CodeInvalid, nil, "This is more than a list of at most 200 rules.",
			"Import file_rules, command_rules, path_rules and site_rules alone.")
	}
	for _, r := range rules {
		if sayingOf(r).category != policy.Ordinary {
			return 0, core.Fail(core.CodeInvalid, nil, "A rule has a category, which only Loop's own rules have.", "Remove the category.")
		}
		if err := t.refuses(r); err != nil {
			return 0, err
		}
	}
	return b.addAll(ctx, id, scope, project, rules)
}

// withDefault gives a list of rules the default that a policy must have.
func withDefault(text string) string {
	rest := strings.TrimSpace(text[1:])
	if rest == "}" {
		return `{"default_decision":"allow"}`
	}
	return `{"default_decision":"allow",` + rest
}

// addAll adds rules one by one, the last first, and takes all back if one is refused.
func (b *Book) addAll(
	ctx context.Context, id core.ChannelID, scope core.ApprovalScope, project core.ChannelID, rules []gate.Rule,
) (int, error) {
	var done []string
	for _, r := range slices.Backward(rules) {
		one, err := b.addNew(ctx, scope, project, r)
		if err != nil {
			for _, of := range slices.Backward(done) {
				if uerr := b.Answers.Undo(ctx, scope, project, of); uerr != nil {
					return len(done), fmt.Errorf("take back what was imported: %w", uerr)
				}
			}
			return 0, err
		}
		if one != "" {
			done = append(done, one)
		}
	}
	if len(done) > 0 {
		b.changed(id)
	}
	return len(done), nil
}

// addNew adds a rule that is not there yet.
func (b *Book) addNew(ctx context.Context, scope core.ApprovalScope, project core.ChannelID, r gate.Rule) (id string, err error) {
	b.Answers.mu.Lock()
	defer b.Answers.mu.Unlock()
	list, err := b.Answers.listOf(project, classOf(r))
	if err != nil || slices.Contains(list, r.JSON()) {
		return "", err
	}
	return b.Answers.carryOut(ctx, scope, project, change{action: core.RuleAdd, rule: r, text: "Imported: " + wordsOf(r)})
}

// SetMode has the gate work in a mode in a channel's folder, or as the settings say where it
// is empty.
func (b *Book) SetMode(ctx context.Context, id core.ChannelID, mode string) error {
	ch, err := b.Answers.Channels.Channel(ctx, id)
	if err != nil {
		return err
	}
	if ch.Dir == "" {
		return core.Fail(core.CodeInvalid, nil, "This channel has no folder.", "Set gates.agentgate.mode in the settings.")
	}
	field := "gates.agentgate.modes." + ch.Dir
	switch {
	case mode == "":
		return b.Answers.Settings.Unset(ctx, globalScope, "", field)
	case !slices.Contains([]string{config.ModeRecord, config.ModeShadow, config.ModeEnforce}, mode):
		return core.Fail(core.CodeInvalid, nil, fmt.Sprintf("There is no mode %q.", core.Shortened(mode, 40)), "Say record, shadow or enforce.")
	}
	return b.Answers.Settings.Set(ctx, globalScope, "", field, mode)
}
