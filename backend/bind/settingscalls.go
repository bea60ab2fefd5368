package bind

import (
	"context"
	"encoding/json"

	"loop/backend/core"
)

// Settings is bound as window.go.bind.Settings: the settings files, the global
// one and those of projects. A channel id that is empty means no project; scope
// is “global”, “project” or “worktree”. No answer holds a credential.
type Settings struct {
	Ctx     context.Context `json:"-"`
	Service SettingsService `json:"-"`
	Looks   ThemeService    `json:"-"`
}

// ThemeService reads themes of other programs, and keeps those that the person wants.
type ThemeService interface {
	Themes() []core.Theme
	ReadTheme(name, text string) (core.ReadTheme, error)
	KeepTheme(name, text string) (core.Theme, error)
	RemoveTheme(name string) error
}

// Themes lists the imported themes.
func (s *Settings) Themes() []core.Theme { return orEmpty(s.Looks.Themes()) }

// ReadTheme says what the text of a theme says, and keeps nothing.
func (s *Settings) ReadTheme(name, text string) (core.ReadTheme, error) {
	r, err := s.Looks.ReadTheme(name, text)
	r.Changes = orEmpty(r.Changes)
	return r, err
}

// KeepTheme keeps the text as a theme, or as the other look of one.
func (s *Settings) KeepTheme(name, text string) (core.Theme, error) {
	return s.Looks.KeepTheme(name, text)
}

// RemoveTheme forgets a theme. Where it was in force, the page looks as the system says.
func (s *Settings) RemoveTheme(name string) error { return s.Looks.RemoveTheme(name) }

// SettingsService reads settings files, and changes them and which of them are trusted.
type SettingsService interface {
	View(ctx context.Context, ch core.ChannelID) (SettingsView, error)
	Raw(ctx context.Context, scope string, ch core.ChannelID) (RawSettings, error)
	History(ctx context.Context, scope string, ch core.ChannelID) ([]core.SettingsRevision, error)
	Revision(ctx context.Context, id string) (SettingsRevisionText, error)
	Schema() json.RawMessage
	ClaudeSetup() (ClaudeSetupView, error)
	Set(ctx context.Context, scope string, ch core.ChannelID, field string, value any) error
	Change(ctx context.Context, scope string, ch core.ChannelID, field string, value, was any) error
	Unset(ctx context.Context, scope string, ch core.ChannelID, field string) error
	Check(ctx context.Context, scope string, ch core.ChannelID, text string) ([]core.SettingsProblem, error)
	SetRaw(ctx context.Context, scope string, ch core.ChannelID, text, sum string) error
	Approve(ctx context.Context, ch core.ChannelID, path, sum string) error
	Decline(ctx context.Context, ch core.ChannelID, path, sum string) error
	Revoke(ctx context.Context, ch core.ChannelID, path string) error
	Restore(ctx context.Context, id string) (core.ChannelID, error) // a channel of the file; empty for the global one
}

// SettingsView has the values in force for a channel, and their origins.
type SettingsView struct {
	ChannelID    string                 `json:"channel_id"`
	Path         string                 `json:"path"`                    // of the global file
	ProjectPath  string                 `json:"project_path,omitempty"`  // of the project's, there or not
	WorktreePath string                 `json:"worktree_path,omitempty"` // of the worktree's, there or not
	Groups       []SettingsGroup        `json:"groups"`
	Fields       []SettingsField        `json:"fields"` // in the order of their groups
	Problems     []core.SettingsProblem `json:"problems"`
	Pending      []core.SettingsPending `json:"pending"`
	Approved     []string               `json:"approved"` // paths of project files that are trusted as they are
	// Toolchains are what the project's own image is made of. A worktree may have its own beside
	// its project's.
	Toolchains []core.ProjectToolchain `json:"toolchains"`
}

// SettingsGroup is a part of the settings as a person looks for it.
type SettingsGroup struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// SettingsField is one field that holds a value; parts of nested objects are
// joined by a dot.
type SettingsField struct {
	Name    string              `json:"name"`
	Title   string              `json:"title"` // what a person calls it
	Words   string              `json:"words"` // further words by which a person looks for it
	Group   string              `json:"group"`
	Kind    string              `json:"kind"`    // text, integer, number, boolean, list, object
	Value   any                 `json:"value"`   // in force; credentials are hidden
	Default json.RawMessage     `json:"default"` // null when there is none
	Doc     string              `json:"doc"`
	Unit    string              `json:"unit,omitempty"`
	Min     string              `json:"min,omitempty"`
	Max     string              `json:"max,omitempty"`
	OneOf   []string            `json:"one_of,omitempty"`
	Merge   string              `json:"merge"`   // override, by target, by key, append, replace, union
	Project string              `json:"project"` // free, tighten, trust, never
	Secret  bool                `json:"secret,omitempty"`
	Restart bool                `json:"restart,omitempty"` // a change counts when Loop starts again
	Origin  core.SettingsOrigin `json:"origin"`
	Entries []SettingsEntry     `json:"entries,omitempty"` // of a list or an object
	Layers  []SettingsLayer     `json:"layers"`            // the files that name the field, lowest first
}

// SettingsEntry is one entry of a list or an object. Mounts go by their
// container path.
type SettingsEntry struct {
	Name   string              `json:"name"`
	Origin core.SettingsOrigin `json:"origin"`
}

// SettingsLayer is the value of a field in one file.
type SettingsLayer struct {
	Layer   string `json:"layer"`
	Value   any    `json:"value"` // as written
	Line    int    `json:"line"`
	InForce bool   `json:"in_force"` // false: it waits for approval, or is not a project's to say
}

// RawSettings is the text of a file; credentials are hidden, and a hidden one
// that comes back by SetRaw stays as it is.
type RawSettings struct {
	Path   string `json:"path"`
	Text   string `json:"text"`
	SHA256 string `json:"sha256"` // of the file; empty when there is none
}

// SettingsRevisionText is a revision with its text, credentials hidden, and its
// changes against the revision before.
type SettingsRevisionText struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	Diff string `json:"diff"`
}

// ClaudeSetupView is the person's own Claude set-up, and what they said of it.
type ClaudeSetupView struct {
	Setup core.ClaudeSetup `json:"setup"`
	Grant string           `json:"grant"` // read or none, of the global settings; empty when nobody was asked
}

// after returns the values in force after a change.
func (s *Settings) after(err error, channelID string) (SettingsView, error) {
	if err != nil {
		return SettingsView{}, err
	}
	return s.Get(channelID)
}

// Get returns the values in force for a channel.
func (s *Settings) Get(channelID string) (SettingsView, error) {
	v, err := s.Service.View(s.Ctx, core.ChannelID(channelID))
	if err != nil {
		return v, err
	}
	v.Groups = orEmpty(v.Groups)
	v.Fields, v.Problems, v.Pending, v.Approved = orEmpty(v.Fields), orEmpty(v.Problems), orEmpty(v.Pending), orEmpty(v.Approved)
	v.Toolchains = orEmpty(v.Toolchains)
	for i := range v.Fields {
		v.Fields[i].Layers = orEmpty(v.Fields[i].Layers)
	}
	return v, nil
}

// Set writes one field, a part of one (font_sizes.chat) or an entry of one
// (envs.NAME) into the scope's file, and keeps the rest of it, comments included.
func (s *Settings) Set(scope, channelID, field string, value any) (SettingsView, error) {
	return s.after(s.Service.Set(s.Ctx, scope, core.ChannelID(channelID), field, value), channelID)
}

// Change is Set for a person who saw the value that the scope's file had: was, or null where it
// had none. A file that says something else by now is a conflict, and stays as it is. A value of
// null removes the field.
func (s *Settings) Change(scope, channelID, field string, value, was any) (SettingsView, error) {
	return s.after(s.Service.Change(s.Ctx, scope, core.ChannelID(channelID), field, value, was), channelID)
}

// Check reads a text as the scope's file would be read, and changes nothing: the problems have
// their lines and columns.
func (s *Settings) Check(scope, channelID, text string) ([]core.SettingsProblem, error) {
	return listed(s.Service.Check(s.Ctx, scope, core.ChannelID(channelID), text))
}

// Unset removes a field from the scope's file.
func (s *Settings) Unset(scope, channelID, field string) (SettingsView, error) {
	return s.after(s.Service.Unset(s.Ctx, scope, core.ChannelID(channelID), field), channelID)
}

// Raw returns the text of the scope's file.
func (s *Settings) Raw(scope, channelID string) (RawSettings, error) {
	return s.Service.Raw(s.Ctx, scope, core.ChannelID(channelID))
}

// SetRaw replaces the text of the scope's file. sha256 is what Raw gave: a file
// that has changed since is a conflict. A text with errors is refused.
func (s *Settings) SetRaw(scope, channelID, text, sha256 string) (SettingsView, error) {
	return s.after(s.Service.SetRaw(s.Ctx, scope, core.ChannelID(channelID), text, sha256), channelID)
}

// Approve trusts a project's file as it was shown. path and sha256 are those of
// a pending file; one that has changed since is a conflict.
func (s *Settings) Approve(channelID, path, sha256 string) (SettingsView, error) {
	return s.after(s.Service.Approve(s.Ctx, core.ChannelID(channelID), path, sha256), channelID)
}

// Decline has runs go without the image that a project's file makes, as it was shown. path and
// sha256 are those of a pending file; one that has changed since is a conflict.
func (s *Settings) Decline(channelID, path, sha256 string) (SettingsView, error) {
	return s.after(s.Service.Decline(s.Ctx, core.ChannelID(channelID), path, sha256), channelID)
}

// Revoke takes the approval of a project's file back, or the word to go without it.
func (s *Settings) Revoke(channelID, path string) (SettingsView, error) {
	return s.after(s.Service.Revoke(s.Ctx, core.ChannelID(channelID), path), channelID)
}

// History lists the revisions of the scope's file, the newest first.
func (s *Settings) History(scope, channelID string) ([]core.SettingsRevision, error) {
	return listed(s.Service.History(s.Ctx, scope, core.ChannelID(channelID)))
}

// Revision returns a revision with its text and its changes.
func (s *Settings) Revision(id string) (SettingsRevisionText, error) {
	return s.Service.Revision(s.Ctx, id)
}

// Restore gives a file the text of a revision; credentials stay as they are now.
func (s *Settings) Restore(id string) (SettingsView, error) {
	ch, err := s.Service.Restore(s.Ctx, id)
	return s.after(err, string(ch))
}

// Schema returns the JSON Schema of a settings file.
func (s *Settings) Schema() any { return s.Service.Schema() }

// ClaudeSetup reads the person's own Claude set-up, as far as agents can have copies of it.
// What it may do is stored by Set, as claude_setup and claude_setup_allow.
func (s *Settings) ClaudeSetup() (ClaudeSetupView, error) {
	v, err := s.Service.ClaudeSetup()
	v.Setup.Files, v.Setup.Settings = orEmpty(v.Setup.Files), orEmpty(v.Setup.Settings)
	v.Setup.Asks, v.Setup.Left = orEmpty(v.Setup.Asks), orEmpty(v.Setup.Left)
	return v, err
}
