package settings

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"loop/backend/bind"
	"loop/backend/config"
	"loop/backend/core"
)

func (s *Service) View(ctx context.Context, id core.ChannelID) (bind.SettingsView, error) {
	ch, err := s.find(ctx, id)
	if err != nil {
		return bind.SettingsView{}, err
	}
	snap, e := s.o.Source.Current(), s.Effective(ch)
	files := projectFiles(ch)
	v := bind.SettingsView{
		ChannelID: string(id), Path: snap.Path, ProjectPath: files[core.LayerProject].Path, WorktreePath: files[core.LayerWorktree].Path,
		Approved: e.Approved, Toolchains: e.Toolchains,
	}
	for _, g := range config.Groups() {
		v.Groups = append(v.Groups, bind.SettingsGroup(g))
	}
	entries := entriesOf(e.Origins)
	for _, f := range config.Grouped() {
		field := bind.SettingsField{
			Name: f.Name, Title: f.Title, Words: f.Words, Group: f.Group,
			Kind: f.Type(), Value: f.Shown(e.Config), Default: json.RawMessage(cmp.Or(f.Default, "null")),
			Doc: f.Doc, Unit: f.Unit, Min: f.Min, Max: f.Max, OneOf: f.OneOf,
			Merge: string(f.Merge), Project: string(f.Project), Secret: f.Secret, Restart: f.Restart,
			Origin: e.Origins[f.Name], Entries: entries[f.Name],
		}
		for _, l := range e.Layers {
			if value, from, ok := l.Said(f); ok {
				field.Layers = append(field.Layers, bind.SettingsLayer{Layer: l.Name, Value: value, Line: from.Line, InForce: l.Has(f.Name)})
			}
		}
		v.Fields = append(v.Fields, field)
	}
	v.Problems, v.Pending = slices.Concat(snap.Problems, e.Problems), e.Pending
	if err := s.editor.Trust.Problem(); err != nil {
		f := core.AsFailure(err)
		v.Problems = append(v.Problems, core.SettingsProblem{Path: config.TrustFileName, Message: f.Cause, Remedy: f.Remedy, Warning: true})
	}
	return v, nil
}

// entriesOf puts the origins of entries to the field they belong to.
func entriesOf(origins map[string]core.SettingsOrigin) map[string][]bind.SettingsEntry {
	begin := map[string]string{"list": "[", "object": "."}
	out := map[string][]bind.SettingsEntry{}
	for _, f := range config.Leaves() {
		if begin[f.Type()] == "" {
			continue
		}
		for name, o := range origins {
			if entry, ok := strings.CutPrefix(name, f.Name+begin[f.Type()]); ok {
				entry = strings.TrimSuffix(entry, map[string]string{"list": "]"}[f.Type()])
				out[f.Name] = append(out[f.Name], bind.SettingsEntry{Name: entry, Origin: o})
			}
		}
		slices.SortFunc(out[f.Name], func(a, b bind.SettingsEntry) int { return strings.Compare(a.Name, b.Name) })
	}
	return out
}
