package sandbox

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

var update = flag.Bool("update", false, "rewrite testdata/*.json")

type goldenCase struct {
	name   string
	fs     tree
	layers []Layer
	sub    Subject
	host   Host
}

func goldenCases() []goldenCase {
	root := linuxHost()
	root.User, root.UID, root.GID, root.Home, root.LoopHome = "root", 0, 0, "/root", "/root/.loop"

	mac := linuxHost()
	mac.OS, mac.UID, mac.GID = "darwin", 501, 20
	mac.Home, mac.LoopHome, mac.EngineArch = "/Users/mira", "/Users/mira/.loop", "arm64"

	win := linuxHost()
	win.OS, win.User, win.UID, win.GID = "windows", `OFFICE\Mira Pop`, -1, -1
	win.Home, win.LoopHome = `C:\Users\Mira`, `C:\Users\Mira\.loop`
	win.TimeZone = ""

	excludes := linuxHost()
	excludes.GitExcludes = "/home/mira/.gitignore_all"

	proxied := linuxHost()
	proxied.Env = map[string]string{"HTTP_PROXY": "http://127.0.0.1:3128", "https_proxy": ":3129", "NO_PROXY": "intra.example", "http_proxy": "http://u:p@10.0.0.1:3128"}

	worktree := subject("/home/mira/proj/.worktrees/wt1")
	worktree.ParentDir = "/home/mira/proj"
	outside := subject("/home/mira/wt/wt1")
	outside.ParentDir = "/home/mira/proj"

	every := linuxHost()
	every.GitExcludes = "/home/mira/.gitignore_all"
	every.Env = map[string]string{"https_proxy": "http://proxy.test:8080", "no_proxy": "host.test", "GOPROXY": "https://goproxy.test", "NPM_CONFIG_REGISTRY": "https://npm.test", "NPM_CONFIG_TOKEN": "npm_secret"}
	copied := projectTree()
	copied["/home/mira/.npmrc"], copied["/home/mira/.vimrc"], copied["/home/mira/.claude/CLAUDE.md"] = "file", "file", "file"
	copied["/home/mira/dots/tmux.conf"], copied["/home/mira/.tmux.conf"] = "file", "-> /home/mira/dots/tmux.conf"
	copied["/home/mira/code/my-proj/.worktrees/wt1/.loop"] = "dir"
	both := subject("/home/mira/code/my-proj/.worktrees/wt1")
	both.ParentDir = "/home/mira/code/my-proj"

	planned := both
	planned.Plan = true
	planning := tree{"/home/mira/code/my-proj/.loop": "dir", "/home/mira/code/my-proj/target": "dir", "/home/mira/x": "dir"}
	maps.Copy(planning, copied)

	warm := subject("/home/mira/code/my-proj")
	warm.Shared = true

	demo := subject("")
	demo.ModelOnRelay = true
	demo.RunID = ""

	return []goldenCase{
		{"project", tree{"/home/mira/code/my-proj/.loop": "dir", "/home/mira/code/my-proj/.git/hooks": "dir", "/home/mira/.loop": "dir"},
			nil, subject("/home/mira/code/my-proj"), linuxHost()},
		{"shared", tree{"/home/mira/code/my-proj/.loop": "dir", "/home/mira/code/my-proj/.git/hooks": "dir", "/home/mira/.loop": "dir"},
			nil, warm, linuxHost()},
		{"root-host", tree{"/root/x/My Proj é!": "dir", "/root/.loop": "dir"}, nil, subject("/root/x/My Proj é!"), root},
		{"mac-symlink", tree{"/Users/mira/.loop": "dir", "/private/tmp/p": "dir", "/tmp": "-> /private/tmp"}, nil, subject("/tmp/p"), mac},
		{"windows", tree{`C:\Users\Mira\src\App`: "dir", `C:\Users\Mira\.loop`: "dir", `D:\data`: "dir"},
			[]Layer{{Name: core.LayerGlobal, Mounts: []string{`D:\data:/data:ro`, `D:\data:D:\data`, `loop-npm:~/.npm`}}}, subject(`C:\Users\Mira\src\App`), win},
		{"default-dir-no-network", tree{"/home/mira/.loop/channels/" + channelID + "/work": "dir"},
			[]Layer{{Name: core.LayerGlobal, Network: new("none")}}, demo, linuxHost()},
		{"worktree-inside", tree{"/home/mira/proj/.worktrees/wt1/.loop": "dir", "/home/mira/proj/.git/hooks": "dir", "/home/mira/.loop": "dir"},
			nil, worktree, linuxHost()},
		{"worktree-outside", tree{"/home/mira/wt/wt1": "dir", "/home/mira/proj/sub": "dir", "/home/mira/.loop": "dir", "/srv/data/.git/hooks": "dir"},
			[]Layer{{Name: core.LayerChannel, ExtraDirs: []string{"/home/mira/proj/sub", "/srv/data", "~/gone", "/srv/data"}}}, outside, linuxHost()},
		{"mounts", projectTree(), []Layer{{Name: core.LayerGlobal, Mounts: []string{
			"loop-npmcache:~/.npm", "loop-gocache:/go", "~/.ssh:~/.ssh", "~/.gitconfig:~/.gitconfig:ro", "~/nothing:/nothing",
			"/var/run/docker.sock:/var/run/docker.sock", "~/.loop:/l:ro", "~:/h:ro", "/etc:/host-etc", "./sub:/x", "loop-guest-1:/guest", "x-vol:/opt/loop",
		}}}, subject("/home/mira/code/my-proj"), excludes},
		{"layers", projectTree(), []Layer{
			{Name: core.LayerGlobal, MemoryMB: new(4096), Mounts: []string{"loop-a:/a", "loop-b:/b"}, Envs: map[string]any{"A": "~/a", "N": float64(1000000), "B": true, "GONE": "x", "API_URL": "http://evil", "GITHUB_TOKEN": "ghp_secret", "ANTHROPIC_API_KEY": "sk-secret"}},
			{Name: layerProfile, CPUs: new(8.0)},
			{Name: core.LayerChannel, Mounts: []string{"loop-c:/b:ro"}, Envs: map[string]any{"GONE": nil, "A": "~other"}, ExtraDirs: []string{"~/other"}},
			{Name: core.LayerRun, Access: new(AccessRO)},
		}, subject("/home/mira/code/my-proj"), linuxHost()},
		{"copies", copied, []Layer{
			{Name: core.LayerGlobal, CopyFiles: []string{"~/gone"}, Mounts: []string{"loop-npm:~/.npm", "~/.gitconfig:~/.gitconfig:ro"}},
			{Name: core.LayerProject, CopyFiles: []string{
				"~/.vimrc", "~/.npmrc", "~/.claude/CLAUDE.md", "~/.tmux.conf", "~/.vimrc", "~/gone", "~/other", "~/.gitconfig", "~/.npm/x", "~/code", "/etc/hosts",
				"/home/mira/code/my-proj/x", "~/.claude/projects/p/s.jsonl", "~/.loop/config.json", "relative", "",
			}},
		}, subject("/home/mira/code/my-proj"), linuxHost()},
		{"every-layer", copied, []Layer{
			{Name: core.LayerGlobal, Path: "/home/mira/.loop/config.json", Image: new("loop-agent:latest"), MemoryMB: new(4096), CPUs: new(2.0), Mounts: []string{"loop-a:/a", "loop-b:/b"}, CopyFiles: []string{"~/.npmrc"},
				Envs: map[string]any{"A": "g", "B": "g", "C": "g"}, Proxies: &Proxies{HTTP: "http://127.0.0.1:3128", NoProxy: []string{"g.test"}}, Inherit: []string{"GOPROXY"}},
			{Name: core.LayerProject, Path: "/home/mira/code/my-proj/.loop/config.json", MemoryMB: new(2048), Pids: new(int64(500)), Mounts: []string{"loop-p:/b", "~/.gitconfig:~/.gitconfig:ro"}, Envs: map[string]any{"B": "p"},
				Proxies: &Proxies{HTTPS: "http://u:secret@p.test:3128"}, CopyFiles: []string{"~/.vimrc"}},
			{Name: core.LayerWorktree, MemoryMB: new(1024), Envs: map[string]any{"C": "w", "DEPLOY_TOKEN": "secret"}, ExtraDirs: []string{"~/other"}, Proxies: &Proxies{NoProxy: []string{"w.test"}}, Inherit: []string{"NPM_CONFIG_*"}},
			{Name: core.LayerChannel, Network: new("mine")},
			{Name: core.LayerRun, Access: new(AccessRW), CPUs: new(1.5)},
		}, both, every},
		{"plan", planning, []Layer{
			{Name: core.LayerGlobal, Mounts: []string{"loop-a:/a", "loop-b:/b:ro", "~/x:/x", "~/.gitconfig:~/.gitconfig:ro", "loop-m:~/code/my-proj/node_modules", "loop-t:~/code/my-proj/target"}, ExtraDirs: []string{"~/other"}, CopyFiles: []string{"~/.vimrc"}},
		}, planned, func() Host {
			h := every
			h.FileSystems = []string{"/", "/home", "/home/mira/code/my-proj/disk", "/home/mira/code/my-proj/target"}
			return h
		}()},
		{"proxies", projectTree(), nil, subject("/home/mira/code/my-proj"), proxied},
		{"loop-home-under-mount", tree{"/data/loop": "dir", "/data/p": "dir", "/home/mira": "dir"},
			[]Layer{{Name: core.LayerGlobal, Mounts: []string{"/data:/all-data:ro", "/data:/rw-data"}}}, subject("/data/p"), func() Host { h := linuxHost(); h.LoopHome = "/data/loop"; return h }()},
	}
}

func TestGolden(t *testing.T) {
	for _, c := range goldenCases() {
		t.Run(c.name, func(t *testing.T) {
			spec, ex := mustResolve(t, c.fs, c.layers, c.sub, c.host)
			got, err := json.MarshalIndent(struct {
				Spec        core.Spec        `json:"spec"`
				Explanation core.Explanation `json:"explanation"`
				Mountpoints []Mountpoint     `json:"mountpoints"`
			}{spec, ex, Mountpoints(spec, c.fs.fill(c.layers, c.sub, c.host))}, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			golden(t, c.name+".json", got)
			if strings.Contains(string(got), "secret") {
				t.Error("a credential reached the spec or its explanation")
			}
		})
	}
}

// golden compares with a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s differs; look at the change, then run with -update.\n%s", file, firstDifference(string(want), string(got)))
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return "want " + w[i] + "\ngot  " + g[i]
		}
	}
	return "one is longer"
}

// TestOrigins: the explanation covers every field of the spec.
func TestOrigins(t *testing.T) {
	for _, c := range goldenCases() {
		spec, ex := mustResolve(t, c.fs, c.layers, c.sub, c.host)
		v := reflect.ValueOf(spec)
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if v.Field(i).IsZero() {
				continue
			}
			found := false
			for _, o := range ex.Origins {
				found = found || o.Field == name || strings.HasPrefix(o.Field, name+"[") || strings.HasPrefix(o.Field, name+".")
				if o.Layer == "" {
					t.Errorf("%s: %s has no layer", c.name, o.Field)
				}
			}
			if !found && name != "cmd" {
				t.Errorf("%s: no origin for %s", c.name, name)
			}
		}
		for _, f := range spec.Copies {
			if !hasOrigin(ex, "copies["+f.Target+"]") {
				t.Errorf("%s: no origin for the copy at %s", c.name, f.Target)
			}
		}
		for _, m := range spec.Mounts {
			if !hasOrigin(ex, "mounts["+m.Target+"]") {
				t.Errorf("%s: no origin for the mount at %s", c.name, m.Target)
			}
		}
		for _, e := range spec.Env {
			if !hasOrigin(ex, "env["+e.Name+"]") {
				t.Errorf("%s: no origin for %s", c.name, e.Name)
			}
		}
	}
}

// TestOriginNamesTheLayer: every layer makes settings for one container. Each value has
// the winning layer as its origin.
func TestOriginNamesTheLayer(t *testing.T) {
	cases := goldenCases()
	c := cases[slices.IndexFunc(cases, func(c goldenCase) bool { return c.name == "every-layer" })]
	_, ex := mustResolve(t, c.fs, c.layers, c.sub, c.host)
	got := map[string]string{}
	for _, o := range ex.Origins {
		if _, twice := got[o.Field]; twice {
			t.Errorf("%s is explained twice", o.Field)
		}
		got[o.Field] = o.Layer
	}
	for field, layer := range map[string]string{
		"image": core.LayerGlobal, "limits.memory_bytes": core.LayerWorktree, "limits.cpus": core.LayerRun, "limits.pids": core.LayerProject, "network": core.LayerChannel,
		"mounts[/a]": core.LayerGlobal, "mounts[/b]": core.LayerProject, "mounts[/home/mira/.gitconfig]": core.LayerProject,
		"mounts[/home/mira/other]": core.LayerWorktree, "mounts[/home/mira/code/my-proj]": core.LayerRun, "mounts[/home/mira/.gitignore_all]": originHost, "mounts[/opt/loop/bin]": core.LayerBuiltin,
		"mounts[/home/mira/code/my-proj/.worktrees/wt1/.loop]": core.LayerBuiltin, "copies[/home/mira/.vimrc]": core.LayerProject,
		"env[A]": core.LayerGlobal, "env[B]": core.LayerProject, "env[C]": core.LayerWorktree, "env[HTTP_PROXY]": core.LayerGlobal, "env[http_proxy]": core.LayerGlobal,
		"spawn_env[HTTPS_PROXY]": core.LayerProject, "spawn_env[https_proxy]": core.LayerProject, "spawn_env[DEPLOY_TOKEN]": core.LayerWorktree, "env[NO_PROXY]": core.LayerWorktree, "env[no_proxy]": core.LayerWorktree,
		"env[GOPROXY]": core.LayerGlobal, "env[NPM_CONFIG_REGISTRY]": core.LayerWorktree, "env[TZ]": originHost, "env[HOME]": core.LayerBuiltin,
		"name": core.LayerChannel, "agent": originHost, "work_dir": core.LayerChannel, "run_id": core.LayerRun,
	} {
		if got[field] != layer {
			t.Errorf("%s is said to be from %q, want %q", field, got[field], layer)
		}
	}
}

func hasOrigin(ex core.Explanation, field string) bool {
	for _, o := range ex.Origins {
		if o.Field == field {
			return true
		}
	}
	return false
}
