package cli

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"loop/backend/core"
)

var containerColumns = columns[core.ContainerView]{
	[]string{"CONTAINER", "NAME", "TYPE", "STATUS", "SCOPE", "LAST USED", "HELD BY", "ENDS", "WHY"},
	func(c core.ContainerView) []string {
		status := string(c.Status)
		if c.Warm {
			status = "warm"
		}
		return []string{
			shortID(c.ID), c.Name, string(c.Type), status, c.Scope,
			dateTime(c.LastUsedAt), heldBy(c.Holders), dateTime(c.EndsAt), oneLine(c.Why, 60),
		}
	}}

// shortID is an id as engines abbreviate one.
func shortID(id core.ContainerID) string { return string(id[:min(len(id), 12)]) }

// dateTime is a time here; empty for none.
func dateTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.DateTime)
}

// heldBy names holders, with as much of their ids as tells them apart.
func heldBy(all []core.Holder) string {
	var names []string
	for _, h := range all {
		h.ID = h.ID[:min(len(h.ID), 12)]
		names = append(names, h.String())
	}
	return strings.Join(names, ", ")
}

func (a *app) psCommand() *cobra.Command {
	return a.job(jsonFlag(&cobra.Command{Use: "ps", Short: "List the containers that Loop made", Args: none}), a.connectIdle,
		func(j *job) error { return list(j, containerColumns, "System.ListContainers") })
}

func (a *app) inspectCommand() *cobra.Command {
	return a.job(jsonFlag(&cobra.Command{
		Use: "inspect CONTAINER", Short: "Say everything of one container", Args: exactly("the container"),
		Long: `Says who holds a container, when and by which rule it ends, what the engine says of it, and
whether it is what the settings of now would make. A container is named by its name or the
beginning of its id, as “loop ps” lists them.`,
		Example: `  loop inspect 8e41b7
  loop inspect loop-api-server-3f9a1c --json`,
	}), a.connectIdle, func(j *job) error {
		_, err := show(j, a.inspection, "Containers.Inspect", j.args[0])
		return err
	})
}

func (a *app) inspection(c core.ContainerInspection) {
	ends := "It " + c.EndsWhy
	if !c.EndsAt.IsZero() {
		ends = dateTime(c.EndsAt) + ": it " + c.EndsWhy
	}
	rows := [][]string{
		{"container", string(c.ID)}, {"name", c.Name}, {"channel", string(c.ChannelID)}, {"type", string(c.Type)}, {"status", string(c.Status)},
		{"scope", cmp.Or(c.Scope, "none: nobody joins")}, {"made", dateTime(c.CreatedAt)}, {"last used", dateTime(c.LastUsedAt)},
		{"held by", cmp.Or(heldBy(c.Holders), "nobody")}, {"ends", ends + "."}, {"policy", policyText(c.Policy)}, {"why", c.Why},
		{"engine", stateText(c.Engine)}, {"image", c.Image + " " + c.Engine.ImageID}, {"limits", limitsText(c.Engine.Limits)},
		{"config hash", c.Hash}, {"drift", driftText(c.Drift)},
	}
	for _, o := range c.Drift.Origins {
		now := fmt.Sprintf("%s is %s (%s)", oneLine(o.Field, 120), oneLine(o.Value, 120), layerPlace(o.Layer, o.Path, o.Line))
		rows = append(rows, []string{"differs", now})
	}
	for _, m := range c.Engine.Mounts {
		access := "read and write"
		if m.ReadOnly {
			access = "read only"
		}
		rows = append(rows, []string{"mount", fmt.Sprintf("%s from %s (%s)", m.Target, m.Source, access)})
	}
	a.table(rows)
}

func policyText(p core.ContainerPolicy) string {
	text := func(sec int64) string {
		if sec == 0 {
			return "without end"
		}
		return (time.Duration(sec) * time.Second).String()
	}
	return "idle " + text(p.IdleSec) + ", age " + text(p.MaxAgeSec)
}

func stateText(s core.ContainerState) string {
	text := fmt.Sprintf("stopped, exit code %d", s.ExitCode)
	switch {
	case s.Paused:
		text = "paused"
	case s.Running:
		text = "running"
	}
	if s.OOMKilled {
		text += ", out of memory"
	}
	if s.Error != "" {
		text += ": " + s.Error
	}
	return text
}

func limitsText(l core.Limits) string {
	parts := []string{"memory without limit", "processors without limit", "processes without limit"}
	if l.MemoryBytes > 0 {
		parts[0] = fmt.Sprintf("%d MiB of memory", l.MemoryBytes>>20)
	}
	if l.CPUs > 0 {
		parts[1] = strconv.FormatFloat(l.CPUs, 'f', -1, 64) + " processors"
	}
	if l.Pids > 0 {
		parts[2] = fmt.Sprintf("%d processes", l.Pids)
	}
	return strings.Join(parts, ", ")
}

func driftText(d core.ContainerDrift) string {
	switch {
	case d.Unknown != "":
		return d.Unknown
	case !d.Changed:
		return "It is what the settings say now."
	case d.Replaced:
		return "The next run or terminal gets another. What differs: " + strings.Join(d.Parts, "; ") + "."
	}
	return "The next gets another once nobody has used this one for five minutes. What differs: " + strings.Join(d.Parts, "; ") + "."
}

func (a *app) removeCommand() *cobra.Command {
	var force bool
	cmd := a.job(jsonFlag(&cobra.Command{
		Use: "rm CONTAINER", Short: "Remove a container", Args: exactly("the container"),
		Long: `Removes a container that nobody holds. With --force it is removed whoever holds it, and runs and
terminals in it end. The next run or terminal of its channel makes another.`,
		Example: `  loop rm 8e41b7
  loop rm loop-api-server-3f9a1c --force`,
	}), a.connectIdle, func(j *job) error {
		_, err := show(j, func(c core.Container) { a.out.line("Removed %s.", c.Name) }, "Containers.Remove", j.args[0], force)
		return err
	})
	cmd.Flags().BoolVar(&force, "force", false, "end what works in it")
	return cmd
}

func (a *app) pruneCommand() *cobra.Command {
	var dry bool
	cmd := a.job(jsonFlag(&cobra.Command{
		Use: "prune", Short: "Remove the containers that nobody needs any more", Args: none,
		Long: `Removes the containers of this Loop folder that would be ended anyway, and those that have
stopped. Nothing that anybody holds is removed, and no container that is warm before its time.`,
	}), a.connectIdle, func(j *job) error {
		said := "Removed"
		if dry {
			said = "Would remove"
		}
		_, err := show(j, func(all []core.PrunedContainer) {
			for _, c := range all {
				a.out.line("%s %s (%s): it %s.", said, oneLine(c.Name, 120), shortID(c.ID), oneLine(c.Why, 120))
			}
			if len(all) == 0 {
				a.out.line("There is nothing to remove.")
			}
		}, "Containers.Prune", dry, []core.ContainerID(nil))
		return err
	})
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say which, and why")
	return cmd
}
