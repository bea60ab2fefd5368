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
	v := bind.SettingsView{ChannelID: string(id), Path: snap.Path, Approved: e.Approved}
	project, tree := projectDirs(ch)
	if project != "" {
		v.ProjectPath = config.ProjectPath(project)
	}
	if tree != "" {
		v.WorktreePath = config.ProjectPath(tree)
	}
	entries := entriesOf(e.Origins)
	for _, f := range config.Leaves() {
		field := bind.SettingsField{
			Name: f.Name, Kind: f.Type(), Value: f.Shown(e.Config), Default: json.RawMessage(cmp.Or(f.Default, "null")),
			Doc: f.Doc, Unit: f.Unit, Min: f.Min, Max: f.Max, OneOf: f.OneOf,
			Merge: string(f.Merge), Project: string(f.Project), Secret: f.Secret, Restart: f.Restart,
			Origin: bind.SettingsOrigin(e.Origins[f.Name]), Entries: entries[f.Name],
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
func entriesOf(origins map[string]config.Origin) map[string][]bind.SettingsEntry {
	out := map[string][]bind.SettingsEntry{}
	for _, f := range config.Leaves() {
		if f.Type() != "list" && f.Type() != "object" {
			continue
		}
		for name, o := range origins {
			entry, ok := strings.CutPrefix(name, f.Name)
			switch {
			case !ok || entry == "":
				continue
			case entry[0] == '[' && f.Type() == "list":
				entry = strings.TrimSuffix(entry[1:], "]")
			case entry[0] == '.' && f.Type() == "object":
				entry = entry[1:]
			default:
				continue
			}
			out[f.Name] = append(out[f.Name], bind.SettingsEntry{Name: entry, Origin: bind.SettingsOrigin(o)})
		}
		slices.SortFunc(out[f.Name], func(a, b bind.SettingsEntry) int { return strings.Compare(a.Name, b.Name) })
	}
	return out
}
