package cli

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"loop/backend/core"
)

var agentColumns = columns[core.AgentChoice]{[]string{"AGENT", "NAME"}, func(a core.AgentChoice) []string {
	return []string{a.ID, a.Name}
}}

func (a *app) agentsCommand() *cobra.Command {
	return a.job(jsonFlag(&cobra.Command{
		Use: "agents", Short: "List the agents of the settings, the default one first", Args: none,
		Example: `  loop agents
  loop channels choose --channel api-server --agent dev`,
	}), a.connectIdle, func(j *job) error { return list(j, agentColumns, "Channels.Agents") })
}

// chooseCommand changes what is chosen for one channel alone. A flag that is not there
// leaves its choice as it is.
func (a *app) chooseCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "choose", Short: "Choose a channel's agent, model, effort, further folders and more", Args: none,
		Long: `Chooses for one channel alone, over what the settings files say. It counts from the next
run on. An empty value leaves the choice to the files again. Without a flag, the command
shows what is chosen.`,
		Example: `  loop channels choose --channel api-server --agent dev
  loop channels choose --model sonnet --effort high
  loop channels choose --add-dir ~/src/library
  loop channels choose --claude-setup none
  loop channels choose --model ""`,
	}
	f := cmd.Flags()
	agent := f.String("agent", "", "the agent that the channel and its threads belong to (see “loop agents”)")
	model := f.String("model", "", "the model")
	effort := f.String("effort", "", "how much the model thinks: low, medium, high, xhigh or max")
	setup := f.String("claude-setup", "", "whether agents have copies of your own Claude set-up (see “loop setup”): read or none")
	add := f.StringArray("add-dir", nil, "one more folder to work in; may be repeated")
	remove := f.StringArray("remove-dir", nil, "a folder that is to be one no more; may be repeated")
	return a.channelJob(cmd, a.connectIdle, func(j *job) error {
		all, err := call[[]channelView](j.ctx, j, "Channels.List")
		if err != nil {
			return err
		}
		var c core.ChannelChoices
		for _, ch := range all {
			if ch.ID == j.channel {
				c = ch.Choices
			}
		}
		changed := len(*add)+len(*remove) > 0
		for name, choice := range map[string][2]*string{
			"agent": {agent, &c.AgentID}, "model": {model, &c.Model}, "effort": {effort, &c.Effort}, "claude-setup": {setup, &c.ClaudeSetup},
		} {
			if f.Changed(name) {
				*choice[1], changed = strings.TrimSpace(*choice[0]), true
			}
		}
		if c.ExtraDirs, err = changedDirs(c.ExtraDirs, *add, *remove); err != nil {
			return err
		}
		if !changed {
			j.chosen(c)
			return nil
		}
		_, err = show(j, func(ch channelView) { j.chosen(ch.Choices) }, "Channels.Choose", j.channel, c)
		return err
	})
}

// changedDirs is a list of folders with some more and some less.
func changedDirs(dirs, add, remove []string) ([]string, error) {
	for _, list := range []*[]string{&add, &remove} {
		for i, dir := range *list {
			abs, err := filepath.Abs(dir)
			if err != nil {
				return nil, core.Fail(core.CodeDir, err, "The folder "+dir+" is no path.", "Name a folder that is there.")
			}
			(*list)[i] = abs
		}
	}
	for _, dir := range remove {
		if !slices.Contains(dirs, dir) {
			return nil, core.Fail(core.CodeNotFound, nil, "The channel has no further folder "+dir+".",
				"“loop channels choose” shows those it has.")
		}
	}
	return slices.DeleteFunc(slices.Concat(dirs, add), func(d string) bool { return slices.Contains(remove, d) }), nil
}

func (j *job) chosen(c core.ChannelChoices) {
	folders := strings.Join(c.ExtraDirs, ", ")
	for _, l := range [][2]string{
		{"agent", c.AgentID}, {"model", c.Model}, {"effort", c.Effort}, {"folders", folders}, {"claude set-up", c.ClaudeSetup},
	} {
		j.out.line("%-13s %s", l[0], cmp.Or(l[1], "as the settings have it"))
	}
}
