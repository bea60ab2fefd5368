package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

// TestMergeAllLayers sets every field in every layer that may set it, approved, and
// checks the value and origin of each.
func TestMergeAllLayers(t *testing.T) {
	g := global(t, `{
  "claude_model": "a", "claude_effort": "low", "container_memory_mb": 8192,
  "mounts": ["vol:/v", "./g:/g", "~/x:/x:ro"],
  "extra_dirs": ["/g"], "copy_files": ["~/.g"],
  "envs": {"A": "g", "B": "g", "C": "g"},
  "proxies": {"http_proxy": "http://g:1", "no_proxy": ["g"]},
  "mcp": {"servers": {"one": {"command": "g"}, "two": {"command": "g"}}},
  "anthropic_api_key": "sk-g", "theme": "dark"
}`)
	parent := project(t, t.TempDir(), `{
  "claude_model": "b",
  "mounts": ["./data:/v", "sub/y:/y", "other-vol:/o"],
  "extra_dirs": ["./lib", "/abs"], "copy_files": ["conf/a"],
  "envs": {"B": "p", "C": null, "D": 1},
  "proxies": {"https_proxy": "http://p:1", "no_proxy": ["p", "g"]},
  "mcp": {"servers": {"two": {"command": "p", "args": ["-x"], "env": {"T": true}}}},
  "claude_code_oauth_token": "tok-p", "claude_retry": {"max_attempts": 9}
}`)
	tree := project(t, filepath.Join(parent, ".worktrees", "w"), `{
  "claude_effort": "max",
  "mounts": ["~/z:/x"], "extra_dirs": ["./lib"], "copy_files": ["~/w"],
  "envs": {"D": "w"}, "proxies": {"no_proxy": ["w"]},
  "mcp": {"servers": {"three": {"command": "w"}}}
}`)
	trust := openTrust(t)
	e := ForDir(g, trust, tree, parent)
	if e.Err != nil || len(e.Pending) != 2 || len(e.Layers) != 3 {
		t.Fatalf("%+v", e)
	}
	approve(t, trust, tree, e)
	e = ForDir(g, trust, tree, parent)
	if len(e.Pending) != 0 || e.Err != nil {
		t.Fatalf("%+v", e.Pending)
	}
	c := e.Config
	for what, pair := range map[string][2]any{
		"model":    {c.ClaudeModel, "b"},
		"effort":   {c.ClaudeEffort, "max"},
		"memory":   {c.ContainerMemoryMB, 8192},
		"mounts":   {c.Mounts, []string{"./g:/g", filepath.Join(parent, "data") + ":/v", filepath.Join(parent, "sub/y") + ":/y", "other-vol:/o", "~/z:/x"}},
		"dirs":     {c.ExtraDirs, []string{filepath.Join(parent, "lib"), "/abs", filepath.Join(tree, "lib")}},
		"copies":   {c.CopyFiles, []string{"~/w"}},
		"envs":     {c.Envs, "map[A:g B:p C:<nil> D:w]"},
		"no_proxy": {c.Proxies.NoProxy, []string{"g", "p", "w"}},
		"http":     {c.Proxies.HTTPProxy, "http://g:1"},
		"https":    {c.Proxies.HTTPSProxy, "http://p:1"},
		"servers":  {c.MCP.Servers, "map[one:{g [] map[]} three:{w [] map[]} two:{p [-x] map[T:true]}]"},
		"retry":    {c.ClaudeRetry.MaxAttempts, 9},
		"key":      {c.AnthropicAPIKey.Reveal(), ""},
		"token":    {c.ClaudeCodeOAuthToken.Reveal(), "tok-p"},
		"theme":    {c.Theme, "dark"},
	} {
		if fmt.Sprint(pair[0]) != fmt.Sprint(pair[1]) {
			t.Errorf("%s: %v, want %v", what, pair[0], pair[1])
		}
	}
	lines := map[string]string{}
	for name, o := range e.Origins {
		lines[name] = fmt.Sprintf("%s %d", o.Layer, o.Line)
		if wantPath := map[string]string{core.LayerBuiltin: "", core.LayerGlobal: g.Path, core.LayerProject: ProjectPath(parent), core.LayerWorktree: ProjectPath(tree)}[o.Layer]; o.Path != wantPath {
			t.Errorf("%s: %+v", name, o)
		}
	}
	want := map[string]string{
		"claude_model": "project 2", "claude_effort": "worktree 2", "container_memory_mb": "global 2", "theme": "global 8", "log_level": "built-in 0",
		"mounts": "worktree 3", "mounts[/g]": "global 3", "mounts[/v]": "project 3", "mounts[/y]": "project 3", "mounts[/o]": "project 3", "mounts[/x]": "worktree 3",
		"extra_dirs": "worktree 3", "extra_dirs[/abs]": "project 4", "extra_dirs[" + filepath.Join(parent, "lib") + "]": "project 4", "extra_dirs[" + filepath.Join(tree, "lib") + "]": "worktree 3",
		"copy_files": "worktree 3", "copy_files[~/w]": "worktree 3",
		"envs": "worktree 4", "envs.A": "global 5", "envs.B": "project 5", "envs.C": "project 5", "envs.D": "worktree 4",
		"proxies.http_proxy": "global 6", "proxies.https_proxy": "project 6", "proxies.no_proxy": "worktree 4",
		"proxies.no_proxy[g]": "global 6", "proxies.no_proxy[p]": "project 6", "proxies.no_proxy[w]": "worktree 4",
		"mcp.servers": "worktree 5", "mcp.servers.one": "global 7", "mcp.servers.two": "project 7", "mcp.servers.three": "worktree 5",
		"claude_retry.max_attempts": "project 8", "claude_retry.backoff_max_sec": "built-in 0",
		"anthropic_api_key": "built-in 0", "claude_code_oauth_token": "project 8",
	}
	for name, w := range want {
		if lines[name] != w {
			t.Errorf("%s comes from %q, want %q", name, lines[name], w)
		}
	}
	for _, f := range leaves() {
		if _, ok := lines[f.Name]; !ok {
			t.Errorf("%s has no origin", f.Name)
		}
	}
	if stale := slices.DeleteFunc(slices.Collect(maps.Keys(lines)), func(n string) bool { return n != "extra_dirs[/g]" && n != "copy_files[~/.g]" }); len(stale) > 0 {
		t.Errorf("origins of what is gone: %q", stale)
	}
	if l := e.Layers[2]; l.Name != core.LayerWorktree || !l.Has("mounts") || l.Has("claude_model") || len(l.Config.Mounts) != 1 {
		t.Errorf("%+v", l)
	}
	if !e.Layers[0].Has("claude_model") {
		t.Error("the global layer lacks a field")
	}
}

func TestInheritMountsFalse(t *testing.T) {
	g := global(t, `{"mounts": ["a-b:/a"]}`)
	dir := project(t, t.TempDir(), `{"mounts": ["c-d:/c"], "inherit_mounts": false}`)
	trust := openTrust(t)
	e := ForDir(g, trust, dir, "")
	if !slices.Equal(e.Pending[0].Fields, []string{"inherit_mounts", "mounts"}) {
		t.Fatalf("%+v", e.Pending)
	}
	approve(t, trust, dir, e)
	e = ForDir(g, trust, dir, "")
	if _, stale := e.Origins["mounts[/a]"]; !slices.Equal(e.Config.Mounts, []string{"c-d:/c"}) || stale || e.Origins["mounts[/c]"].Layer != core.LayerProject {
		t.Errorf("%+v", e)
	}
}

func TestNothingNewNeedsNoApproval(t *testing.T) {
	g := global(t, `{"mounts": ["a-b:/a"], "container_image": "img", "envs": {"A": "1"}, "anthropic_api_key": "sk-1", "claude_code_oauth_token": "t"}`)
	dir := project(t, t.TempDir(), `{"mounts": ["a-b:/a"], "inherit_mounts": true, "container_image": "img", "envs": {"A": "1"}, "container_network": "bridge", "copy_files": []}`)
	if e := ForDir(g, new(Trust), dir, ""); len(e.Pending) != 0 {
		t.Errorf("%+v", e.Pending)
	}
	// The key is unchanged, but the project's key would replace the token that wins
	// over it.
	dir = project(t, t.TempDir(), `{"anthropic_api_key": "sk-1"}`)
	if e := ForDir(g, new(Trust), dir, ""); len(e.Pending) != 1 || e.Config.ClaudeCodeOAuthToken != "t" {
		t.Errorf("%+v", e)
	}
}

func TestGlobalFileIsNoProjectFile(t *testing.T) {
	home := t.TempDir()
	dir := project(t, home, `{"theme": "dark", "mounts": ["a-b:/a"]}`)
	g := NewSource(ProjectPath(dir)).Current()
	if e := ForDir(g, new(Trust), dir, ""); len(e.Problems) != 0 || len(e.Layers) != 1 || len(e.Config.Mounts) != 1 {
		t.Errorf("%+v", e)
	}
}

func TestGlobalInheritMountsIsNamed(t *testing.T) {
	_, problems, err := Parse("c", []byte(`{"inherit_mounts": false}`))
	if err != nil || len(problems) != 1 || !problems[0].Warning || !strings.Contains(problems[0].Message, "does nothing here") {
		t.Errorf("%v %v", problems, err)
	}
}

func TestServers(t *testing.T) {
	c, problems, err := Parse("c", []byte(`{"mcp": {"servers": {"a": null, "b": {"command": "x", "type": "stdio", "env": {"N": 1}}, "loop": {"command": "mine"}}}}`))
	if err != nil || len(problems) != 0 || fmt.Sprint(c.MCP.Servers) != "map[b:{x [] map[N:1]} loop:{mine [] map[]}]" {
		t.Errorf("%v %v %v", c.MCP, problems, err)
	}
	for text, part := range map[string]string{
		`{"a b": {"command": "x"}}`:                   "letters, digits",
		`[]`:                                          "an object",
		`{"a": 1}`:                                    "for “a” a value",
		`{"a": {}}`:                                   "no command",
		`{"a": {"command": ""}}`:                      "no command",
		`{"a": {"command": "x\u0000"}}`:               "NUL",
		`{"a": {"command": "x", "args": "y"}}`:        "“args”",
		`{"a": {"command": "x", "args": [{}]}}`:       "“args/0”",
		`{"a": {"command": "x", "env": []}}`:          "“env”",
		`{"a": {"command": "x", "env": {"A": null}}}`: "names and texts",
		`{"a": {"command": "x", "env": {"A=": "1"}}}`: "names and texts",
		`{"a": {"command": "x", "type": "http"}}`:     "stdio",
		`{"a": {"type": "http", "url": "https://x"}}`: "“url”",
		`{"a": {"command": "x", "cwd": "/"}}`:         "“cwd”",
		`{"a": {"command": "x", "command": "y"}}`:     "twice",
		`{"a": {"command": "x"}, "a": null}`:          "twice",
	} {
		_, problems, err := Parse("c", []byte("{\"mcp\":\n {\"servers\": "+text+"}}"))
		if err == nil || len(problems) != 1 || !strings.Contains(problems[0].Message, part) || problems[0].Line != 2 || problems[0].Remedy == "" ||
			!strings.HasPrefix(problems[0].Field, "mcp.servers") {
			t.Errorf("%s: %+v", text, problems)
		}
	}
}

func TestMountTarget(t *testing.T) {
	for text, want := range map[string]string{"a:/b": "/b", "a:/b/": "/b", "a:/b/../c:ro": "/c", "/x:~/y:ro": homeDir(t) + "/y", "nothing": "nothing"} {
		if got := MountTarget(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"vol:/v": "vol:/v", "./x:/v": "/p/x:/v", ".:/v:ro": "/p:/v:ro", "../x:/v": "/x:/v", "a/b:/v": "/p/a/b:/v", "/a:/v": "/a:/v", "~/a:/v": "~/a:/v", "nothing": "nothing", ":/v": ":/v",
	} {
		if got := resolveMount(text, "/p"); filepath.ToSlash(got) != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func homeDir(t *testing.T) string {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	return home
}

// TestNeverIsLoosest: where 0 is no limit, it is looser than every number.
func TestNeverIsLoosest(t *testing.T) {
	for _, f := range Leaves() {
		if f.never == (f.Name != "container_idle_hours" && f.Name != "container_max_age_days") {
			t.Errorf("%s: 0 is no limit: %v", f.Name, f.never)
		}
		if !f.never {
			continue
		}
		for _, c := range []struct {
			old, now int
			want     bool
		}{{0, 0, true}, {0, 5, true}, {5, 0, false}, {5, 5, true}, {5, 4, true}, {5, 6, false}} {
			if got := tightens(f, reflect.ValueOf(c.old), reflect.ValueOf(c.now)); got != c.want {
				t.Errorf("%s: from %d to %d is as strict: %v", f.Name, c.old, c.now, got)
			}
		}
	}
}
