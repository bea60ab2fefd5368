package rulebook

import (
	"context"
	"testing"

	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/gate"
	"loop/backend/policy"
)

// keptSettings are a person's file in memory, and a tree of channels.
type keptSettings struct{ config config.Config }

func (k *keptSettings) Current() config.Config { return k.config }

func (k *keptSettings) Set(_ context.Context, _ string, _ core.ChannelID, field string, value any) error {
	if list, ok := value.([]policy.FileRule); ok && field == "gates.agentgate.file_rules" {
		k.config.Gates.AgentGate.FileRules = list
	}
	return nil
}

func (k *keptSettings) Channel(_ context.Context, id core.ChannelID) (core.Channel, error) {
	switch id {
	case "thread":
		return core.Channel{ID: id, ParentID: "c1"}, nil
	case "c1", "c2":
		return core.Channel{ID: id}, nil
	}
	return core.Channel{}, core.ErrNotFound
}

func allow(path string) gate.Rule {
	return gate.Rule{File: &policy.FileRule{Paths: []string{path}, Operations: []policy.Operation{policy.Write}, Decision: policy.Allow}}
}

func TestRememberedAnswers(t *testing.T) {
	kept := &keptSettings{config: config.Defaults()}
	m := &Answers{Home: t.TempDir(), Settings: kept, Channels: kept}
	ctx := t.Context()
	for _, scope := range []core.ApprovalScope{core.ScopeAlways, core.ScopeProject} {
		list := func() []policy.FileRule {
			p, err := m.forChannel(ctx, core.Channel{ID: "c1"})
			if err != nil {
				t.Fatal(err)
			}
			if scope == core.ScopeAlways {
				return kept.config.Gates.AgentGate.FileRules
			}
			return p.FileRules
		}
		if _, err := m.Remember(ctx, scope, "thread", allow("/one")); err != nil {
			t.Fatal(err)
		}
		undo, err := m.Remember(ctx, scope, "thread", allow("/two"))
		if err != nil {
			t.Fatal(err)
		}
		if got := list(); len(got) != 2 || got[0].Paths[0] != "/two" {
			t.Errorf("%s: %+v", scope, got)
		}
		if err := undo(ctx); err != nil {
			t.Fatal(err)
		}
		if got := list(); len(got) != 1 || got[0].Paths[0] != "/one" {
			t.Errorf("%s, undone: %+v", scope, got)
		}
	}
	if other, err := m.forChannel(ctx, core.Channel{ID: "c2"}); err != nil || len(other.FileRules) != 0 {
		t.Errorf("another project: %+v, %v", other, err)
	}
	if trial, err := m.forChannel(ctx, core.Channel{ID: "trial"}); err != nil || len(trial.FileRules) != 0 {
		t.Errorf("a trial: %+v, %v", trial, err)
	}
	// Without its project nobody knows what was denied there.
	if _, err := m.forChannel(ctx, core.Channel{ID: "orphan", ParentID: "gone"}); err == nil {
		t.Error("a channel whose project is gone has no rules, and starts")
	}
}
