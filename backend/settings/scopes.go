package settings

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"loop/backend/bind"
	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/sandbox"
)

// projectFiles are the settings files that a channel has besides the global one, by
// scope, which is the name of their layer. A channel without a project has none.
func projectFiles(ch core.Channel) map[string]config.File {
	switch {
	case ch.Kind == core.KindDemo || ch.Dir == "":
		return nil
	case ch.ParentDir != "" && ch.ParentDir != ch.Dir:
		return map[string]config.File{
			core.LayerProject: config.ProjectFile(ch.ParentDir), core.LayerWorktree: config.WorktreeFile(ch.Dir, ch.ParentDir),
		}
	}
	return map[string]config.File{core.LayerProject: config.ProjectFile(ch.Dir)}
}

// Effective are the settings in force for a channel. Its Err says that a file cannot
// be used.
func (s *Service) Effective(ch core.Channel) config.Effective {
	if ch.Kind == core.KindDemo {
		ch.Dir = ""
	}
	return config.ForChannel(s.o.Source.Current(), s.editor.Trust, ch.Choices, ch.Dir, ch.ParentDir)
}

// Sharing lists the channels that share the container of all, by their id.
func (s *Service) Sharing(ctx context.Context) ([]core.Channel, error) {
	all, err := s.o.Channels.Channels(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the channels that share a container: %w", err)
	}
	all = slices.DeleteFunc(all, func(ch core.Channel) bool {
		e := s.Effective(ch)
		return ch.Kind == core.KindDemo || ch.Kind == core.KindThread || e.Err != nil || e.Config.ContainerScope != sandbox.ScopeShared
	})
	slices.SortFunc(all, func(a, b core.Channel) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return all, nil
}

// States are the channels whose states have a channel's conversations: the present one first,
// then those that may have earlier ones.
func (s *Service) States(ch core.Channel) []core.ChannelID {
	now := sandbox.StateOwner(s.Effective(ch).Container(), ch)
	return []core.ChannelID{now, ch.StateOwner(), sandbox.SharedOwner}
}

// Agents lists the agents that channels can belong to; the first is the default one.
func (s *Service) Agents() []core.AgentChoice {
	out := []core.AgentChoice{{ID: config.DefaultAgent}}
	for _, a := range s.Current().Agents.List {
		if a.ID == config.DefaultAgent {
			out[0].Name = a.Name
			continue
		}
		out = append(out, core.AgentChoice{ID: a.ID, Name: a.Name})
	}
	return out
}

func (s *Service) find(ctx context.Context, id core.ChannelID) (core.Channel, error) {
	if id == "" {
		return core.Channel{Kind: core.KindDemo}, nil
	}
	return s.o.Channels.Channel(ctx, id)
}

// file is the settings file that a scope means for a channel.
func (s *Service) file(ctx context.Context, scope string, id core.ChannelID) (config.File, error) {
	if scope == core.LayerGlobal {
		return config.GlobalFile(s.o.Source.Path()), nil
	}
	if scope != core.LayerProject && scope != core.LayerWorktree {
		return config.File{}, core.Fail(core.CodeInvalid, nil, "Settings are global, a project's or a worktree's.",
			"Name one of global, project and worktree.")
	}
	ch, err := s.find(ctx, id)
	if err != nil {
		return config.File{}, err
	}
	if f, ok := projectFiles(ch)[scope]; ok {
		return f, nil
	}
	return config.File{}, core.Fail(core.CodeInvalid, nil, "This channel has no settings of its "+scope+".",
		"Choose another channel, or change the global settings.")
}

func (s *Service) Set(ctx context.Context, scope string, id core.ChannelID, field string, value any) error {
	if value == nil {
		return core.Fail(core.CodeInvalid, nil, "A setting cannot be set to nothing.", "Remove it to use the value of the layers before.")
	}
	return s.edit(ctx, scope, id, func(f config.File) error { return s.editor.Set(f, field, value) })
}

func (s *Service) Unset(ctx context.Context, scope string, id core.ChannelID, field string) error {
	return s.edit(ctx, scope, id, func(f config.File) error { return s.editor.Set(f, field, nil) })
}

func (s *Service) Change(ctx context.Context, scope string, id core.ChannelID, field string, value, was any) error {
	return s.edit(ctx, scope, id, func(f config.File) error { return s.editor.Change(f, field, value, was) })
}

func (s *Service) Check(ctx context.Context, scope string, id core.ChannelID, text string) ([]core.SettingsProblem, error) {
	f, err := s.file(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	return config.Check(f, text)
}

// EditList changes one entry of a list in the scope's file.
func (s *Service) EditList(ctx context.Context, scope string, id core.ChannelID, c config.ListChange) error {
	return s.edit(ctx, scope, id, func(f config.File) error { return s.editor.List(f, c) })
}

func (s *Service) SetRaw(ctx context.Context, scope string, id core.ChannelID, text, sum string) error {
	return s.edit(ctx, scope, id, func(f config.File) error { return s.editor.SetRaw(f, text, sum) })
}

func (s *Service) edit(ctx context.Context, scope string, id core.ChannelID, change func(config.File) error) error {
	f, err := s.file(ctx, scope, id)
	if err == nil {
		err = change(f)
	}
	return s.after(scope, id, err)
}

// after reads what was changed, unless err says that nothing was, and tells of it.
func (s *Service) after(scope string, id core.ChannelID, err error) error {
	switch {
	case err != nil:
		return err
	case scope == core.LayerGlobal:
		s.o.Source.Reload()
	default:
		s.changed(id)
	}
	return nil
}

func (s *Service) Raw(ctx context.Context, scope string, id core.ChannelID) (bind.RawSettings, error) {
	f, err := s.file(ctx, scope, id)
	if err != nil {
		return bind.RawSettings{}, err
	}
	text, sum, err := s.editor.Raw(f)
	return bind.RawSettings{Path: f.Path, Text: text, SHA256: sum}, err
}

// fileAt is the channel's settings file at path.
func (s *Service) fileAt(ctx context.Context, id core.ChannelID, path string) (config.File, error) {
	ch, err := s.find(ctx, id)
	if err != nil {
		return config.File{}, err
	}
	for _, f := range projectFiles(ch) {
		for _, f := range append(f.Toolchains(), f) {
			if filepath.Clean(path) == f.Path {
				return f, nil
			}
		}
	}
	return config.File{}, core.Fail(core.CodeInvalid, nil, "That is not a file of this channel's project that can be approved.",
		"Choose one of those that wait for approval.")
}

func (s *Service) Approve(ctx context.Context, id core.ChannelID, path, sum string) error {
	f, err := s.fileAt(ctx, id, path)
	if err == nil {
		err = s.editor.Trust.Approve(f, sum)
	}
	return s.after(core.LayerProject, id, err)
}

// Decline has runs go without what a project's own image is made of, as it is now.
func (s *Service) Decline(ctx context.Context, id core.ChannelID, path, sum string) error {
	f, err := s.fileAt(ctx, id, path)
	if err == nil {
		err = s.editor.Trust.Decline(f, sum)
	}
	return s.after(core.LayerProject, id, err)
}

func (s *Service) Revoke(ctx context.Context, id core.ChannelID, path string) error {
	f, err := s.fileAt(ctx, id, path)
	if err == nil {
		err = s.editor.Trust.Revoke(f)
	}
	return s.after(core.LayerProject, id, err)
}

func (s *Service) History(ctx context.Context, scope string, id core.ChannelID) ([]core.SettingsRevision, error) {
	f, err := s.file(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	s.record(f)
	return s.editor.History.List(f)
}

func (s *Service) Revision(_ context.Context, id string) (bind.SettingsRevisionText, error) {
	_, text, diff, err := s.editor.History.Revision(id)
	return bind.SettingsRevisionText{ID: id, Text: text, Diff: diff}, err
}

func (s *Service) Restore(ctx context.Context, id string) (core.ChannelID, error) {
	list, err := s.o.Channels.Channels(ctx)
	if err != nil {
		return "", err
	}
	var of core.ChannelID
	scope := core.LayerProject
	_, err = s.editor.Restore(id, func(path string) (config.File, bool) {
		if path == s.o.Source.Path() {
			scope = core.LayerGlobal
			return config.GlobalFile(path), true
		}
		for _, ch := range list {
			for _, f := range projectFiles(ch) {
				if path == f.Path {
					of = ch.ID
					return f, true
				}
			}
		}
		return config.File{}, false
	})
	return of, s.after(scope, of, err)
}

func (s *Service) Schema() json.RawMessage { return config.Schema() }
