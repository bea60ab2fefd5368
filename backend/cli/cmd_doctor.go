package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"loop/backend/doctor"
)

// marks are the words for the states of a check, of one width, and their style.
var marks = map[doctor.State]struct{ word, style string }{
	doctor.OK: {"ok  ", green}, doctor.Warn: {"warn", amber}, doctor.Fail: {"FAIL", red}, doctor.Skip: {"skip", dim},
}

func (a *app) doctorCommand() *cobra.Command {
	return a.job(jsonFlag(&cobra.Command{
		Use:   "doctor",
		Short: "Try what Loop needs and say what to do where it fails",
		Long:  "Try what Loop needs: each check performs the operation. Exit code 1 when one fails.",
		Args:  none,
	}), a.connect, func(j *job) error {
		r, err := show(j, j.printReport, "System.Doctor")
		if err == nil && !r.OK() {
			err = exitError(exitFailed)
		}
		return err
	})
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
