package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"loop/backend/core"
)

func (a *app) queueEditCommand() *cobra.Command {
	var f queueFlags
	return with(&cobra.Command{
		Use: "edit PROMPT [TEXT]", Short: "Change the text of a prompt that waits",
		Long: `Changes the text of a prompt that waits. The text is the arguments, or standard
input when TEXT is - or left out. At a terminal without TEXT the prompt is opened
in $VISUAL or $EDITOR; it and what is behind it wait until that is closed.

A text that comes too late is not lost: what was written in the editor or came on
standard input is kept in a file, which is named.`,
		Args: func(cmd *cobra.Command, args []string) error {
			return exactly("the prompt")(cmd, args[:min(len(args), 1)])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && a.editor != nil {
				return a.queueEditor(cmd.Context(), &f, args[0])
			}
			if len(args) == 1 && isTerminal(a.in) {
				return usagef("the text is missing; give it as an argument, or - to read it from standard input")
			}
			text, err := a.prompt(args[1:])
			if err != nil {
				return err
			}
			typed := len(args) > 2 || len(args) == 2 && args[1] != "-"
			return a.onQueue(cmd.Context(), &f, args[:1], func(ctx context.Context, c Core, found []waiting) error {
				w := found[0]
				err := a.queueEdit(ctx, c, w, text, f.asJSON)
				if err == nil && !f.asJSON && w.Prompt != text {
					a.out.line("It said before:")
					a.out.line("%s", w.Prompt)
				}
				if err != nil && !typed {
					a.keep(text)
				}
				return err
			})
		},
	}, f.on)
}

func (a *app) queueEdit(ctx context.Context, c Core, w waiting, text string, asJSON bool) error {
	raw, err := c.Call(ctx, "Runs.Edit", w.ID, text)
	if err != nil {
		return w.late(ctx, c, err)
	}
	if asJSON {
		a.printJSON(raw)
		return nil
	}
	a.out.line("%s is changed.", w.name)
	return nil
}

// keep writes a text that was refused into a file and names it.
func (a *app) keep(text string) {
	file, err := textFile(text)
	if err != nil {
		a.err.failure(core.AsFailure(err))
		return
	}
	a.err.line("Your text is in %s.", file)
}

// textFile makes a file that only this user can read.
func textFile(text string) (string, error) {
	f, err := os.CreateTemp("", "loop-prompt-*.md")
	if err != nil {
		return "", fmt.Errorf("make file for the text: %w", err)
	}
	_, err = io.WriteString(f, text+"\n")
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name())
		return "", fmt.Errorf("write the text to a file: %w", err)
	}
	return f.Name(), nil
}

// queueEditor opens a prompt in the person's editor. Loop is asked anew for each
// step: it may be started or ended while the editor is open.
func (a *app) queueEditor(ctx context.Context, f *queueFlags, want string) error {
	var before waiting
	hold := func(ctx context.Context, c Core, found []waiting) error {
		raw, err := c.Call(ctx, "Runs.Hold", found[0].ID)
		if err != nil {
			return found[0].late(ctx, c, err)
		}
		before = found[0]
		before.Run, err = answer[core.Run]("Runs.Hold", raw) // with the text as it is from now on
		return err
	}
	if err := a.onQueue(ctx, f, []string{want}, hold); err != nil {
		return err
	}
	file, err := textFile(before.Prompt)
	if err != nil {
		return errors.Join(err, a.release(ctx, before))
	}
	a.err.line("%s waits while you edit, with what is behind it.", before.name)
	if err := a.whileHeld(ctx, before, file); err != nil {
		return a.unedited(ctx, before, file, err)
	}
	text, err := readText(file)
	if err != nil {
		return a.unedited(ctx, before, file, err)
	}
	if text == strings.TrimSpace(before.Prompt) {
		_ = os.Remove(file)
		a.err.line("The text is as it was.")
		return a.release(ctx, before)
	}
	save := func(ctx context.Context, c Core, found []waiting) error {
		if now := found[0]; now.Prompt != before.Prompt {
			return core.Fail(core.CodeConflict, nil, fmt.Sprintf("Prompt %s has been edited by somebody else meanwhile.", before.name), "It was left as it is now. Look at it with “loop queue edit "+before.name+"”.")
		}
		return a.queueEdit(ctx, c, before, text, f.asJSON)
	}
	exact := queueFlags{channelFlags: channelFlags{channel: string(before.ChannelID)}}
	if err := a.onQueue(ctx, &exact, []string{string(before.ID)}, save); err != nil {
		if g, ok := errors.AsType[*core.Failure](err); ok && g.Code == core.CodeNotFound {
			err = before.gone()
		}
		_ = a.release(ctx, before)
		a.err.line("Your text is in %s.", file)
		return err
	}
	_ = os.Remove(file)
	return nil
}

// whileHeld waits for the editor and renews the hold meanwhile.
func (a *app) whileHeld(ctx context.Context, w waiting, file string) error {
	done := make(chan error, 1)
	go func() { done <- a.editor(ctx, file) }()
	tick := time.NewTicker(a.times.renew)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-a.interrupts: // Ctrl-C is the editor's
		case <-tick.C:
			a.holdAgain(ctx, w)
		}
	}
}

// holdAgain renews a hold. One that cannot be renewed is seen when the text is
// saved; the screen is the editor's, so nothing is said here, and nothing waited
// for.
func (a *app) holdAgain(ctx context.Context, w waiting) {
	ctx, stop := context.WithTimeout(ctx, a.times.probe)
	defer stop()
	c, err := a.connectIdle(ctx)
	if err != nil {
		return
	}
	_, _ = c.Call(ctx, "Runs.Hold", w.ID)
	_ = c.Close()
}

// unedited ends an edit that came to nothing, and keeps what was written.
func (a *app) unedited(ctx context.Context, w waiting, file string, err error) error {
	if text, rerr := readText(file); rerr == nil && text == strings.TrimSpace(w.Prompt) {
		_ = os.Remove(file)
	} else {
		a.err.line("The prompt was left as it was. Your text is in %s.", file)
	}
	_ = a.release(context.WithoutCancel(ctx), w)
	return err
}

// release ends a hold; one that is over is fine.
func (a *app) release(ctx context.Context, w waiting) error {
	c, err := a.connectIdle(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Call(ctx, "Runs.Release", w.ID)
	if f, ok := errors.AsType[*core.Failure](err); ok && (f.Code == core.CodeConflict || f.Code == core.CodeNotFound) {
		return nil
	}
	return err
}

// readText reads what the editor left.
func readText(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", core.Fail(core.CodeInvalid, err, "The editor left no file.", "Save under the name that it was opened with.")
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxPromptBytes+1))
	if err != nil {
		return "", fmt.Errorf("read the text: %w", err)
	}
	text := string(data)
	if runtime.GOOS == "windows" {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	return checkedPrompt(text)
}

// editFile runs the person's editor in this terminal.
func editFile(ctx context.Context, stdio Stdio, env func(string) (string, bool), file string) error {
	argv := editorCommand(env, file)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) //nolint:gosec // the person's own choice
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdio.In, stdio.Out, stdio.Err
	// An editor that is killed would leave the terminal as it had set it.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return core.Fail(core.CodeInvalid, err, "The editor could not be run, or ended with an error.", "Set EDITOR to one that works, or give the text: loop queue edit PROMPT \"…\"")
	}
	return nil
}

// editorCommand is what git does with these variables: a shell reads them, so
// that they can hold arguments.
func editorCommand(env func(string) (string, bool), file string) []string {
	editor := ""
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if v, _ := env(name); strings.TrimSpace(v) != "" && editor == "" {
			editor = v
		}
	}
	if runtime.GOOS == "windows" {
		if editor == "" {
			editor = "notepad"
		}
		if _, err := exec.LookPath(editor); err == nil {
			return []string{editor, file} // a path may hold spaces
		}
		return append(strings.Fields(editor), file)
	}
	if editor == "" {
		editor = "vi"
	}
	return []string{"sh", "-c", editor + ` "$@"`, editor, file}
}
