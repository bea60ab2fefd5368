package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"loop/backend/bind"
	"loop/backend/core"
)

func (a *app) runCommand() *cobra.Command {
	var f promptFlags
	cmd := &cobra.Command{
		Use:   "run [flags] PROMPT",
		Short: "Run a prompt and follow it to its end",
		Long: `Run a prompt in a container and follow it to its end.

The prompt is the arguments, or standard input when PROMPT is - or left out.
Without --dir and --channel the project is the current folder. Ctrl-C stops the
run and waits until its processes are gone; a second Ctrl-C leaves at once.

Exit codes: 0 done, 1 failed, 2 wrong input, 130 stopped.`,
		Example: `  loop run "Explain this project"
  loop run --demo "Show me around"
  git diff | loop run --dir ~/src/app -
  loop run --json "List the tests" | jq -r 'select(.type == "result") | .outcome.text'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			req, dir, err := a.letter(cmd, f, args)
			if err != nil {
				return err
			}
			asJSON, _ := cmd.Flags().GetBool("json")
			return a.run(cmd.Context(), a.sink(asJSON), f, req, dir)
		},
	}
	cmd.Flags().Bool("json", false, "print events as JSON lines, the result last")
	f.on(cmd)
	return cmd
}

// sink shows a run in the way that was asked for.
func (a *app) sink(asJSON bool) sink {
	if asJSON {
		return &jsonLines{w: a.out.w}
	}
	return &human{out: a.out, err: a.err}
}

func (a *app) run(ctx context.Context, s sink, f promptFlags, req bind.PromptRequest, dir string) error {
	unsent := core.Run{ID: core.RunID(req.ClientID), Prompt: req.Prompt, Demo: req.Demo, Script: req.Script}
	c, channel, err := a.prepare(ctx, f, dir)
	if err != nil {
		return unstarted(s, unsent, err)
	}
	unsent.ChannelID, req.ChannelID = channel, string(channel)
	if req.Attachments, err = f.attach(ctx, c, channel); err != nil {
		return unstarted(s, unsent, err)
	}
	fo := &follower{app: a, core: c, sink: s, run: unsent}
	return fo.close(fo.follow(ctx, req))
}

// prepare finds Loop and the channel; Ctrl-C ends it.
func (a *app) prepare(ctx context.Context, f promptFlags, dir string) (Core, core.ChannelID, error) {
	ctx, stop := a.untilInterrupt(ctx)
	defer stop()
	c, err := a.connect(ctx)
	if err != nil {
		return nil, "", err
	}
	id, err := a.channelFor(ctx, c, f, dir)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, "", errors.Join(err, c.Close())
	}
	return c, id, nil
}

// unstarted ends a run that never came to be: JSON readers still get a result.
func unstarted(s sink, run core.Run, err error) error {
	if errors.Is(err, context.Canceled) {
		err = core.Fail(core.CodeCancelled, err, "Stopped before the run began.", "")
	}
	f := core.AsFailure(err)
	run.State, run.Outcome.Failure = core.RunFailed, f
	if f.Code == core.CodeCancelled {
		run.State = core.RunCancelled
	}
	s.result(run)
	return f
}
