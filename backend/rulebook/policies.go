package rulebook

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/policy"
	"loop/backend/wire"
)

// Settings are what counts in a channel. An error says that a file cannot be used.
type Settings interface {
	ForPolicy(ch core.Channel) (config.Effective, error)
}

// Policies makes the documents that supervisors go by.
type Policies struct {
	Settings Settings
	Answers  *Answers // nil: no answer was remembered
	Trial    Trial    // nil: the gate was never tried
}

// Trial is what trials of the gate have shown.
type Trial interface {
	Holds() error // why the gate cannot be relied on
}

// Policy is the document for one spawn, nil where the settings switch the gate off.
// A rule that cannot be used, or a gate that does not hold, is a Failure, and nothing
// may start.
func (p Policies) Policy(name string, ch core.Channel, spec core.Spec, spawn core.SpawnID) ([]byte, error) {
	e, err := p.Settings.ForPolicy(ch)
	if err != nil {
		return nil, err
	}
	if !e.Config.Gates.AgentGate.Enabled {
		return nil, nil
	}
	if p.Trial != nil {
		if err := p.Trial.Holds(); err != nil {
			return nil, fmt.Errorf("start under the gate: %w", err)
		}
	}
	whole, err := p.merged(name, ch, e, spec, spawn)
	if err != nil {
		return nil, err
	}
	if name == policy.NamePerson {
		agent, err := p.merged(policy.NameAgent, ch, e, spec, spawn)
		if err != nil {
			return nil, err
		}
		agent.Debuggers = false // it would reach the person's programs, which may do more
		whole.Agents = &policy.Agents{Files: agentFiles(e.Config.ClaudeBinPath, spec.Agent.Home), Policy: agent}
	}
	doc := whole.WithoutSites().Encode()
	if _, err := policy.Parse(doc); err != nil { // the guest would refuse it, too
		return nil, ruleFailure(err)
	}
	return doc, nil
}

// Sites are the rules by which the pages are judged that a channel's browser opens for an
// agent; nil where the settings switch the gate off.
func (p Policies) Sites(ch core.Channel) (*policy.Engine, error) {
	e, err := p.Settings.ForPolicy(ch)
	if err != nil {
		return nil, err
	}
	if !e.Config.Gates.AgentGate.Enabled {
		return nil, nil
	}
	whole, err := p.merged(policy.NameAgent, ch, e, core.Spec{Agent: core.AgentUser{Home: testHome}}, anySpawn)
	if err != nil {
		return nil, err
	}
	return compiled(whole.SitesAlone())
}

// merged is one policy with everything that counts in a channel.
func (p Policies) merged(name string, ch core.Channel, e config.Effective, spec core.Spec, spawn core.SpawnID) (policy.Policy, error) {
	base, err := policy.Baseline(name, placeOf(spec, spawn))
	if err != nil {
		return base, core.Fail(core.CodeConfig, err, "The gate has no rules for a container like this one.",
			"Look at the mounts in the settings: each needs a folder of its own.")
	}
	person, err := p.person(ch, e, name)
	if err != nil {
		return base, err
	}
	mode, _ := modeOf(e.Config.Gates.AgentGate, ch)
	merged := inMode(mode, policy.Merge(base, named(person), projectsOf(e)...))
	if name == policy.NameSystem {
		merged = unasked(merged)
	}
	return merged, nil
}

// agentFiles are where an agent's CLI is found in a container: in Loop's image, where its
// own installers put it, and where the settings say it is.
func agentFiles(set, home string) []string {
	files := []string{"/usr/local/bin/claude", "/usr/bin/claude"}
	if path.IsAbs(home) {
		files = append(files, path.Join(home, ".local/bin/claude"), path.Join(home, ".claude/local/claude"))
	}
	if path.IsAbs(set) && !slices.Contains(files, set) {
		files = append(files, set)
	}
	return files
}

func ruleFailure(err error) error {
	f := core.Fail(core.CodeConfig, err, "A rule of the gate cannot be used.", "Look at gates.agentgate in the settings.")
	if at, ok := errors.AsType[*policy.ParseError](err); ok {
		f.Cause, f.Remedy = "A rule of the gate cannot be used: "+at.Message, at.Remedy
	}
	return f
}

// person are the rules that go before the baseline's: what was answered for the
// project, then the person's own file. A rule that cannot be read starts nothing.
func (p Policies) person(ch core.Channel, e config.Effective, name string) (policy.Policy, error) {
	own := personOf(e, name)
	if p.Answers == nil || name == policy.NameSystem {
		return asPlanned(own, name), nil
	}
	answered, err := p.Answers.forChannel(context.Background(), ch)
	if err != nil {
		return own, err
	}
	own.PathRules = append(answered.PathRules, own.PathRules...)
	own.CommandRules = append(answered.CommandRules, own.CommandRules...)
	own.FileRules = append(answered.FileRules, own.FileRules...)
	own.SiteRules = append(answered.SiteRules, own.SiteRules...)
	return asPlanned(own, name), nil
}

// personOf are the rules of the person's own file. What Loop starts for itself, and a
// plain shell, keep the shipped default: nobody meant them by it.
func personOf(e config.Effective, name string) policy.Policy {
	p := ownRules(e.Layers[0].Config.Gates.AgentGate)
	p.Debuggers = e.Config.Gates.AgentGate.Debuggers && (name == policy.NameAgent || name == policy.NamePerson)
	if name == policy.NameAgent || name == policy.NamePlan {
		p.DefaultDecision = policy.Decision(e.Config.Gates.AgentGate.DefaultDecision)
	}
	return p
}

// projectsOf are the rules of the project's files; policy.Merge has them tighten only.
func projectsOf(e config.Effective) (out []policy.Policy) {
	for _, l := range e.Layers[1:] {
		if p := projectRules(l); len(rulesOf(p)) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// projectRules are the rules that one file of a project sets, each with a name.
func projectRules(l config.Layer) policy.Policy {
	p := policy.Policy{DefaultDecision: policy.Allow}
	own := ownRules(l.Config.Gates.AgentGate)
	if l.Has("gates.agentgate.path_rules") {
		p.PathRules = own.PathRules
	}
	if l.Has("gates.agentgate.command_rules") {
		p.CommandRules = own.CommandRules
	}
	if l.Has("gates.agentgate.file_rules") {
		p.FileRules = own.FileRules
	}
	if l.Has("gates.agentgate.site_rules") {
		p.SiteRules = own.SiteRules
	}
	return named(p)
}

func ownRules(g config.AgentGate) policy.Policy {
	return policy.Policy{PathRules: g.PathRules, CommandRules: g.CommandRules, FileRules: g.FileRules, SiteRules: g.SiteRules}
}

// placeOf says where in a container things lie.
func placeOf(spec core.Spec, spawn core.SpawnID) policy.Place {
	p := policy.Place{Home: spec.Agent.Home, RunDir: path.Join(wire.RunsDir, string(spawn))}
	for _, m := range spec.Mounts {
		switch {
		case m.Kind == core.MountWorkspace && !m.ReadOnly:
			p.Workspaces = append(p.Workspaces, m.Target)
		case m.Kind == core.MountState && !strings.HasPrefix(m.Target, wire.RunDir+"/"):
			p.State = append(p.State, m.Target)
		case m.Kind == core.MountCredential, m.Kind == core.MountExtra:
			p.CredentialGrants = append(p.CredentialGrants, m.Target)
		}
	}
	for _, m := range spec.Mounts {
		if !m.ReadOnly && m.Kind != core.MountWorkspace && m.Kind != core.MountState {
			p.Mounts = append(p.Mounts, m.Target)
		}
	}
	for _, c := range spec.Copies {
		p.CredentialGrants = append(p.CredentialGrants, c.Target)
	}
	return p
}
