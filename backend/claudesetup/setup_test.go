package claudesetup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"loop/backend/core"
)

type rig struct {
	t     *testing.T
	s     Setup
	state string
}

func newRig(t *testing.T) rig {
	t.Helper()
	top := t.TempDir()
	r := rig{t, Of(top, func(string) string { return "" }, "/opt/loop/.claude"), filepath.Join(top, "channels", "c", "claude")}
	if err := errors.Join(os.MkdirAll(r.s.Folder, 0o700), os.MkdirAll(r.state, 0o700)); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r rig) write(dir, name, text string) {
	r.t.Helper()
	at := filepath.Join(dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
		r.t.Fatal(err)
	}
}

func (r rig) mine(name, text string) { r.t.Helper(); r.write(r.s.Folder, name, text) }

// has reads a file of the state; “-” is none.
func (r rig) has(name string) string {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.state, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return "-"
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return string(data)
}

func (r rig) place(granted bool, allow ...string) {
	r.t.Helper()
	if err := r.s.Place(granted, allow, r.state); err != nil {
		r.t.Fatal(err)
	}
}

func (r rig) survey(allow ...string) core.ClaudeSetup {
	r.t.Helper()
	got, err := r.s.Survey(allow)
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}

// all lists the files of the state.
func (r rig) all() (out []string) {
	_ = filepath.WalkDir(r.state, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(r.state, p)
			out = append(out, filepath.ToSlash(rel))
		}
		return nil
	})
	return out
}

// TestWhatComes: instructions, skills, agents and commands, with their programs; nothing of
// conversations, credentials and caches.
func TestWhatComes(t *testing.T) {
	r := newRig(t)
	comes := []string{"CLAUDE.md", "agents/reviewer.md", "commands/git/fix.md", "keybindings.json", "notes.md", "output-styles/short.md", "rules/go.md", "skills/review/SKILL.md", "skills/review/run.sh"}
	for _, name := range comes {
		r.mine(name, "mine: "+name)
	}
	if err := os.Chmod(filepath.Join(r.s.Folder, "skills", "review", "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	stays := []string{
		".credentials.json", "history.jsonl", "projects/x/1.jsonl", "todos/1.json", "shell-snapshots/s.sh", "statsig/x", "ide/lock", "plugins/cache/x.js",
		"settings.local.json", "skills/review/.env", "skills/review/key.pem", "skills/review/my-token.txt", "skills/review/node_modules/x.js", "skills/review/.git/config",
	}
	for _, name := range stays {
		r.mine(name, "canary")
	}
	r.mine("skills/large/SKILL.md", strings.Repeat("x", maxFile+1))
	r.place(true)
	if got := r.all(); !slices.Equal(got, comes) {
		t.Errorf("got %q\nwant %q", got, comes)
	}
	if r.has("skills/review/SKILL.md") != "mine: skills/review/SKILL.md" {
		t.Error("not a copy")
	}
	if info, err := os.Stat(filepath.Join(r.state, "skills", "review", "run.sh")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o100 == 0 {
		t.Error("a program cannot be run")
	}
	left := fmt.Sprint(r.survey().Left)
	for _, name := range []string{"skills/review/.env", "key.pem", "my-token.txt", "node_modules", "skills/large/SKILL.md"} {
		if !strings.Contains(left, name) {
			t.Errorf("%s is not named in %s", name, left)
		}
	}
	r.place(false)
	if got := r.all(); len(got) != 0 {
		t.Errorf("without a grant there is %q", got)
	}
}

// TestFresh: each placing has what the person has now. What the agent made of a copy gives
// way, and what is the agent's own stays.
func TestFresh(t *testing.T) {
	r := newRig(t)
	r.write(r.state, "skills/own/SKILL.md", "the agent's")
	r.write(r.state, "settings.json", `{"theme": "dark", "agentsOwn": 1}`)
	r.mine("CLAUDE.md", "one")
	r.mine("skills/a/SKILL.md", "a")
	r.mine("skills/b/SKILL.md", "b")
	r.mine("settings.json", `{"language": "de", "permissions": {"deny": ["Bash(rm:*)"], "allow": ["x"]}}`)
	r.place(true)
	r.mine("CLAUDE.md", "two")
	r.write(r.state, "skills/a/SKILL.md", "changed by the agent")
	r.write(r.state, "skills/b/SKILL.md", "changed by the agent")
	if err := os.RemoveAll(filepath.Join(r.s.Folder, "skills", "b")); err != nil {
		t.Fatal(err)
	}
	r.place(true)
	for name, want := range map[string]string{
		"CLAUDE.md": "two", "skills/a/SKILL.md": "a", "skills/b/SKILL.md": "changed by the agent", "skills/own/SKILL.md": "the agent's",
	} {
		if got := r.has(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := r.has("settings.json"); !same(t, got, `{"theme": "dark", "agentsOwn": 1, "language": "de", "permissions": {"deny": ["Bash(rm:*)"]}}`) {
		t.Error(got)
	}
	r.mine("settings.json", `{"outputStyle": "short"}`)
	r.place(true)
	if got := r.has("settings.json"); !same(t, got, `{"theme": "dark", "agentsOwn": 1, "outputStyle": "short"}`) {
		t.Error(got)
	}
	r.place(false)
	if got := r.has("settings.json"); !same(t, got, `{"theme": "dark", "agentsOwn": 1}`) || r.has("CLAUDE.md") != "-" || r.has("skills/a/SKILL.md") != "-" {
		t.Errorf("%s %v", got, r.all())
	}
}

func same(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal([]byte(a), &x), json.Unmarshal([]byte(b), &y)); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(x) == fmt.Sprint(y)
}

// TestSettings: those of the list come, what runs programs needs a yes, and none sets what
// Loop sets.
func TestSettings(t *testing.T) {
	r := newRig(t)
	r.mine("settings.json", `{
		"model": "opus", "apiKeyHelper": "cat key", "otelHeadersHelper": "x", "permissions": {"defaultMode": "acceptEdits", "deny": []},
		"env": {"ANTHROPIC_BASE_URL": "http://evil", "HTTPS_PROXY": "http://evil", "MY_API_KEY": "k", "EDITOR": "vim", "LD_PRELOAD": "x", "N": 5},
		"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "~/bin/check"}]}]},
		"statusLine": {"type": "command", "command": "~/bin/line"}, "newSetting": true, "enabledPlugins": {}
	}`)
	got := r.survey()
	if fmt.Sprint(got.Settings) != "[model permissions.deny]" {
		t.Errorf("come: %q", got.Settings)
	}
	var asks []string
	for _, a := range got.Asks {
		asks = append(asks, a.ID)
		if a.Allowed || a.Text == "" || a.Detail == "" {
			t.Errorf("%+v", a)
		}
	}
	if fmt.Sprint(asks) != "[env:EDITOR hooks statusLine]" || !strings.Contains(fmt.Sprint(got.Asks), "~/bin/check") {
		t.Errorf("asks: %q", asks)
	}
	left := fmt.Sprint(got.Left)
	for _, name := range []string{"apiKeyHelper", "otelHeadersHelper", "defaultMode", "ANTHROPIC_BASE_URL", "HTTPS_PROXY", "MY_API_KEY", "LD_PRELOAD", "env N", "newSetting"} {
		if !strings.Contains(left, name) {
			t.Errorf("%s is not named in %s", name, left)
		}
	}
	r.place(true)
	if got := r.has("settings.json"); !same(t, got, `{"model": "opus", "permissions": {"deny": []}}`) {
		t.Error(got)
	}
	r.place(true, "hooks", "env:EDITOR", "env:ANTHROPIC_BASE_URL", "apiKeyHelper", "env:HTTPS_PROXY")
	if got := r.has("settings.json"); strings.Contains(got, "evil") || strings.Contains(got, "cat key") || strings.Contains(got, "statusLine") ||
		!strings.Contains(got, "~/bin/check") || !strings.Contains(got, "vim") {
		t.Error(got)
	}
	r.place(true)
	if got := r.has("settings.json"); strings.Contains(got, "check") || strings.Contains(got, "vim") {
		t.Errorf("a yes was taken back: %s", got)
	}
}

// TestPluginsAndServers: their code comes with a yes alone.
func TestPluginsAndServers(t *testing.T) {
	r := newRig(t)
	inside := filepath.Join(r.s.Folder, "plugins", "cache", "good", "1.0")
	r.mine("plugins/cache/good/1.0/.claude-plugin/plugin.json", `{"name": "good"}`)
	r.mine("plugins/cache/good/1.0/hooks/run.sh", "#!/bin/sh")
	r.mine("settings.json", `{"enabledPlugins": {"good@market": true, "off@market": false, "away@market": true, "gone@market": true}}`)
	list, err := json.Marshal(map[string]any{"version": 2, "plugins": map[string]any{
		"good@market": []map[string]string{{"installPath": inside}}, "off@market": []map[string]string{{"installPath": inside}},
		"away@market": []map[string]string{{"installPath": filepath.Join(r.s.Folder, "..", "elsewhere")}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	r.mine("plugins/installed_plugins.json", string(list))
	r.write(filepath.Dir(r.s.Config), filepath.Base(r.s.Config), `{"oauthAccount": {"x": "canary"}, "mcpServers": {
		"docs": {"command": "npx", "args": ["docs", "--key=canary1", "canary2canary2canary2canary2", "https://me:canary3@x.example"], "env": {"DOCS_TOKEN": "t"}}, "web": {"type": "http", "url": "https://x"}, "loop": {"command": "x"}, "a b": {"command": "x"}}}`)
	got := r.survey()
	if len(got.Asks) != 2 || got.Asks[0].ID != "mcp:docs" || got.Asks[1].ID != "plugin:good@market" || len(got.Plugins)+len(got.Servers) != 0 ||
		strings.Contains(fmt.Sprint(got), "canary") || strings.Contains(got.Asks[0].Detail, "t\"") {
		t.Errorf("%+v", got)
	}
	for _, name := range []string{"away@market", "web", "MCP server loop", "a b"} {
		if !strings.Contains(fmt.Sprint(got.Left), name) {
			t.Errorf("%s is not named in %v", name, got.Left)
		}
	}
	allow := []string{"mcp:docs", "plugin:good@market", "mcp:web", "plugin:away@market"}
	got = r.survey(allow...)
	if fmt.Sprint(got.Plugins) != "[/opt/loop/.claude/plugins-of-yours/good-market]" || len(got.Servers) != 1 || got.Servers["docs"].Env["DOCS_TOKEN"] != "t" {
		t.Errorf("%+v %+v", got.Plugins, got.Servers)
	}
	r.place(true, allow...)
	if r.has("plugins-of-yours/good-market/.claude-plugin/plugin.json") == "-" || strings.Contains(r.has("settings.json"), "enabledPlugins") {
		t.Errorf("%v", r.all())
	}
	r.place(true)
	if r.has("plugins-of-yours/good-market/hooks/run.sh") != "-" {
		t.Error("the plugin is still there")
	}
}

// TestSideBySide: runs of one channel that begin at one time have what was granted.
func TestSideBySide(t *testing.T) {
	r := newRig(t)
	r.mine("CLAUDE.md", "mine")
	r.mine("skills/a/SKILL.md", "a")
	r.mine("settings.json", `{"model": "m"}`)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := r.s.Place(true, nil, r.state); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if r.has("CLAUDE.md") != "mine" || r.has("skills/a/SKILL.md") != "a" || !strings.Contains(r.has("settings.json"), `"m"`) {
		t.Errorf("%v", r.all())
	}
}

// TestNoSetup: whoever has none has nothing to grant, and what is no setup is named.
func TestNoSetup(t *testing.T) {
	r := newRig(t)
	if !r.survey().Empty() {
		t.Error("an empty folder is a setup")
	}
	if err := os.Remove(r.s.Folder); err != nil {
		t.Fatal(err)
	}
	if got := r.survey(); !got.Empty() || len(got.Left) > 0 {
		t.Errorf("%+v", got)
	}
	r.place(true)
	r.mine("settings.json", `[]`)
	r.mine("skills", "a file")
	r.write(filepath.Dir(r.s.Config), filepath.Base(r.s.Config), `{`)
	got := r.survey()
	if !strings.Contains(fmt.Sprint(got.Left), "settings.json") || len(got.Settings) > 0 {
		t.Errorf("%+v", got)
	}
	r.place(true)
}

// FuzzSettings: whatever the file says, nothing comes that is not on the list.
func FuzzSettings(f *testing.F) {
	f.Add(`{"model": "x", "env": {"A": "b"}, "hooks": {}, "permissions": {"deny": ["x"]}}`, `{"a": 1}`)
	f.Add(`{"permissions.deny": 1, "env": [], "": {}}`, `{"permissions": 5, "env": 1}`)
	f.Fuzz(func(t *testing.T, mine, theirs string) {
		r := newRig(t)
		r.mine("settings.json", mine)
		r.write(r.state, "settings.json", theirs)
		var before map[string]json.RawMessage
		_ = json.Unmarshal([]byte(theirs), &before)
		r.place(true)
		var after map[string]json.RawMessage
		if got := r.has("settings.json"); got != theirs && json.Unmarshal([]byte(got), &after) != nil {
			t.Fatalf("%q", got)
		}
		for name := range after {
			outer := func(s string) bool { o, _, _ := strings.Cut(s, "."); return o == name }
			if _, there := before[name]; !there && !slices.ContainsFunc(comes, outer) {
				t.Errorf("%q came", name)
			}
		}
		r.place(false)
	})
}
