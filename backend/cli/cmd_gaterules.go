package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"loop/backend/core"
)

// ruleFlags say which rules are meant.
type ruleFlags struct{ channel, scope string }

func (f *ruleFlags) on(cmd *cobra.Command, scope bool) {
	cmd.Flags().StringVar(&f.channel, "channel", "", "of this channel's project, by id or name")
	if scope {
		cmd.Flags().StringVar(&f.scope, "scope", string(core.ScopeAlways),
			"those of your settings (always), or the remembered ones of the project")
	}
}

// of is the channel that the flags name; empty where there is none.
func (f *ruleFlags) of(j *job) (core.ChannelID, error) {
	if f.channel == "" {
		return "", nil
	}
	return findChannel(j.ctx, j, f.channel)
}

// rules are the channel's, or the person's own where the flags name none.
func (f *ruleFlags) rules(j *job) (id core.ChannelID, l core.GateRuleList, err error) {
	if id, err = f.of(j); err == nil {
		l, err = call[core.GateRuleList](j.ctx, j, "GateRules.List", id, "")
	}
	return id, l, err
}

func (a *app) gateRulesCommand() *cobra.Command {
	cmd := a.ruleListCommand("rules")
	cmd.Short = "List, change and export the rules of the gate"
	cmd.Long = `List, change and export the rules of the gate.

Without a channel these are your own rules and those that Loop ships; with --channel
those of its project and its remembered answers as well. What you change counts
at once, also for programs that run. docs/gate-policy.md has the form of a rule.`
	cmd.Example = `  loop gate rules --channel shop
  loop gate rules add '{"paths": ["/home/*/src/shop/secrets/**"], "decision": "deny"}'
  loop gate rules add '{"sites": ["example.com", "*.example.com"], "decision": "allow"}'
  loop gate rules off 12
  loop gate rules remove 12
  loop gate rules undo
  loop gate rules export > rules.json`
	cmd.AddCommand(
		a.ruleListCommand("list"), a.ruleAddCommand(),
		a.ruleActionCommand(core.RuleRemove, "remove", "Remove one of your rules", "Removed"),
		a.ruleActionCommand(core.RuleOff, "off", "Turn one of your rules off, and keep it", "Off"),
		a.ruleActionCommand(core.RuleOn, "on", "Turn one of your rules on again", "On"),
		a.ruleExportCommand(), a.ruleImportCommand(), a.ruleUndoCommand())
	return cmd
}

func (a *app) ruleListCommand(use string) *cobra.Command {
	var f ruleFlags
	var policy string
	var export bool
	cmd := jsonFlag(&cobra.Command{Use: use, Short: "List the rules in the order in which they are tried", Args: none})
	f.on(cmd, true)
	cmd.Flags().StringVar(&policy, "policy", "agent", "agent, person, system or plan")
	cmd.Flags().BoolVar(&export, "export", false, "print them as they would stand in the settings")
	return a.job(cmd, a.connectIdle, func(j *job) error {
		id, err := f.of(j)
		if err != nil {
			return err
		}
		if export {
			return j.exportRules(id, f.scope)
		}
		_, err = show(j, j.showRules, "GateRules.List", id, policy)
		return err
	})
}

func (j *job) showRules(l core.GateRuleList) {
	for _, f := range l.Files {
		for _, p := range f.Problems {
			j.err.line("%s:%d: %s %s", f.Path, p.Line, oneLine(p.Message, 5*maxLine), oneLine(p.Remedy, 5*maxLine))
		}
		if len(f.Waiting) > 0 {
			j.err.line("%s is not approved as it is, so it goes without its %s.", f.Path, strings.Join(f.Waiting, ", "))
		}
	}
	rows := [][]string{{"NR", "WHOSE", "DECISION", "HITS", "LAST", "ID", "WHAT"}}
	for _, r := range l.Rules {
		last := ""
		if !r.LastUsed.IsZero() {
			last = r.LastUsed.Local().Format(time.DateOnly)
		}
		what := oneLine(r.Text, maxLine)
		switch {
		case r.Off:
			what += " (off)"
		case r.ShadowedBy > 0:
			what += fmt.Sprintf(" (never reached: %d matches all of it)", r.ShadowedBy)
		case r.Stale:
			what += " (no hit in 90 days)"
		}
		rows = append(rows, []string{strconv.Itoa(r.Number), strings.ReplaceAll(string(r.Origin), "_", "-"), r.Decision,
			strconv.FormatInt(r.Hits, 10), last, oneLine(r.ID, maxLine), what})
	}
	j.table(rows)
	if l.Mode != "enforce" {
		j.out.line("The mode is %s (%s).", l.Mode, l.ModeFrom)
	}
}

func (a *app) ruleAddCommand() *cobra.Command {
	var f ruleFlags
	var at int
	cmd := &cobra.Command{Use: "add RULE", Short: "Add a rule, before the others of its kind", Args: exactly("the rule")}
	f.on(cmd, true)
	cmd.Flags().IntVar(&at, "at", 0, "its place in its list; 0 is the first")
	return a.job(cmd, a.connectIdle, func(j *job) error {
		id, err := f.of(j)
		if err != nil {
			return err
		}
		_, err = call[core.GateRuleList](j.ctx, j, "GateRules.Edit", core.GateRuleEdit{
			ChannelID: id, Action: core.RuleAdd, Scope: core.ApprovalScope(f.scope), Class: classOfRule(j.args[0]), Index: at, Rule: j.args[0],
			By: "command line",
		})
		if err == nil {
			j.err.line("Added. “loop gate rules undo” takes it back.")
		}
		return err
	})
}

// classOfRule is the list in which a rule stands, by what it has.
func classOfRule(text string) core.GateRuleClass {
	var has map[string]any
	_ = json.Unmarshal([]byte(text), &has) // what is no rule is refused where it is read
	switch {
	case has["pattern"] != nil:
		return core.RuleOfSockets
	case has["sites"] != nil:
		return core.RuleOfSites
	case has["commands"] != nil, has["args_patterns"] != nil:
		return core.RuleOfCommands
	}
	return core.RuleOfFiles
}

// ruleActionCommand does something with one rule of the list.
func (a *app) ruleActionCommand(action core.GateRuleAction, name, short, done string) *cobra.Command {
	var f ruleFlags
	cmd := &cobra.Command{Use: name + " NUMBER|ID", Short: short + ", by its number or id in the list", Args: exactly("the rule")}
	f.on(cmd, false)
	return a.job(cmd, a.connectIdle, func(j *job) error {
		id, l, err := f.rules(j)
		if err != nil {
			return err
		}
		r, err := pickRule(l.Rules, j.args[0])
		if err != nil {
			return err
		}
		_, err = call[core.GateRuleList](j.ctx, j, "GateRules.Edit", core.GateRuleEdit{
			ChannelID: id, Action: action, Scope: r.Scope, Class: r.Class, Index: r.Index, Was: r.Rule, By: "command line",
		})
		if err == nil {
			j.err.line("%s: %s “loop gate rules undo” takes it back.", done, oneLine(r.Text, 3*maxLine))
		}
		return err
	})
}

func pickRule(rules []core.GateRule, name string) (core.GateRule, error) {
	fits := slices.DeleteFunc(slices.Clone(rules), func(r core.GateRule) bool { return r.ID != name && strconv.Itoa(r.Number) != name })
	switch {
	case len(fits) == 0:
		return core.GateRule{}, core.Fail(core.CodeNotFound, nil, fmt.Sprintf("There is no rule %q.", name),
			"“loop gate rules” lists them.")
	case len(fits) > 1:
		return core.GateRule{}, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("%d rules are called %q.", len(fits), name),
			"Name it by its number.")
	case fits[0].Editable:
		return fits[0], nil
	case fits[0].Origin == core.RuleProject:
		return core.GateRule{}, core.Fail(core.CodeForbidden, nil, "This rule is the project's.", "Change it in "+fits[0].Path+".")
	}
	return core.GateRule{}, core.Fail(core.CodeForbidden, nil, "This rule is not one of yours.", "Rules of yours come before it.")
}

func (a *app) ruleExportCommand() *cobra.Command {
	var f ruleFlags
	cmd := &cobra.Command{Use: "export", Short: "Print your rules as they would stand under gates.agentgate", Args: none}
	f.on(cmd, true)
	return a.job(cmd, a.connectIdle, func(j *job) error {
		id, err := f.of(j)
		if err != nil {
			return err
		}
		return j.exportRules(id, f.scope)
	})
}

func (j *job) exportRules(id core.ChannelID, scope string) error {
	text, err := call[string](j.ctx, j, "GateRules.Export", id, core.ApprovalScope(scope))
	if err == nil {
		j.out.line("%s", strings.TrimSuffix(text, "\n"))
	}
	return err
}

func (a *app) ruleImportCommand() *cobra.Command {
	var f ruleFlags
	cmd := &cobra.Command{Use: "import FILE", Short: "Add the rules that export has written, all of them or none", Args: exactly("the file")}
	f.on(cmd, true)
	return a.job(cmd, a.connectIdle, func(j *job) error {
		text, err := a.readTest(j.args[0])
		if err != nil {
			return err
		}
		id, err := f.of(j)
		if err != nil {
			return err
		}
		n, err := call[int](j.ctx, j, "GateRules.Import", id, core.ApprovalScope(f.scope), text)
		if err == nil {
			j.err.line("%d rules were added; the others were there.", n)
		}
		return err
	})
}

func (a *app) ruleUndoCommand() *cobra.Command {
	var f ruleFlags
	cmd := &cobra.Command{Use: "undo", Short: "Take back the last change of your rules", Args: none}
	f.on(cmd, false)
	return a.job(cmd, a.connectIdle, func(j *job) error {
		id, l, err := f.rules(j)
		if err != nil {
			return err
		}
		of := ""
		if l.Undo != nil {
			of = l.Undo.ID
		}
		if _, err := call[core.GateRuleList](j.ctx, j, "GateRules.Undo", id, of); err != nil {
			return err
		}
		if l.Undo != nil {
			j.err.line("Taken back: %s", oneLine(l.Undo.Text, 5*maxLine))
		}
		return nil
	})
}

func (a *app) gateModeCommand() *cobra.Command {
	var f ruleFlags
	cmd := &cobra.Command{
		Use: "mode record|shadow|enforce|settings", Short: "Say how the gate works in a channel's folder", Args: exactly("the mode"),
		Long: `Say how the gate works in a channel's folder.

record asks and denies nothing but what is never remembered, shadow also writes down what
it would have asked or denied, enforce holds. “settings” removes what was said here before.
It counts at once, also for programs that run.`,
		Example: "  loop gate mode shadow --channel shop",
	}
	f.on(cmd, false)
	return a.job(cmd, a.connectIdle, func(j *job) error {
		id, err := f.of(j)
		if err != nil {
			return err
		}
		if id == "" {
			return usagef("name the channel: loop gate mode MODE --channel NAME; “loop config set gates.agentgate.mode MODE” is for all")
		}
		mode := j.args[0]
		if mode == "settings" {
			mode = ""
		}
		l, err := call[core.GateRuleList](j.ctx, j, "GateRules.SetMode", id, mode)
		if err == nil {
			j.err.line("The gate's mode there is %s (%s).", l.Mode, l.ModeFrom)
		}
		return err
	})
}
