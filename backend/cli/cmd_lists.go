package cli

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"loop/backend/core"
)

// channelView is what is read of Channels.List.
type channelView struct {
	core.Channel
	State  string `json:"state"`
	Queued int    `json:"queued"`
}

var channelColumns = columns[channelView]{[]string{"CHANNEL", "NAME", "STATE", "KIND", "FOLDER"}, func(c channelView) []string {
	state := c.State
	if c.Queued > 0 {
		state += fmt.Sprintf(" (%d queued)", c.Queued)
	}
	return []string{string(c.ID), c.Name, state, string(c.Kind), c.Dir}
}}

// channelNames are what people call the channels of a list.
type channelNames map[core.ChannelID]string

// of is the name of a channel, or its id where the name is not known.
func (n channelNames) of(id core.ChannelID) string { return oneLine(cmp.Or(n[id], string(id)), 30) }

func (j *job) channelNames() (channelNames, error) {
	all, err := call[[]channelView](j.ctx, j, "Channels.List")
	names := channelNames{}
	for _, c := range all {
		names[c.ID] = c.Name
	}
	return names, err
}

func (a *app) channelsCommand() *cobra.Command {
	channels := a.job(jsonFlag(&cobra.Command{Use: "channels", Short: "List the channels", Args: none}), a.connectIdle, func(j *job) error {
		return list(j, channelColumns, "Channels.List")
	})
	channels.AddCommand(a.job(jsonFlag(&cobra.Command{
		Use: "search TEXT", Short: "Find channels by name, branch and folder", Args: exactly("the text"),
	}), a.connectIdle, func(j *job) error { return list(j, channelColumns, "Channels.Search", j.args[0]) }))
	channels.AddCommand(a.chooseCommand())
	return channels
}
