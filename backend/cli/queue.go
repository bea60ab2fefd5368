package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"loop/backend/core"
)

func (a *app) queueCommand() *cobra.Command {
	var f queueFlags
	list := func(cmd *cobra.Command, _ []string) error { return a.queueList(cmd.Context(), &f) }
	queue := &cobra.Command{
		Use: "queue", Short: "List and change the prompts that wait in a channel",
		Long: `Lists and changes the prompts that wait in a channel.

A prompt is named by its id, of which the beginning is enough, or by its place in
the queue of the folder's channel. Places move while the queue is worked, ids do
not. Without a Loop that runs the same can be done with what is stored; nothing is
started by it.

Exit codes: 0 done, 1 too late or refused, 2 wrong input, 130 stopped.`,
		Example: `  loop queue
  loop queue add --delay 10m "Look at the build again"
  loop queue edit 2                        in your editor; the queue waits five minutes meanwhile
  loop queue edit 5f21 "Use the other file"
  loop queue move 3 first
  loop queue remove 2 5f21`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("there is no “loop queue %s”", args[0])
			}
			return nil
		},
		RunE: list,
	}
	listed := &cobra.Command{Use: "list", Short: "List the prompts that wait", Args: none, RunE: list}
	for _, cmd := range []*cobra.Command{queue, listed} {
		f.on(cmd)
		cmd.Flags().BoolVar(&f.all, "all", false, "of all channels")
		cmd.MarkFlagsMutuallyExclusive("all", "channel")
		cmd.MarkFlagsMutuallyExclusive("all", "dir")
	}
	queue.AddCommand(listed, a.queueAddCommand(), a.queueEditCommand(), a.queueMoveCommand(), a.queueSteerCommand(),
		a.queueHoldCommand(), a.queueReleaseCommand(), a.queueRemoveCommand())
	return queue
}

func (a *app) queueList(ctx context.Context, f *queueFlags) error {
	return a.withCore(ctx, a.connectIdle, func(ctx context.Context, c Core) error { return a.listQueues(ctx, c, f) })
}

func (a *app) listQueues(ctx context.Context, c Core, f *queueFlags) error {
	queues, err := f.queues(ctx, c)
	if err != nil {
		return err
	}
	if f.asJSON {
		runs := []core.Run{}
		for _, q := range queues {
			runs = append(runs, q.runs...)
		}
		return a.asJSON(runs)
	}
	rows := queueRows(queues, f.all, a.now())
	if len(rows) == 1 {
		a.out.line("Nothing waits.")
		return nil
	}
	a.table(rows)
	for _, q := range queues {
		if len(q.runs) > 0 && q.runs[0].WaitsFor.QuestionID != "" {
			a.err.styledLine(amber, "What waits for your answer starts after: %s", answerCommand(q.runs[0].WaitsFor))
		}
	}
	a.sayAsleep(c)
	return nil
}

// sayAsleep says that nobody works the queue.
func (a *app) sayAsleep(c Core) {
	switch r, running := c.(*remote); {
	case !running:
		a.err.styledLine(dim, "No Loop is running; the queue goes on when one does.")
	case r.passing:
		a.err.styledLine(dim, "The Loop that runs ends with the command it belongs to; what waits then goes on with the next.")
	}
}

func (a *app) queueAddCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use: "add [flags] PROMPT", Short: "Put a prompt into the queue and do not wait for it",
		Long: `Puts a prompt into the queue, as “loop run” does, and does not wait for its run.

The prompt is the arguments, or standard input when PROMPT is - or left out.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.given(cmd)
			return a.queueAdd(cmd.Context(), f, args)
		},
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	f.on(cmd)
	return cmd
}

func (a *app) queueAdd(ctx context.Context, f runFlags, args []string) error {
	run, wishes, dir, err := a.letter(f, args)
	if err != nil {
		return err
	}
	c, channel, err := a.prepare(ctx, a.connectIdle, f, dir)
	if err != nil {
		return err
	}
	defer c.Close()
	if f.interrupt {
		if err := needsLoop(c); err != nil {
			return err
		}
	}
	run.ChannelID = channel
	ctx, stop := a.untilInterrupt(ctx)
	defer stop()
	run, err = call[core.Run](ctx, c, "Runs.Prompt", request(run, wishes))
	if err != nil {
		return err
	}
	if f.json {
		return a.asJSON(run)
	}
	queue, err := queueOf(ctx, c, channel)
	if err != nil { // it is queued all the same
		a.out.line("Queued as %s.", short(run, nil))
		return nil
	}
	place, name := placeOf(queue, run.ID), short(run, queue)
	switch {
	case place == 0:
		a.out.line("%s has been started.", name)
	case queue[place-1].WaitsFor.Reason == core.WaitDelayed:
		a.out.line("%s starts %s.", name, moment(run.NotBefore, a.now()))
	default:
		a.out.line("%s waits at place %d of %d.", name, place, len(queue))
	}
	if place > 0 {
		if w := queue[place-1].WaitsFor; w.QuestionID != "" {
			a.err.styledLine(amber, "%s", waitSentence(w, a.now()))
		}
		a.sayAsleep(c)
	}
	return nil
}

// needsLoop refuses what only a Loop that works can do.
func needsLoop(c Core) error {
	if _, running := c.(*remote); running {
		return nil
	}
	return core.Fail(core.CodeNotFound, nil, "No Loop is running that could stop a run.",
		"Start the window or “loop serve” first, or use “loop queue move … first”.")
}

// queueChange is a command that does one thing with one prompt.
func (a *app) queueChange(use, short, long, method string, said func(core.Run, string) string) *cobra.Command {
	var f queueFlags
	return with(&cobra.Command{
		Use: use + " PROMPT", Short: short, Long: long, Args: exactly("the prompt"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onQueue(cmd.Context(), &f, args, func(ctx context.Context, c Core, found []waiting) error {
				w := found[0]
				if method == "Runs.Steer" {
					if err := needsLoop(c); err != nil {
						return err
					}
				}
				raw, err := c.Call(ctx, method, w.ID)
				if err != nil {
					return w.late(ctx, c, err)
				}
				run := w.Run
				if method == "Runs.Hold" {
					if run, err = answer[core.Run](method, raw); err != nil {
						return err
					}
				}
				if f.asJSON {
					return a.asJSON(run)
				}
				a.out.line("%s", said(run, w.name))
				return nil
			})
		},
	}, f.on)
}

func (a *app) queueSteerCommand() *cobra.Command {
	return a.queueChange("steer", "Stop the run under way and begin with a prompt that waits",
		`Makes an interrupting message of a prompt that waits: it goes in front of the
queue, and the channel's run under way is stopped. Returns when that one is gone.`,
		"Runs.Steer", func(_ core.Run, name string) string { return name + " goes first, and nothing is in its way." })
}

func (a *app) queueHoldCommand() *cobra.Command {
	return a.queueChange("hold", "Let a prompt, and what is behind it, wait for five minutes",
		`Keeps a prompt and what is behind it from being started for five minutes. Holding
it again renews that; “loop queue release” and an edit end it.`,
		"Runs.Hold", func(r core.Run, name string) string {
			return fmt.Sprintf("%s is held, with what is behind it, until %s.", name, r.HoldUntil.Local().Format("15:04:05"))
		})
}

func (a *app) queueReleaseCommand() *cobra.Command {
	return a.queueChange("release", "End a hold", "", "Runs.Release", func(_ core.Run, name string) string { return name + " is not held." })
}

func (a *app) queueRemoveCommand() *cobra.Command {
	var f queueFlags
	return with(&cobra.Command{
		Use: "remove PROMPT…", Short: "Take prompts out of the queue",
		Long: "Takes prompts out of the queue, and prints what they said.",
		Args: func(cmd *cobra.Command, args []string) error {
			return exactly(slices.Repeat([]string{"the prompt"}, max(len(args), 1))...)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onQueue(cmd.Context(), &f, args, func(ctx context.Context, c Core, found []waiting) error {
				gone, failed := []core.Run{}, error(nil)
				for _, w := range found {
					if _, err := c.Call(ctx, "Runs.Remove", w.ID); err != nil {
						if err = w.late(ctx, c, err); len(found) == 1 {
							return err
						}
						a.err.failure(core.AsFailure(err))
						failed = exitError(exitFailed)
						continue
					}
					gone = append(gone, w.Run)
					if !f.asJSON {
						a.out.line("Removed %s, which said:", w.name)
						a.out.line("%s", w.Prompt)
					}
				}
				if f.asJSON {
					return errors.Join(a.asJSON(gone), failed)
				}
				return failed
			})
		},
	}, f.on)
}

func (a *app) queueMoveCommand() *cobra.Command {
	var f queueFlags
	return with(&cobra.Command{
		Use: "move PROMPT PLACE", Short: "Put a prompt at another place of the queue",
		Long: `Puts a prompt at another place of the queue: a number, or first, last, up or down.`,
		Args: exactly("the prompt", "the place"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onQueue(cmd.Context(), &f, args[:1], func(ctx context.Context, c Core, found []waiting) error {
				return a.queueMove(ctx, c, found[0], args[1], f.asJSON)
			})
		},
	}, f.on)
}

// maxMoves bounds how often an order is made anew because the queue changed
// between reading and ordering it.
const maxMoves = 10

func (a *app) queueMove(ctx context.Context, c Core, w waiting, where string, asJSON bool) error {
	to, err := placeFrom(where, w.place, len(w.queue))
	if err != nil {
		return err
	}
	queue := w.queue
	for range maxMoves {
		place := placeOf(queue, w.ID)
		if place == 0 {
			return w.gone()
		}
		to = min(to, len(queue))
		ids := make([]core.RunID, 0, len(queue))
		for _, r := range queue {
			if r.ID != w.ID {
				ids = append(ids, r.ID)
			}
		}
		raw, err := c.Call(ctx, "Runs.Reorder", w.ChannelID, slices.Insert(ids, to-1, w.ID))
		if err == nil && asJSON {
			a.printJSON(raw)
			return nil
		}
		if err == nil {
			a.out.line("%s is at place %d of %d.", w.name, to, len(queue))
			return nil
		}
		if f, ok := errors.AsType[*core.Failure](err); !ok || f.Code != core.CodeConflict {
			return err
		}
		// Something was started, came or went: the same again with the queue as it is now.
		if queue, err = queueOf(ctx, c, w.ChannelID); err != nil {
			return err
		}
		if p := placeOf(queue, w.ID); p > 0 && !numeric(where) {
			if to, err = placeFrom(where, p, len(queue)); err != nil {
				return err
			}
		}
	}
	return core.Fail(core.CodeConflict, nil, "The queue changes too fast to be put in order.",
		"Hold it with “loop queue hold 1”, and try again.")
}

func numeric(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
