package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/sandbox"
)

// TestOriginsOfAllLayers goes the whole way: three settings files, trust, the
// merge, the layers and the resolver, to the origin of each field of the spec.
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
	if err := os.WriteFile(global, []byte(`{"container_memory_mb": 1500, "container_cpus": 2, "mounts": ["loop-a:/a", "loop-b:/b"], "envs": {"ONE": "g", "TWO": "g"}, "proxies": {"no_proxy": ["g.test"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	trust := config.OpenTrust(filepath.Join(home, "trust.json"))
	for dir, text := range map[string]string{
		project: `{"container_memory_mb": 1000, "mounts": ["loop-p:/b"], "envs": {"TWO": "p"}, "container_pids": 500, "proxies": {"http_proxy": "http://p.test:1"}}`,
		tree:    `{"container_memory_mb": 800, "envs": {"THREE": "w"}, "mounts": ["loop-w:/w"], "copy_files": ["~/.npmrc"]}`,
	} {
		path := write(dir, text)
		e := config.ForDir(config.NewSource(global).Current(), trust, dir, "")
		if len(e.Pending) != 1 {
			t.Fatalf("%s: %+v", dir, e.Pending)
		}
		if err := trust.Approve(dir, path, e.Pending[0].SHA256); err != nil {
			t.Fatal(err)
		}
	}
	e := config.ForDir(config.NewSource(global).Current(), trust, tree, project)
	if e.Err != nil || len(e.Pending) != 0 {
		t.Fatalf("%v %+v", e.Err, e.Pending)
	}
	layers := layersOf(e)
	by := map[sandbox.LayerName]sandbox.Layer{}
	for _, l := range layers {
		by[l.Name] = l
	}
	g, p, w := by[sandbox.LayerGlobal], by[sandbox.LayerProject], by[sandbox.LayerWorktree]
	switch {
	case *w.MemoryMB != 800 || p.MemoryMB != nil || g.MemoryMB != nil:
		t.Error("memory is not the worktree's alone")
	case *g.CPUs != 2 || *p.Pids != 500 || g.Network != nil || g.Image != nil:
		t.Error("a scalar is in the wrong layer, or a default is said to be somebody's")
	case !slices.Equal(g.Mounts, []string{"loop-a:/a"}) || !slices.Equal(p.Mounts, []string{"loop-p:/b"}) || !slices.Equal(w.Mounts, []string{"loop-w:/w"}):
		t.Errorf("mounts %v %v %v", g.Mounts, p.Mounts, w.Mounts)
	case g.Envs["ONE"] != "g" || len(g.Envs) != 1 || p.Envs["TWO"] != "p" || w.Envs["THREE"] != "w":
		t.Errorf("envs %v %v %v", g.Envs, p.Envs, w.Envs)
	case !slices.Equal(g.Proxies.NoProxy, []string{"g.test"}) || p.Proxies.HTTP != "http://p.test:1" || w.Proxies != nil:
		t.Errorf("proxies %+v %+v %+v", g.Proxies, p.Proxies, w.Proxies)
	case !slices.Equal(w.CopyFiles, []string{"~/.npmrc"}):
		t.Errorf("copies %v", w.CopyFiles)
	}
	r := newSpecRig(t)
	r.settings.effective = func(core.Channel) config.Effective { return e }
	_, why, _, err := r.resolve(t.Context(), core.Run{ID: "r", Demo: true}, r.channel)
	if err != nil {
		t.Fatal(err)
	}
	for field, layer := range map[string]sandbox.LayerName{
		"limits.memory_bytes": sandbox.LayerWorktree, "limits.cpus": sandbox.LayerGlobal, "limits.pids": sandbox.LayerProject,
		"network": sandbox.LayerBuiltin, "env[ONE]": sandbox.LayerGlobal, "env[TWO]": sandbox.LayerProject, "env[THREE]": sandbox.LayerWorktree,
	} {
		i := slices.IndexFunc(why.Origins, func(o core.FieldOrigin) bool { return o.Field == field })
		if i < 0 || why.Origins[i].Layer != string(layer) {
			t.Errorf("%s: %+v, want %s", field, why.Origins, layer)
		}
	}
}
