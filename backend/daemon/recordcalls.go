package daemon

import (
	"context"

	"loop/backend/bind"
	"loop/backend/core"
	"loop/backend/gate/auditlog"
	"loop/backend/policy"
	"loop/backend/rulebook"
)

// gateLog reads the record of decisions and tries policies, as bind.GateLog wants it.
type gateLog struct {
	log      *auditlog.Log
	policies rulebook.Policies
	channels rulebook.Channels
}

var _ bind.GateLogService = gateLog{}

const (
	usualRecords = 1000
	mostRecords  = 10000
)

func (g gateLog) Read(q core.GateLogQuery) ([]core.GateRecord, error) {
	if q.Limit <= 0 {
		q.Limit = usualRecords
	}
	list, err := g.log.Read(auditlog.Query{Channel: string(q.ChannelID), Run: string(q.RunID), ID: q.ID, Limit: min(q.Limit, mostRecords)})
	if err != nil {
		return nil, err
	}
	out := make([]core.GateRecord, 0, len(list))
	for _, r := range list {
		out = append(out, core.GateRecord{
			ID: r.ID, At: r.At, ChannelID: core.ChannelID(r.Channel), RunID: core.RunID(r.Run), SpawnID: core.SpawnID(r.Spawn),
			ToolUseID: r.Tool, Kind: r.Kind, Operation: r.Operation, Target: r.Target, Rule: r.Rule, Category: r.Category,
			Decision: r.Decision, By: r.By, Scope: r.Scope,
			Calls: r.Calls, LatencyMs: r.LatencyMs, Pid: r.Pid, Command: r.Command, Policy: r.Policy, Digest: r.Digest, Hash: r.Hash, Prev: r.Prev,
		})
	}
	return out, nil
}

func (g gateLog) Verify() ([]core.GateLogFile, error) {
	list, err := g.log.VerifyAll()
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

func (g gateLog) Test(ctx context.Context, id core.ChannelID, doc string) ([]core.GateTestResult, error) {
	t, err := rulebook.ParseTest([]byte(doc))
	if err != nil {
		return nil, err
	}
	ch := core.Channel{Kind: core.KindDemo} // the person's settings alone
	if id != "" {
		if ch, err = g.channels.Channel(ctx, id); err != nil {
			return nil, err
		}
	}
	return g.policies.Test(t, ch)
}

func (g gateLog) Replay(run core.RunID, doc string) ([]core.GateTestResult, error) {
	list, err := g.Read(core.GateLogQuery{RunID: run, Limit: mostRecords})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, core.Fail(core.CodeNotFound, core.ErrNotFound, "Nothing was decided in a run with this id.",
			"“loop gate log” lists what was, for 30 days.")
	}
	return rulebook.Replay([]byte(doc), list)
}

func (g gateLog) Suggest(_ context.Context, q core.GateLogQuery) (string, error) {
	q.Limit = mostRecords
	list, err := g.Read(q)
	if err != nil {
		return "", err
	}
	return rulebook.Suggest(list, policy.Place{})
}
