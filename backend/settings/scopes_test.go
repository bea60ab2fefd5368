package settings

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/bind"
	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/credentials"
)

// settingsRig is a Loop folder with a project and one of its worktrees.
type settingsRig struct {
	*Service
	list          []core.Channel
	gone          bool // the channel is no longer in the list
	unread        error
	project, tree string
	told          []core.ChannelID
}

func newSettingsRig(t *testing.T) *settingsRig {
	t.Helper()
	home := t.TempDir()
	r := &settingsRig{project: t.TempDir()}
	r.tree = filepath.Join(r.project, ".worktrees", "w")
	if err := os.MkdirAll(r.tree, 0o755); err != nil {
		t.Fatal(err)
	}
	r.list = []core.Channel{
		{ID: "p", Kind: core.KindProject, Dir: r.project},
		{ID: "t", ParentID: "p", Kind: core.KindThread, Dir: r.project},
		{ID: "w", ParentID: "p", Kind: core.KindWorktree, Dir: r.tree, ParentDir: r.project},
		{ID: "d", Kind: core.KindDemo, Dir: filepath.Join(home, "demo")},
	}
	r.Service = New(Options{
		Home: home, Source: config.NewSource(filepath.Join(home, config.FileName)),
		Vault:    credentials.New(credentials.Options{Home: home, KeyDir: filepath.Join(t.TempDir(), "key")}),
		Channels: r, Publish: func(evs ...core.Event) {
			for _, e := range evs {
				r.told = append(r.told, e.ChannelID)
			}
		},
		Log: slog.New(slog.DiscardHandler),
	})
	return r
}

func (r *settingsRig) Channel(_ context.Context, id core.ChannelID) (core.Channel, error) {
	if i := slices.IndexFunc(r.list, func(c core.Channel) bool { return c.ID == id }); i >= 0 {
		return r.list[i], nil
	}
	return core.Channel{}, core.ErrNotFound
}

func (r *settingsRig) Channels(context.Context) ([]core.Channel, error) {
	if r.gone {
		return nil, nil
	}
	return r.list, r.unread
}

func (r *settingsRig) write(t *testing.T, dir, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, config.ProjectFolder), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config.ProjectPath(dir), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (r *settingsRig) field(t *testing.T, ch core.ChannelID, name string) bind.SettingsField {
	t.Helper()
	v, err := r.View(t.Context(), ch)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(v.Fields, func(f bind.SettingsField) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("no field %s", name)
	}
	return v.Fields[i]
}

// TestStatusWithoutProblems has an empty list of them, as its readers may count on.
func TestStatusWithoutProblems(t *testing.T) {
	if st := newSettingsRig(t).Status(); st.Problems == nil || len(st.Problems) != 0 {
		t.Errorf("%#v", st.Problems)
	}
}

func TestSettingsByScope(t *testing.T) {
	r, ctx := newSettingsRig(t), t.Context()
	for _, c := range []struct {
		scope string
		ch    core.ChannelID
		value string
	}{{core.LayerGlobal, "", "a"}, {core.LayerProject, "t", "b"}, {core.LayerWorktree, "w", "c"}} {
		if err := r.Set(ctx, c.scope, c.ch, "claude_model", c.value); err != nil {
			t.Fatal(err)
		}
	}
	for ch, want := range map[core.ChannelID]string{"": "a", "d": "a", "p": "b", "t": "b", "w": "c"} {
		if f := r.field(t, ch, "claude_model"); f.Value != want || len(f.Layers) != int(want[0]-'a')+1 || f.Origin.Line != 2 {
			t.Errorf("%s: %+v", ch, f)
		}
	}
	if !slices.Equal(r.told, []core.ChannelID{"", "t", "w"}) {
		t.Errorf("told %v", r.told)
	}
	v, err := r.View(ctx, "w")
	if err != nil || v.ProjectPath != config.ProjectPath(r.project) || v.WorktreePath != config.ProjectPath(r.tree) {
		t.Errorf("%+v %v", v, err)
	}
	if raw, err := json.Marshal(v); err != nil || len(raw) < 1000 {
		t.Errorf("%s %v", raw, err)
	}
	if err := r.Unset(ctx, core.LayerProject, "p", "claude_model"); err != nil || r.field(t, "p", "claude_model").Value != "a" {
		t.Errorf("%v", err)
	}
	for _, c := range []struct {
		scope string
		ch    core.ChannelID
	}{{"elsewhere", "p"}, {core.LayerWorktree, "p"}, {core.LayerProject, ""}, {core.LayerProject, "d"}} {
		if err := r.Set(ctx, c.scope, c.ch, "claude_model", "x"); err == nil || core.AsFailure(err).Code != core.CodeInvalid {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if err := r.Set(ctx, core.LayerProject, "gone", "claude_model", "x"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if err := r.Set(ctx, core.LayerGlobal, "", "claude_model", nil); err == nil {
		t.Error("set to nothing")
	}
}

func TestSettingsApproval(t *testing.T) {
	r, ctx := newSettingsRig(t), t.Context()
	r.write(t, r.project, `{"mounts": ["a-b:/a"], "anthropic_api_key": "sk-CANARY", "envs": {"X_TOKEN": "CANARY"}, "theme": "dark"}`)
	v, err := r.View(ctx, "w")
	if err != nil || len(v.Pending) != 1 || len(v.Problems) != 1 || !v.Problems[0].Warning {
		t.Fatalf("%+v %v", v, err)
	}
	f := r.field(t, "w", "mounts")
	if len(f.Layers) != 1 || f.Layers[0].InForce || f.Layers[0].Line != 1 || f.Origin.Layer != core.LayerBuiltin {
		t.Errorf("%+v", f)
	}
	p := v.Pending[0]
	if err := r.Approve(ctx, "w", filepath.Join(r.project, "other.json"), p.SHA256); err == nil {
		t.Error("another file")
	}
	if err := r.Approve(ctx, "d", p.Path, p.SHA256); err == nil {
		t.Error("another channel")
	}
	if err := r.Approve(ctx, "w", p.Path, p.SHA256); err != nil {
		t.Fatal(err)
	}
	if v, err = r.View(ctx, "t"); err != nil || len(v.Pending) != 0 || !slices.Equal(v.Approved, []string{p.Path}) {
		t.Fatalf("%+v %v", v, err)
	}
	if f = r.field(t, "t", "mounts"); !f.Layers[0].InForce || len(f.Entries) != 1 || f.Entries[0].Name != "/a" || f.Entries[0].Origin.Line != 1 {
		t.Errorf("%+v", f)
	}
	raw, err := json.Marshal(v)
	if err != nil || strings.Contains(string(raw), "CANARY") {
		t.Errorf("%s %v", raw, err)
	}
	if err := r.Revoke(ctx, "t", p.Path); err != nil || len(r.field(t, "t", "mounts").Entries) != 0 {
		t.Errorf("%v", err)
	}
	if len(r.told) != 2 {
		t.Errorf("told %v", r.told)
	}
}

// TestImageApproval: a project's image is approved by its path like a settings file, and pages
// are told when what it is built from changed.
func TestImageApproval(t *testing.T) {
	r, ctx := newSettingsRig(t), t.Context()
	path := config.ImagePath(r.project)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("Dockerfile", "FROM loop-agent\n")
	w := &config.ProjectWatch{}
	r.poll(ctx, w)
	v, err := r.View(ctx, "w")
	if err != nil || len(v.Pending) != 1 || v.Pending[0].Path != path {
		t.Fatalf("%+v %v", v, err)
	}
	if err := r.Approve(ctx, "w", path, v.Pending[0].SHA256); err != nil {
		t.Fatal(err)
	}
	if v, err = r.View(ctx, "p"); err != nil || len(v.Pending) != 0 || !slices.Equal(v.Approved, []string{path}) {
		t.Fatalf("%+v %v", v, err)
	}
	r.told = nil
	put("tool", "x")
	r.poll(ctx, w)
	if !slices.Equal(r.told, []core.ChannelID{"p", "t", "w"}) {
		t.Errorf("told %v", r.told)
	}
	if list, err := r.History(ctx, core.LayerProject, "p"); err != nil || len(list) != 0 {
		t.Errorf("kept as settings: %+v %v", list, err)
	}
	if err := r.Revoke(ctx, "p", path); err != nil {
		t.Error(err)
	}
}

func TestSettingsHistory(t *testing.T) {
	r, ctx := newSettingsRig(t), t.Context()
	if err := r.SetRaw(ctx, core.LayerProject, "p", "{\"claude_model\": \"a\"}\n", ""); err != nil {
		t.Fatal(err)
	}
	raw, err := r.Raw(ctx, core.LayerProject, "t")
	if err != nil || raw.Text != "{\"claude_model\": \"a\"}\n" || raw.Path != config.ProjectPath(r.project) {
		t.Fatalf("%+v %v", raw, err)
	}
	r.write(t, r.project, `{"claude_model": "b"}`)
	if err := r.SetRaw(ctx, core.LayerProject, "p", "{}", raw.SHA256); !errors.Is(err, core.ErrConflict) {
		t.Errorf("%v", err)
	}
	list, err := r.History(ctx, core.LayerProject, "p")
	if err != nil || len(list) != 2 || list[0].Source != config.SourceExternal {
		t.Fatalf("%+v %v", list, err)
	}
	rev, err := r.Revision(ctx, list[1].ID)
	if err != nil || rev.Diff != "@@ -0,0 +1 @@\n+{\"claude_model\": \"a\"}\n" {
		t.Errorf("%+v %v", rev, err)
	}
	if ch, err := r.Restore(ctx, list[1].ID); err != nil || ch != "p" || r.field(t, "p", "claude_model").Value != "a" {
		t.Errorf("%s %v", ch, err)
	}
	if err := r.Set(ctx, core.LayerGlobal, "", "theme", "dark"); err != nil {
		t.Fatal(err)
	}
	if list, err = r.History(ctx, core.LayerGlobal, ""); err != nil || len(list) != 1 {
		t.Fatalf("%+v %v", list, err)
	}
	if ch, err := r.Restore(ctx, list[0].ID); err != nil || ch != "" {
		t.Errorf("%s %v", ch, err)
	}
	r.gone = true
	list, _ = r.History(ctx, core.LayerProject, "p")
	if _, err := r.Restore(ctx, list[0].ID); err == nil || core.AsFailure(err).Code != core.CodeNotFound {
		t.Errorf("%v", err)
	}
}

func TestSettingsWatch(t *testing.T) {
	r, ctx := newSettingsRig(t), t.Context()
	w := &config.ProjectWatch{}
	r.write(t, r.tree, `{}`)
	r.poll(ctx, w)
	if len(r.told) != 0 {
		t.Errorf("told %v of what is no change", r.told)
	}
	r.write(t, r.tree, `{"claude_model": "x"}`)
	r.poll(ctx, w)
	if !slices.Equal(r.told, []core.ChannelID{"w"}) {
		t.Errorf("told %v", r.told)
	}
	r.write(t, r.project, `{"claude_model": "y"}`)
	r.poll(ctx, w)
	if !slices.Equal(r.told, []core.ChannelID{"w", "p", "t", "w"}) {
		t.Errorf("told %v", r.told)
	}
	if list, err := r.History(ctx, core.LayerWorktree, "w"); err != nil || len(list) != 2 || list[1].Source != config.SourceInitial {
		t.Errorf("%+v %v", list, err)
	}
	r.unread = errors.New("no database")
	r.poll(ctx, w)
}

func TestTrustIsAskedForOnce(t *testing.T) {
	var got []core.Event
	tr := &Service{asked: map[string]asked{}, o: Options{Publish: func(e ...core.Event) { got = append(got, e...) }}}
	one := []core.SettingsPending{{Path: "/p", SHA256: "a", Fields: []string{"mounts"}}}
	tr.Waits("c", one)
	tr.Waits("c", one)
	tr.Waits("c", nil)
	one[0].SHA256 = "b"
	tr.Waits("c", one)
	if len(got) != 2 || got[0].Type != core.EventTrustRequested || string(got[0].Data) != `{"channel_id":"c","path":"/p","sha256":"a","fields":["mounts"]}` {
		t.Errorf("%+v", got)
	}
}

// TestRunFollowsTheFiles: within one poll, a change by somebody else is in force,
// published and kept as a revision. Run waits for both of its loops.
func TestRunFollowsTheFiles(t *testing.T) {
	r := newSettingsRig(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); r.Run(ctx) }()
		synctest.Wait()
		if err := os.WriteFile(r.o.Source.Path(), []byte(`{"theme": "dark"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		<-time.After(configPoll + time.Millisecond)
		synctest.Wait()
		if r.Current().Theme != "dark" || !slices.Equal(r.told, []core.ChannelID{""}) {
			t.Errorf("%q, told %v", r.Current().Theme, r.told)
		}
		stop()
		<-ended
	})
	if list, err := r.History(t.Context(), core.LayerGlobal, ""); err != nil || len(list) != 1 {
		t.Errorf("%+v %v", list, err)
	}
}

// TestChangeOfWhatThePersonSaw: a value that somebody else wrote meanwhile is not lost.
func TestChangeOfWhatThePersonSaw(t *testing.T) {
	r, ctx := newSettingsRig(t), t.Context()
	change := func(field string, value, was any) error {
		return r.Change(ctx, core.LayerProject, "p", field, value, was)
	}
	for _, step := range []struct {
		field      string
		value, was any
		want       core.Code
	}{
		{"claude_model", "opus", nil, ""},
		{"claude_model", "haiku", nil, core.CodeConflict},
		{"claude_model", "haiku", "sonnet", core.CodeConflict},
		{"claude_model", "haiku", "opus", ""},
		{"container_memory_mb", 1024.0, nil, ""},
		{"container_memory_mb", 2048.0, 1024.0, ""},
		{"mounts", []any{"/a:/a"}, nil, ""},
		{"mounts", []any{"/b:/b"}, []any{}, core.CodeConflict},
		{"mounts", []any{"/b:/b"}, []any{"/a:/a"}, ""},
		{"container_memory_mb", nil, 1024.0, core.CodeConflict},
		{"container_memory_mb", nil, 2048.0, ""},
		{"container_memory_mb", 1.0, nil, core.CodeInvalid},
		{"proxies", map[string]any{}, nil, core.CodeInvalid},
		{"envs.A", "b", nil, core.CodeInvalid},
		{"theme", "dark", nil, core.CodeInvalid},
		{"thme", "dark", nil, core.CodeInvalid},
	} {
		err := change(step.field, step.value, step.was)
		if got := core.AsFailure(err); err != nil && got.Code != step.want || err == nil && step.want != "" {
			t.Errorf("%s from %v to %v: %v", step.field, step.was, step.value, err)
		}
	}
	if f := r.field(t, "p", "claude_model"); f.Value != "haiku" || f.Title != "Model" || f.Group != "agents" || f.Words == "" {
		t.Errorf("%+v", f)
	}
}

func TestCheckOfAText(t *testing.T) {
	r, ctx := newSettingsRig(t), t.Context()
	got, err := r.Check(ctx, core.LayerGlobal, "", "{\n  \"claude_model\": \"opus\",\n  \"thme\": 1,\n  \"container_memory_mb\": \"x\"\n}")
	if err != nil || len(got) != 2 || got[0].Line != 3 || !got[0].Warning || got[1].Line != 4 || got[1].Col != 26 || got[1].Warning {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := r.Check(ctx, core.LayerProject, "p", " \n"); err != nil || len(got) != 0 {
		t.Errorf("nothing yet: %+v, %v", got, err)
	}
	if got, err := r.Check(ctx, core.LayerGlobal, "", "{\n  x"); err != nil || len(got) != 1 || got[0].Line != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := r.Check(ctx, core.LayerWorktree, "p", "{}"); core.AsFailure(err).Code != core.CodeInvalid {
		t.Errorf("%v", err)
	}
	if _, err := r.Check(ctx, core.LayerGlobal, "", strings.Repeat(" ", 64<<20)); core.AsFailure(err).Code != core.CodeInvalid {
		t.Errorf("%v", err)
	}
}
