package bind

import (
	"context"

	"loop/backend/core"
)

// GateRuleService lists, tries and changes the rules of the gate. A channel id that is
// empty means the person's own rules alone; policy is agent (also where it is empty),
// person, system or plan.
type GateRuleService interface {
	List(ctx context.Context, ch core.ChannelID, policy string) (core.GateRuleList, error)
	Try(ctx context.Context, req core.GateTryRequest) (core.GateTry, error)
	Matches(ctx context.Context, ch core.ChannelID, c core.GateCandidate) (core.GateRuleMatches, error)
	Suggestions(ctx context.Context, ch core.ChannelID) ([]core.GateSuggestion, error)
	Edit(ctx context.Context, e core.GateRuleEdit) error
	Undo(ctx context.Context, ch core.ChannelID, id string) error
	Export(ctx context.Context, ch core.ChannelID, scope core.ApprovalScope) (string, error)
	Import(ctx context.Context, ch core.ChannelID, scope core.ApprovalScope, text string) (int, error)
	SetMode(ctx context.Context, ch core.ChannelID, mode string) error
}

// GateRules is bound as window.go.bind.GateRules.
type GateRules struct {
	Ctx     context.Context `json:"-"`
	Service GateRuleService `json:"-"`
}

// List returns all rules in force for programs that a channel starts from now on, in the
// order in which they are tried.
func (g *GateRules) List(channelID core.ChannelID, policy string) (core.GateRuleList, error) {
	l, err := g.Service.List(g.Ctx, channelID, policy)
	l.Rules, l.Files = orEmpty(l.Rules), orEmpty(l.Files)
	return l, err
}

// Try says what would become of a call, and which rule decides. It changes nothing.
func (g *GateRules) Try(req core.GateTryRequest) (core.GateTry, error) {
	t, err := g.Service.Try(g.Ctx, req)
	t.Steps = orEmpty(t.Steps)
	return t, err
}

// Matches says which recent decisions a rule would have covered, and whether it could be
// stored. It changes nothing.
func (g *GateRules) Matches(channelID core.ChannelID, candidate core.GateCandidate) (core.GateRuleMatches, error) {
	m, err := g.Service.Matches(g.Ctx, channelID, candidate)
	m.Matches = orEmpty(m.Matches)
	return m, err
}

// Suggestions are rules for what the person was asked and has always allowed.
func (g *GateRules) Suggestions(channelID core.ChannelID) ([]core.GateSuggestion, error) {
	return listed(g.Service.Suggestions(g.Ctx, channelID))
}

// Edit changes one of the person's own rules. It holds for programs that are started from
// then on.
func (g *GateRules) Edit(e core.GateRuleEdit) (core.GateRuleList, error) {
	if err := g.Service.Edit(g.Ctx, e); err != nil {
		return core.GateRuleList{}, err
	}
	return g.List(e.ChannelID, "")
}

// Undo takes back the change with an id, or the last one where it is empty.
func (g *GateRules) Undo(channelID core.ChannelID, id string) (core.GateRuleList, error) {
	if err := g.Service.Undo(g.Ctx, channelID, id); err != nil {
		return core.GateRuleList{}, err
	}
	return g.List(channelID, "")
}

// Export returns the rules of a scope, project or always, as they would stand under
// gates.agentgate in a settings file.
func (g *GateRules) Export(channelID core.ChannelID, scope core.ApprovalScope) (string, error) {
	return g.Service.Export(g.Ctx, channelID, scope)
}

// Import adds rules, as Export writes them, before those of a scope; those that are there
// already are left out. It returns how many it added, all of them or none.
func (g *GateRules) Import(channelID core.ChannelID, scope core.ApprovalScope, text string) (int, error) {
	return g.Service.Import(g.Ctx, channelID, scope, text)
}

// SetMode has the gate record, shadow or enforce in a channel's folder, or do what the
// settings say where mode is empty.
func (g *GateRules) SetMode(channelID core.ChannelID, mode string) (core.GateRuleList, error) {
	if err := g.Service.SetMode(g.Ctx, channelID, mode); err != nil {
		return core.GateRuleList{}, err
	}
	return g.List(channelID, "")
}
