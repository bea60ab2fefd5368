package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"loop/backend/core"
)

func (a *app) gateCommand() *cobra.Command {
	pending := func(use string) *cobra.Command {
		return jsonFlag(a.job(&cobra.Command{Use: use, Short: "List what waits", Args: none}, a.connectIdle, func(j *job) error {
			names, err := j.channelNames()
			if err != nil {
				return err
			}
			return list(j, approvalColumns(names), "Gate.Pending")
		}))
	}
	cmd := pending("gate")
	cmd.Short = "Answer what agents may not do without your word"
	cmd.Long = `Answer what agents may not do without your word.

What an agent's program is about to do stands still at the kernel until you allow
or deny it. The beginning of an id is enough where it is the only one.`
	cmd.Example = `  loop gate pending
  loop gate allow 3f2a
  loop gate deny 3f2a --scope run`
	cmd.AddCommand(pending("pending"), a.verdictCommand(true), a.verdictCommand(false))
	cmd.AddCommand(a.gateRulesCommand(), a.gateModeCommand())
	cmd.AddCommand(a.gateLogCommands()...)
	return cmd
}

func (a *app) verdictCommand(allow bool) *cobra.Command {
	name, short := "deny", "Deny an act; its program hears that you did"
	if allow {
		name, short = "allow", "Allow an act"
	}
	cmd := &cobra.Command{Use: name + " ID", Short: short, Args: exactly("the number of the act")}
	scope := cmd.Flags().String("scope", string(core.ScopeOnce), "how far it reaches: once, run, project or always")
	return a.job(cmd, a.connectIdle, func(j *job) error {
		return j.answerGate(j.args[0], core.ApprovalAnswer{Allow: allow, Scope: core.ApprovalScope(*scope), By: "command line"})
	})
}

func approvalColumns(names channelNames) columns[core.Approval] {
	return columns[core.Approval]{[]string{"ID", "CHANNEL", "WHAT", "ON", "BY", "DENIED"}, func(a core.Approval) []string {
		by, end := "", "never"
		if len(a.Processes) > 0 {
			by = shortOf(a.Processes[0])
		}
		if !a.Deadline.IsZero() {
			end = a.Deadline.Local().Format(time.TimeOnly)
		}
		return []string{a.ID[:min(8, len(a.ID))], names.of(a.ChannelID), a.Title, elided(a.Target), oneLine(by, maxLine), end}
	}}
}

// shortOf is what a person calls a process.
func shortOf(p core.ApprovalProcess) string { return cmp.Or(p.Short, p.Command) }

// elided shortens a path or a command line in its middle: the payload is at the end.
func elided(text string) string {
	r := []rune(oneLine(text, 1<<20))
	if len(r) <= maxLine {
		return string(r)
	}
	return string(r[:maxLine/2-1]) + "…" + string(r[len(r)-maxLine/2:])
}

// answerGate shows what is answered in full before it is: the digest in the answer is
// that of what was shown.
func (j *job) answerGate(id string, ans core.ApprovalAnswer) error {
	waiting, err := call[[]core.Approval](j.ctx, j, "Gate.Pending")
	if err != nil {
		return err
	}
	at, err := pickApproval(waiting, id)
	if err != nil {
		return err
	}
	showApproval(j.app.err, at)
	showRule(j.app.err, at, ans.Scope)
	ans.Digest = at.Digest
	done, err := call[core.Approval](j.ctx, j, "Gate.Answer", at.ID, ans)
	if err != nil {
		return err
	}
	j.app.err.line("It is %s.", done.State)
	return nil
}

func pickApproval(waiting []core.Approval, id string) (core.Approval, error) {
	fits := slices.DeleteFunc(slices.Clone(waiting), func(a core.Approval) bool { return id == "" || !strings.HasPrefix(a.ID, id) })
	switch len(fits) {
	case 1:
		return fits[0], nil
	case 0:
		return core.Approval{}, core.Fail(core.CodeNotFound, nil, fmt.Sprintf("Nothing waits under %q.", id),
			"Run “loop gate pending” to see what waits.")
	}
	return core.Approval{}, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("%d ids begin with %q.", len(fits), id), "Write more of it.")
}

// showApproval prints an act for reading.
func showApproval(p *printer, a core.Approval) {
	p.fresh()
	p.styledLine(amber, "%s", a.Title)
	p.line("  %s", a.Target)
	if a.AskedAs != "" {
		p.line("  asked as %s", a.AskedAs)
	}
	if a.From != "" {
		p.line("  from %s", a.From)
	}
	if a.Calls > 1 {
		p.line("  %d calls wait for this answer", a.Calls)
	}
	var chain []string
	for _, pr := range slices.Backward(a.Processes) {
		chain = append(chain, oneLine(shortOf(pr), maxLine))
	}
	if len(chain) > 0 {
		p.line("  by %s", strings.Join(chain, " → "))
	}
	for _, d := range a.Details {
		p.line("  %s: %s", d.Label, oneLine(d.Text, 3*maxLine))
	}
	p.line("  because %s", oneLine(a.Why, 3*maxLine))
	p.line("  if allowed: %s", a.Risk)
	if a.Diff != "" {
		p.line("%s", a.Diff)
	}
	if a.DiffNote != "" {
		p.line("  %s", a.DiffNote)
	}
}

// showRule prints what an answer would store.
func showRule(p *printer, a core.Approval, scope core.ApprovalScope) {
	i := slices.IndexFunc(a.Offers, func(o core.ApprovalOffer) bool { return o.Scope == scope })
	if i < 0 || scope != core.ScopeProject && scope != core.ScopeAlways {
		return
	}
	p.line("  stores the rule %s", a.Offers[i].Rule)
	p.line("  it covers %d of the last %d decisions", len(a.Offers[i].Matches), a.Offers[i].Of)
}
