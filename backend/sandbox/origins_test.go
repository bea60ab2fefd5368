package sandbox

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

// allLayers are the layers that people write, lowest first.
var allLayers = []string{core.LayerGlobal, core.LayerProject, core.LayerWorktree, layerProfile, layerAgent, core.LayerChannel, core.LayerRun}

// layerFields has one entry per field of Layer: how a layer sets it, and which fields
// of the explanation then name that layer.
var layerFields = map[string]struct {
	write   func(l *Layer, n int) // n differs between layers
	origins []string
}{
	"Scope":     {func(l *Layer, _ int) { l.Scope = new(ScopeRun) }, []string{"scope", "preset"}},
	"Gate":      {func(l *Layer, _ int) { l.Gate = new(true) }, []string{"env[LOOP_GATE_ENABLED]"}},
	"Access":    {func(l *Layer, _ int) { l.Access = new(AccessRO) }, []string{"access", "mounts[/home/mira/code/my-proj]"}},
	"Image":     {func(l *Layer, _ int) { l.Image = new("loop-agent:latest") }, []string{"image"}},
	"MemoryMB":  {func(l *Layer, n int) { l.MemoryMB = new(1024 + n) }, []string{"limits.memory_bytes"}},
	"CPUs":      {func(l *Layer, n int) { l.CPUs = new(0.5 + float64(n)/10) }, []string{"limits.cpus"}},
	"Pids":      {func(l *Layer, n int) { l.Pids = new(int64(100 + n)) }, []string{"limits.pids"}},
	"Network":   {func(l *Layer, n int) { l.Network = new(fmt.Sprint("net", n)) }, []string{"network"}},
	"Mounts":    {func(l *Layer, n int) { l.Mounts = []string{fmt.Sprintf("loop-v%d:/vol", n)} }, []string{"mounts[/vol]"}},
	"ExtraDirs": {func(l *Layer, _ int) { l.ExtraDirs = []string{"~/other"} }, []string{"add_dirs", "mounts[/home/mira/other]"}},
	"CopyFiles": {func(l *Layer, _ int) { l.CopyFiles = []string{"~/.vimrc"} }, []string{"copies[/home/mira/.vimrc]"}},
	"Proxies": {func(l *Layer, n int) {
		l.Proxies = &Proxies{HTTP: fmt.Sprintf("http://p%d:1", n), HTTPS: fmt.Sprintf("http://u:secret@p%d:1", n), NoProxy: []string{fmt.Sprint("n", n)}}
	}, []string{"env[HTTP_PROXY]", "env[http_proxy]", "spawn_env[HTTPS_PROXY]", "spawn_env[https_proxy]", "env[NO_PROXY]", "env[no_proxy]"}},
	"Inherit": {func(l *Layer, n int) { l.Inherit = []string{fmt.Sprint("INHERITED_", n)} }, nil}, // a list that only grows; checked below
	"Envs":    {func(l *Layer, n int) { l.Envs = map[string]any{"MINE": n, "MY_TOKEN": "secret"} }, []string{"env[MINE]", "spawn_env[MY_TOKEN]"}},
}

// TestOriginOfEveryField puts one layer after another on top of the built-in settings.
// Every setting of the top layer has that layer as its origin.
func TestOriginOfEveryField(t *testing.T) {
	typ := reflect.TypeFor[Layer]()
	for i := range typ.NumField() {
		if name := typ.Field(i).Name; name != "Name" && name != "Path" && layerFields[name].write == nil {
			t.Errorf("nobody checks where %s is from", name)
		}
	}
	fs, h := projectTree(), linuxHost()
	fs["/home/mira/.vimrc"] = "file"
	h.Env = map[string]string{"HTTP_PROXY": "http://host:1", "https_proxy": "http://host:1"}
	for n := range allLayers {
		h.Env[fmt.Sprint("INHERITED_", n)] = "x"
	}
	origins := func(layers []Layer) (map[string]core.FieldOrigin, core.Explanation) {
		_, ex := mustResolve(t, fs, layers, subject("/home/mira/code/my-proj"), h)
		out := map[string]core.FieldOrigin{}
		for _, o := range ex.Origins {
			if _, twice := out[o.Field]; twice {
				t.Errorf("%s is explained twice", o.Field)
			}
			out[o.Field] = o
		}
		return out, ex
	}
	for top := range allLayers {
		var layers []Layer
		for n, name := range allLayers[:top+1] {
			l := Layer{Name: name}
			for _, f := range layerFields {
				f.write(&l, n)
			}
			layers = append(layers, l)
		}
		got, ex := origins(layers)
		for name, f := range layerFields {
			for _, field := range f.origins {
				if o, ok := got[field]; !ok || o.Layer != allLayers[top] {
					t.Errorf("up to %s: %s (%s) is said to be from %q", allLayers[top], name, field, o.Layer)
				}
				if strings.Contains(got[field].Value, "secret") {
					t.Errorf("%s shows a credential", field)
				}
			}
		}
		for n, name := range allLayers[:top+1] {
			if o := got[fmt.Sprintf("env[INHERITED_%d]", n)]; o.Layer != name {
				t.Errorf("the variable that %s names is said to be from %q", name, o.Layer)
			}
		}
		// A layer without settings leaves all origins as they are.
		if silent, _ := origins(append(layers, Layer{Name: core.LayerRun})); !reflect.DeepEqual(silent, got) {
			t.Errorf("a silent layer on top of %s changed where something is from", allLayers[top])
		}
		if len(ex.AddDirs) != 1 {
			t.Errorf("%v", ex.AddDirs)
		}
	}
	got, _ := origins(nil)
	for field, layer := range map[string]string{
		"preset": core.LayerBuiltin, "layout": core.LayerBuiltin, "access": core.LayerBuiltin, "image": core.LayerBuiltin, "limits.memory_bytes": core.LayerBuiltin, "limits.cpus": core.LayerBuiltin,
		"limits.pids": core.LayerBuiltin, "network": core.LayerBuiltin, "read_only_root": core.LayerBuiltin, "stop_grace_sec": core.LayerBuiltin,
		"env[HTTP_PROXY]": originHost, "env[https_proxy]": originHost, "env[NO_PROXY]": originHost, "env[TZ]": originHost, "add_dirs": "",
	} {
		if got[field].Layer != layer {
			t.Errorf("with nothing set, %s is said to be from %q, want %q", field, got[field].Layer, layer)
		}
	}
}

// TestProtectedWhereverTheProjectLies: Loop's settings and git's hooks are read-only in
// the work directory, in the main worktree of a worktree and in extra directories.
// This holds even when none of these is a mount of its own.
func TestProtectedWhereverTheProjectLies(t *testing.T) {
	for name, c := range map[string]struct {
		dir, parent string
		extra       []string
		want        []string
	}{
		"worktree inside its main worktree": {"/home/mira/p/.worktrees/w", "/home/mira/p", nil, []string{"/home/mira/p", "/home/mira/p/.worktrees/w"}},
		"worktree outside":                  {"/home/mira/w", "/home/mira/p", nil, []string{"/home/mira/p", "/home/mira/w"}},
		"worktree around its main worktree": {"/home/mira/w", "/home/mira/w/p", nil, []string{"/home/mira/w", "/home/mira/w/p"}},
		"extra directory inside":            {"/home/mira/w", "", []string{"~/w/x", "~/e"}, []string{"/home/mira/w", "/home/mira/w/x", "/home/mira/e"}},
	} {
		fs := tree{"/home/mira/.loop": "dir"}
		for _, d := range c.want {
			fs[d+"/.loop"], fs[d+"/.git/hooks"] = "dir", "dir"
		}
		sub := subject(c.dir)
		sub.ParentDir = c.parent
		spec, _ := mustResolve(t, fs, []Layer{{Name: core.LayerChannel, ExtraDirs: c.extra}}, sub, linuxHost())
		for _, d := range c.want {
			for _, p := range protectedInside {
				if i := slices.IndexFunc(spec.Mounts, func(m core.Mount) bool { return m.Target == d+"/"+p }); i < 0 || !spec.Mounts[i].ReadOnly {
					t.Errorf("%s: %s/%s is not read-only", name, d, p)
				}
			}
		}
	}
}

// TestTooManyCopies: the list is bounded, and one notice says so.
func TestTooManyCopies(t *testing.T) {
	fs := projectTree()
	var list []string
	for n := range 3*maxCopies + 1 {
		list = append(list, fmt.Sprintf("~/.f%03d", n))
		fs[fmt.Sprintf("/home/mira/.f%03d", n)] = "file"
	}
	sub, h := subject("/home/mira/code/my-proj"), fs.fill(nil, Subject{}, linuxHost())
	look := h.Look
	h.Look = func(p string) PathFact {
		if strings.HasSuffix(p, fmt.Sprintf(".f%03d", maxCopies)) {
			t.Error("a file that is not copied is looked at")
		}
		return look(p)
	}
	spec, ex, err := resolveLayers([]Layer{{Name: core.LayerGlobal, CopyFiles: list}}, sub, h)
	if err != nil {
		t.Fatal(err)
	}
	if len(spec.Copies) != maxCopies || len(ex.Skipped) != 1 || ex.Skipped[0].Text != list[maxCopies] || !strings.Contains(ex.Skipped[0].Reason, "100 more") {
		t.Errorf("%d copies, skipped %+v", len(spec.Copies), ex.Skipped)
	}
}
