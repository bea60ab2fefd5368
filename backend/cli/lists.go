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

func channelRows(raw json.RawMessage) ([][]string, error) {
	var list []channelView
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	rows := [][]string{{"CHANNEL", "NAME", "STATE", "KIND", "FOLDER"}}
	for _, c := range list {
		state := c.State
		if c.Queued > 0 {
			state += fmt.Sprintf(" (%d queued)", c.Queued)
		}
		rows = append(rows, []string{string(c.ID), c.Name, state, string(c.Kind), c.Dir})
	}
	return rows, nil
}

func (a *app) psCommand() *cobra.Command {
	return a.listCommand("ps", "List the containers that Loop made", "System.ListContainers", func(raw json.RawMessage) ([][]string, error) {
		var list []core.Container
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, err
		}
		rows := [][]string{{"CONTAINER", "NAME", "TYPE", "STATUS", "CREATED", "REMOVED AT"}}
		for _, c := range list {
			gone := ""
			if !c.RemoveAt.IsZero() {
				gone = c.RemoveAt.Local().Format(time.TimeOnly)
			}
			rows = append(rows, []string{shortID(c.ID), c.Name, string(c.Type), string(c.Status), c.CreatedAt.Local().Format(time.DateTime), gone})
		}
		return rows, nil
	})
}

// shortID is how engines abbreviate an id.
func shortID(id core.ContainerID) string { return string(id[:min(len(id), 12)]) }

func (a *app) listCommand(name, short, method string, rows func(json.RawMessage) ([][]string, error)) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: name, Short: short, Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := a.untilInterrupt(cmd.Context())
			defer stop()
			return a.list(ctx, method, asJSON, rows)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// list prints what one call answers. A look starts nothing that waits.
func (a *app) list(ctx context.Context, method string, asJSON bool, rows func(json.RawMessage) ([][]string, error), args ...any) error {
	c, err := a.connectIdle(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return a.listFrom(ctx, c, method, asJSON, rows, args...)
}

// listFrom prints what one call answers, as a table or as it is.
func (a *app) listFrom(ctx context.Context, c Core, method string, asJSON bool, rows func(json.RawMessage) ([][]string, error), args ...any) error {
	raw, err := c.Call(ctx, method, args...)
	if err != nil {
		return err
	}
	if asJSON {
		a.printJSON(raw)
		return nil
	}
	table, err := rows(raw)
	if err != nil {
		return fmt.Errorf("decode answer of %s: %w", method, err)
	}
	if len(table) == 1 {
		a.out.line("None yet.")
		return nil
	}
	a.table(table)
	return nil
}
