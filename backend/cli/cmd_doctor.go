package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"loop/backend/core"
	"loop/backend/doctor"
)

// marks are the words for the states of a check, of one width, and their style.
var marks = map[doctor.State]struct{ word, style string }{
	doctor.OK: {"ok  ", green}, doctor.Warn: {"warn", amber}, doctor.Fail: {"FAIL", red}, doctor.Skip: {"skip", dim},
}

func (a *app) doctorCommand() *cobra.Command {
	var fix bool
	cmd := a.job(jsonFlag(&cobra.Command{
		Use:   "doctor",
		Short: "Try what Loop needs and say what to do where it fails",
		Long: `Try what Loop needs: each check performs the operation. Exit code 1 when one fails.

With --fix, Loop first puts right what it can by itself: it builds the agent image where that is
missing or old, and closes its folder to others. It changes nothing else.`,
		Args: none,
	}), a.connect, func(j *job) error {
		if fix {
			if err := j.fix(); err != nil {
				return err
			}
		}
		r, err := show(j, j.printReport, "System.Doctor")
		if err == nil && !r.OK() {
			err = exitError(exitFailed)
		}
		return err
	})
	cmd.Flags().BoolVar(&fix, "fix", false, "put right what Loop can by itself")
	return cmd
}

// fix puts right what checks offer to. What fails is said, and the rest goes on.
func (j *job) fix() error {
	r, err := call[doctor.Report](j.ctx, j, "System.Doctor")
	if err != nil {
		return err
	}
	for _, c := range r.Checks {
		if c.Fix == "" {
			continue
		}
		j.err.line("%s: %s.", c.Title, c.Fix)
		if _, err := call[doctor.Check](j.ctx, j, "System.Fix", c.ID); err != nil {
			f := core.AsFailure(err)
			j.err.line("It did not work: %s %s", f.Cause, f.Remedy)
		}
	}
	return nil
}

func (a *app) printReport(r doctor.Report) {
	width := 0
	for _, c := range r.Checks {
		width = max(width, len([]rune(c.Title)))
	}
	failed := 0
	for _, c := range r.Checks {
		m := marks[c.State]
		a.out.fresh()
		a.out.styled(m.style, m.word)
		a.out.text(fmt.Sprintf("  %-*s  %s\n", width, c.Title, c.Summary))
		if c.Remedy != "" && c.State != doctor.OK {
			a.out.line("%*s%s", width+8, "", c.Remedy)
		}
		for line := range strings.Lines(c.Detail) {
			a.out.styledLine(dim, "%*s%s", width+8, "", oneLine(line, 300))
		}
		if c.State == doctor.Fail {
			failed++
		}
	}
	switch failed {
	case 0:
		a.out.line("Loop can work here.")
	case 1:
		a.out.line("One check failed.")
	default:
		a.out.line("%d checks failed.", failed)
	}
}
