package rulebook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loop/backend/atomicfile"
	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/gate"
	"loop/backend/policy"
)

// change is one change of a list of rules.
type change struct {
	action    core.GateRuleAction
	index, to int
	rule      gate.Rule // add, change, move and remove: of the class that is meant
	text      string    // for a person, who may take it back
}

// edit is a change that was made, as it is kept for taking it back.
type edit struct {
	ID      string             `json:"id"`
	At      time.Time          `json:"at"`
	Text    string             `json:"text"`
	Scope   core.ApprovalScope `json:"scope"`
	Project core.ChannelID     `json:"project,omitempty"`
	Class   core.GateRuleClass `json:"class"`
	// Before and After are the revisions of the settings, or the documents of a project.
	// Before is empty where there was no file yet.
	Before string `json:"before"`
	After  string `json:"after"`
}

// maxEdits and maxEditsFile bound what can be taken back.
const (
	maxEdits     = 20
	maxEditsFile = 4 << 20
)

func (m *Answers) editsFile() string { return filepath.Join(m.Home, "gate", "undo.json") }

// edits are the changes that can be taken back, oldest first. What cannot be read of them
// is as good as none: nothing but taking back needs them.
func (m *Answers) edits() (list []edit) {
	raw, _, err := atomicfile.Read(m.editsFile(), 2*maxEditsFile)
	if err != nil || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

func (m *Answers) keepEdits(list []edit) error {
	if len(list) > maxEdits {
		list = list[len(list)-maxEdits:]
	}
	for {
		raw, err := json.Marshal(list)
		if err != nil {
			return fmt.Errorf("encode changes of rules: %w", err)
		}
		if len(raw) > maxEditsFile && len(list) > 0 {
			list = list[1:]
			continue
		}
		if err := os.MkdirAll(filepath.Dir(m.editsFile()), 0o700); err != nil {
			return fmt.Errorf("make folder of rules: %w", err)
		}
		return atomicfile.Keep(m.editsFile(), raw)
	}
}

// listOf are the rules of a class, as JSON: those of a project's answers, or of the settings
// without one.
func (m *Answers) listOf(project core.ChannelID, class core.GateRuleClass) (out []string, err error) {
	p := ownRules(m.Settings.Current().Gates.AgentGate)
	if project != "" {
		if p, err = m.read(project); err != nil {
			return nil, err
		}
	}
	for _, r := range rulesOf(p) {
		if classOf(r) == class {
			out = append(out, r.JSON())
		}
	}
	return out, nil
}

// carryOut makes a change and keeps how to take it back. The lock is held.
func (m *Answers) carryOut(ctx context.Context, scope core.ApprovalScope, project core.ChannelID, c change) (id string, err error) {
	e := edit{ID: core.NewID(), At: time.Now().UTC(), Text: core.Shortened(c.text, 300), Scope: scope, Project: project,
		Class: classOf(c.rule)}
	if project != "" {
		e.Before, e.After, err = m.inProject(project, c)
	} else {
		e.Before, e.After, err = m.inSettings(ctx, c)
	}
	if err != nil {
		return "", err
	}
	if err := m.keepEdits(append(m.edits(), e)); err != nil {
		return "", fmt.Errorf("keep how to take back a change: %w", err)
	}
	return e.ID, nil
}

// inSettings makes a change in the person's own file.
func (m *Answers) inSettings(ctx context.Context, c change) (before, after string, err error) {
	if before, err = m.revision(ctx); err != nil {
		return "", "", err
	}
	change := config.ListChange{Field: "gates.agentgate." + string(classOf(c.rule)), Index: c.index, To: c.to, Action: listActions[c.action]}
	if c.action == core.RuleAdd || c.action == core.RuleChange {
		change.Value = valueOf(c.rule)
	}
	if err := m.Settings.EditList(ctx, globalScope, "", change); err != nil {
		return "", "", err
	}
	after, err = m.revision(ctx)
	return before, after, err
}

var listActions = map[core.GateRuleAction]config.ListAction{
	core.RuleAdd: config.ListInsert, core.RuleChange: config.ListReplace, core.RuleMove: config.ListMove, core.RuleRemove: config.ListRemove,
}

func valueOf(r gate.Rule) any {
	switch {
	case r.Command != nil:
		return *r.Command
	case r.Path != nil:
		return *r.Path
	case r.Site != nil:
		return *r.Site
	}
	return *r.File
}

// revision is the newest one of the settings, or the one that it restored.
func (m *Answers) revision(ctx context.Context) (string, error) {
	list, err := m.Settings.History(ctx, globalScope, "")
	if err != nil || len(list) == 0 {
		return "", err
	}
	at := list[0]
	for range list {
		of, restored := strings.CutPrefix(at.Source, config.SourceRestore)
		i := slices.IndexFunc(list, func(r core.SettingsRevision) bool { return r.ID == of })
		if !restored || i < 0 {
			break
		}
		at = list[i]
	}
	return at.ID, nil
}

// inProject makes a change among a project's answers.
func (m *Answers) inProject(project core.ChannelID, c change) (before, after string, err error) {
	p, err := m.read(project)
	if err != nil {
		return "", "", err
	}
	before = string(p.Encode())
	switch {
	case c.rule.Command != nil:
		p.CommandRules, err = changedList(p.CommandRules, c, c.rule.Command)
	case c.rule.Path != nil:
		p.PathRules, err = changedList(p.PathRules, c, c.rule.Path)
	case c.rule.Site != nil:
		p.SiteRules, err = changedList(p.SiteRules, c, c.rule.Site)
	default:
		p.FileRules, err = changedList(p.FileRules, c, c.rule.File)
	}
	if err != nil {
		return "", "", err
	}
	after = string(p.Encode())
	return before, after, m.store(project, []byte(after))
}

func changedList[R any](list []R, c change, r *R) ([]R, error) {
	last := len(list) - 1
	if c.action == core.RuleAdd {
		last++
	}
	if c.index < 0 || c.index > last || c.action == core.RuleMove && (c.to < 0 || c.to >= len(list)) {
		return nil, core.Fail(core.CodeConflict, core.ErrConflict, "There is no such rule any more.", "Look at the rules again.")
	}
	list = slices.Clone(list)
	switch c.action {
	case core.RuleAdd:
		return slices.Insert(list, c.index, *r), nil
	case core.RuleChange:
		list[c.index] = *r
		return list, nil
	}
	moved := list[c.index]
	list = slices.Delete(list, c.index, c.index+1)
	if c.action == core.RuleMove {
		list = slices.Insert(list, c.to, moved)
	}
	return list, nil
}

// store writes a project's answers, unless they are no policy.
func (m *Answers) store(project core.ChannelID, doc []byte) error {
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

// Undo takes back the change with an id, or the last one of a scope where it is empty; with
// a project, also the last one of the settings. What was changed since then is not lost: that
// is a conflict.
func (m *Answers) Undo(ctx context.Context, scope core.ApprovalScope, project core.ChannelID, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.edits()
	at := -1
	for i, e := range list {
		if id == "" && e.visible(scope, project) || id != "" && e.ID == id {
			at = i
		}
	}
	if at < 0 {
		return core.Fail(core.CodeNotFound, core.ErrNotFound, "There is no change of rules to take back.",
			"The history of the settings has earlier ones.")
	}
	if err := m.takeBack(ctx, list[at]); err != nil {
		return err
	}
	return m.keepEdits(slices.Delete(list, at, at+1))
}

// visible says that a change is one of those that are seen for a scope.
func (e edit) visible(scope core.ApprovalScope, project core.ChannelID) bool {
	return (scope == "" || e.Scope == scope) && (e.Project == "" || e.Project == project)
}

func (m *Answers) takeBack(ctx context.Context, e edit) error {
	changed := core.Fail(core.CodeConflict, core.ErrConflict, "The rules were changed since, so this change cannot be taken back by itself.",
		"Change the rule, or choose a revision in the history of the settings.")
	if e.Project == "" {
		now, err := m.revision(ctx)
		if err != nil {
			return err
		}
		if now != e.After {
			return changed
		}
		switch e.Before {
		case e.After:
			return nil
		case "": // the rule is all there is
			return m.Settings.Unset(ctx, globalScope, "", "gates.agentgate."+string(e.Class))
		}
		_, err = m.Settings.Restore(ctx, e.Before)
		return err
	}
	now, _, err := atomicfile.Read(m.file(e.Project), policy.MaxDocument)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("read the project's rules: %w", err)
	case !bytes.Equal(now, []byte(e.After)):
		return changed
	}
	return m.store(e.Project, []byte(e.Before))
}

// lastEdit is the newest change that can be taken back, as it is shown; nil is none.
func (m *Answers) lastEdit(project core.ChannelID) *core.GateRuleUndo {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range slices.Backward(m.edits()) {
		if e.visible("", project) {
			return &core.GateRuleUndo{ID: e.ID, At: e.At, Text: e.Text, Scope: e.Scope}
		}
	}
	return nil
}

// wordsOf is a rule in plain words.
func wordsOf(r gate.Rule) string {
	patterns := []string{}
	switch {
	case r.Path != nil:
		patterns = append(patterns, r.Path.Pattern)
	case r.File != nil:
		patterns = append(patterns, r.File.Paths...)
	case r.Site != nil:
		patterns = append(patterns, r.Site.Sites...)
	}
	return textOf(r, patterns)
}
