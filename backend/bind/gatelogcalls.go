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
	GateLogPages
}

// GateLogPages are a channel's record in parts that a page can show.
type GateLogPages interface {
	Page(q core.GateLogPageQuery) (core.GateLogPage, error)
	Summary(q core.GateLogPageQuery) (core.GateLogSummary, error)
	Why(ctx context.Context, ch core.ChannelID, id string) (core.GateWhy, error)
	Chain(ch core.ChannelID) (core.GateChain, error)
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

// Page returns entries of a channel's record, newest first.
func (g *GateLog) Page(q core.GateLogPageQuery) (core.GateLogPage, error) {
	p, err := g.Service.Page(q)
	p.Entries = orEmpty(p.Entries)
	return p, err
}

// Summary counts the entries of a channel, a run or a tool call, and those of each tool
// call among them.
func (g *GateLog) Summary(q core.GateLogPageQuery) (core.GateLogSummary, error) {
	s, err := g.Service.Summary(q)
	s.Groups = orEmpty(s.Groups)
	return s, err
}

// Why returns all that is known of one entry. The beginning of its id is enough where it
// is the only one.
func (g *GateLog) Why(channelID core.ChannelID, id string) (core.GateWhy, error) {
	return g.Service.Why(g.Ctx, channelID, id)
}

// Chain looks whether a channel's whole record is as it was written. It takes some ten
// microseconds for each entry.
func (g *GateLog) Chain(channelID core.ChannelID) (core.GateChain, error) {
	c, err := g.Service.Chain(channelID)
	c.Breaks = orEmpty(c.Breaks)
	return c, err
}
