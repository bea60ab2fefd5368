package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"loop/backend/core"
	"loop/backend/demo"
)

// maxPromptBytes bounds a prompt. One call to a running instance may have
// 8 MiB, and JSON can make a byte six.
const maxPromptBytes = 1 << 20

type runFlags struct {
	dir, channel, script   string
	dirGiven, channelGiven bool
	demo, json             bool
	wishFlags
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
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
			f.given(cmd)
			return a.run(cmd.Context(), f, args)
		},
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print events as JSON lines, the result last")
	f.on(cmd)
	return cmd
}

// on adds what says where a prompt goes and how.
func (f *runFlags) on(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dir, "dir", "", "project folder (default: the current one)")
	cmd.Flags().StringVar(&f.channel, "channel", "", "id or name of a channel, instead of a folder")
	cmd.Flags().BoolVar(&f.demo, "demo", false, "use the scripted demo model: no key, no network, no cost")
	cmd.Flags().StringVar(&f.script, "script", "", "with --demo: the script to play")
	cmd.MarkFlagsMutuallyExclusive("dir", "channel")
	f.wishFlags.on(cmd)
}

// given notes which flags were there at all: an empty one is a mistake.
func (f *runFlags) given(cmd *cobra.Command) {
	f.dirGiven, f.channelGiven = cmd.Flags().Changed("dir"), cmd.Flags().Changed("channel")
}

// promptRequest is the argument of Runs.Prompt.
type promptRequest struct {
	ClientID  core.RunID     `json:"client_id"`
	ChannelID core.ChannelID `json:"channel_id"`
	Prompt    string         `json:"prompt"`
	Demo      bool           `json:"demo,omitempty"`
	Script    string         `json:"script,omitempty"`

	Interrupt    bool              `json:"interrupt,omitempty"`
	DelaySeconds int64             `json:"delay_seconds,omitempty"`
	Plan         bool              `json:"plan,omitempty"`
	Session      core.SessionStart `json:"session,omitzero"`
}

// letter reads what to send, how, and the folder when no channel is named.
func (a *app) letter(f runFlags, args []string) (run core.Run, wishes promptRequest, dir string, err error) {
	if err = checkScript(f); err != nil {
		return run, wishes, "", err
	}
	if wishes, err = f.wishes(a.now()); err != nil {
		return run, wishes, "", err
	}
	prompt, err := a.prompt(args)
	if err != nil {
		return run, wishes, "", err
	}
	if f.channelGiven && f.channel == "" {
		return run, wishes, "", usagef("--channel is empty")
	}
	if !f.channelGiven {
		if dir, err = projectDir(f.dir, f.dirGiven); err != nil {
			return run, wishes, "", err
		}
	}
	return core.Run{ID: core.RunID(core.NewID()), Prompt: prompt, Demo: f.demo, Script: f.script}, wishes, dir, nil
}

// request is the whole request for a run with some wishes.
func request(run core.Run, wishes promptRequest) promptRequest {
	wishes.ClientID, wishes.ChannelID, wishes.Prompt, wishes.Demo, wishes.Script = run.ID, run.ChannelID, run.Prompt, run.Demo, run.Script
	return wishes
}

func (a *app) run(ctx context.Context, f runFlags, args []string) error {
	run, wishes, dir, err := a.letter(f, args)
	if err != nil {
		return err
	}
	var s sink = &human{out: a.out, err: a.err}
	if f.json {
		s = &jsonLines{w: a.out.w}
	}
	c, channel, err := a.prepare(ctx, a.connect, f, dir)
	if err != nil {
		return a.unstarted(s, run, err)
	}
	run.ChannelID = channel
	fo := &follower{app: a, core: c, sink: s, run: run, wishes: wishes}
	err = fo.follow(ctx)
	if errors.Is(err, errLeft) {
		// Left in a hurry: what is open is closed by the end of the process.
		return exitError(exitCancelled)
	}
	if cerr := fo.core.Close(); cerr != nil && err == nil {
		a.err.failure(core.AsFailure(fmt.Errorf("close Loop: %w", cerr)))
	}
	return err
}

// prepare finds Loop and the channel; Ctrl-C ends it.
func (a *app) prepare(ctx context.Context, connect func(context.Context) (Core, error), f runFlags, dir string) (Core, core.ChannelID,
	error) {
	ctx, stop := a.untilInterrupt(ctx)
	defer stop()
	c, err := connect(ctx)
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
func (a *app) unstarted(s sink, run core.Run, err error) error {
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

func checkScript(f runFlags) error {
	if f.script == "" {
		return nil
	}
	if !f.demo {
		return usagef("--script needs --demo")
	}
	if lib := demo.Builtin(); lib[f.script] == nil {
		return usagef("there is no script %q; there are %s", f.script, strings.Join(lib.Names(), ", "))
	}
	return nil
}

// prompt takes the arguments, or standard input for “-” and for no argument.
func (a *app) prompt(args []string) (string, error) {
	text := strings.Join(args, " ")
	if len(args) == 0 && isTerminal(a.in) {
		return "", usagef("the prompt is missing; give it as an argument, or - to read it from standard input")
	}
	if len(args) == 0 || (len(args) == 1 && args[0] == "-") {
		data, err := io.ReadAll(io.LimitReader(a.in, maxPromptBytes+1))
		if err != nil {
			return "", fmt.Errorf("read prompt: %w", err)
		}
		text = string(data)
	}
	return checkedPrompt(text)
}

// checkedPrompt refuses what is no prompt.
func checkedPrompt(text string) (string, error) {
	switch {
	case len(text) > maxPromptBytes:
		return "", usagef("the prompt is longer than %d KiB; put long text into a file of the project and name the file", maxPromptBytes>>10)
	case strings.TrimSpace(text) == "":
		return "", usagef("the prompt is empty")
	case !utf8.ValidString(text):
		return "", usagef("the prompt is not UTF-8 text")
	case strings.ContainsRune(text, 0):
		return "", usagef("the prompt holds a NUL byte")
	}
	return strings.TrimSpace(text), nil
}

// projectDir makes the folder absolute and sees that it is one. Loop checks it
// again, with more rules, when it adds the channel.
func projectDir(dir string, given bool) (string, error) {
	if given && dir == "" {
		return "", usagef("--dir is empty")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", core.Fail(core.CodeDir, err, "The current folder no longer exists.", "Change to another folder, or name one with --dir.")
	}
	info, err := os.Stat(abs)
	switch {
	case !utf8.ValidString(abs):
		return "", core.Fail(core.CodeDir, nil, fmt.Sprintf("The name of the folder %q is not UTF-8 text.", abs), "Rename the folder.")
	case errors.Is(err, os.ErrNotExist):
		return "", core.Fail(core.CodeDir, nil, fmt.Sprintf("There is no folder %q.", abs), "Check the spelling, or make the folder first.")
	case err != nil:
		return "", core.Fail(core.CodeDir, err, fmt.Sprintf("The folder %q cannot be opened.", abs), "Check that you may read it.")
	case !info.IsDir():
		return "", core.Fail(core.CodeDir, nil, fmt.Sprintf("%q is a file, not a folder.", abs), "Name the folder that holds it.")
	}
	return abs, nil
}

// channelFor finds or makes the channel of a run.
func (a *app) channelFor(ctx context.Context, c Core, f runFlags, dir string) (core.ChannelID, error) {
	if dir == "" {
		return findChannel(ctx, c, f.channel)
	}
	ch, err := call[core.Channel](ctx, c, "Channels.Add", dir, "")
	if fail, ok := errors.AsType[*core.Failure](err); ok && fail.Code == core.CodeDir && f.demo && !f.dirGiven {
		// A newcomer's shell is often in the home folder, which is no project.
		if ch, err = call[core.Channel](ctx, c, "Channels.Demo"); err == nil {
			a.err.line("The current folder cannot be a project, so the demo works in %s.", ch.Dir)
		}
	}
	return ch.ID, err
}

func findChannel(ctx context.Context, c Core, want string) (core.ChannelID, error) {
	list, err := call[[]channelView](ctx, c, "Channels.List")
	if err != nil {
		return "", err
	}
	var named []core.ChannelID
	for _, ch := range list {
		if string(ch.ID) == want {
			return ch.ID, nil
		}
		if ch.Name == want {
			named = append(named, ch.ID)
		}
	}
	switch len(named) {
	case 1:
		return named[0], nil
	case 0:
		return "", core.Fail(core.CodeNotFound, nil, fmt.Sprintf("There is no channel %q.", want), "Run “loop channels” to see them.")
	}
	return "", core.Fail(core.CodeInvalid, nil, fmt.Sprintf("%d channels are called %q.", len(named), want),
		"Use the id that “loop channels” shows.")
}
