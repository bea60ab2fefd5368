package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"loop/backend/core"
)

// gateLogCommands read what the gate has decided, and try policies.
func (a *app) gateLogCommands() []*cobra.Command {
	return []*cobra.Command{
		a.gateLogCommand(), a.gateWhyCommand(), a.gateVerifyCommand(),
		a.gateTestCommand(), a.gateReplayCommand(), a.gateSuggestCommand(),
	}
}

// recordFlags say which records are wanted.
type recordFlags struct {
	channel, run string
	limit        int
}

func (f *recordFlags) on(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.channel, "channel", "", "only of this channel, by id or name")
	cmd.Flags().StringVar(&f.run, "run", "", "only of this run; the beginning of its id is enough")
}

func (f *recordFlags) query(ctx context.Context, c Core) (core.GateLogQuery, error) {
	q := core.GateLogQuery{RunID: core.RunID(f.run), Limit: f.limit}
	if f.channel == "" {
		return q, nil
	}
	var err error
	q.ChannelID, err = findChannel(ctx, c, f.channel)
	return q, err
}

func (a *app) gateLogCommand() *cobra.Command {
	var f recordFlags
	cmd := jsonFlag(&cobra.Command{Use: "log", Short: "List what the gate has decided", Args: none})
	f.on(cmd)
	cmd.Flags().IntVar(&f.limit, "limit", 200, "how many, of the newest; at most 10000")
	follow := cmd.Flags().BoolP("follow", "f", false, "go on with those that come, until Ctrl-C")
	return a.job(cmd, a.connectIdle, func(j *job) error {
		q, err := f.query(j.ctx, j)
		if err != nil {
			return err
		}
		if *follow {
			return j.followRecords(q)
		}
		return list(j, recordColumns, "GateLog.Read", q)
	})
}

// lookEvery is how often the record is read while it is followed, besides when something
// is told of it: what a terminal's programs do is not.
const lookEvery = 2 * time.Second

// followRecords prints records, and those that come, until the job ends.
func (j *job) followRecords(q core.GateLogQuery) error {
	events, err := j.Events(j.ctx)
	if err != nil {
		return err
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	seen := map[string]bool{}
	for {
		all, err := call[[]core.GateRecord](j.ctx, j, "GateLog.Read", q)
		if j.ctx.Err() != nil {
			return nil // the person has seen enough
		}
		if err != nil {
			return err
		}
		if err := j.printFresh(all, seen); err != nil {
			return err
		}
		clear(seen)
		for _, r := range all {
			seen[r.Hash] = true
		}
		for told := false; !told; {
			select {
			case <-j.ctx.Done():
				return nil
			case <-tick.C:
				told = true
			case some, ok := <-events:
				if !ok {
					return nil
				}
				told = slices.ContainsFunc(some, func(e core.Event) bool {
					return e.Type == core.EventGateDecided || e.Type == core.EventGateResolved
				})
			}
		}
	}
}

// printFresh prints the records that were not seen before, a line each.
func (j *job) printFresh(all []core.GateRecord, seen map[string]bool) error {
	for _, r := range all {
		if seen[r.Hash] {
			continue
		}
		if j.asJSON {
			raw, err := json.Marshal(r)
			if err != nil {
				return fmt.Errorf("encode record: %w", err)
			}
			j.out.line("%s", raw)
			continue
		}
		j.out.line("%s", strings.Join(recordColumns.row(r), "  "))
	}
	return nil
}

var recordColumns = columns[core.GateRecord]{[]string{"TIME", "ID", "DECISION", "BY", "CALLS", "WHAT"}, func(r core.GateRecord) []string {
	what := elided(r.Operation + " " + r.Target)
	if r.Target == "" {
		what = strings.TrimSpace(r.Operation + " (only counted)")
	}
	return []string{r.At.Local().Format(time.DateTime), r.ID[:min(8, len(r.ID))], r.Decision, decidedBy(r), strconv.Itoa(r.Calls), what}
}}

// decidedBy names the rule where one has decided.
func decidedBy(r core.GateRecord) string {
	if r.Rule != "" && r.By == "a rule" {
		return "rule " + oneLine(r.Rule, maxLine)
	}
	return oneLine(r.By, maxLine)
}

func (a *app) gateWhyCommand() *cobra.Command {
	cmd := jsonFlag(&cobra.Command{Use: "why ID", Short: "Say who decided one call, and by what", Args: exactly("the number of the decision")})
	return a.job(cmd, a.connectIdle, func(j *job) error {
		found, err := call[[]core.GateRecord](j.ctx, j, "GateLog.Read", core.GateLogQuery{ID: j.args[0]})
		switch {
		case err != nil:
			return err
		case len(found) == 0 || j.args[0] == "":
			return core.Fail(core.CodeNotFound, nil, fmt.Sprintf("No decision has an id that begins with %q.", j.args[0]),
				"“loop gate log” lists what was decided in the last 30 days.")
		case found[0].ID != found[len(found)-1].ID:
			return core.Fail(core.CodeInvalid, nil, "Several ids begin so.", "Write more of it.")
		}
		r := found[len(found)-1]
		if j.asJSON {
			return a.printValue(r)
		}
		j.showRecord(r)
		return nil
	})
}

func (j *job) showRecord(r core.GateRecord) {
	p := j.out
	p.line("%s: %s %s", r.Decision, r.Operation, oneLine(r.Target, 20*maxLine))
	for _, f := range [][2]string{
		{"by", cmp.Or(r.By, "nobody")}, {"rule", r.Rule}, {"category", r.Category}, {"scope", r.Scope}, {"calls", strconv.Itoa(r.Calls)},
		{"at", r.At.Local().Format(time.RFC3339)}, {"after", (time.Duration(r.LatencyMs) * time.Millisecond).String()},
		{"run", string(r.RunID)}, {"channel", string(r.ChannelID)}, {"program", string(r.SpawnID)}, {"tool call", r.ToolUseID},
		{"process", strings.TrimSpace(fmt.Sprint(r.Pid) + " " + r.Command)}, {"policy", "version " + r.Policy},
		{"shown", r.Digest}, {"record", r.Hash}, {"follows", r.Prev},
	} {
		if f[1] != "" {
			p.line("  %-10s %s", f[0], oneLine(f[1], 3*maxLine))
		}
	}
}

func (a *app) gateVerifyCommand() *cobra.Command {
	cmd := jsonFlag(&cobra.Command{Use: "verify", Short: "Check that the record of decisions is as it was written", Args: none,
		Long: `Check that the record of decisions is as it was written.

Each record holds the hash of the one before it, so one that was changed, taken out or
put in shows. The exit code is 1 if one was.`})
	return a.job(cmd, a.connectIdle, func(j *job) error {
		files, err := show(j, func(files []core.GateLogFile) {
			records := 0
			for _, f := range files {
				records += f.Records
				if f.Broken != "" {
					j.out.line("%s: %s", f.File, f.Broken)
				}
			}
			j.out.line("Checked %d records in %d files.", records, len(files))
		}, "GateLog.Verify")
		if err != nil {
			return err
		}
		for _, f := range files {
			if f.Broken != "" {
				return exitError(exitFailed)
			}
		}
		return nil
	})
}

// maxTestFile bounds what is read of a file to try.
const maxTestFile = 1 << 20

// readTest reads a bounded file.
func (a *app) readTest(name string) (string, error) {
	var raw []byte
	f, err := os.Open(name)
	if err == nil {
		defer f.Close()
		raw, err = io.ReadAll(io.LimitReader(f, maxTestFile+1))
	}
	if err != nil {
		return "", core.Fail(core.CodeInvalid, err, fmt.Sprintf("%q cannot be read.", name), "Name a file that is there.")
	}
	if len(raw) > maxTestFile {
		return "", core.Fail(core.CodeInvalid, nil, fmt.Sprintf("%q is larger than 1 MiB.", name), "Split it.")
	}
	return string(raw), nil
}

func (a *app) gateTestCommand() *cobra.Command {
	var channel string
	cmd := jsonFlag(&cobra.Command{Use: "test FILE", Short: "Try the rules against a file of expected decisions", Args: exactly("the file"),
		Long: `Try the rules against a file of expected decisions.

The rules are those that Loop ships and your own; with --channel those of its project
as well. The exit code is 1 if one decision is another. docs/gate-policy.md describes
the file.`, Example: "  loop gate test gate-test.json"})
	cmd.Flags().StringVar(&channel, "channel", "", "with the rules of this channel's project, by id or name")
	return a.job(cmd, a.connectIdle, func(j *job) error {
		doc, err := a.readTest(j.args[0])
		if err != nil {
			return err
		}
		id := core.ChannelID("")
		if channel != "" {
			if id, err = findChannel(j.ctx, j, channel); err != nil {
				return err
			}
		}
		return j.tried("%d of %d decisions are others than the file wants.", "WANTED", "GateLog.Test", id, doc)
	})
}

func (a *app) gateReplayCommand() *cobra.Command {
	var file string
	cmd := jsonFlag(&cobra.Command{
		Use: "replay RUN", Short: "Decide what was decided in a run again, by another policy", Args: exactly("the run"),
		Long: `Decide what was decided in a run again, by another policy.

Only calls that were asked about or denied are recorded one by one. “approve” stands for
those that were asked about, whatever was answered. The exit code is 1 if one decision
would be another.`})
	cmd.Flags().StringVar(&file, "policy", "", "file with the whole policy")
	return a.job(cmd, a.connectIdle, func(j *job) error {
		if file == "" {
			return usagef("name the policy: loop gate replay RUN --policy FILE")
		}
		doc, err := a.readTest(file)
		if err != nil {
			return err
		}
		return j.tried("%d of %d decisions would be others.", "WAS", "GateLog.Replay", core.RunID(j.args[0]), doc)
	})
}

// tried shows which decisions are others than was wanted, and fails if there are any.
func (j *job) tried(summary, wanted, method string, args ...any) error {
	all, err := show(j, func(all []core.GateTestResult) {
		rows := [][]string{{"CASE", wanted, "IS", "RULE", "WHAT"}}
		for _, r := range all {
			if r.Failed() {
				rows = append(rows, []string{strconv.Itoa(r.Case), r.Want, r.Got, cmp.Or(oneLine(r.Rule, maxLine), "(default)"), elided(r.What)})
			}
		}
		if len(rows) > 1 {
			j.table(rows)
		}
		j.out.line(summary, len(rows)-1, len(all))
	}, method, args...)
	if err != nil {
		return err
	}
	for _, r := range all {
		if r.Failed() {
			return exitError(exitFailed)
		}
	}
	return nil
}

func (a *app) gateSuggestCommand() *cobra.Command {
	var f recordFlags
	cmd := &cobra.Command{Use: "suggest", Short: "Write rules for what you were asked and always allowed", Args: none,
		Long: `Write rules for what you were asked and always allowed.

They are printed as they would stand under gates.agentgate in the settings; nothing is
changed. There are none for credentials, protected sockets, what leads out of the
container, and the gate's own files.`}
	f.on(cmd)
	return a.job(cmd, a.connectIdle, func(j *job) error {
		q, err := f.query(j.ctx, j)
		if err != nil {
			return err
		}
		rules, err := call[string](j.ctx, j, "GateLog.Suggest", q)
		if err != nil {
			return err
		}
		if rules == "" {
			j.err.line("There is nothing to suggest.")
			return nil
		}
		j.out.line("%s", strings.TrimSuffix(rules, "\n"))
		return nil
	})
}
