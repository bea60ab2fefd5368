package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"loop/backend/core"
)

// job is a command at work with Loop.
type job struct {
	*app
	Core
	ctx     context.Context // ends at Ctrl-C and SIGTERM
	args    []string
	asJSON  bool           // print answers as they are
	channel core.ChannelID // the one that the flags name, where the command has such flags
}

// with calls do with the Loop that open finds, and closes it.
func (a *app) with(ctx context.Context, open opener, do func(*job) error) error {
	ctx, stop := a.untilInterrupt(ctx)
	defer stop()
	c, err := open(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return do(&job{app: a, Core: c, ctx: ctx})
}

// job makes do the work of a command, with the Loop that open finds.
func (a *app) job(cmd *cobra.Command, open opener, do func(*job) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return a.with(cmd.Context(), open, func(j *job) error {
			j.args = args
			j.asJSON, _ = cmd.Flags().GetBool("json") // false where there is no such flag
			return do(j)
		})
	}
	return cmd
}

// channelJob is a job in the channel that the command's flags name.
func (a *app) channelJob(cmd *cobra.Command, open opener, do func(*job) error) *cobra.Command {
	var f channelFlags
	f.on(cmd)
	return a.job(cmd, open, func(j *job) (err error) {
		if j.channel, err = f.find(j.ctx, j); err != nil {
			return err
		}
		return do(j)
	})
}

// jsonFlag is what job reads asJSON from.
func jsonFlag(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().Bool("json", false, "print JSON")
	return cmd
}

// show calls a method and prints its answer: as it is with --json, otherwise by say
// in words. It returns the answer.
func show[T any](j *job, say func(T), method string, args ...any) (out T, err error) {
	raw, err := j.Call(j.ctx, method, args...)
	if err != nil {
		return out, err
	}
	if err = decodeAnswer(method, raw, &out); err != nil {
		return out, err
	}
	if j.asJSON {
		j.printJSON(raw)
	} else {
		say(out)
	}
	return out, nil
}

// columns make a table of a list: a head, and a row for each entry.
type columns[T any] struct {
	head []string
	row  func(T) []string
}

// list prints what a method answers as a table, or as it is.
func list[T any](j *job, c columns[T], method string, args ...any) error {
	_, err := show(j, func(all []T) {
		rows := [][]string{c.head}
		for _, v := range all {
			rows = append(rows, c.row(v))
		}
		if len(all) == 0 {
			j.out.line("None yet.")
		} else {
			j.table(rows)
		}
	}, method, args...)
	return err
}

// done calls a method and says that it did.
func (j *job) done(said, method string, args ...any) error {
	_, err := j.Call(j.ctx, method, args...)
	if err == nil {
		j.out.line("%s", said)
	}
	return err
}

// printValue prints a value as JSON.
func (a *app) printValue(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	a.printJSON(raw)
	return nil
}

// printJSON prints an answer of Loop indented.
func (a *app) printJSON(raw json.RawMessage) {
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		out.Write(raw)
	}
	_, _ = a.out.w.Write(append(cleanJSON(out.Bytes()), '\n'))
}

// table prints rows in columns.
func (a *app) table(rows [][]string) {
	w := tabwriter.NewWriter(a.out.w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		var cells []string
		for _, cell := range row {
			cells = append(cells, clean(oneLine(cell, 120)))
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	_ = w.Flush() // a reader that left is outlet's business
}
