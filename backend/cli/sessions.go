package cli

import (
	"context"
	"strconv"
	"strings"
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

var sessionRows = rowsOf([]string{"SESSION", "LAST USED", "MESSAGES", "MODEL", "TITLE"}, func(s core.SessionInfo) []string {
	id := string(s.ID)
	if s.Current {
		id += " *"
	}
	return []string{id, s.UpdatedAt.Local().Format(time.DateTime), strconv.Itoa(s.Messages), s.Model, oneLine(s.Title, 60)}
})

var messageRows = rowsOf([]string{"MESSAGE", "FROM", "TEXT"}, func(m core.SessionMessage) []string {
	return []string{m.UUID, m.Role, oneLine(m.Text, 80)}
})

func (a *app) sessionMessages() *cobra.Command {
	var f channelFlags
	return with(&cobra.Command{
		Use: "messages [SESSION]", Short: "List what was said in a conversation, with the ids a fork may end at",
		Args: upTo(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			session := strings.Join(args, "")
			return a.inChannel(cmd.Context(), &f, func(ctx context.Context, c Core, id core.ChannelID) error {
				return a.listFrom(ctx, c, "Channels.Messages", f.asJSON, messageRows, id, session)
			})
		},
	}, f.on)
}

func (a *app) sessionResume() *cobra.Command {
	return a.sessionStart("resume SESSION", "Let the channel's next run go on with a conversation", exactly("the session"),
		core.SessionResume, "The next run goes on with that conversation.")
}

func (a *app) sessionFresh() *cobra.Command {
	return a.sessionStart("fresh", "Let the channel's next run begin a new conversation", none,
		core.SessionFresh, "The next run begins a new conversation.")
}

// sessionStart is a command that says what the channel's next run begins with; its
// argument is a session.
func (a *app) sessionStart(use, short string, takes cobra.PositionalArgs, mode core.SessionMode, said string) *cobra.Command {
	var f channelFlags
	return with(&cobra.Command{
		Use: use, Short: short, Args: takes,
		RunE: func(cmd *cobra.Command, args []string) error {
			start := core.SessionStart{Mode: mode, SessionID: core.SessionID(strings.Join(args, ""))}
			return a.inChannel(cmd.Context(), &f, func(ctx context.Context, c Core, id core.ChannelID) error {
				return show(ctx, a, c, f.asJSON, func(any) { a.out.line("%s", said) }, "Channels.SetSession", id, start)
			})
		},
	}, f.on)
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
