package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"loop/backend/bind"
	"loop/backend/core"
)

// configFlags choose whose settings a command is about: those in force for the
// channel of a folder, or the global ones where there is no channel.
type configFlags struct {
	channelFlags
	global, project, tree bool
	// channelOnly is for a command that has nothing to do without a channel.
	channelOnly bool
}

func (f *configFlags) on(cmd *cobra.Command, scopes bool) {
	f.channelFlags.on(cmd)
	cmd.Flags().BoolVar(&f.global, "global", false, "Loop's own settings file, whatever folder this is")
	cmd.MarkFlagsMutuallyExclusive("channel", "dir", "global")
	if scopes {
		cmd.Flags().BoolVar(&f.project, "project", false, "the project's .loop/config.json")
		cmd.Flags().BoolVar(&f.tree, "worktree", false, "the worktree's .loop/config.json")
		cmd.MarkFlagsMutuallyExclusive("global", "project", "worktree")
	}
}

// scope is the file that a change is made in.
func (f *configFlags) scope() string {
	switch {
	case f.project:
		return "project"
	case f.tree:
		return "worktree"
	}
	return "global"
}

// of finds the channel; it is empty when the global settings are meant.
func (f *configFlags) of(ctx context.Context, c Core) (core.ChannelID, error) {
	if f.global {
		return "", nil
	}
	id, err := f.find(ctx, c)
	needed := f.channelOnly || f.channel != "" || f.dir != "" || f.scope() != "global"
	if failedAs(err, core.CodeNotFound) && !needed {
		return "", nil // just some folder
	}
	return id, err
}

// settingsJob is a job on the settings that the flags choose. With scopes they also
// choose a file.
func (a *app) settingsJob(cmd *cobra.Command, f *configFlags, scopes bool, do func(*job) error) *cobra.Command {
	f.on(cmd, scopes)
	return a.job(cmd, a.connect, func(j *job) (err error) {
		if j.channel, err = f.of(j.ctx, j); err != nil {
			return err
		}
		if _, err := os.Lstat(filepath.Join(".loop", "config.json")); err == nil && j.channel == "" && !f.global {
			a.err.styledLine(amber,
				"This folder has settings of its own, and no channel yet: they are not looked at here. “loop run” makes a channel.")
		}
		return do(j)
	})
}

func (a *app) configCommand() *cobra.Command {
	cmd := group("config", "Show and change settings, approve those of projects",
		a.configGet(), a.configSet(), a.configUnset(), a.configExplain(), a.configTrust(), a.configHistory(), a.configRestore(), a.configSchema())
	cmd.Example = `  loop config get container_memory_mb
  loop config set container_memory_mb 4096
  loop config set --project claude_model opus
  loop config explain                  where each value comes from
  loop config trust                    what a project's file waits to do`
	return cmd
}

// view asks for the settings and picks the fields whose name, or the name of the
// object they are in, is given; without a name all of them.
func (j *job) view(names ...string) (bind.SettingsView, error) {
	v, err := call[bind.SettingsView](j.ctx, j, "Settings.Get", j.channel)
	if err != nil || len(names) == 0 {
		return v, err
	}
	v.Fields = slices.DeleteFunc(v.Fields, func(f bind.SettingsField) bool {
		return f.Name != names[0] && !strings.HasPrefix(f.Name, names[0]+".")
	})
	if len(v.Fields) == 0 {
		return v, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("%q is not a setting that Loop knows.", names[0]),
			"Run “loop config get” to see them.")
	}
	return v, nil
}

func (a *app) configGet() *cobra.Command {
	return a.settingsJob(&cobra.Command{Use: "get [FIELD]", Short: "Print settings as they are in force", Args: upTo(1)},
		&configFlags{}, false, func(j *job) error {
			v, err := j.view(j.args...)
			switch {
			case err != nil:
				return err
			case j.asJSON:
				out := map[string]any{}
				for _, field := range v.Fields {
					out[field.Name] = field.Value
				}
				return j.printValue(out)
			case len(j.args) == 1 && len(v.Fields) == 1:
				j.out.line("%s", valueText(v.Fields[0].Value))
			default:
				rows := [][]string{{"FIELD", "VALUE", "FROM"}}
				for _, field := range v.Fields {
					rows = append(rows, []string{field.Name, valueText(field.Value), field.Origin.Layer})
				}
				j.table(rows)
			}
			j.settingsTrouble(v)
			return nil
		})
}

// valueText spells a value for people: a text without quotes, others as JSON.
func valueText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// settingsTrouble names what is wrong with the files, and what waits.
func (a *app) settingsTrouble(v bind.SettingsView) {
	for _, p := range v.Problems {
		style := red
		if p.Warning {
			style = amber
		}
		a.err.styledLine(style, "%v %s", p, p.Remedy)
	}
	for _, p := range v.Pending {
		a.err.styledLine(amber, "%s waits for approval: %s. See “loop config trust”.", p.Path, strings.Join(p.Fields, ", "))
	}
}

func (a *app) configSet() *cobra.Command {
	var f configFlags
	return a.settingsJob(&cobra.Command{
		Use: "set FIELD VALUE", Short: "Change one field of a settings file; everything else in it stays",
		Long: "VALUE is a text as it is, or JSON where the field is not a text. “-” reads it from standard input. " +
			"FIELD may be a part (font_sizes.chat) or an entry (envs.NAME).",
		Args: cobra.MatchAll(upTo(2), func(_ *cobra.Command, args []string) error {
			if len(args) < 2 { // an empty value is one
				return usagef("the field or the value is missing")
			}
			return nil
		}),
	}, &f, true, func(j *job) error {
		v, err := j.view()
		if err != nil {
			return err
		}
		value, err := j.settingsValue(v, j.args[0], j.args[1])
		if err != nil {
			return err
		}
		return j.changed("Settings.Set", f.scope(), j.channel, j.args[0], value)
	})
}

// settingsValue reads a value as the field wants it.
func (a *app) settingsValue(v bind.SettingsView, name, text string) (any, error) {
	kind, secret, entry := "", false, false
	for _, f := range v.Fields {
		switch {
		case f.Name == name:
			kind, secret = f.Kind, f.Secret
		case f.Kind == "object" && strings.HasPrefix(name, f.Name+"."):
			entry = true
		}
	}
	if text == "-" {
		raw, err := io.ReadAll(io.LimitReader(a.in, 1<<20))
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		text = strings.TrimRight(string(raw), "\r\n")
	} else if secret {
		return nil, usagef("a credential does not belong on the command line, which other programs can read: " +
			"use “loop auth login”, or “-” to read it from standard input")
	}
	var value any
	err := json.Unmarshal([]byte(text), &value)
	switch {
	case kind == "text":
		return text, nil
	case err == nil && value != nil:
		return json.RawMessage(text), nil
	case kind == "list" && !strings.HasPrefix(strings.TrimSpace(text), "["):
		return []string{text}, nil
	case entry && !strings.HasPrefix(strings.TrimSpace(text), "{"):
		return text, nil // such as envs.EDITOR vi
	case kind == "" && !entry:
		return text, nil // Loop says that there is no such field
	}
	return nil, usagef("%q is not JSON, which %s needs", text, name)
}

func (j *job) changed(method string, args ...any) error {
	_, err := show(j, func(v bind.SettingsView) {
		j.out.line("Done.")
		j.settingsTrouble(v)
	}, method, args...)
	return err
}

func (a *app) configUnset() *cobra.Command {
	var f configFlags
	return a.settingsJob(&cobra.Command{Use: "unset FIELD", Short: "Remove one field from a settings file", Args: exactly("the field")},
		&f, true, func(j *job) error { return j.changed("Settings.Unset", f.scope(), j.channel, j.args[0]) })
}

func (a *app) configExplain() *cobra.Command {
	return a.settingsJob(&cobra.Command{
		Use: "explain [FIELD]", Short: "Say for each value which file and line it comes from, and what the others say", Args: upTo(1),
	}, &configFlags{}, false, func(j *job) error {
		v, err := j.view(j.args...)
		if err != nil {
			return err
		}
		if j.asJSON {
			return j.printValue(v)
		}
		all := len(j.args) == 0
		for _, field := range v.Fields {
			if !all || field.Origin.Layer != core.LayerBuiltin || len(field.Layers) > 0 {
				j.explainField(field, !all)
			}
		}
		if all {
			j.out.line("Everything else has its built-in value.")
		}
		j.settingsTrouble(v)
		return nil
	})
}

func (a *app) explainField(f bind.SettingsField, whole bool) {
	a.out.styledLine(bold, "%s = %s", f.Name, oneLine(valueText(f.Value), 200))
	a.out.line("  from %s", f.Origin)
	for _, l := range f.Layers {
		note := ""
		if !l.InForce {
			note = "  (not in force)"
		}
		a.out.line("  %s line %d says %s%s", l.Layer, l.Line, oneLine(valueText(l.Value), 200), note)
	}
	for _, e := range f.Entries {
		a.out.line("  [%s] from %s", e.Name, e.Origin)
	}
	if whole {
		a.out.line("  %s", f.Doc)
		a.out.line("  default %s; merge: %s; in a project's file: %s", valueText(f.Default), f.Merge, f.Project)
	}
}

// wholeSum is a SHA-256 in hex. A beginning of one will not do: two texts of which
// twelve digits are the same are found in minutes, and one of them could take the
// other's place between the look at it and the approval.
var wholeSum = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)

func (a *app) configTrust() *cobra.Command {
	f := configFlags{channelOnly: true}
	var sum, decline, revoke string
	cmd := a.settingsJob(&cobra.Command{
		Use: "trust", Short: "Show what a project's settings file, or its own image, waits to do, and approve it", Args: none,
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			for name, of := range map[string]string{"approve": sum, "decline": decline} {
				if cmd.Flags().Changed(name) && !wholeSum.MatchString(of) {
					return usagef("--%s needs the whole SHA-256, 64 digits, as “loop config trust” shows it", name)
				}
			}
			return nil
		},
	}, &f, false, func(j *job) error {
		if revoke != "" {
			return j.changed("Settings.Revoke", j.channel, revoke)
		}
		v, err := j.view()
		switch {
		case err != nil:
			return err
		case sum != "":
			return j.decide(v, "Settings.Approve", sum)
		case decline != "":
			return j.decide(v, "Settings.Decline", decline)
		case j.asJSON:
			return j.printValue(v.Pending)
		}
		j.showPending(v)
		return nil
	})
	cmd.Flags().StringVar(&sum, "approve", "", "approve the file with this SHA-256, as it was shown")
	cmd.Flags().StringVar(&decline, "decline", "", "work without the image that the file with this SHA-256 would make")
	cmd.Flags().StringVar(&revoke, "revoke", "", "take the decision on this file back")
	cmd.MarkFlagsMutuallyExclusive("approve", "decline", "revoke")
	return cmd
}

func (j *job) decide(v bind.SettingsView, method, sum string) error {
	known := slices.Clone(v.Pending)
	for _, t := range v.Toolchains {
		known = append(known, t.SettingsPending)
	}
	for _, p := range known {
		if strings.EqualFold(p.SHA256, sum) {
			return j.changed(method, j.channel, p.Path, p.SHA256)
		}
	}
	return core.Fail(core.CodeConflict, nil, "No file with that SHA-256 waits for approval.",
		"It may have changed: run “loop config trust” and look at it again.")
}

// diffStyles are those of the lines of a diff, by their first character.
var diffStyles = map[string]string{"+": green, "-": red, "@": dim}

func (a *app) showPending(v bind.SettingsView) {
	for _, p := range v.Approved {
		a.out.line("%s is approved as it is.", p)
	}
	for _, t := range v.Toolchains {
		if t.State == core.ToolchainDeclined {
			a.out.line("You chose to work without %s. To build with it: loop config trust --approve %s", t.Path, t.SHA256)
		}
	}
	if len(v.Pending) == 0 {
		a.out.line("Nothing waits for approval.")
	}
	for _, p := range v.Pending {
		a.out.styledLine(bold, "%s", p.Path)
		i := slices.IndexFunc(v.Toolchains, func(t core.ProjectToolchain) bool { return t.Path == p.Path })
		if i >= 0 {
			a.showToolchain(v.Toolchains[i])
		} else {
			a.out.line("These fields wait, because they allow more than a project may by itself: %s.", strings.Join(p.Fields, ", "))
		}
		for l := range strings.SplitSeq(strings.TrimSuffix(p.Diff, "\n"), "\n") {
			a.out.styledLine(diffStyles[l[:min(len(l), 1)]], "%s", l)
		}
		a.out.line("To approve it as shown: loop config trust --approve %s", p.SHA256)
		if i >= 0 {
			a.out.line("To work without it: loop config trust --decline %s", p.SHA256)
		}
	}
}

func (a *app) configHistory() *cobra.Command {
	var f configFlags
	return a.settingsJob(&cobra.Command{
		Use: "history [REVISION]", Short: "List earlier texts of a settings file, or show what one of them changed", Args: upTo(1),
	}, &f, true, func(j *job) error {
		if len(j.args) == 0 {
			return list(j, revisionColumns, "Settings.History", f.scope(), j.channel)
		}
		_, err := show(j, func(rev bind.SettingsRevisionText) {
			j.out.line("%s", strings.TrimSuffix(rev.Diff, "\n"))
		}, "Settings.Revision", j.args[0])
		return err
	})
}

var revisionColumns = columns[core.SettingsRevision]{[]string{"REVISION", "TIME", "LINES", "SOURCE"},
	func(r core.SettingsRevision) []string {
		return []string{r.ID, r.At.Local().Format(time.DateTime), fmt.Sprintf("+%d -%d", r.Added, r.Removed), r.Source}
	}}

func (a *app) configRestore() *cobra.Command {
	return a.job(jsonFlag(&cobra.Command{
		Use: "restore REVISION", Short: "Give a settings file an earlier text; credentials stay as they are now", Args: exactly("the revision"),
	}), a.connect, func(j *job) error { return j.changed("Settings.Restore", j.args[0]) })
}

func (a *app) configSchema() *cobra.Command {
	return a.job(&cobra.Command{Use: "schema", Short: "Print the JSON Schema of settings files, for editors", Args: none}, a.connect,
		func(j *job) error {
			raw, err := j.Call(j.ctx, "Settings.Schema")
			if err == nil {
				j.printJSON(raw)
			}
			return err
		})
}
