package rulebook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
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

// GlobalSettings is the person's own file, with its history.
type GlobalSettings interface {
	Current() config.Config
	EditList(ctx context.Context, scope string, ch core.ChannelID, c config.ListChange) error
	Set(ctx context.Context, scope string, ch core.ChannelID, field string, value any) error
	Unset(ctx context.Context, scope string, ch core.ChannelID, field string) error
	History(ctx context.Context, scope string, ch core.ChannelID) ([]core.SettingsRevision, error)
	Restore(ctx context.Context, revision string) (core.ChannelID, error)
}

// Channels finds channels.
type Channels interface {
	Channel(ctx context.Context, id core.ChannelID) (core.Channel, error)
}

var _ gate.Rules = (*Answers)(nil)

// Remember implements gate.Rules. The newest rule comes first, as the first that
// matches decides; an equal one comes to the front. undo puts everything back as it was, and
// is a conflict where the rules have been changed since.
func (m *Answers) Remember(
	ctx context.Context, scope core.ApprovalScope, ch core.ChannelID, r gate.Rule,
) (undo func(context.Context) error, err error) {
	project := core.ChannelID("")
	if scope == core.ScopeProject {
		if project, err = m.projectOf(ctx, ch); err != nil {
			return nil, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c := change{action: core.RuleAdd, rule: r, text: "Remembered: " + wordsOf(r)}
	list, err := m.listOf(project, classOf(r))
	if err != nil {
		return nil, err
	}
	if at := slices.Index(list, r.JSON()); at >= 0 {
		c.action, c.index = core.RuleMove, at
	}
	id, err := m.carryOut(ctx, scope, project, c)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error { return m.Undo(ctx, scope, project, id) }, nil
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
