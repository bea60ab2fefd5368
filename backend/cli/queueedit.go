package cli

import (
	"cmp"
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
in $VISUAL or $EDITOR; it and what is behind it wait for five minutes meanwhile.

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
	err := show(ctx, a, c, asJSON, func(core.Run) { a.out.line("%s is changed.", w.name) }, "Runs.Edit", w.ID, text)
	return w.late(ctx, c, err)
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

// queueEditor opens a prompt in the person's editor, held by Loop as “loop queue
// hold” holds one. Loop is asked anew for each step: it may be started or ended
// while the editor is open.
func (a *app) queueEditor(ctx context.Context, f *queueFlags, want string) error {
	var before waiting
	hold := func(ctx context.Context, c Core, found []waiting) error {
		before = found[0]
		held, err := call[core.Run](ctx, c, "Runs.Hold", before.ID)
		before.Run = held // with the text as it is from now on
		return found[0].late(ctx, c, err)
	}
	if err := a.onQueue(ctx, f, []string{want}, hold); err != nil {
		return err
	}
	file, err := textFile(before.Prompt)
	if err != nil {
		return errors.Join(err, a.release(ctx, before))
	}
	a.err.line("%s waits while you edit, with what is behind it, until %s.", before.name, before.HoldUntil.Local().Format(time.TimeOnly))
	err = a.editor(ctx, file)
	for len(a.interrupts) > 0 {
		<-a.interrupts // the editor's
	}
	text, rerr := readText(file)
	err = cmp.Or(err, rerr)
	same := rerr == nil && text == strings.TrimSpace(before.Prompt)
	if err == nil && !same {
		if err = a.saveEdited(ctx, before, text, f.asJSON); err == nil {
			_ = os.Remove(file)
			return nil
		}
	}
	if same {
		_ = os.Remove(file)
		a.err.line("The text is as it was.")
	} else {
		a.err.line("The prompt was left as it was. Your text is in %s.", file)
	}
	return cmp.Or(err, a.release(context.WithoutCancel(ctx), before))
}

// saveEdited changes a prompt, unless it was started or edited meanwhile.
func (a *app) saveEdited(ctx context.Context, before waiting, text string, asJSON bool) error {
	exact := queueFlags{channelFlags: channelFlags{channel: string(before.ChannelID)}}
	err := a.onQueue(ctx, &exact, []string{string(before.ID)}, func(ctx context.Context, c Core, found []waiting) error {
		if found[0].Prompt != before.Prompt {
			return core.Fail(core.CodeConflict, nil, fmt.Sprintf("Prompt %s has been edited by somebody else meanwhile.", before.name),
				"It was left as it is now. Look at it with “loop queue edit "+before.name+"”.")
		}
		return a.queueEdit(ctx, c, before, text, asJSON)
	})
	if g, ok := errors.AsType[*core.Failure](err); ok && g.Code == core.CodeNotFound {
		return before.gone()
	}
	return err
}

// release ends a hold; one that is over is fine.
func (a *app) release(ctx context.Context, w waiting) error {
	return a.withCore(ctx, a.connectIdle, func(ctx context.Context, c Core) error {
		_, err := c.Call(ctx, "Runs.Release", w.ID)
		if f, ok := errors.AsType[*core.Failure](err); ok && (f.Code == core.CodeConflict || f.Code == core.CodeNotFound) {
			return nil
		}
		return err
	})
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
		return core.Fail(core.CodeInvalid, err, "The editor could not be run, or ended with an error.",
			"Set EDITOR to one that works, or give the text: loop queue edit PROMPT \"…\"")
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
