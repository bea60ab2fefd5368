package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
)

// report is what is read of System.Doctor.
type report struct {
	Checks []struct {
		ID         string `json:"id"`
		Title      string `json:"title"`
		State      string `json:"state"`
		Summary    string `json:"summary"`
		Remedy     string `json:"remedy"`
		Detail     string `json:"detail"`
		DurationMs int64  `json:"duration_ms"`
	} `json:"checks"`
}

// marks are the words for the states of a check, of one width, and their style.
var marks = map[string]struct{ word, style string }{
	"ok": {"ok  ", green}, "warn": {"warn", amber}, "fail": {"FAIL", red}, "skip": {"skip", dim},
}

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Try what Loop needs and say what to do where it fails",
		Long:  "Try what Loop needs: each check performs the operation. Exit code 1 when one fails.",
		Args:  none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withCore(cmd.Context(), a.connect, func(ctx context.Context, c Core) error { return a.doctor(ctx, c, asJSON) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return cmd
}

func (a *app) doctor(ctx context.Context, c Core, asJSON bool) error {
	raw, err := c.Call(ctx, "System.Doctor")
	if err != nil {
		return err
	}
	r, err := answer[report]("System.Doctor", raw)
	if err != nil {
		return err
	}
	if asJSON {
		a.printJSON(raw)
	} else {
		a.printReport(r)
	}
	for _, check := range r.Checks {
		if check.State == "fail" {
			return exitError(exitFailed)
		}
	}
	return nil
}

func (a *app) printReport(r report) {
	width := 0
	for _, c := range r.Checks {
		width = max(width, len([]rune(c.Title)))
	}
	failed := 0
	for _, c := range r.Checks {
		m, ok := marks[c.State]
		if !ok {
			m.word = oneLine(c.State, 10)
		}
		a.out.fresh()
		a.out.styled(m.style, m.word)
		a.out.text(fmt.Sprintf("  %-*s  %s\n", width, c.Title, c.Summary))
		if c.Remedy != "" && c.State != "ok" {
			a.out.line("%*s%s", width+8, "", c.Remedy)
		}
		if c.State == "fail" {
			failed++
			if c.Detail != "" {
				a.out.styledLine(dim, "%*s%s", width+8, "", oneLine(c.Detail, 300))
			}
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

// printJSON prints an answer of Loop indented.
func (a *app) printJSON(raw json.RawMessage) {
	var v any
	out := []byte(raw)
	if json.Unmarshal(raw, &v) == nil {
		if b, err := json.MarshalIndent(v, "", "  "); err == nil {
			out = b
		}
	}
	_, _ = a.out.w.Write(append(cleanJSON(out), '\n'))
}
