package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"loop/backend/core"
)

func (a *app) explainCommand() *cobra.Command {
	var plan bool
	cmd := a.channelJob(&cobra.Command{
		Use: "explain", Short: "Say what container the next run gets, and where each value comes from", Args: none,
		Example: `  loop explain
  loop explain --channel api-server --json
  loop explain --plan`,
	}, a.connectIdle, func(j *job) error {
		_, err := show(j, a.explain, "System.Explain", j.channel, plan)
		return err
	})
	cmd.Flags().BoolVar(&plan, "plan", false, "of a run that plans first")
	return cmd
}

func (a *app) explain(why core.Explanation) {
	rows := [][]string{{"FIELD", "FROM", "VALUE"}}
	for _, o := range why.Origins {
		from := o.Layer
		if o.Line > 0 {
			from = fmt.Sprintf("%s %s:%d", o.Layer, oneLine(o.Path, 120), o.Line)
		}
		rows = append(rows, []string{o.Field, from, oneLine(o.Value, 120)})
	}
	a.table(rows)
	for _, s := range why.Skipped {
		a.out.line("Left out: %s: %s", oneLine(s.Text, 200), s.Reason)
	}
	for _, n := range why.Notices {
		a.out.line("%s", n)
	}
}
