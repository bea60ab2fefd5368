package rulebook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"

	"loop/backend/atomicfile"
	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/gate"
	"loop/backend/policy"
)

// Answers keeps the rules that a person's answers make. Those for everything go
// into the person's settings. Those for one project go into a file in Loop's folder:
// the project's own file is written by agents, and so only ever tightens.
type Answers struct {
	Home     string // Loop's folder
	Settings GlobalSettings
	Channels Channels

	mu sync.Mutex // one change at a time
}

// GlobalSettings is the person's own file.
type GlobalSettings interface {
	Current() config.Config
	Set(ctx context.Context, scope string, ch core.ChannelID, field string, value any) error
}

// Channels finds channels.
type Channels interface {
	Channel(ctx context.Context, id core.ChannelID) (core.Channel, error)
}

var _ gate.Rules = (*Answers)(nil)

// Remember implements gate.Rules. The newest rule comes first, as the first that
// matches decides.
func (m *Answers) Remember(
	ctx context.Context, scope core.ApprovalScope, ch core.ChannelID, r gate.Rule,
) (undo func(context.Context) error, err error) {
	put := m.everywhere
	if scope == core.ScopeProject {
		project, err := m.projectOf(ctx, ch)
		if err != nil {
			return nil, err
		}
		put = func(ctx context.Context, r gate.Rule, in bool) error { return m.inProject(project, r, in) }
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := put(ctx, r, true); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		m.mu.Lock()
		defer m.mu.Unlock()
		return put(ctx, r, false)
	}, nil
}

// everywhere puts a rule into the person's settings, or takes it out.
func (m *Answers) everywhere(ctx context.Context, r gate.Rule, in bool) error {
	g := m.Settings.Current().Gates.AgentGate
	field, value := "file_rules", any(changed(g.FileRules, r.File, in))
	switch {
	case r.Command != nil:
		field, value = "command_rules", changed(g.CommandRules, r.Command, in)
	case r.Path != nil:
		field, value = "path_rules", changed(g.PathRules, r.Path, in)
	}
	return m.Settings.Set(ctx, globalScope, "", "gates.agentgate."+field, value)
}

// changed is a list with a rule at its beginning, or without it.
func changed[R any](list []R, r *R, in bool) []R {
	if r == nil {
		return list
	}
	rest := slices.DeleteFunc(slices.Clone(list), func(o R) bool { return reflect.DeepEqual(o, *r) })
	if in {
		return append([]R{*r}, rest...)
	}
	return rest
}

// projectOf is the channel at the top, whose settings its threads and worktrees share.
func (m *Answers) projectOf(ctx context.Context, id core.ChannelID) (core.ChannelID, error) {
	for range maxDepth {
		ch, err := m.Channels.Channel(ctx, id)
		if err != nil {
			return "", fmt.Errorf("read channel: %w", err)
		}
		if ch.ParentID == "" {
			return ch.ID, nil
		}
		id = ch.ParentID
	}
	return "", fmt.Errorf("channel %s: %w", id, core.ErrNotFound)
}

// globalScope is the person's own settings file.
const globalScope = "global"

// maxDepth bounds the way to the top; a thread of a worktree is at the third step.
const maxDepth = 16

func (m *Answers) file(project core.ChannelID) string {
	return filepath.Join(m.Home, "gate", "projects", string(project)+".json")
}

func (m *Answers) inProject(project core.ChannelID, r gate.Rule, in bool) error {
	p, err := m.read(project)
	if err != nil {
		return err
	}
	p.FileRules = changed(p.FileRules, r.File, in)
	p.CommandRules = changed(p.CommandRules, r.Command, in)
	p.PathRules = changed(p.PathRules, r.Path, in)
	doc := p.Encode()
	if _, err := policy.Parse(doc); err != nil {
		return ruleFailure(err)
	}
	if err := os.MkdirAll(filepath.Dir(m.file(project)), 0o700); err != nil {
		return fmt.Errorf("make folder of rules: %w", err)
	}
	if err := atomicfile.Keep(m.file(project), doc); err != nil {
		return fmt.Errorf("store rule: %w", err)
	}
	return nil
}

// read is what a project's answers have made so far.
func (m *Answers) read(project core.ChannelID) (policy.Policy, error) {
	none := policy.Policy{DefaultDecision: policy.Allow}
	doc, _, err := atomicfile.Read(m.file(project), policy.MaxDocument)
	if errors.Is(err, fs.ErrNotExist) {
		return none, nil
	}
	if err != nil {
		return none, fmt.Errorf("read the project's rules: %w", err)
	}
	p, err := policy.Parse(doc)
	if err != nil {
		return none, ruleFailure(fmt.Errorf("%s: %w", m.file(project), err))
	}
	return p, nil
}

// forChannel are the rules of the channel's project.
func (m *Answers) forChannel(ctx context.Context, ch core.Channel) (policy.Policy, error) {
	project, err := m.projectOf(ctx, ch.ID)
	if errors.Is(err, core.ErrNotFound) && ch.ParentID == "" {
		return policy.Policy{}, nil // a trial's channel is in no tree
	}
	if err != nil {
		return policy.Policy{}, err
	}
	return m.read(project)
}
