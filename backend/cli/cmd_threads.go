package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"loop/backend/core"
)

// channelFlags choose a channel that is there: unlike a run, these commands
// make none for a folder.
type channelFlags struct{ channel, dir string }

func (f *channelFlags) on(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.channel, "channel", "", "id or name of a channel (default: the one of the folder)")
	cmd.Flags().StringVar(&f.dir, "dir", "", "folder of a channel (default: the current one)")
	jsonFlag(cmd)
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

// made prints a channel that was made.
func (j *job) made(what, method string, args ...any) error {
	_, err := show(j, func(ch core.Channel) {
		j.out.line("%s “%s” is channel %s.", what, clean(oneLine(ch.Name, 100)), ch.ID)
		if ch.Kind == core.KindWorktree {
			j.out.line("Its folder is %s.", clean(oneLine(ch.Dir, 1000)))
		}
		j.out.line("Send it a message: loop run --channel %s \"…\"", ch.ID)
	}, method, args...)
	return err
}

// removed removes the channel that the command's argument names.
func (j *job) removed(method string, options ...any) error {
	id, err := findChannel(j.ctx, j, j.args[0])
	if err != nil {
		return err
	}
	return j.done("Removed.", method, append([]any{id}, options...)...)
}

func (a *app) threadCommand() *cobra.Command {
	var name, session, at string
	var fresh, tree bool
	add := a.channelJob(&cobra.Command{
		Use: "new", Short: "Make a thread of a channel", Args: none,
		Long: `Makes a thread: a channel in the same folder, which forks its parent's
conversation with its first message.`,
	}, a.connectIdle, func(j *job) error {
		start := core.SessionStart{SessionID: core.SessionID(session), At: at}
		switch {
		case fresh:
			start.Mode = core.SessionFresh
		case session != "" || at != "":
			start.Mode = core.SessionFork
		}
		return j.made("Thread", "Channels.CreateThread", map[string]any{"parent_id": j.channel, "name": name, "session": start})
	})
	add.Flags().StringVar(&name, "name", "", "name of the thread")
	add.Flags().StringVar(&session, "session", "", "conversation to copy (default: the channel's)")
	add.Flags().StringVar(&at, "at", "", "last message of the copy, as “loop sessions messages” shows it")
	add.Flags().BoolVar(&fresh, "fresh", false, "begin without a conversation")
	add.MarkFlagsMutuallyExclusive("fresh", "session")
	add.MarkFlagsMutuallyExclusive("fresh", "at")

	remove := a.job(&cobra.Command{
		Use: "remove CHANNEL", Short: "Remove a thread with its timeline; files stay", Args: exactly("the channel"),
	}, a.connect, func(j *job) error {
		if tree {
			return j.removed("Channels.RemoveTree", false)
		}
		return j.removed("Channels.Remove")
	})
	remove.Flags().BoolVar(&tree, "tree", false, "also what is below it")
	return group("thread", "Make or remove threads of a channel", add, remove)
}

func (a *app) worktreeCommand() *cobra.Command {
	var name, base string
	add := a.channelJob(&cobra.Command{
		Use: "new BRANCH", Short: "Make a git worktree with a channel in it", Args: exactly("the branch"),
		Long: `Makes <project>/.worktrees/<branch> and a channel in it, which begins with a copy
of the parent's conversation. Git runs in a container. A branch that does not
exist is made from --base, or from what the parent has checked out.`,
	}, a.connect, func(j *job) error {
		return j.made("Worktree", "Channels.CreateWorktree",
			map[string]any{"parent_id": j.channel, "branch": j.args[0], "name": name, "base": base})
	})
	add.Flags().StringVar(&name, "name", "", "name of the channel (default: the branch)")
	add.Flags().StringVar(&base, "base", "", "branch, tag or commit that a new branch begins at")

	var force, keep bool
	remove := a.job(&cobra.Command{
		Use: "remove CHANNEL", Short: "Remove a worktree: its channel and its folder", Args: exactly("the channel"),
		Long: `Removes the channel with its timeline, and the folder. The branch stays. A folder
with changes that are not committed is kept unless --force is given.`,
	}, a.connect, func(j *job) error {
		if keep {
			return j.removed("Channels.Remove")
		}
		return j.removed("Channels.RemoveWorktree", force)
	})
	remove.Flags().BoolVar(&force, "force", false, "also with changes that are not committed")
	remove.Flags().BoolVar(&keep, "keep-files", false, "remove the channel only")
	remove.MarkFlagsMutuallyExclusive("force", "keep-files")
	return group("worktree", "Make or remove git worktrees with channels", add, remove)
}
