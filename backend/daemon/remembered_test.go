package daemon

import (
	"context"
	"slices"
	"testing"

	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/gate"
	"loop/backend/policy"
	"loop/backend/rulebook"
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

// TestAnAnswerForTheProjectCounts in the next spawn of the project, and in no other.
func TestAnAnswerForTheProjectCounts(t *testing.T) {
	r := newSpecRig(t)
	spec, _, _, err := r.resolve(t.Context(), core.Run{ID: "r1", ChannelID: "c1"}, r.channel)
	if err != nil {
		t.Fatal(err)
	}
	kept := &keptSettings{config: config.Defaults()}
	m := &rulebook.Answers{Home: t.TempDir(), Settings: kept, Channels: kept}
	profile := spec.Agent.Home + "/.bashrc"
	if _, err := m.Remember(t.Context(), core.ScopeProject, "c1", allow(profile)); err != nil {
		t.Fatal(err)
	}
	says := func(ch core.ChannelID, name string) policy.Decision {
		doc, err := rulebook.Policies{Settings: r.settingsReader, Answers: m}.Policy(name, core.Channel{ID: ch}, spec, "spawn")
		if err != nil {
			t.Fatal(err)
		}
		p, err := policy.Parse(doc)
		if err != nil {
			t.Fatal(err)
		}
		e, err := policy.Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		return e.File(policy.Write, profile).Decision
	}
	got := []policy.Decision{says("c1", policy.NameAgent), says("c2", policy.NameAgent), says("c1", policy.NamePlan)}
	if !slices.Equal(got, []policy.Decision{policy.Allow, policy.Approve, policy.Deny}) {
		t.Errorf("decisions %v", got)
	}
}
