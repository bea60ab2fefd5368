package gate

import (
	"strconv"
	"time"

	"loop/backend/core"
	"loop/backend/gate/auditlog"
	"loop/backend/wire"
)

// Record is one decision as it is written down.
type Record = auditlog.Record

func (s *Service) recordOf(who *asker, a wire.Approval, d outcome, took time.Duration, calls int) Record {
	r := Record{
		At: s.o.Now(), Channel: string(who.ChannelID), Run: string(who.RunID), Spawn: string(who.spawn),
		Kind: a.Kind, Operation: a.Operation, Target: core.Shortened(a.Target, 4000), Rule: a.Rule,
		Decision: string(d.state), By: d.by, Scope: string(d.scope), LatencyMs: took.Milliseconds(), Calls: calls,
		Policy: strconv.FormatInt(a.Policy, 10), ID: core.NewID(), Category: a.Category,
	}
	if len(a.Processes) > 0 {
		p := a.Processes[0]
		r.Pid, r.Exe, r.Command = p.Pid, core.Shortened(p.Exe, wire.MaxCommand), core.Shortened(p.Command, wire.MaxCommand)
	}
	return r
}

// recordOfQuestion is that of a call for which a person was asked.
func (s *Service) recordOfQuestion(q *question, d outcome) Record {
	r := s.recordOf(q.asker, q.act, d, time.Since(q.asked), q.view.Calls)
	r.ID, r.Tool, r.Digest = q.view.ID, q.view.ToolUseID, q.view.Digest
	return r
}

func (s *Service) record(r Record) error {
	if s.o.Audit == nil {
		return nil
	}
	return s.o.Audit.Append(r)
}
