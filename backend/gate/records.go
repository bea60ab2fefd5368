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
		Policy: strconv.FormatInt(a.Policy, 10),
	}
	if len(a.Processes) > 0 {
		r.Pid = a.Processes[0].Pid
	}
	return r
}

func (s *Service) record(r Record) error {
	if s.o.Audit == nil {
		return nil
	}
	return s.o.Audit.Append(r)
}
