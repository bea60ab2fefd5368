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

func (a *app) queueEdit() *cobra.Command {
	var text string
	var held *waiting // open in the editor
	cmd := a.queueJob(&cobra.Command{
		Use: "edit PROMPT [TEXT]", Short: "Change the text of a prompt that waits",
		Long: `Changes the text of a prompt that waits. The text is the arguments, or standard
input when TEXT is - or left out. At a terminal without TEXT the prompt is opened
in $VISUAL or $EDITOR; it and what is behind it wait for five minutes meanwhile.

A text that comes too late is not lost: what was written in the editor or came on
standard input is kept in a file, which is named.`,
		Args: func(cmd *cobra.Command, args []string) error {
			return exactly("the prompt")(cmd, args[:min(len(args), 1)])
		},
		PreRunE: func(_ *cobra.Command, args []string) (err error) {
			if len(args) > 1 || a.editor == nil {
				text, err = a.prompt(args[1:])
			}
			return err
		},
	}, 1, func(j *job, found []waiting) error {
		w := found[0]
		if len(j.args) == 1 && a.editor != nil {
			run, err := call[core.Run](j.ctx, j, "Runs.Hold", w.ID)
			held = &waiting{Run: run, name: w.name} // with the text as it is from now on
			return w.late(j, err)
		}
		err := w.edit(j, text)
		if err == nil && !j.asJSON && w.Prompt != text {
			a.out.line("It said before:")
			a.out.line("%s", w.Prompt)
		}
		if typed := len(j.args) > 2 || len(j.args) == 2 && j.args[1] != "-"; err != nil && !typed {
			a.keep(text)
		}
		return err
	})
	change := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := change(cmd, args); err != nil || held == nil {
			return err
		}
		asJSON, _ := cmd.Flags().GetBool("json")
		return a.inEditor(cmd.Context(), *held, asJSON)
	}
	return cmd
}

func (w waiting) edit(j *job, text string) error {
	_, err := show(j, func(core.Run) { j.out.line("%s is changed.", w.name) }, "Runs.Edit", w.ID, text)
	return w.late(j, err)
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

// inEditor opens a prompt that is held in the person's editor. Loop is asked anew
// for each step: it may be started or ended while the editor is open.
func (a *app) inEditor(ctx context.Context, w waiting, asJSON bool) error {
	release := func(j *job) error {
		_, err := j.Call(j.ctx, "Runs.Release", w.ID)
		if failedAs(err, core.CodeConflict, core.CodeNotFound) {
			return nil // the hold is over
		}
		return err
	}
	file, err := textFile(w.Prompt)
	if err != nil {
		return errors.Join(err, a.with(ctx, a.connectIdle, release))
	}
	a.err.line("%s waits while you edit, with what is behind it, until %s.", w.name, w.HoldUntil.Local().Format(time.TimeOnly))
	err = a.editor(ctx, file)
	for len(a.interrupts) > 0 {
		<-a.interrupts // the editor's
	}
	text, rerr := readText(file)
	err = cmp.Or(err, rerr)
	same := rerr == nil && text == strings.TrimSpace(w.Prompt)
	if err == nil && !same {
		err = a.with(ctx, a.connectIdle, func(j *job) error {
			j.asJSON = asJSON
			return w.save(j, text)
		})
		if err == nil {
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
	return cmp.Or(err, a.with(context.WithoutCancel(ctx), a.connectIdle, release))
}

// save changes a prompt, unless it was started or edited since w was read.
func (w waiting) save(j *job, text string) error {
	queue, err := queueOf(j.ctx, j, w.ChannelID)
	if err != nil {
		return err
	}
	place := placeOf(queue, w.ID)
	if place == 0 {
		return w.gone()
	}
	if queue[place-1].Prompt != w.Prompt {
		return core.Fail(core.CodeConflict, nil, fmt.Sprintf("Prompt %s has been edited by somebody else meanwhile.", w.name),
			"It was left as it is now. Look at it with “loop queue edit "+w.name+"”.")
	}
	return w.edit(j, text)
}

// readText reads what the editor left.
func readText(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", core.Fail(core.CodeInvalid, err, "The editor left no file.", "Save under the name that it was opened with.")
	}
	defer f.Close()
	text, err := readPrompt(f)
	if runtime.GOOS == "windows" {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	return text, err
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
