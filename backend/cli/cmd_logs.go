package cli

import (
	"time"

	"github.com/spf13/cobra"

	"loop/backend/core"
)

// mostLogLines are the most lines of a log that Loop returns at once.
const mostLogLines = 5000

func (a *app) logsCommand() *cobra.Command {
	var follow bool
	tail := 100
	cmd := a.job(&cobra.Command{
		Use: "logs CONTAINER", Short: "Show what a container's first process wrote", Args: exactly("the container"),
		Long: `Shows the log of a container: what “loop init”, its first process, and the set-up wrote. What
agents print is in the timeline, and what terminals show in their panes. With --follow, what comes
is shown too, until the container stops.`,
		Example: `  loop logs 8e41b7 --tail 20
  loop logs loop-api-server-3f9a1c --follow`,
	}, a.connectIdle, func(j *job) error {
		if tail < 1 || tail > mostLogLines {
			return usagef("--tail is from 1 to %d", mostLogLines)
		}
		return j.log(j.args[0], tail, follow)
	})
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "show what comes, too")
	cmd.Flags().IntVar(&tail, "tail", tail, "how many lines to begin with")
	return cmd
}

// log prints a container's log, and with follow what comes until the container stops or is
// gone. What it prints came out of a container; the printer makes it harmless.
func (j *job) log(name string, tail int, follow bool) error {
	since, first := "", true
	for {
		l, err := call[core.ContainerLog](j.ctx, j, "Containers.Log", name, since, tail)
		if err != nil {
			return j.logEnded(err, first)
		}
		j.out.text(l.Text)
		if !follow || !l.Running {
			j.out.fresh()
			return nil
		}
		since, first = l.Next, false
		wait := time.NewTimer(j.times.log)
		select {
		case <-j.ctx.Done():
			wait.Stop()
			return nil
		case <-wait.C:
		}
	}
}

// logEnded is what an error of the look at a log comes to: none where the person has seen
// enough, or where a container that was followed is gone.
func (j *job) logEnded(err error, first bool) error {
	select {
	case <-j.ctx.Done():
		return nil
	default:
	}
	if core.AsFailure(err).Code == core.CodeNotFound && !first {
		j.err.line("The container was removed.")
		return nil
	}
	return err
}
