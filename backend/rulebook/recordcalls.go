package rulebook

import (
	"context"
	"slices"

	"loop/backend/core"
	"loop/backend/gate/auditlog"
	"loop/backend/policy"
)

// Decisions reads the record of decisions, and tries policies. Its methods may be called
// from any goroutine. All fields are required.
type Decisions struct {
	Log      *auditlog.Log
	Policies Policies
	Channels Channels
	Rules    *Book
}

const (
	usualRecords = 1000
	mostRecords  = 10000
)

// Read are the newest records that fit, oldest first.
func (g Decisions) Read(q core.GateLogQuery) ([]core.GateRecord, error) {
	if q.Limit <= 0 {
		q.Limit = usualRecords
	}
	list, err := g.Log.Read(auditlog.Query{Channel: string(q.ChannelID), Run: string(q.RunID), ID: q.ID, Limit: min(q.Limit, mostRecords)})
	if err != nil {
		return nil, err
	}
	out := make([]core.GateRecord, 0, len(list))
	for _, r := range list {
		out = append(out, recordOf(r))
	}
	return out, nil
}

func recordOf(r auditlog.Record) core.GateRecord {
	return core.GateRecord{
		ID: r.ID, At: r.At, ChannelID: core.ChannelID(r.Channel), RunID: core.RunID(r.Run), SpawnID: core.SpawnID(r.Spawn),
		ToolUseID: r.Tool, Kind: r.Kind, Operation: r.Operation, Target: r.Target, Rule: r.Rule, Category: r.Category,
		Decision: r.Decision, By: r.By, Scope: r.Scope,
		Calls: r.Calls, LatencyMs: r.LatencyMs, Pid: r.Pid, Exe: r.Exe,
		Command: r.Command, Policy: r.Policy, Digest: r.Digest, Hash: r.Hash, Prev: r.Prev,
	}
}

// RecentIn are the newest decisions of channels that name their call, newest first; those
// of all channels without a list.
func RecentIn(log *auditlog.Log) func(channels []core.ChannelID, most int) ([]core.GateRecord, error) {
	return func(channels []core.ChannelID, most int) (out []core.GateRecord, err error) {
		if channels == nil {
			if channels, err = log.Channels(); err != nil {
				return nil, err
			}
		}
		for _, ch := range channels {
			n := 0
			if err := log.Before(string(ch), auditlog.Wanted{Named: true}, "", 0, func(e auditlog.Entry) bool {
				out = append(out, recordOf(e.Record))
				n++
				return n < most
			}); err != nil {
				return nil, err
			}
		}
		slices.SortStableFunc(out, func(a, b core.GateRecord) int { return b.At.Compare(a.At) })
		return out[:min(len(out), most)], nil
	}
}

// Verify reads every file of records.
func (g Decisions) Verify() ([]core.GateLogFile, error) {
	list, err := g.Log.VerifyAll()
	if err != nil {
		return nil, err
	}
	out := make([]core.GateLogFile, 0, len(list))
	for _, c := range list {
		f := core.GateLogFile{File: c.File, ChannelID: core.ChannelID(c.Channel), Records: c.Records}
		if c.Err != nil {
			f.Broken = c.Err.Error()
		}
		out = append(out, f)
	}
	return out, nil
}

// Test tries the cases of a policy test, with the rules of a channel or the person's own.
func (g Decisions) Test(ctx context.Context, id core.ChannelID, doc string) ([]core.GateTestResult, error) {
	t, err := ParseTest([]byte(doc))
	if err != nil {
		return nil, err
	}
	ch := core.Channel{Kind: core.KindDemo} // the person's settings alone
	if id != "" {
		if ch, err = g.Channels.Channel(ctx, id); err != nil {
			return nil, err
		}
	}
	return g.Policies.Test(t, ch)
}

// Replay decides what was decided in a run once more, by another policy.
func (g Decisions) Replay(run core.RunID, doc string) ([]core.GateTestResult, error) {
	list, err := g.Read(core.GateLogQuery{RunID: run, Limit: mostRecords})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, core.Fail(core.CodeNotFound, core.ErrNotFound, "Nothing was decided in a run with this id.",
			"“loop gate log” lists what was, for 30 days.")
	}
	return Replay([]byte(doc), list)
}

// Suggest writes rules for what the person was asked and has allowed.
func (g Decisions) Suggest(_ context.Context, q core.GateLogQuery) (string, error) {
	q.Limit = mostRecords
	list, err := g.Read(q)
	if err != nil {
		return "", err
	}
	return Suggest(list, policy.Place{})
}
