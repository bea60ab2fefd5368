package cli

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"loop/backend/core"
)

func (a *app) sessionsCommand() *cobra.Command {
	var f channelFlags
	list := func(cmd *cobra.Command, _ []string) error {
		return a.inChannel(cmd.Context(), &f, func(ctx context.Context, c Core, id core.ChannelID) error {
			return a.listFrom(ctx, c, "Channels.Sessions", f.asJSON, sessionRows, id)
		})
	}
	sessions := &cobra.Command{
		Use: "sessions", Short: "List the conversations the agent keeps, and choose one to go on with", Args: none, RunE: list,
		Example: `  loop sessions
  loop sessions resume 1b4e28ba-2fa1-41d2-883f-0016d3cca427
  loop sessions fork 1b4e28ba-2fa1-41d2-883f-0016d3cca427 --name "Another way"`,
	}
	f.on(sessions)
	listed := &cobra.Command{Use: "list", Short: "List the conversations", Args: none, RunE: list}
	f.on(listed)
	sessions.AddCommand(listed, a.sessionMessages(), a.sessionResume(), a.sessionFresh(), a.sessionFork())
	return sessions
}

func sessionRows(raw json.RawMessage) ([][]string, error) {
	list, err := answer[[]core.SessionInfo]("Channels.Sessions", raw)
	if err != nil {
		return nil, err
	}
	rows := [][]string{{"SESSION", "LAST USED", "MESSAGES", "MODEL", "TITLE"}}
	for _, s := range list {
		id := string(s.ID)
		if s.Current {
			id += " *"
		}
		rows = append(rows, []string{id, s.UpdatedAt.Local().Format(time.DateTime), strconv.Itoa(s.Messages), s.Model, oneLine(s.Title, 60)})
	}
	return rows, nil
}

func (a *app) sessionMessages() *cobra.Command {
	var f channelFlags
	cmd := &cobra.Command{
		Use: "messages [SESSION]", Short: "List what was said in a conversation, with the ids a fork may end at",
		Args: upTo(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			session := ""
			if len(args) > 0 {
				session = args[0]
			}
			return a.inChannel(cmd.Context(), &f, func(ctx context.Context, c Core, id core.ChannelID) error {
				return a.listFrom(ctx, c, "Channels.Messages", f.asJSON, func(raw json.RawMessage) ([][]string, error) {
					list, err := answer[[]core.SessionMessage]("Channels.Messages", raw)
					rows := [][]string{{"MESSAGE", "FROM", "TEXT"}}
					for _, m := range list {
						rows = append(rows, []string{m.UUID, m.Role, oneLine(m.Text, 80)})
					}
					return rows, err
				}, id, session)
			})
		},
	}
	f.on(cmd)
	return cmd
}

func (a *app) sessionResume() *cobra.Command {
	var f channelFlags
	cmd := &cobra.Command{
		Use: "resume SESSION", Short: "Let the channel's next run go on with a conversation", Args: exactly("the session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.setSession(cmd.Context(), &f, core.SessionStart{Mode: core.SessionResume, SessionID: core.SessionID(args[0])}, "The next run goes on with that conversation.")
		},
	}
	f.on(cmd)
	return cmd
}

func (a *app) sessionFresh() *cobra.Command {
	var f channelFlags
	cmd := &cobra.Command{
		Use: "fresh", Short: "Let the channel's next run begin a new conversation", Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.setSession(cmd.Context(), &f, core.SessionStart{Mode: core.SessionFresh}, "The next run begins a new conversation.")
		},
	}
	f.on(cmd)
	return cmd
}

func (a *app) setSession(ctx context.Context, f *channelFlags, start core.SessionStart, said string) error {
	return a.inChannel(ctx, f, func(ctx context.Context, c Core, id core.ChannelID) error {
		raw, err := c.Call(ctx, "Channels.SetSession", id, start)
		if err != nil {
			return err
		}
		if f.asJSON {
			a.printJSON(raw)
			return nil
		}
		a.out.line("%s", said)
		return nil
	})
}

func (a *app) sessionFork() *cobra.Command {
	var f channelFlags
	var at, name string
	cmd := &cobra.Command{
		Use: "fork SESSION", Short: "Make a thread with a copy of a conversation", Args: exactly("the session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			start := core.SessionStart{Mode: core.SessionFork, SessionID: core.SessionID(args[0]), At: at}
			return a.inChannel(cmd.Context(), &f, func(ctx context.Context, c Core, id core.ChannelID) error {
				return a.made(ctx, c, &f, "Thread", "Channels.ForkAt", id, start, name)
			})
		},
	}
	f.on(cmd)
	cmd.Flags().StringVar(&at, "at", "", "last message of the copy (default: the whole conversation)")
	cmd.Flags().StringVar(&name, "name", "", "name of the thread")
	return cmd
}
