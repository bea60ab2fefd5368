package cli

import (
	"context"
	"encoding/json"
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

func (a *app) channelsCommand() *cobra.Command {
	cmd := a.listCommand("channels", "List the channels", "Channels.List", channelRows)
	cmd.AddCommand(a.channelSearchCommand())
	return cmd
}

// rowsOf makes a table of a list that a call answers: a head, and a row for each entry.
func rowsOf[T any](head []string, row func(T) []string) tableOf {
	return func(method string, raw json.RawMessage) ([][]string, error) {
		list, err := answer[[]T](method, raw)
		rows := [][]string{head}
		for _, v := range list {
			rows = append(rows, row(v))
		}
		return rows, err
	}
}

// tableOf reads what a method answered.
type tableOf func(method string, raw json.RawMessage) ([][]string, error)

var channelRows = rowsOf([]string{"CHANNEL", "NAME", "STATE", "KIND", "FOLDER"}, func(c channelView) []string {
	state := c.State
	if c.Queued > 0 {
		state += fmt.Sprintf(" (%d queued)", c.Queued)
	}
	return []string{string(c.ID), c.Name, state, string(c.Kind), c.Dir}
})

var containerRows = rowsOf([]string{"CONTAINER", "NAME", "TYPE", "STATUS", "CREATED", "REMOVED AT"}, func(c core.Container) []string {
	gone := ""
	if !c.RemoveAt.IsZero() {
		gone = c.RemoveAt.Local().Format(time.TimeOnly)
	}
	return []string{shortID(c.ID), c.Name, string(c.Type), string(c.Status), c.CreatedAt.Local().Format(time.DateTime), gone}
})

func (a *app) psCommand() *cobra.Command {
	return a.listCommand("ps", "List the containers that Loop made", "System.ListContainers", containerRows)
}

// shortID is how engines abbreviate an id.
func shortID(id core.ContainerID) string { return string(id[:min(len(id), 12)]) }

func (a *app) listCommand(name, short, method string, rows tableOf) *cobra.Command {
	var asJSON bool
	return with(&cobra.Command{
		Use: name, Short: short, Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.list(cmd.Context(), method, asJSON, rows) },
	}, jsonFlag(&asJSON))
}

// list prints what one call answers. A look starts nothing that waits.
func (a *app) list(ctx context.Context, method string, asJSON bool, rows tableOf, args ...any) error {
	return a.withCore(ctx, a.connectIdle, func(ctx context.Context, c Core) error {
		return a.listFrom(ctx, c, method, asJSON, rows, args...)
	})
}

// listFrom prints what one call answers, as a table or as it is.
func (a *app) listFrom(ctx context.Context, c Core, method string, asJSON bool, rows tableOf, args ...any) error {
	raw, err := c.Call(ctx, method, args...)
	if err != nil {
		return err
	}
	if asJSON {
		a.printJSON(raw)
		return nil
	}
	table, err := rows(method, raw)
	if err != nil {
		return err
	}
	if len(table) == 1 {
		a.out.line("None yet.")
		return nil
	}
	a.table(table)
	return nil
}

// with gives a command its flags.
func with(cmd *cobra.Command, flags ...func(*cobra.Command)) *cobra.Command {
	for _, on := range flags {
		on(cmd)
	}
	return cmd
}

func jsonFlag(asJSON *bool) func(*cobra.Command) {
	return func(cmd *cobra.Command) { cmd.Flags().BoolVar(asJSON, "json", false, "print JSON") }
}
