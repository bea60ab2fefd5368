package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"loop/backend/core"
)

// channelFlags choose a channel that is there: unlike a run, these commands
// make none for a folder.
type channelFlags struct {
	channel, dir string
	asJSON       bool
}

func (f *channelFlags) on(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.channel, "channel", "", "id or name of a channel (default: the one of the folder)")
	cmd.Flags().StringVar(&f.dir, "dir", "", "folder of a channel (default: the current one)")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	cmd.MarkFlagsMutuallyExclusive("channel", "dir")
}

// find returns the channel that the flags name.
func (f *channelFlags) find(ctx context.Context, c Core) (core.ChannelID, error) {
	if f.channel != "" {
		return findChannel(ctx, c, f.channel)
	}
	dir, err := projectDir(f.dir, f.dir != "")
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	list, err := call[[]channelView](ctx, c, "Channels.List")
	if err != nil {
		return "", err
	}
	for _, ch := range list {
		if ch.Dir == dir && (ch.Kind == core.KindProject || ch.Kind == core.KindWorktree) {
			return ch.ID, nil
		}
	}
	return "", core.Fail(core.CodeNotFound, nil, fmt.Sprintf("There is no channel for %q.", dir),
		"Run “loop channels” to see them and name one with --channel, or start one with “loop run”.")
}

// inChannel is a command that works on what is stored of one channel.
func (a *app) inChannel(ctx context.Context, f *channelFlags, do func(ctx context.Context, c Core, id core.ChannelID) error) error {
	return a.inChannelOf(ctx, a.connectIdle, f, do)
}

// inLiveChannel is one that ends runs or needs a container.
func (a *app) inLiveChannel(ctx context.Context, f *channelFlags, do func(ctx context.Context, c Core, id core.ChannelID) error) error {
	return a.inChannelOf(ctx, a.connect, f, do)
}

func (a *app) inChannelOf(ctx context.Context, connect func(context.Context) (Core, error), f *channelFlags,
	do func(ctx context.Context, c Core, id core.ChannelID) error) error {
	return a.withCore(ctx, connect, func(ctx context.Context, c Core) error {
		id, err := f.find(ctx, c)
		if err != nil {
			return err
		}
		return do(ctx, c, id)
	})
}

// group is a command with nothing but sub-commands.
func group(use, short string, subs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("there is no “loop %s %s”", use, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(subs...)
	return cmd
}

// exactly is cobra.ExactArgs in this program's words.
func exactly(what ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < len(what) {
			return usagef("%s is missing", what[len(args)])
		}
		if len(args) > len(what) {
			return tooMany(args[len(what)])
		}
		for i, arg := range args {
			if strings.TrimSpace(arg) == "" {
				return usagef("%s is empty", what[i])
			}
		}
		return nil
	}
}

// made prints a channel that was made.
func (a *app) made(ctx context.Context, c Core, f *channelFlags, what, method string, args ...any) error {
	return show(ctx, a, c, f.asJSON, func(ch core.Channel) {
		a.out.line("%s “%s” is channel %s.", what, clean(oneLine(ch.Name, 100)), ch.ID)
		if ch.Kind == core.KindWorktree {
			a.out.line("Its folder is %s.", clean(oneLine(ch.Dir, 1000)))
		}
		a.out.line("Send it a message: loop run --channel %s \"…\"", ch.ID)
	}, method, args...)
}

// done calls a method and says that it did.
func (a *app) done(ctx context.Context, c Core, said, method string, args ...any) error {
	if _, err := c.Call(ctx, method, args...); err != nil {
		return err
	}
	a.out.line("%s", said)
	return nil
}

func (a *app) threadCommand() *cobra.Command {
	var f, g channelFlags
	var name, session, at string
	var fresh bool
	add := &cobra.Command{
		Use: "new", Short: "Make a thread of a channel", Args: none,
		Long: `Makes a thread: a channel in the same folder, which forks its parent's
conversation with its first message.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			start := core.SessionStart{SessionID: core.SessionID(session), At: at}
			switch {
			case fresh:
				start.Mode = core.SessionFresh
			case session != "" || at != "":
				start.Mode = core.SessionFork
			}
			return a.inChannel(cmd.Context(), &f, func(ctx context.Context, c Core, id core.ChannelID) error {
				return a.made(ctx, c, &f, "Thread", "Channels.CreateThread", map[string]any{"parent_id": id, "name": name, "session": start})
			})
		},
	}
	f.on(add)
	add.Flags().StringVar(&name, "name", "", "name of the thread")
	add.Flags().StringVar(&session, "session", "", "conversation to copy (default: the channel's)")
	add.Flags().StringVar(&at, "at", "", "last message of the copy, as “loop sessions messages” shows it")
	add.Flags().BoolVar(&fresh, "fresh", false, "begin without a conversation")
	add.MarkFlagsMutuallyExclusive("fresh", "session")
	add.MarkFlagsMutuallyExclusive("fresh", "at")

	var tree bool
	remove := &cobra.Command{
		Use: "remove CHANNEL", Short: "Remove a thread with its timeline; files stay", Args: exactly("the channel"),
		RunE: func(cmd *cobra.Command, args []string) error {
			g.channel = args[0]
			return a.inLiveChannel(cmd.Context(), &g, func(ctx context.Context, c Core, id core.ChannelID) error {
				method, params := "Channels.Remove", []any{id}
				if tree {
					method, params = "Channels.RemoveTree", []any{id, false}
				}
				return a.done(ctx, c, "Removed.", method, params...)
			})
		},
	}
	remove.Flags().BoolVar(&tree, "tree", false, "also what is below it")
	return group("thread", "Make or remove threads of a channel", add, remove)
}

func (a *app) worktreeCommand() *cobra.Command {
	var f, g channelFlags
	var name, base string
	add := &cobra.Command{
		Use: "new BRANCH", Short: "Make a git worktree with a channel in it", Args: exactly("the branch"),
		Long: `Makes <project>/.worktrees/<branch> and a channel in it, which begins with a copy
of the parent's conversation. Git runs in a container. A branch that does not
exist is made from --base, or from what the parent has checked out.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.inLiveChannel(cmd.Context(), &f, func(ctx context.Context, c Core, id core.ChannelID) error {
				return a.made(ctx, c, &f, "Worktree", "Channels.CreateWorktree",
					map[string]any{"parent_id": id, "branch": args[0], "name": name, "base": base})
			})
		},
	}
	f.on(add)
	add.Flags().StringVar(&name, "name", "", "name of the channel (default: the branch)")
	add.Flags().StringVar(&base, "base", "", "branch, tag or commit that a new branch begins at")

	var force, keep bool
	remove := &cobra.Command{
		Use: "remove CHANNEL", Short: "Remove a worktree: its channel and its folder", Args: exactly("the channel"),
		Long: `Removes the channel with its timeline, and the folder. The branch stays. A folder
with changes that are not committed is kept unless --force is given.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			g.channel = args[0]
			return a.inLiveChannel(cmd.Context(), &g, func(ctx context.Context, c Core, id core.ChannelID) error {
				method, params := "Channels.RemoveWorktree", []any{id, force}
				if keep {
					method, params = "Channels.Remove", []any{id}
				}
				return a.done(ctx, c, "Removed.", method, params...)
			})
		},
	}
	remove.Flags().BoolVar(&force, "force", false, "also with changes that are not committed")
	remove.Flags().BoolVar(&keep, "keep-files", false, "remove the channel only")
	remove.MarkFlagsMutuallyExclusive("force", "keep-files")
	return group("worktree", "Make or remove git worktrees with channels", add, remove)
}

func (a *app) channelSearchCommand() *cobra.Command {
	var asJSON bool
	return with(&cobra.Command{
		Use: "search TEXT", Short: "Find channels by name, branch and folder", Args: exactly("the text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.list(cmd.Context(), "Channels.Search", asJSON, channelRows, args[0])
		},
	}, jsonFlag(&asJSON))
}
