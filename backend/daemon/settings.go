package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loop/backend/bind"
	"loop/backend/config"
	"loop/backend/core"
)

// settings shows the configuration to the page and changes single fields.
type settings struct {
	source *config.Source
	keys   keys
}

func (s settings) Status() bind.ConfigStatus { return s.keys.status(s.source.Current()) }

func (s settings) Set(field string, value any) error {
	_, err := s.source.Set(field, value)
	return err
}

// configStatus leaves every credential out.
func configStatus(snap config.Snapshot) bind.ConfigStatus {
	kind, _ := snap.Config.Credential()
	st := bind.ConfigStatus{Path: snap.Path, Problems: []bind.ConfigProblem{}, HasCredentials: kind != "", CredentialKind: kind, Theme: snap.Config.Theme}
	t := snap.Config.Terminal
	st.Terminal = bind.TerminalLook{
		FontFamily: t.FontFamily, FontSize: snap.Config.FontSizes.Terminal, ShiftEnter: t.ShiftEnter, Bell: t.Bell,
		CopyOnSelect: t.CopyOnSelect, ScreenReader: t.ScreenReader, Colors: t.Colors, MinimumContrast: t.MinimumContrast,
	}
	for _, p := range snap.Problems {
		st.Problems = append(st.Problems, bind.ConfigProblem{Line: p.Line, Col: p.Col, Field: p.Field, Message: p.Message, Remedy: p.Remedy})
	}
	return st
}

// Scopes of a change; the names are those of the layers.
const (
	scopeGlobal   = config.LayerGlobal
	scopeProject  = config.LayerProject
	scopeWorktree = config.LayerWorktree
)

// settingsFiles are the settings files of Loop and of the channels' projects,
// for their owner.
type settingsFiles struct {
	source   *config.Source
	editor   config.Editor
	channel  func(ctx context.Context, id core.ChannelID) (core.Channel, error)
	channels func(ctx context.Context) ([]core.Channel, error)
	changed  func(ch core.ChannelID) // tells the pages
	log      *slog.Logger
}

func (d *Daemon) settingsFiles() settingsFiles {
	return settingsFiles{
		source: d.config, editor: d.editor, channel: d.store.Channel, channels: d.store.Channels, log: d.log,
		changed: func(ch core.ChannelID) {
			d.bus.Publish(core.NewEvent(core.EventConfigChanged, ch, "", time.Now(), d.keys.status(d.config.Current())))
		},
	}
}

// projectDirs are the directory whose settings a channel has as a project, and
// the work tree's own if it is one. Both are empty for a channel without a
// project of the person's.
func projectDirs(ch core.Channel) (project, tree string) {
	switch {
	case ch.Kind == core.KindDemo:
		return "", ""
	case ch.ParentDir != "" && ch.ParentDir != ch.Dir:
		return ch.ParentDir, ch.Dir
	}
	return ch.Dir, ""
}

// projectFiles are the settings files of those.
func projectFiles(ch core.Channel) (files []config.File) {
	project, tree := projectDirs(ch)
	if project != "" {
		files = append(files, config.ProjectFile(project))
	}
	if tree != "" {
		files = append(files, config.WorktreeFile(tree, project))
	}
	return files
}

// effective is the configuration of a channel.
func (s settingsFiles) effective(ch core.Channel) config.Effective {
	project, tree := projectDirs(ch)
	if tree != "" {
		return config.ForDir(s.source.Current(), s.editor.Trust, tree, project)
	}
	return config.ForDir(s.source.Current(), s.editor.Trust, project, "")
}

func (s settingsFiles) find(ctx context.Context, id core.ChannelID) (core.Channel, error) {
	if id == "" {
		return core.Channel{Kind: core.KindDemo}, nil
	}
	return s.channel(ctx, id)
}

// file is the one that a scope means for a channel.
func (s settingsFiles) file(ctx context.Context, scope string, id core.ChannelID) (config.File, error) {
	if scope == scopeGlobal {
		return config.GlobalFile(s.source.Path()), nil
	}
	if scope != scopeProject && scope != scopeWorktree {
		return config.File{}, core.Fail(core.CodeInvalid, nil, "Settings are global, a project's or a work tree's.", "Name one of global, project and worktree.")
	}
	ch, err := s.find(ctx, id)
	if err != nil {
		return config.File{}, err
	}
	project, tree := projectDirs(ch)
	switch {
	case scope == scopeWorktree && tree != "":
		return config.WorktreeFile(tree, project), nil
	case scope == scopeProject && project != "":
		return config.ProjectFile(project), nil
	}
	return config.File{}, core.Fail(core.CodeInvalid, nil, "This channel has no settings of its "+scope+".", "Choose another channel, or change the global settings.")
}

func (s settingsFiles) View(ctx context.Context, id core.ChannelID) (bind.SettingsView, error) {
	ch, err := s.find(ctx, id)
	if err != nil {
		return bind.SettingsView{}, err
	}
	snap, e := s.source.Current(), s.effective(ch)
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
			Name: f.Name, Kind: f.Type(), Value: f.Shown(e.Config), Default: json.RawMessage(cmp.Or(f.Default, "null")), Doc: f.Doc, Unit: f.Unit, Min: f.Min, Max: f.Max,
			OneOf: f.OneOf, Merge: string(f.Merge), Project: string(f.Project), Secret: f.Secret, Origin: bind.SettingsOrigin(e.Origins[f.Name]), Entries: entries[f.Name],
		}
		for _, l := range e.Layers {
			if value, from, ok := l.Said(f); ok {
				field.Layers = append(field.Layers, bind.SettingsLayer{Layer: l.Name, Value: value, Line: from.Line, InForce: l.Has(f.Name)})
			}
		}
		v.Fields = append(v.Fields, field)
	}
	problems := slices.Concat(snap.Problems, e.Problems)
	if err := s.editor.Trust.Problem(); err != nil {
		f := core.AsFailure(err)
		problems = append(problems, config.Problem{Path: config.TrustFileName, Message: f.Cause, Remedy: f.Remedy, Warning: true})
	}
	for _, p := range problems {
		v.Problems = append(v.Problems, bind.SettingsProblem(p))
	}
	for _, p := range e.Pending {
		v.Pending = append(v.Pending, bind.SettingsPending(p))
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

func (s settingsFiles) Set(ctx context.Context, scope string, id core.ChannelID, field string, value any) error {
	if value == nil {
		return core.Fail(core.CodeInvalid, nil, "A setting cannot be set to nothing.", "Remove it to use the value of the layers before.")
	}
	return s.set(ctx, scope, id, field, value)
}

func (s settingsFiles) Unset(ctx context.Context, scope string, id core.ChannelID, field string) error {
	return s.set(ctx, scope, id, field, nil)
}

func (s settingsFiles) set(ctx context.Context, scope string, id core.ChannelID, field string, value any) error {
	f, err := s.file(ctx, scope, id)
	if err == nil {
		err = s.editor.Set(f, field, value)
	}
	return s.after(scope, id, err)
}

// after reads what was changed and tells of it.
func (s settingsFiles) after(scope string, id core.ChannelID, err error) error {
	switch {
	case err != nil:
		return err
	case scope == scopeGlobal:
		s.source.Reload()
	default:
		s.changed(id)
	}
	return nil
}

func (s settingsFiles) Raw(ctx context.Context, scope string, id core.ChannelID) (bind.RawSettings, error) {
	f, err := s.file(ctx, scope, id)
	if err != nil {
		return bind.RawSettings{}, err
	}
	text, sum, err := s.editor.Raw(f)
	return bind.RawSettings{Path: f.Path, Text: text, SHA256: sum}, err
}

func (s settingsFiles) SetRaw(ctx context.Context, scope string, id core.ChannelID, text, sum string) error {
	f, err := s.file(ctx, scope, id)
	if err == nil {
		err = s.editor.SetRaw(f, text, sum)
	}
	return s.after(scope, id, err)
}

// dirOf is the directory of the channel's settings file at path.
func (s settingsFiles) dirOf(ctx context.Context, id core.ChannelID, path string) (string, error) {
	ch, err := s.find(ctx, id)
	if err != nil {
		return "", err
	}
	project, tree := projectDirs(ch)
	for _, dir := range []string{project, tree} {
		if dir != "" && filepath.Clean(path) == config.ProjectPath(dir) {
			return dir, nil
		}
	}
	return "", core.Fail(core.CodeInvalid, nil, "That is not a settings file of this channel's project.", "Choose one of those that wait for approval.")
}

func (s settingsFiles) Approve(ctx context.Context, id core.ChannelID, path, sum string) error {
	dir, err := s.dirOf(ctx, id, path)
	if err == nil {
		err = s.editor.Trust.Approve(dir, path, sum)
	}
	return s.after(scopeProject, id, err)
}

func (s settingsFiles) Revoke(ctx context.Context, id core.ChannelID, path string) error {
	dir, err := s.dirOf(ctx, id, path)
	if err == nil {
		err = s.editor.Trust.Revoke(dir)
	}
	return s.after(scopeProject, id, err)
}

func (s settingsFiles) History(ctx context.Context, scope string, id core.ChannelID) ([]bind.SettingsRevision, error) {
	f, err := s.file(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	s.record(f)
	list, err := s.editor.History.List(f)
	out := make([]bind.SettingsRevision, 0, len(list))
	for _, r := range list {
		out = append(out, bind.SettingsRevision(r))
	}
	return out, err
}

func (s settingsFiles) Revision(_ context.Context, id string) (bind.SettingsRevisionText, error) {
	_, text, diff, err := s.editor.History.Revision(id)
	return bind.SettingsRevisionText{ID: id, Text: text, Diff: diff}, err
}

func (s settingsFiles) Restore(ctx context.Context, id string) (core.ChannelID, error) {
	list, err := s.channels(ctx)
	if err != nil {
		return "", err
	}
	var of core.ChannelID
	scope := scopeProject
	_, err = s.editor.Restore(id, func(path string) (config.File, bool) {
		if path == s.source.Path() {
			scope = scopeGlobal
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

func (s settingsFiles) Schema() json.RawMessage { return config.Schema() }

// record keeps a text that somebody else wrote.
func (s settingsFiles) record(f config.File) {
	if err := s.editor.History.Record(f, config.SourceExternal); err != nil {
		s.log.Warn("keep revision of settings", "path", f.Path, "err", err)
	}
}

// watch looks at every tick until ctx ends.
func (s settingsFiles) watch(ctx context.Context, tick <-chan time.Time) {
	w := config.NewProjectWatch()
	for {
		s.poll(ctx, w)
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
	}
}

// poll looks once at the settings files of all channels' projects.
func (s settingsFiles) poll(ctx context.Context, watch *config.ProjectWatch) {
	list, err := s.channels(ctx)
	if err != nil {
		if ctx.Err() == nil {
			s.log.Warn("look at projects' settings", "err", err)
		}
		return
	}
	var dirs []string
	files := map[string]config.File{} // by folder; a work tree's way to it is the strict one
	for _, ch := range list {
		project, tree := projectDirs(ch)
		if project != "" {
			dirs = append(dirs, project)
			if _, known := files[project]; !known {
				files[project] = config.ProjectFile(project)
			}
		}
		if tree != "" {
			dirs = append(dirs, tree)
			files[tree] = config.WorktreeFile(tree, project)
		}
	}
	first, changed := watch.Poll(dirs)
	for _, dir := range slices.Concat(first, changed) {
		s.record(files[dir])
	}
	for _, ch := range list {
		project, tree := projectDirs(ch)
		if slices.Contains(changed, project) || tree != "" && slices.Contains(changed, tree) {
			s.changed(ch.ID)
		}
	}
}
