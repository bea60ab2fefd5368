package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"loop/backend/core"
)

// diffWords say what differs, and by whom.
var diffWords = map[string]string{
	core.DiffNew: "new in the copy", core.DiffChanged: "changed in the copy", core.DiffRemoved: "removed in the copy",
	core.DiffOriginalNew: "new in the original", core.DiffOriginalChanged: "changed in the original",
	core.DiffOriginalRemoved: "removed in the original", core.DiffBoth: "changed in both",
}

var trashColumns = columns[core.TrashedCopy]{[]string{"ID", "WHAT", "FILES", "SIZE", "FROM", "SINCE"}, func(t core.TrashedCopy) []string {
	return []string{t.ID, t.What, fmt.Sprint(t.Files), inBytes(t.Bytes), t.Place, t.At.Local().Format(time.DateTime)}
}}

var copyColumns = columns[core.LeftCopy]{[]string{"CHANNEL", "SIZE", "IN USE", "FOLDER"}, func(l core.LeftCopy) []string {
	use := "no"
	if l.InUse {
		use = "yes"
	}
	return []string{string(l.ChannelID), inBytes(l.Bytes), use, l.Copy}
}}

// inBytes is a size as people read it.
func inBytes(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}

func (a *app) workspaceCommand() *cobra.Command {
	top := a.channelJob(&cobra.Command{
		Use: "workspace", Short: "Compare the copy that agents work in with the original, and bring files over", Args: none,
		Long: `Where agents do not see a channel's folder, they work in a copy (docs/sandboxes.md). This
command says what differs between the two. Its subcommands bring files over, begin anew and
bring back what was replaced, for thirty days.`,
		Example: `  loop workspace
  loop workspace diff notes.md
  loop workspace promote notes.md
  loop workspace anew`,
	}, a.connectIdle, func(j *job) error {
		_, err := show(j, a.comparison, "Workspaces.Compare", j.channel)
		return err
	})
	top.AddCommand(
		a.channelJob(&cobra.Command{Use: "diff PATH", Short: "Show a file in the original and in the copy", Args: exactly("the path")},
			a.connectIdle, func(j *job) error {
				_, err := show(j, func(t struct {
					Original string `json:"original"`
					Copy     string `json:"copy"`
				}) {
					a.out.line("--- original")
					a.out.text(t.Original)
					a.out.fresh()
					a.out.line("+++ copy")
					a.out.text(t.Copy)
					a.out.fresh()
				}, "Workspaces.Texts", j.channel, j.args[0])
				return err
			}),
		a.bringCommand("promote", "Promote", "Make files of the original what they are in the copy"),
		a.bringCommand("pull", "Pull", "Make files of the copy what they are in the original"),
		a.anewCommand(),
		a.job(jsonFlag(&cobra.Command{Use: "copies", Short: "List all copies, the largest first", Args: none}), a.connectIdle,
			func(j *job) error { return list(j, copyColumns, "Workspaces.Left") }),
		a.job(jsonFlag(&cobra.Command{
			Use: "discard FOLDER", Short: "Move a copy to the trash, by its folder or its channel's id", Args: exactly("the copy's folder"),
		}), a.connectIdle, func(j *job) error {
			_, err := show(j, a.inTrash, "Workspaces.Discard", j.args[0])
			return err
		}),
		a.job(jsonFlag(&cobra.Command{Use: "trash", Short: "List what can come back", Args: none}), a.connectIdle,
			func(j *job) error { return list(j, trashColumns, "Workspaces.Trash") }),
		a.job(jsonFlag(&cobra.Command{Use: "restore ID", Short: "Bring something back from the trash", Args: exactly("an id of the trash")}),
			a.connectIdle, func(j *job) error {
				_, err := show(j, func(t core.TrashedCopy) { a.out.line("%s is as it was before.", t.Place) }, "Workspaces.Restore", j.args[0])
				return err
			}),
	)
	return top
}

func (a *app) comparison(c core.CopyComparison) {
	a.out.line("original  %s", c.Original)
	a.out.line("copy      %s", c.Copy)
	if len(c.Differences) == 0 {
		a.out.line("Copy and original are the same.")
	}
	for _, d := range c.Differences {
		a.out.line("%-24s %s", diffWords[d.State], d.Path)
	}
	for _, l := range c.Left {
		a.out.line("not compared: %s: %s", l.Text, l.Reason)
	}
}

func (a *app) inTrash(t core.TrashedCopy) {
	a.out.line("Done. “loop workspace restore %s” brings back what was there, for thirty days.", t.ID)
}

// bringCommand brings files over in one direction. Without names it takes those that only
// that side has changed.
func (a *app) bringCommand(use, method, short string) *cobra.Command {
	cmd := &cobra.Command{Use: use + " [PATH]...", Short: short, Args: cobra.ArbitraryArgs}
	all := cmd.Flags().Bool("all", false, "every file that was changed on that side alone")
	return a.channelJob(cmd, a.connectIdle, func(j *job) error {
		c, err := call[core.CopyComparison](j.ctx, j, "Workspaces.Compare", j.channel)
		if err != nil {
			return err
		}
		marks, err := chosenMarks(c, j.args, *all, use == "promote")
		if err != nil {
			return err
		}
		_, err = show(j, a.inTrash, "Workspaces."+method, j.channel, marks)
		return err
	})
}

// chosenMarks are the marks of the files that were named, or of all that one side changed.
func chosenMarks(c core.CopyComparison, names []string, all, promote bool) (map[string]string, error) {
	side := []string{core.DiffOriginalNew, core.DiffOriginalChanged, core.DiffOriginalRemoved}
	if promote {
		side = []string{core.DiffNew, core.DiffChanged, core.DiffRemoved}
	}
	marks := map[string]string{}
	for _, d := range c.Differences {
		if slices.Contains(names, d.Path) || all && slices.Contains(side, d.State) {
			marks[d.Path] = d.Mark
		}
	}
	for _, name := range names {
		if marks[name] == "" {
			return nil, core.Fail(core.CodeNotFound, nil, "“"+core.CleanTitle(name)+"” is not among the files that differ.",
				"“loop workspace” lists them; a path begins at the folder.")
		}
	}
	if len(marks) == 0 {
		return nil, core.Fail(core.CodeInvalid, nil, "There is nothing to bring over.",
			"Name files, or add --all for those that only one side changed.")
	}
	return marks, nil
}

// anewCommand shows what would be lost before it does anything.
func (a *app) anewCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "anew", Short: "Move the copy to the trash; the next run gets a fresh one", Args: none,
		Long: `Shows what the copy has that the original has not, and with --yes moves the copy to the
trash. “loop recreate” makes the container anew and keeps the copy.`,
	}
	yes := cmd.Flags().Bool("yes", false, "do it")
	return a.channelJob(cmd, a.connectIdle, func(j *job) error {
		if *yes {
			_, err := show(j, a.inTrash, "Workspaces.Anew", j.channel)
			return err
		}
		_, err := show(j, func(c core.CopyComparison) {
			var lost []string
			for _, d := range c.Differences {
				if !strings.HasPrefix(d.State, "original") {
					lost = append(lost, fmt.Sprintf("%-24s %s", diffWords[d.State], d.Path))
				}
			}
			if len(lost) == 0 {
				a.out.line("Nothing would be lost.")
			} else {
				a.out.line("This would go to the trash with the copy:")
			}
			for _, l := range lost {
				a.out.line("  %s", l)
			}
			a.out.line("“loop workspace anew --yes” does it.")
		}, "Workspaces.Compare", j.channel)
		return err
	})
}
