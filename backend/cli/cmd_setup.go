package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"loop/backend/bind"
	"loop/backend/core"
)

func (a *app) setupCommand() *cobra.Command {
	cmd := a.job(jsonFlag(&cobra.Command{
		Use: "setup", Short: "Show your own Claude set-up, and say whether agents may have copies of it", Args: none,
		Long: `Shows what you have made for Claude Code on this computer (~/.claude), what of it agents would
get copies of, what needs a yes of its own, and what never comes and why. Nothing of it is in a
container before you allow it.`,
		Example: `  loop setup
  loop setup allow                     copies of files and plain settings
  loop setup allow hooks mcp:tickets   and these things that run programs
  loop setup none`,
	}), a.connectIdle, func(j *job) error {
		_, err := show(j, j.ownSetup, "Settings.ClaudeSetup")
		return err
	})
	cmd.AddCommand(a.setupAllow(), a.setupNone())
	return cmd
}

func (a *app) setupAllow() *cobra.Command {
	return a.job(&cobra.Command{
		Use: "allow [ID…]", Short: "Let agents have copies; of what needs a yes of its own, exactly what is named", Args: cobra.ArbitraryArgs,
		Long: `Lets agents have copies of your files and plain settings. IDs are those that “loop setup” shows.
What needs a yes and is not named does not come, even if it was allowed before.`,
	}, a.connectIdle, func(j *job) error {
		v, err := call[bind.ClaudeSetupView](j.ctx, j, "Settings.ClaudeSetup")
		if err != nil {
			return err
		}
		for _, id := range j.args {
			if !slices.ContainsFunc(v.Setup.Asks, func(ask core.SetupAsk) bool { return ask.ID == id }) {
				return core.Fail(core.CodeNotFound, nil, fmt.Sprintf("Nothing in your set-up that needs a yes has the ID %q.", id),
					"“loop setup” shows what there is.")
			}
		}
		// The grant is last, so that it never comes with an earlier, longer list.
		if _, err := j.Call(j.ctx, "Settings.Set", core.LayerGlobal, "", "claude_setup_allow", append([]string{}, j.args...)); err != nil {
			return err
		}
		return j.done("Agents get copies from their next run on.", "Settings.Set", core.LayerGlobal, "", "claude_setup", "read")
	})
}

func (a *app) setupNone() *cobra.Command {
	return a.job(&cobra.Command{Use: "none", Short: "Let agents have nothing of it, and take copies back", Args: none}, a.connectIdle,
		func(j *job) error {
			return j.done("Agents have nothing of it from their next run on.", "Settings.Set", core.LayerGlobal, "", "claude_setup", "none")
		})
}

// grants say in words what claude_setup says.
var grants = map[string]string{
	"":     "Nothing of it is in a container, as you have not said that it may be. “loop setup allow” lets agents have copies.",
	"none": "Agents have nothing of it. “loop setup allow” lets them have copies.",
	"read": "Agents have copies of it. “loop setup none” takes them back.",
}

func (a *app) ownSetup(v bind.ClaudeSetupView) {
	s := v.Setup
	if s.Empty() {
		a.out.line("There is nothing in %s that agents could use.", s.Folder)
	} else {
		a.out.styledLine(bold, "%s", s.Folder)
		a.out.line("%s", grants[v.Grant])
	}
	for _, kind := range setupKinds(s.Files) {
		a.out.line("%-16s %s", kind[0], oneLine(strings.Join(kind[1:], ", "), 400))
	}
	if len(s.Settings) > 0 {
		a.out.line("%-16s %s", "settings", oneLine(strings.Join(s.Settings, ", "), 400))
	}
	if len(s.Asks) > 0 {
		a.out.line("")
		a.out.line("These need a yes each:")
		rows := [][]string{{"ID", "ALLOWED", "WHAT"}}
		for _, ask := range s.Asks {
			rows = append(rows, []string{ask.ID, map[bool]string{true: "yes", false: "no"}[ask.Allowed], ask.Text + ": " + ask.Detail})
		}
		a.table(rows)
	}
	if len(s.Left) > 0 {
		a.out.line("")
		a.out.line("These never come:")
	}
	for _, l := range s.Left {
		a.out.line("%s: %s", oneLine(l.Text, 200), l.Reason)
	}
}

// setupKinds groups files by the folder they are in: each group begins with its name. Files
// at the top come first.
func setupKinds(files []core.SetupFile) [][]string {
	out := [][]string{{"files"}}
	for _, f := range files {
		kind, rest, below := strings.Cut(f.Path, "/")
		if !below {
			out[0] = append(out[0], f.Path)
			continue
		}
		i := slices.IndexFunc(out, func(group []string) bool { return group[0] == kind })
		if i < 0 {
			i, out = len(out), append(out, []string{kind})
		}
		out[i] = append(out[i], rest)
	}
	if len(out[0]) == 1 {
		return out[1:]
	}
	return out
}
