package cli

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"loop/backend/core"
)

func (a *app) sessionsCommand() *cobra.Command {
	all := func(j *job) error { return list(j, sessionColumns, "Channels.Sessions", j.channel) }
	sessions := a.channelJob(&cobra.Command{
		Use: "sessions", Short: "List the conversations the agent keeps, and choose one to go on with", Args: none,
		Example: `  loop sessions
  loop sessions resume 1b4e28ba-2fa1-41d2-883f-0016d3cca427
  loop sessions fork 1b4e28ba-2fa1-41d2-883f-0016d3cca427 --name "Another way"`,
	}, a.connectIdle, all)
	sessions.AddCommand(
		a.channelJob(&cobra.Command{Use: "list", Short: "List the conversations", Args: none}, a.connectIdle, all),
		a.channelJob(&cobra.Command{
			Use: "messages [SESSION]", Short: "List what was said in a conversation, with the ids a fork may end at", Args: upTo(1),
		}, a.connectIdle, func(j *job) error {
			return list(j, messageColumns, "Channels.Messages", j.channel, strings.Join(j.args, ""))
		}),
		a.sessionStart("resume SESSION", "Let the channel's next run go on with a conversation", exactly("the session"),
			core.SessionResume, "The next run goes on with that conversation."),
		a.sessionStart("fresh", "Let the channel's next run begin a new conversation", none,
			core.SessionFresh, "The next run begins a new conversation."),
		a.sessionFork())
	return sessions
}

var sessionColumns = columns[core.SessionInfo]{[]string{"SESSION", "LAST USED", "MESSAGES", "MODEL", "TITLE"},
	func(s core.SessionInfo) []string {
		id := string(s.ID)
		if s.Current {
			id += " *"
		}
		return []string{id, s.UpdatedAt.Local().Format(time.DateTime), strconv.Itoa(s.Messages), s.Model, oneLine(s.Title, 60)}
	}}

var messageColumns = columns[core.SessionMessage]{[]string{"MESSAGE", "FROM", "TEXT"}, func(m core.SessionMessage) []string {
	return []string{m.UUID, m.Role, oneLine(m.Text, 80)}
}}

// sessionStart is a command that says what the channel's next run begins with; its
// argument is a session.
func (a *app) sessionStart(use, short string, takes cobra.PositionalArgs, mode core.SessionMode, said string) *cobra.Command {
	return a.channelJob(&cobra.Command{Use: use, Short: short, Args: takes}, a.connectIdle, func(j *job) error {
		start := core.SessionStart{Mode: mode, SessionID: core.SessionID(strings.Join(j.args, ""))}
		_, err := show(j, func(any) { j.out.line("%s", said) }, "Channels.SetSession", j.channel, start)
		return err
	})
}

func (a *app) sessionFork() *cobra.Command {
	var at, name string
	cmd := a.channelJob(&cobra.Command{
		Use: "fork SESSION", Short: "Make a thread with a copy of a conversation", Args: exactly("the session"),
	}, a.connectIdle, func(j *job) error {
		start := core.SessionStart{Mode: core.SessionFork, SessionID: core.SessionID(j.args[0]), At: at}
		return j.made("Thread", "Channels.ForkAt", j.channel, start, name)
	})
	cmd.Flags().StringVar(&at, "at", "", "last message of the copy (default: the whole conversation)")
	cmd.Flags().StringVar(&name, "name", "", "name of the thread")
	return cmd
}
