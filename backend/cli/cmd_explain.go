package cli

import (
	"cmp"
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

// layerPlace names a layer, and the file and line where they are known.
func layerPlace(layer, path string, line int) string {
	if line == 0 {
		return layer
	}
	return fmt.Sprintf("%s %s:%d", layer, oneLine(path, 120), line)
}

func (a *app) explain(why core.Explanation) {
	rows := [][]string{{"FIELD", "FROM", "VALUE", "OVERRODE"}}
	for _, o := range why.Origins {
		over := ""
		if b := o.Overrode; b != nil {
			over = fmt.Sprintf("%s: %s (%s)", b.Setting, cmp.Or(oneLine(b.Value, 60), "empty"), layerPlace(b.Layer, b.Path, b.Line))
		}
		rows = append(rows, []string{o.Field, layerPlace(o.Layer, o.Path, o.Line), oneLine(o.Value, 120), over})
	}
	a.table(rows)
	for _, s := range why.Skipped {
		a.out.line("Left out: %s: %s", oneLine(s.Text, 200), s.Reason)
	}
	for _, n := range why.Notices {
		a.out.line("%s", n)
	}
}
