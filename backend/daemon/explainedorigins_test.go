package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loop/backend/config"
	"loop/backend/core"
)

// TestOriginsOfAllLayers goes from three settings files through trust, merge and
// resolver to the origin of each field of the spec, with its file and line.
func TestOriginsOfAllLayers(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	tree := filepath.Join(project, ".worktrees", "fix")
	write := func(dir, text string) string {
		path := filepath.Join(dir, ".loop", "config.json")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	global := filepath.Join(home, config.FileName)
	if err := os.WriteFile(global, []byte(`{"container_memory_mb": 1500,
"container_cpus": 2,
"mounts": ["loop-a:/a",
	"loop-b:/b"],
"envs": {"ONE": "g", "TWO": "g"},
"proxies": {"no_proxy": ["g.test"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	trust := config.OpenTrust(filepath.Join(home, "trust.json"))
	for dir, text := range map[string]string{
		project: `{"container_memory_mb": 1000,
"mounts": ["loop-p:/b"], "envs": {"TWO": "p"},
"container_pids": 500, "proxies": {"http_proxy": "http://p.test:1"}}`,
		tree: `{"container_memory_mb": 800,
"envs": {"THREE": "w"},
"mounts": ["loop-w:/w"], "copy_files": ["~/.npmrc"]}`,
	} {
		write(dir, text)
		e := config.ForDir(config.NewSource(global).Current(), trust, dir, "")
		if len(e.Pending) != 1 {
			t.Fatalf("%s: %+v", dir, e.Pending)
		}
		if err := trust.Approve(config.ProjectFile(dir), e.Pending[0].SHA256); err != nil {
			t.Fatal(err)
		}
	}
	e := config.ForDir(config.NewSource(global).Current(), trust, tree, project)
	if e.Err != nil || len(e.Pending) != 0 {
		t.Fatalf("%v %+v", e.Err, e.Pending)
	}
	r := newSpecRig(t)
	r.ruled.effective = func(core.Channel) config.Effective { return e }
	_, why, _, err := r.resolve(t.Context(), core.Run{ID: "r", Demo: true}, r.channel)
	if err != nil {
		t.Fatal(err)
	}
	projects, trees := config.ProjectPath(project), config.ProjectPath(tree)
	for _, want := range []core.FieldOrigin{
		{Field: "limits.memory_bytes", Layer: "worktree", Path: trees, Line: 1},
		{Field: "limits.cpus", Layer: "global", Path: global, Line: 2},
		{Field: "limits.pids", Layer: "project", Path: projects, Line: 3},
		{Field: "network", Layer: "built-in"},
		{Field: "mounts[/a]", Layer: "global", Path: global, Line: 3},
		{Field: "mounts[/b]", Layer: "project", Path: projects, Line: 2},
		{Field: "mounts[/w]", Layer: "worktree", Path: trees, Line: 3},
		{Field: "env[ONE]", Layer: "global", Path: global, Line: 5},
		{Field: "env[TWO]", Layer: "project", Path: projects, Line: 2},
		{Field: "env[THREE]", Layer: "worktree", Path: trees, Line: 2},
		{Field: "env[no_proxy]", Layer: "global", Path: global, Line: 6},
	} {
		i := slices.IndexFunc(why.Origins, func(o core.FieldOrigin) bool { return o.Field == want.Field })
		if i < 0 {
			t.Errorf("%s is not explained", want.Field)
			continue
		}
		if got := why.Origins[i]; got.Layer != want.Layer || got.Path != want.Path || got.Line != want.Line {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	for field, want := range map[string]core.OverriddenSetting{
		"limits.memory_bytes": {Setting: "container_memory_mb", Value: "1000", Layer: "project", Path: projects, Line: 1},
		"limits.cpus":         {Setting: "container_cpus", Value: fmt.Sprint(config.Defaults().ContainerCPUs), Layer: "built-in"},
		"mounts[/b]":          {Setting: "mounts[/b]", Value: "loop-b:/b", Layer: "global", Path: global, Line: 4},
		"env[TWO]":            {Setting: "envs.TWO", Value: "g", Layer: "global", Path: global, Line: 5},
		"limits.pids":         {Setting: "container_pids", Value: fmt.Sprint(config.Defaults().ContainerPids), Layer: "built-in"},
	} {
		i := slices.IndexFunc(why.Origins, func(o core.FieldOrigin) bool { return o.Field == field })
		if i < 0 || why.Origins[i].Overrode == nil || *why.Origins[i].Overrode != want {
			t.Errorf("%s: %+v", field, why.Origins[i])
		}
	}
	for _, o := range why.Origins {
		if o.Overrode != nil && (o.Layer == "built-in" || strings.HasPrefix(o.Overrode.Setting, "proxies.")) {
			t.Errorf("%+v overrode %+v", o, o.Overrode)
		}
	}
}
