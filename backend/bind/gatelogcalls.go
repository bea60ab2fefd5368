package bind

import (
	"context"

	"loop/backend/core"
)

// GateLogService reads the record of decisions, and tries policies.
type GateLogService interface {
	Read(q core.GateLogQuery) ([]core.GateRecord, error)
	Verify() ([]core.GateLogFile, error)
	Test(ctx context.Context, ch core.ChannelID, doc string) ([]core.GateTestResult, error)
	Replay(run core.RunID, doc string) ([]core.GateTestResult, error)
	Suggest(ctx context.Context, q core.GateLogQuery) (string, error)
}

// GateLog is bound as window.go.bind.GateLog.
type GateLog struct {
	Ctx     context.Context `json:"-"`
	Service GateLogService  `json:"-"`
}

// Read returns records of decisions, oldest first.
func (g *GateLog) Read(q core.GateLogQuery) ([]core.GateRecord, error) {
	out, err := g.Service.Read(q)
	return orEmpty(out), err
}

// Verify reads every file of records and says whether it is as it was written.
func (g *GateLog) Verify() ([]core.GateLogFile, error) {
	out, err := g.Service.Verify()
	return orEmpty(out), err
}

// Test tries the cases of a policy test, with the rules that count in a channel, or the
// person's own where ch is empty.
func (g *GateLog) Test(ch core.ChannelID, doc string) ([]core.GateTestResult, error) {
	out, err := g.Service.Test(g.Ctx, ch, doc)
	return orEmpty(out), err
}

// Replay decides what was decided in a run once more, by the policy in doc. Want is what
// was decided then.
func (g *GateLog) Replay(run core.RunID, doc string) ([]core.GateTestResult, error) {
	out, err := g.Service.Replay(run, doc)
	return orEmpty(out), err
}

// Suggest returns rules, as they would stand in the settings, for what a person was asked
// and has allowed.
func (g *GateLog) Suggest(q core.GateLogQuery) (string, error) { return g.Service.Suggest(g.Ctx, q) }
