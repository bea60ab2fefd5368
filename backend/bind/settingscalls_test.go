package bind_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"loop/backend/bind"
	"loop/backend/core"
)

// fakeSettings notes the calls it gets, and answers nil slices.
type fakeSettings struct {
	asked []string
	err   error
}

func (f *fakeSettings) ask(parts ...string) error {
	f.asked = append(f.asked, strings.Join(parts, "|"))
	return f.err
}

func (f *fakeSettings) View(_ context.Context, ch core.ChannelID) (bind.SettingsView, error) {
	return bind.SettingsView{ChannelID: string(ch), Fields: []bind.SettingsField{{Name: "theme"}}}, f.ask("view", string(ch))
}

func (f *fakeSettings) Set(_ context.Context, scope string, ch core.ChannelID, field string, _ any) error {
	return f.ask("set", scope, string(ch), field)
}

func (f *fakeSettings) Change(_ context.Context, scope string, ch core.ChannelID, field string, _, _ any) error {
	return f.ask("change", scope, string(ch), field)
}

func (f *fakeSettings) Check(_ context.Context, scope string, ch core.ChannelID, text string) ([]core.SettingsProblem, error) {
	return nil, f.ask("check", scope, string(ch), text)
}

func (f *fakeSettings) Unset(_ context.Context, scope string, ch core.ChannelID, field string) error {
	return f.ask("unset", scope, string(ch), field)
}

func (f *fakeSettings) Raw(_ context.Context, scope string, ch core.ChannelID) (bind.RawSettings, error) {
	return bind.RawSettings{Text: "{}"}, f.ask("raw", scope, string(ch))
}

func (f *fakeSettings) SetRaw(_ context.Context, scope string, ch core.ChannelID, text, sum string) error {
	return f.ask("setraw", scope, string(ch), text, sum)
}

func (f *fakeSettings) Approve(_ context.Context, ch core.ChannelID, path, sum string) error {
	return f.ask("approve", string(ch), path, sum)
}

func (f *fakeSettings) Decline(_ context.Context, ch core.ChannelID, path, sum string) error {
	return f.ask("decline", string(ch), path, sum)
}

func (f *fakeSettings) Revoke(_ context.Context, ch core.ChannelID, path string) error {
	return f.ask("revoke", string(ch), path)
}

func (f *fakeSettings) History(_ context.Context, scope string, ch core.ChannelID) ([]core.SettingsRevision, error) {
	return nil, f.ask("history", scope, string(ch))
}

func (f *fakeSettings) Revision(_ context.Context, id string) (bind.SettingsRevisionText, error) {
	return bind.SettingsRevisionText{ID: id}, f.ask("revision", id)
}

func (f *fakeSettings) Restore(_ context.Context, id string) (core.ChannelID, error) {
	return "c9", f.ask("restore", id)
}

func (f *fakeSettings) ClaudeSetup() (bind.ClaudeSetupView, error) {
	return bind.ClaudeSetupView{Grant: "none"}, f.ask("setup")
}

func (f *fakeSettings) Themes() []core.Theme { return nil }

func (f *fakeSettings) ReadTheme(name, text string) (core.ReadTheme, error) {
	return core.ReadTheme{Look: core.ThemeLook{Colors: map[string]string{}}}, f.ask("readtheme", name, text)
}

func (f *fakeSettings) KeepTheme(name, text string) (core.Theme, error) {
	return core.Theme{Looks: []core.ThemeLook{}}, f.ask("keeptheme", name, text)
}

func (f *fakeSettings) RemoveTheme(name string) error { return f.ask("removetheme", name) }

func (f *fakeSettings) Schema() json.RawMessage { return json.RawMessage(`{}`) }

func TestSettingsCalls(t *testing.T) {
	f := &fakeSettings{}
	s := &bind.Settings{Ctx: t.Context(), Service: f, Looks: f}
	if s.Themes() == nil {
		t.Error("a page goes through the list")
	}
	calls := []struct {
		asked string
		do    func() (any, error)
	}{
		{"view|c1", func() (any, error) { return s.Get("c1") }},
		{"set|project|c1|theme view|c1", func() (any, error) { return s.Set("project", "c1", "theme", 1) }},
		{"change|project|c1|theme view|c1", func() (any, error) { return s.Change("project", "c1", "theme", 1, nil) }},
		{"check|worktree|c1|{}", func() (any, error) { return s.Check("worktree", "c1", "{}") }},
		{"unset|global||theme view|", func() (any, error) { return s.Unset("global", "", "theme") }},
		{"setraw|global||{}|ab view|", func() (any, error) { return s.SetRaw("global", "", "{}", "ab") }},
		{"approve|c1|/p|ab view|c1", func() (any, error) { return s.Approve("c1", "/p", "ab") }},
		{"decline|c1|/p|ab view|c1", func() (any, error) { return s.Decline("c1", "/p", "ab") }},
		{"revoke|c1|/p view|c1", func() (any, error) { return s.Revoke("c1", "/p") }},
		{"restore|x-1 view|c9", func() (any, error) { return s.Restore("x-1") }},
		{"raw|worktree|c1", func() (any, error) { return s.Raw("worktree", "c1") }},
		{"history|global|", func() (any, error) { return s.History("global", "") }},
		{"revision|x-1", func() (any, error) { return s.Revision("x-1") }},
		{"setup", func() (any, error) { return s.ClaudeSetup() }},
		{"readtheme|n|{}", func() (any, error) { return s.ReadTheme("n", "{}") }},
		{"keeptheme|n|{}", func() (any, error) { return s.KeepTheme("n", "{}") }},
		{"removetheme|n", func() (any, error) { return []string{}, s.RemoveTheme("n") }},
	}
	for _, c := range calls {
		f.asked = nil
		out, err := c.do()
		if got := strings.Join(f.asked, " "); err != nil || got != c.asked {
			t.Errorf("%q, %v; want %q", got, err, c.asked)
		}
		// A page goes through every list, so no list is null.
		if raw, err := json.Marshal(out); err != nil || strings.Contains(strings.ReplaceAll(strings.ReplaceAll(string(raw), `"value":null`, ""), `"default":null`, ""), "null") {
			t.Errorf("%s: %s %v", c.asked, raw, err)
		}
	}
	f.err = errors.New("no")
	for _, c := range calls {
		f.asked = nil
		if _, err := c.do(); !errors.Is(err, f.err) || len(f.asked) != 1 {
			t.Errorf("%s after an error: %v %v", c.asked, f.asked, err)
		}
	}
	if s.Schema() == nil {
		t.Error("no schema")
	}
}
