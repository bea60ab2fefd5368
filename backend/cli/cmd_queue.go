package cli

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"loop/backend/bind"
	"loop/backend/core"
)

func (a *app) queueCommand() *cobra.Command {
	queue := a.queueList(&cobra.Command{
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
		Args: noSuchCommand,
	})
	queue.AddCommand(a.queueList(&cobra.Command{Use: "list", Short: "List the prompts that wait", Args: none}),
		a.queueAdd(), a.queueEdit(), a.queueMove(), a.queueSteer(), a.queueHold(), a.queueRelease(), a.queueRemove())
	return queue
}

func (a *app) queueList(cmd *cobra.Command) *cobra.Command {
	var f queueFlags
	f.on(cmd)
	cmd.Flags().BoolVar(&f.all, "all", false, "of all channels")
	cmd.MarkFlagsMutuallyExclusive("all", "channel")
	cmd.MarkFlagsMutuallyExclusive("all", "dir")
	return a.job(cmd, a.connectIdle, func(j *job) error {
		found, err := f.waiting(j.ctx, j)
		if err != nil {
			return err
		}
		if j.asJSON {
			runs := []core.Run{}
			for _, w := range found {
				runs = append(runs, w.Run)
			}
			return j.printValue(runs)
		}
		if len(found) == 0 {
			a.out.line("Nothing waits.")
			return nil
		}
		a.table(queueRows(found, f.all, a.now()))
		for _, w := range found {
			if w.place == 1 && w.WaitsFor.QuestionID != "" {
				a.err.styledLine(amber, "What waits for your answer starts after: %s", answerCommand(w.WaitsFor))
			}
		}
		j.sayAsleep()
		return nil
	})
}

// works reports whether a Loop runs that works the queue.
func (j *job) works() bool {
	_, running := j.Core.(*remote)
	return running
}

// sayAsleep warns when no Loop runs that works the queue, or none that stays.
func (j *job) sayAsleep() {
	switch {
	case !j.works():
		j.err.styledLine(dim, "No Loop is running; the queue goes on when one does.")
	case passing(j.Core):
		j.err.styledLine(dim, "The Loop that runs ends with the command it belongs to; what waits then goes on with the next.")
	}
}

// needsLoop refuses what only a Loop that works can do.
func (j *job) needsLoop() error {
	if j.works() {
		return nil
	}
	return core.Fail(core.CodeNotFound, nil, "No Loop is running that could stop a run.",
		"Start the window or “loop serve” first, or use “loop queue move … first”.")
}

func (a *app) queueAdd() *cobra.Command {
	var f promptFlags
	var req bind.PromptRequest
	var dir string
	cmd := jsonFlag(&cobra.Command{
		Use: "add [flags] PROMPT", Short: "Put a prompt into the queue and do not wait for it",
		Long: `Puts a prompt into the queue, as “loop run” does, and does not wait for its run.

The prompt is the arguments, or standard input when PROMPT is - or left out.`,
		PreRunE: func(cmd *cobra.Command, args []string) (err error) {
			req, dir, err = a.letter(cmd, f, args)
			return err
		},
	})
	f.on(cmd)
	return a.job(cmd, a.connectIdle, func(j *job) error {
		if f.Interrupt {
			if err := j.needsLoop(); err != nil {
				return err
			}
		}
		channel, err := a.channelFor(j.ctx, j, f, dir)
		if err != nil {
			return err
		}
		req.ChannelID = string(channel)
		if req.Attachments, err = f.attach(j.ctx, j, channel); err != nil {
			return err
		}
		run, err := call[core.Run](j.ctx, j, "Runs.Prompt", req)
		if err != nil {
			return err
		}
		if j.asJSON {
			return j.printValue(run)
		}
		j.sayQueued(run)
		return nil
	})
}

// sayQueued says where a prompt stands in its queue.
func (j *job) sayQueued(run core.Run) {
	queue, err := queueOf(j.ctx, j, run.ChannelID)
	if err != nil { // it is queued all the same
		j.out.line("Queued as %s.", short(run, nil))
		return
	}
	place, name := placeOf(queue, run.ID), short(run, queue)
	if place == 0 {
		j.out.line("%s has been started.", name)
		return
	}
	w := queue[place-1].WaitsFor
	if w.Reason == core.WaitDelayed {
		j.out.line("%s starts %s.", name, moment(run.NotBefore, j.now()))
	} else {
		j.out.line("%s waits at place %d of %d.", name, place, len(queue))
	}
	if w.QuestionID != "" {
		_, why := waitWords(w, j.now())
		j.err.styledLine(amber, "%s", why)
	}
	j.sayAsleep()
}

// queueJob is a job with the prompts that the command's first arguments name, as
// many as names says.
func (a *app) queueJob(cmd *cobra.Command, names int, do func(j *job, found []waiting) error) *cobra.Command {
	var f queueFlags
	f.on(cmd)
	return a.job(cmd, a.connectIdle, func(j *job) error {
		found, err := f.find(j.ctx, j, j.args[:min(names, len(j.args))])
		if err != nil {
			return err
		}
		return do(j, found)
	})
}

func (a *app) queueSteer() *cobra.Command {
	return a.queueJob(&cobra.Command{
		Use: "steer PROMPT", Short: "Stop the run under way and begin with a prompt that waits", Args: exactly("the prompt"),
		Long: `Makes an interrupting message of a prompt that waits: it goes in front of the
queue, and the channel's run under way is stopped. Returns when that one is gone.`,
	}, 1, func(j *job, found []waiting) error {
		if err := j.needsLoop(); err != nil {
			return err
		}
		return found[0].change(j, "Runs.Steer", "%s goes first, and nothing is in its way.")
	})
}

func (a *app) queueHold() *cobra.Command {
	return a.queueJob(&cobra.Command{
		Use: "hold PROMPT", Short: "Let a prompt, and what is behind it, wait for five minutes", Args: exactly("the prompt"),
		Long: `Keeps a prompt and what is behind it from being started for five minutes. Holding
it again renews that; “loop queue release” and an edit end it.`,
	}, 1, func(j *job, found []waiting) error {
		_, err := show(j, func(r core.Run) {
			a.out.line("%s is held, with what is behind it, until %s.", found[0].name, r.HoldUntil.Local().Format(time.TimeOnly))
		}, "Runs.Hold", found[0].ID)
		return found[0].late(j, err)
	})
}

func (a *app) queueRelease() *cobra.Command {
	return a.queueJob(&cobra.Command{Use: "release PROMPT", Short: "End a hold", Args: exactly("the prompt")}, 1,
		func(j *job, found []waiting) error { return found[0].change(j, "Runs.Release", "%s is not held.") })
}

// change calls a method that answers nothing, and says so with the prompt's name.
func (w waiting) change(j *job, method, said string) error {
	if _, err := j.Call(j.ctx, method, w.ID); err != nil {
		return w.late(j, err)
	}
	if j.asJSON {
		return j.printValue(w.Run)
	}
	j.out.line(said, w.name)
	return nil
}

func (a *app) queueRemove() *cobra.Command {
	return a.queueJob(&cobra.Command{
		Use: "remove PROMPT…", Short: "Take prompts out of the queue",
		Long: "Takes prompts out of the queue, and prints what they said.",
		Args: func(cmd *cobra.Command, args []string) error {
			return exactly(slices.Repeat([]string{"the prompt"}, max(len(args), 1))...)(cmd, args)
		},
	}, math.MaxInt, func(j *job, found []waiting) error {
		gone, failed := []core.Run{}, error(nil)
		for _, w := range found {
			if _, err := j.Call(j.ctx, "Runs.Remove", w.ID); err != nil {
				a.err.failure(core.AsFailure(w.late(j, err)))
				failed = exitError(exitFailed)
				continue
			}
			gone = append(gone, w.Run)
			if !j.asJSON {
				a.out.line("Removed %s, which said:", w.name)
				a.out.line("%s", w.Prompt)
			}
		}
		if j.asJSON {
			return errors.Join(j.printValue(gone), failed)
		}
		return failed
	})
}

func (a *app) queueMove() *cobra.Command {
	return a.queueJob(&cobra.Command{
		Use: "move PROMPT PLACE", Short: "Put a prompt at another place of the queue", Args: exactly("the prompt", "the place"),
		Long: `Puts a prompt at another place of the queue: a number, or first, last, up or down.`,
	}, 1, func(j *job, found []waiting) error {
		w := found[0]
		to, err := placeFrom(j.args[1], w.place, len(w.queue))
		if err != nil {
			return err
		}
		var ids []core.RunID
		for _, r := range w.queue {
			if r.ID != w.ID {
				ids = append(ids, r.ID)
			}
		}
		_, err = show(j, func([]core.Run) { a.out.line("%s is at place %d of %d.", w.name, to, len(w.queue)) },
			"Runs.Reorder", w.ChannelID, slices.Insert(ids, to-1, w.ID))
		return w.late(j, err)
	})
}
