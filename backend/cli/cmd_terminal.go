package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"loop/backend/core"
)

// terminalFlags choose a session, or say how a new one is opened.
type terminalFlags struct {
	channelFlags
	host, plain           bool
	mode                  core.OpenMode
	title, attach         string
	detachKey, escapeChar string
}

func (a *app) terminalCommand() *cobra.Command {
	var f terminalFlags
	cmd := &cobra.Command{
		Use: "terminal [flags] [-- COMMAND…]", Short: "Open a terminal of a channel here, or one that is open already",
		Long: `Shows a terminal session of the running Loop in this terminal. Without a command
the agent is opened in the channel's container; with --host it is a shell of your
own on this computer. The session goes on when you leave it, with Ctrl-] or with
~. at the beginning of a line, and when this terminal is closed.`,
		Example: `  loop terminal                       the agent of the folder's channel
  loop terminal --plain               a shell beside it
  loop terminal -- htop               a program
  loop terminal list                  what is open
  loop terminal --attach 1f30…        go on with that`,
		Args: func(cmd *cobra.Command, args []string) error {
			if n := cmd.ArgsLenAtDash(); n > 0 || n < 0 && len(args) > 0 {
				return usagef("there is no “loop terminal %s”; a command to run comes after --", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("attach") && f.attach == "" {
				return usagef("--attach names no session; “loop terminal list” shows them")
			}
			return a.openTerminal(cmd.Context(), &f, args)
		},
	}
	cmd.Flags().StringVar(&f.channel, "channel", "", "id or name of a channel (default: the one of the folder)")
	cmd.Flags().StringVar(&f.dir, "dir", "", "folder of a channel (default: the current one)")
	cmd.Flags().BoolVar(&f.host, "host", false, "on this computer, not in the container")
	cmd.Flags().BoolVar(&f.plain, "plain", false, "a shell without the agent")
	for mode, does := range map[core.OpenMode]string{
		core.OpenFresh: "begins a new conversation", core.OpenResume: "goes on with the channel's conversation",
		core.OpenFork: "goes on with a copy of it",
	} {
		cmd.Flags().BoolFunc(string(mode), "the agent "+does, func(string) error { f.mode = mode; return nil })
	}
	cmd.Flags().StringVar(&f.title, "title", "", "title of the session (default: the program's)")
	cmd.Flags().StringVar(&f.attach, "attach", "", "id of a session that is open, or the beginning of it")
	cmd.Flags().StringVar(&f.detachKey, "detach-key", defaultDetachKey, "key that leaves the session, or none")
	cmd.Flags().StringVar(&f.escapeChar, "escape", defaultEscapeChar,
		"character that leaves it with a full stop after it, at the beginning of a line, or none")
	cmd.MarkFlagsMutuallyExclusive("channel", "dir")
	cmd.MarkFlagsMutuallyExclusive("fresh", "resume", "fork")
	for _, agentless := range []string{"host", "plain", "attach"} {
		for _, mode := range []string{"fresh", "resume", "fork"} {
			cmd.MarkFlagsMutuallyExclusive(agentless, mode)
		}
	}
	for _, other := range []string{"channel", "dir", "host", "plain", "title"} {
		cmd.MarkFlagsMutuallyExclusive("attach", other)
	}
	cmd.AddCommand(a.terminalListCommand(), a.terminalCloseCommand(), a.terminalRecordCommand())
	return cmd
}

// openTerminal shows a session in this terminal and says at its end how it was
// left. The code is the program's.
func (a *app) openTerminal(ctx context.Context, f *terminalFlags, argv []string) error {
	keys, err := newLeaveKeys(f.detachKey, f.escapeChar)
	if err != nil {
		return err
	}
	if f.attach != "" && len(argv) > 0 {
		return usagef("--attach and a command do not go together")
	}
	ctx, stop := a.untilInterrupt(ctx)
	defer stop()
	r, ok := a.running(ctx).(*remote)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !ok {
		return core.Fail(core.CodeNotFound, nil, "No Loop is running that could keep the terminal.",
			"Start the window or “loop serve” first.")
	}
	defer r.Close()
	open, err := f.message(ctx, r, argv)
	if err != nil {
		return err
	}
	if within, _ := a.deps.Env("LOOP_TERMINAL"); within != "" && open["session_id"] == core.TerminalID(within) {
		return core.Fail(core.CodeInvalid, nil, "That is the session this command runs in, and to show it in itself would never end.",
			"Attach to another one, or from another terminal.")
	}
	if v, _ := a.deps.Env("COLORFGBG"); v != "" {
		if c := drawnWith(v); c != nil {
			open["colors"] = c
		}
	}
	s, err := a.screen()
	if err != nil {
		return err
	}
	a.err.line("Opening. Leave with %s.", keys.say())
	end, err := r.show(ctx, s, keys, open)
	if err != nil {
		if end.id != "" {
			a.err.line("If the session is still there: loop terminal --attach %s", end.id)
		} else if ctx.Err() != nil && f.attach == "" {
			a.err.line("Loop goes on opening the session; “loop terminal list” shows it.")
		}
		return err
	}
	switch {
	case end.detached:
		a.err.line("The session goes on. Come back with: loop terminal --attach %s", end.id)
		return nil
	case end.stopped:
		a.err.line("The session was closed.")
		return nil
	case end.message != "":
		a.err.line("%s", oneLine(end.message, 300))
	}
	if end.code < 0 || end.code > 255 {
		end.code = exitFailed
	}
	if end.code != 0 {
		return exitError(end.code)
	}
	return nil
}

// message opens the session that the flags ask for.
func (f *terminalFlags) message(ctx context.Context, c Core, argv []string) (map[string]any, error) {
	if f.attach != "" {
		id, err := findTerminal(ctx, c, f.attach)
		return map[string]any{"type": "attach", "session_id": id}, err
	}
	m := map[string]any{"type": "create", "plain": f.plain, "title": f.title, "open_mode": f.mode}
	if len(argv) > 0 {
		m["cmd"] = argv
	}
	id, err := f.find(ctx, c)
	if f.host {
		m["target"] = core.TargetHost
		if failedAs(err, core.CodeNotFound) && f.channelFlags == (channelFlags{}) {
			return m, nil // a shell of one's own needs no channel
		}
	}
	m["channel_id"] = id
	return m, err
}

// findTerminal finds a session by its id or the beginning of it.
func findTerminal(ctx context.Context, c Core, want string) (core.TerminalID, error) {
	list, err := call[[]core.TerminalInfo](ctx, c, "Terminals.List", "")
	if err != nil {
		return "", err
	}
	var found []core.TerminalID
	for _, t := range list {
		if strings.HasPrefix(string(t.ID), want) {
			found = append(found, t.ID)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", core.Fail(core.CodeNotFound, nil, fmt.Sprintf("There is no terminal session %q.", want),
			"Run “loop terminal list” to see them.")
	}
	return "", core.Fail(core.CodeInvalid, nil, fmt.Sprintf("%d terminal sessions begin with %q.", len(found), want), "Use more of the id.")
}

var terminalColumns = columns[core.TerminalInfo]{
	[]string{"SESSION", "TITLE", "STATE", "WHERE", "SIZE", "SEEN BY", "CHANNEL", "FOLDER"},
	func(t core.TerminalInfo) []string {
		state := string(t.State)
		if t.Exit != nil {
			state += fmt.Sprintf(" (%d)", t.Exit.Code)
		}
		if t.Recording != "" {
			state += ", recorded"
		}
		size := fmt.Sprintf("%dx%d", t.Cols, t.Rows)
		return []string{string(t.ID[:min(len(t.ID), 12)]), t.Title, state, string(t.Target), size, fmt.Sprint(t.Viewers), string(t.ChannelID),
			t.Dir}
	}}

func (a *app) terminalListCommand() *cobra.Command {
	var f channelFlags
	cmd := &cobra.Command{Use: "list", Short: "List the terminal sessions", Args: none}
	f.on(cmd)
	cmd.Flags().Lookup("channel").Usage = "only those of a channel: its id or name"
	cmd.Flags().Lookup("dir").Usage = "only those of the channel of a folder"
	return a.job(cmd, a.connect, func(j *job) (err error) {
		if f != (channelFlags{}) {
			if j.channel, err = f.find(j.ctx, j); err != nil {
				return err
			}
		}
		return list(j, terminalColumns, "Terminals.List", j.channel)
	})
}

// terminalJob is a job with the session that the command's first argument names.
func (a *app) terminalJob(cmd *cobra.Command, do func(j *job, id core.TerminalID) error) *cobra.Command {
	return a.job(cmd, a.connect, func(j *job) error {
		id, err := findTerminal(j.ctx, j, j.args[0])
		if err != nil {
			return err
		}
		return do(j, id)
	})
}

func (a *app) terminalCloseCommand() *cobra.Command {
	return a.terminalJob(&cobra.Command{
		Use: "close SESSION", Short: "End a session with everything that runs in it", Args: exactly("the session"),
	}, func(j *job, id core.TerminalID) error { return j.done("Closed.", "Terminals.Close", id) })
}

func (a *app) terminalRecordCommand() *cobra.Command {
	return a.terminalJob(&cobra.Command{
		Use: "record SESSION on|off", Short: "Begin or end the recording of a session", Args: exactly("the session", "on or off"),
		PreRunE: func(_ *cobra.Command, args []string) error {
			if args[1] != "on" && args[1] != "off" {
				return usagef("%q is neither on nor off", args[1])
			}
			return nil
		},
	}, func(j *job, id core.TerminalID) error {
		info, err := call[core.TerminalInfo](j.ctx, j, "Terminals.Record", id, j.args[1] == "on")
		switch {
		case err != nil:
			return err
		case info.Recording == "":
			j.out.line("Nothing is recorded now.")
		default:
			j.out.line("Recorded as %s.", clean(oneLine(info.Recording, 200)))
		}
		return nil
	})
}
