package cli

import (
	"fmt"
	"time"

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

func (a *app) channelsCommand() *cobra.Command {
	channels := a.job(jsonFlag(&cobra.Command{Use: "channels", Short: "List the channels", Args: none}), a.connectIdle, func(j *job) error {
		return list(j, channelColumns, "Channels.List")
	})
	channels.AddCommand(a.job(jsonFlag(&cobra.Command{
		Use: "search TEXT", Short: "Find channels by name, branch and folder", Args: exactly("the text"),
	}), a.connectIdle, func(j *job) error { return list(j, channelColumns, "Channels.Search", j.args[0]) }))
	return channels
}

var containerColumns = columns[core.Container]{[]string{"CONTAINER", "NAME", "TYPE", "STATUS", "CREATED", "REMOVED AT"},
	func(c core.Container) []string {
		gone := ""
		if !c.RemoveAt.IsZero() {
			gone = c.RemoveAt.Local().Format(time.TimeOnly)
		}
		id := c.ID[:min(len(c.ID), 12)] // as engines abbreviate one
		return []string{string(id), c.Name, string(c.Type), string(c.Status), c.CreatedAt.Local().Format(time.DateTime), gone}
	}}

func (a *app) psCommand() *cobra.Command {
	return a.job(jsonFlag(&cobra.Command{Use: "ps", Short: "List the containers that Loop made", Args: none}), a.connectIdle,
		func(j *job) error { return list(j, containerColumns, "System.ListContainers") })
}
