package sandbox

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

func wantFailure(t *testing.T, err error, code core.Code, part string) {
	t.Helper()
	f, ok := errors.AsType[*core.Failure](err)
	if !ok {
		t.Fatalf("got %v, want a failure", err)
	}
	if f.Code != code || !strings.Contains(f.Error(), part) {
		t.Errorf("got %s %q, want %s with %q", f.Code, f.Error(), code, part)
	}
	if f.Code != core.CodeInternal && (f.Cause == "" || f.Remedy == "") {
		t.Errorf("a failure a person sees lacks its cause or remedy: %+v", f)
	}
}

func TestWorkDir(t *testing.T) {
	fs := projectTree()
	fs["/home/mira/file"] = "file"
	fs["/home/mira/link-home"] = "-> /home/mira"
	fs["/home/mira/link-root"] = "-> /"
	fs["/home/mira/link-etc"] = "-> /etc"
	fs["/home/mira/link-loop"] = "-> /home/mira/.loop"
	fs["/home/mira/locked"] = "denied"
	fs["/etc/x"], fs["/"], fs["/proc/1"], fs["/opt"], fs["/tmp"] = "dir", "dir", "dir", "dir", "dir"
	fs["/home/mira/.docker/run"] = "dir"
	fs["/home/mira/.loop/channels/other/home"] = "dir"
	fs["/home/mira/.loop/run"] = "dir"
	for _, c := range []struct{ dir, part string }{
		{"/home/mira/code/gone", "does not exist"},
		{"/home/mira/file", "not a folder"},
		{"/", "whole file system"},
		{"/home/mira/link-root", "whole file system"},
		{"/home/mira", "home directory"},
		{"/home/mira/", "home directory"},
		{"/home/mira/code/../", "home directory"},
		{"/home/mira/link-home", "home directory"},
		{"/home", "home directory"},
		{"/home/mira/.loop", "Loop's own folder"},
		{"/home/mira/.loop/run", "Loop's own folder"},
		{"/home/mira/.loop/channels/other/home", "Loop's own folder"},
		{"/home/mira/link-loop", "Loop's own folder"},
		{"/home/mira/locked", "cannot be opened"},
		{"/home/mira/.ssh", "credentials"},
		{"/home/mira/.docker/run", "socket"},
		{"/etc/x", "operating system"},
		{"/home/mira/link-etc", "credentials"},
		{"/proc/1", "system directory"},
		{"/opt", "belongs to Loop"},
		{"/tmp", "cover part of the image"},
		{"relative/dir", "absolute"},
		{"/home/mira/a\nb", "line break"},
		{"/home/mira/a\x00b", "NUL"},
		{"/home/mira/\xff", "UTF-8"},
		{"/home/mira/\x1b[31m", "control character"},
	} {
		t.Run(c.dir, func(t *testing.T) {
			sub, h := subject(c.dir), linuxHost()
			_, _, err := resolveLayers(nil, sub, fs.fill(nil, sub, h))
			wantFailure(t, err, core.CodeDir, c.part)
			wantFailure(t, FitForWork(c.dir, fs.fill(nil, Subject{}, h)), core.CodeDir, c.part)
		})
	}
}

func TestWorkDirNamesThatWork(t *testing.T) {
	for _, dir := range []string{
		"/home/mira/with space", `/home/mira/quo"te's`, "/home/mira/ünï-日本", "/home/mira/a:b", "/home/mira/$HOME `x`", "/home/mira/%2f..", "/run/media/mira/disk/p", "/usr/local/src/p", "/tmp/p", "/home/mira/a,b=c",
	} {
		spec, _ := mustResolve(t, tree{dir: "dir", "/home/mira": "dir"}, nil, subject(dir), linuxHost())
		if spec.WorkDir != dir || spec.Mounts[len(spec.Mounts)-1].Target != dir {
			t.Errorf("%q became %q", dir, spec.WorkDir)
		}
		if !namePattern.MatchString(spec.Name) {
			t.Errorf("%q gave the name %q", dir, spec.Name)
		}
	}
}

// TestPathNobodyLookedAt: a path without facts is never taken for a harmless one.
func TestPathNobodyLookedAt(t *testing.T) {
	_, _, err := resolveLayers(nil, subject("/home/mira/p"), linuxHost())
	wantFailure(t, err, core.CodeDir, "nobody looked")
}

func TestSettingsOutOfRange(t *testing.T) {
	for _, c := range []struct {
		l    Layer
		part string
	}{
		{Layer{Network: new("host")}, "this computer's own network"},
		{Layer{Network: new("container:abc")}, "not the name of a network"},
		{Layer{Network: new("")}, "not the name of a network"},
		{Layer{Network: new("none")}, "reached over the network"},
		{Layer{Envs: map[string]any{"1A": "x"}}, `envs["1A"]`},
		{Layer{Envs: map[string]any{"A=B": "x"}}, `envs["A=B"]`},
		{Layer{Envs: map[string]any{"": "x"}}, `envs[""]`},
		{Layer{Envs: map[string]any{"A": "x\x00y"}}, "NUL"},
		{Layer{Envs: map[string]any{"A": strings.Repeat("x", maxEnvValue+1)}}, "limit"},
	} {
		c.l.Name = core.LayerGlobal
		layers, sub, h := []Layer{c.l}, subject("/home/mira/code/my-proj"), linuxHost()
		_, _, err := resolveLayers(layers, sub, projectTree().fill(layers, sub, h))
		wantFailure(t, err, core.CodeInvalid, c.part)
	}
}

func TestHostAndSubjectRefused(t *testing.T) {
	fs := projectTree()
	for name, change := range map[string]func(*Subject, *Host){
		"home is root":         func(_ *Subject, h *Host) { h.Home = "/" },
		"home with colon":      func(_ *Subject, h *Host) { h.Home = "/home/a:b" },
		"home empty":           func(_ *Subject, h *Host) { h.Home = "" },
		"home with newline":    func(_ *Subject, h *Host) { h.Home = "/home/a\nb" },
		"loop home relative":   func(_ *Subject, h *Host) { h.LoopHome = "x" },
		"windows engine":       func(_ *Subject, h *Host) { h.EngineOS = "windows" },
		"foreign processor":    func(_ *Subject, h *Host) { h.EngineArch = "riscv64" },
		"supervisor's uid":     func(_ *Subject, h *Host) { h.UID = SupervisorID },
		"channel id":           func(s *Subject, _ *Host) { s.Channel.ID = "../x" },
		"channel id empty":     func(s *Subject, _ *Host) { s.Channel.ID = "" },
		"suffix":               func(s *Subject, _ *Host) { s.NameSuffix = "A1B2C3" },
		"no image":             func(s *Subject, _ *Host) { s.Image = "" },
		"no image id":          func(s *Subject, _ *Host) { s.ImageID = "" },
		"foreign guest volume": func(s *Subject, _ *Host) { s.GuestVolume = "evil" },
		"no install":           func(s *Subject, _ *Host) { s.InstallID = "" },
		"type":                 func(s *Subject, _ *Host) { s.Type = "x" },
	} {
		t.Run(name, func(t *testing.T) {
			sub, h := subject("/home/mira/code/my-proj"), linuxHost()
			change(&sub, &h)
			if _, _, err := resolveLayers(nil, sub, fs.fill(nil, sub, h)); err == nil {
				t.Error("it was accepted")
			}
		})
	}
}

func TestMalformedMounts(t *testing.T) {
	for _, c := range []struct{ text, part string }{
		{"", "container path is missing"},
		{"/x", "container path is missing"},
		{":/x", "host path is empty"},
		{"/x:", "container path is empty"},
		{"/x:/y:ro:z", "too many colons"},
		{"/x:y", "not absolute"},
		{"/x:/y:rx", `mode "rx" is not known`},
		{"/x:/y:", `mode "" is not known`},
		{"/x:/y:ro,rw", "both ro and rw"},
		{"/x:/y:rshared", "must never reach the host"},
		{"/x:/y:nocopy", "named volumes"},
		{"vol:/y:z", "host paths"},
		{"v:/y", "valid volume name"},
		{"vol name:/y", "valid volume name"},
		{"-vol:/y", "valid volume name"},
		{"x/y:/z", "not an absolute path"},
		{"~root/x:/z", "another user's home"},
		{"/x:~root/z", "another user's home"},
		{"/x:/a/../../etc", "“..”"},
		{"/x\n:/y", "line break"},
		{"/x\x00:/y", "NUL"},
		{"/x\xff:/y", "UTF-8"},
		{"/" + strings.Repeat("a", maxMountText) + ":/y", "longer than"},
	} {
		layers := []Layer{{Name: core.LayerGlobal, Mounts: []string{"loop-ok:/ok", c.text}}}
		sub, h := subject("/home/mira/code/my-proj"), linuxHost()
		_, _, err := resolveLayers(layers, sub, projectTree().fill(layers, sub, h))
		wantFailure(t, err, core.CodeMount, c.part)
		if !strings.Contains(core.AsFailure(err).Cause, "(global)") {
			t.Errorf("%q: the entry is not named: %v", c.text, err)
		}
	}
	layers := []Layer{{Name: core.LayerGlobal, Mounts: []string{"loop-a:/x", "loop-b:/x/"}}}
	sub := subject("/home/mira/code/my-proj")
	_, _, err := resolveLayers(layers, sub, projectTree().fill(layers, sub, linuxHost()))
	wantFailure(t, err, core.CodeMount, "same container path")
}

func TestRefusedMounts(t *testing.T) {
	fs := projectTree()
	for _, p := range []string{"/proc", "/sys/kernel", "/dev", "/run/user/1000", "/var/run", "/var/lib/docker", "/var", "/boot", "/home", "/home/mira/.docker", "/home/mira/.config/gh", "/home/mira/.claude", "/etc/ssl"} {
		fs[p] = "dir"
	}
	fs["/srv/docker.sock"], fs["/srv/agent.sock"], fs["/srv/pipe"], fs["/srv/locked"] = "socket", "socket", "other", "denied"
	fs["/srv/sneaky"], fs["/srv/to-loop"], fs["/srv/to-sock"] = "-> /home/mira", "-> /home/mira/.loop/run", "-> /srv/docker.sock"
	refused := map[string]string{
		"/:/host:ro": "whole file system", "/proc:/p:ro": "system directory", "/sys/kernel:/s:ro": "system directory", "/dev:/d": "system directory",
		"/run/user/1000:/r": "system directory", "/var/run:/r": "system directory", "/var/lib/docker:/r": "system directory", "/var:/v:ro": "system directory",
		"/boot:/b:ro": "system directory", "/home:/h:ro": "home directory", "~:/h": "home directory", "~/.docker:/d:ro": "socket",
		"/srv/docker.sock:/s": "engine's socket", "/srv/to-sock:/s": "engine's socket", "/srv/data:/x/docker.sock": "socket", "/srv/agent.sock:/s": "socket",
		"/srv/pipe:/p": "neither a file nor a folder", "/srv/locked:/p": "permission denied", "/srv/sneaky:/p:ro": "home directory",
		"/srv/to-loop:/p:ro": "Loop's own folder", "~/.loop/run:/p:ro": "Loop's own folder", "~/.loop/config.json:/p:ro": "Loop's own folder",
		"/srv/data:/": "belongs", "/srv/data:/run/loop/x": "belongs", "/srv/data:/run": "belongs", "/srv/data:/opt/loop/bin": "belongs", "/srv/data:/opt": "belongs",
		"/srv/data:/proc/x": "belongs", "/srv/data:/dev/shm": "belongs", "/srv/data:/etc/passwd": "belongs", "/srv/data:/etc": "belongs", "/srv/data:/etc/ld.so.preload": "belongs",
		"/srv/data:/usr/bin": "image", "/srv/data:/tmp": "image", "/srv/data:~": "channel's own", "/srv/data:~/.claude": "~/.claude/skills", "/srv/data:~/.claude.json": "~/.claude/skills", "/srv/data:/opt/loop/.claude": "belongs", "/srv/data:/home": "memory",
		"/srv/data:/home/mira/code/my-proj": "work directory", "loop-guest-x:/g": "belong to Loop", "loop-bind-x:/g": "belong to Loop", "loop-vol:/opt/loop/bin": "belongs",
		"/srv/nothing:/n": "does not exist",
	}
	for text, part := range refused {
		layers := []Layer{{Name: core.LayerGlobal, Mounts: []string{text}}}
		_, ex := mustResolve(t, fs, layers, subject("/home/mira/code/my-proj"), linuxHost())
		if len(ex.Skipped) != 1 || ex.Skipped[0].Text != text || !strings.Contains(ex.Skipped[0].Reason, part) {
			t.Errorf("%q: skipped %v, want a reason with %q", text, ex.Skipped, part)
		}
	}
	for text, kind := range map[string]core.MountKind{
		"/etc/ssl:/etc/ssl": core.MountExtra, "~/.ssh:/k": core.MountCredential, "~/.config/gh:~/.config/gh": core.MountCredential,
		"/etc/ssl:~/.claude/skills": core.MountExtra,
	} {
		layers := []Layer{{Name: core.LayerGlobal, Mounts: []string{text}}}
		spec, ex := mustResolve(t, fs, layers, subject("/home/mira/code/my-proj"), linuxHost())
		m := spec.Mounts[6]
		if rel, in := strings.CutPrefix(text, "/etc/ssl:~/.claude"); in && m.Target != ClaudeDir+rel {
			t.Errorf("%q became %+v", text, m)
		}
		if m.Kind != kind || !m.ReadOnly || len(ex.Notices) != 1 {
			t.Errorf("%q became %+v with notices %v; want read-only %s, and a word about it", text, m, ex.Notices, kind)
		}
	}
}

// TestProjectInTheClaudeFolder is refused, because its path in the container goes
// through a link.
func TestProjectInTheClaudeFolder(t *testing.T) {
	fs, sub := projectTree(), subject("/home/mira/.claude/skills/x")
	fs[sub.Channel.Dir] = "dir"
	_, _, err := resolveLayers(nil, sub, fs.fill(nil, sub, linuxHost()))
	wantFailure(t, err, core.CodeDir, "channel's memory")
}

// TestPlantedLink: a link that the agent left in its home must not move a mount.
func TestPlantedLink(t *testing.T) {
	fs := projectTree()
	fs["/home/mira/.loop/channels/"+channelID+"/home/code"] = "-> /opt"
	sub, h := subject("/home/mira/code/my-proj"), linuxHost()
	_, _, err := resolveLayers(nil, sub, fs.fill(nil, sub, h))
	wantFailure(t, err, core.CodeMount, "A link stands")

	fs = projectTree()
	fs["/home/mira/.loop/channels/"+channelID+"/home"] = "-> /home/mira/.ssh"
	_, _, err = resolveLayers(nil, sub, fs.fill(nil, sub, h))
	if err == nil {
		t.Error("a state folder that is a link was accepted")
	}
}

func TestProtectedLinks(t *testing.T) {
	fs := projectTree()
	p := "/home/mira/code/my-proj"
	fs[p+"/hooks-here"], fs[p+"/.git"] = "dir", "dir"
	fs[p+"/.git/hooks"] = "-> " + p + "/hooks-here"
	fs[p+"/.loop"] = "-> /srv/data"
	spec, ex := mustResolve(t, fs, nil, subject(p), linuxHost())
	last := spec.Mounts[len(spec.Mounts)-1]
	if last.Target != p+"/hooks-here" || !last.ReadOnly {
		t.Errorf("the hooks behind the link are not read-only: %+v", last)
	}
	if len(ex.Notices) != 1 || !strings.Contains(ex.Notices[0], ".loop") {
		t.Errorf("notices %v", ex.Notices)
	}
}

func TestNoCredentials(t *testing.T) {
	layers := []Layer{{Name: core.LayerGlobal, Envs: map[string]any{
		"ANTHROPIC_API_KEY": "S3cret", "CLAUDE_CODE_OAUTH_TOKEN": "S3cret", "ANTHROPIC_AUTH_TOKEN": "S3cret", "GITHUB_TOKEN": "S3cret", "db_password": "S3cret", "AWS_SECRET_ACCESS_KEY": "S3cret",
	}}}
	h := linuxHost()
	h.Env = map[string]string{"HTTPS_PROXY": "http://u:S3cret@proxy:1"}
	sub := subject("/home/mira/code/my-proj")
	spec, ex := mustResolve(t, projectTree(), layers, sub, h)
	raw, err := json.Marshal([]any{spec, ex})
	if err != nil || strings.Contains(string(raw), "S3cret") {
		t.Errorf("a credential is in the spec or its explanation: %s", raw)
	}
	open, secret := programEnv(t, spec, layers, h)
	if len(secret) != 5 { // three variables of envs, and the proxy in both letter cases
		t.Errorf("%d credentials", len(secret))
	}
	for _, e := range open {
		if strings.Contains(e.Value, "S3cret") {
			t.Errorf("%s is not marked", e.Name)
		}
	}
}

func TestHash(t *testing.T) {
	base := func() (tree, []Layer, Subject, Host) {
		return projectTree(), []Layer{{Name: core.LayerGlobal, Mounts: []string{"loop-a:/a", "loop-b:/b"}, Envs: map[string]any{"A": "1"}}}, subject("/home/mira/code/my-proj"), linuxHost()
	}
	made := func(change func(tree, []Layer, *Subject, *Host)) core.Spec {
		fs, layers, sub, h := base()
		change(fs, layers, &sub, &h)
		spec, _ := mustResolve(t, fs, layers, sub, h)
		return spec
	}
	same := made(func(tree, []Layer, *Subject, *Host) {})
	for name, change := range map[string]func(tree, []Layer, *Subject, *Host){
		"suffix":    func(_ tree, _ []Layer, s *Subject, _ *Host) { s.NameSuffix = "ffffff" },
		"run":       func(_ tree, _ []Layer, s *Subject, _ *Host) { s.RunID = "x" },
		"image tag": func(_ tree, _ []Layer, s *Subject, _ *Host) { s.Image = "other:tag" },
		"env value": func(_ tree, l []Layer, _ *Subject, _ *Host) { l[0].Envs["A"] = "2" },
		"env name":  func(_ tree, l []Layer, _ *Subject, _ *Host) { l[0].Envs["B"] = "2" },
		"proxy":     func(_ tree, l []Layer, _ *Subject, _ *Host) { l[0].Proxies = &Proxies{HTTP: "http://p:1"} },
		"scope":     func(_ tree, _ []Layer, s *Subject, _ *Host) { s.Shared = true },
		"copies":    func(_ tree, l []Layer, _ *Subject, _ *Host) { l[0].CopyFiles = []string{"~/.npmrc"} },
		"time zone": func(_ tree, _ []Layer, _ *Subject, h *Host) { h.TimeZone = "UTC" },
	} {
		if got := made(change); got.Hash != same.Hash || got.Fixed != same.Fixed {
			t.Errorf("the hash changed with %s", name)
		}
	}
	mayWait := []string{"image id", "memory"}
	for name, change := range map[string]func(tree, []Layer, *Subject, *Host){
		"image id":    func(_ tree, _ []Layer, s *Subject, _ *Host) { s.ImageID = "sha256:bb" },
		"guest":       func(_ tree, _ []Layer, s *Subject, _ *Host) { s.GuestVolume = "loop-guest-x" },
		"mount order": func(_ tree, l []Layer, _ *Subject, _ *Host) { l[0].Mounts = []string{"loop-b:/b", "loop-a:/a"} },
		"mount mode":  func(_ tree, l []Layer, _ *Subject, _ *Host) { l[0].Mounts[0] = "loop-a:/a:ro" },
		"memory":      func(_ tree, l []Layer, _ *Subject, _ *Host) { l[0].MemoryMB = new(512) },
		"access":      func(_ tree, l []Layer, _ *Subject, _ *Host) { l[0].Access = new(AccessRO) },
		"network":     func(_ tree, l []Layer, _ *Subject, _ *Host) { l[0].Network = new("mine") },
		"uid":         func(_ tree, _ []Layer, _ *Subject, h *Host) { h.UID = 1001 },
		"gate":        func(_ tree, l []Layer, _ *Subject, _ *Host) { l[0].Gate = new(false) },
		"new hooks":   func(fs tree, _ []Layer, _ *Subject, _ *Host) { fs["/home/mira/code/my-proj/.git/hooks"] = "dir" },
	} {
		got := made(change)
		if got.Hash == same.Hash {
			t.Errorf("the hash did not change with %s", name)
		}
		if (got.Fixed == same.Fixed) != slices.Contains(mayWait, name) {
			t.Errorf("a container takes new work after a change of %s: %v", name, got.Fixed == same.Fixed)
		}
	}
}

// TestScopes: whoever has the same scope has one name, and another install or channel
// another. Nothing of a run is in such a container.
func TestScopes(t *testing.T) {
	resolve := func(change func(*Subject, *Layer)) core.Spec {
		sub, layer := subject("/home/mira/code/my-proj"), Layer{Name: core.LayerGlobal}
		sub.Shared = true
		change(&sub, &layer)
		spec, _ := mustResolve(t, projectTree(), []Layer{layer}, sub, linuxHost())
		return spec
	}
	base := resolve(func(*Subject, *Layer) {})
	shell := resolve(func(s *Subject, _ *Layer) { s.Type, s.RunID = core.TypeShell, "" })
	alone := resolve(func(s *Subject, l *Layer) { s.Type, s.RunID, l.Scope = core.TypeShell, "", new(ScopeRun) })
	if shell.Scope != base.Scope || shell.Type != core.TypeAgent || shell.Name != base.Name || shell.Hash != base.Hash ||
		alone.Scope != "shell:"+channelID || alone.Type != core.TypeShell || alone.Name == base.Name {
		t.Errorf("terminals: %+v, %+v", shell, alone)
	}
	again := resolve(func(s *Subject, _ *Layer) { s.RunID, s.NameSuffix = "another", "ffffff" })
	if base.Scope != "session:"+channelID || base.RunID != "" || base.Labels[core.LabelRun] != "" || base.Labels[core.LabelScope] != base.Scope ||
		again.Name != base.Name || again.Scope != base.Scope {
		t.Errorf("%+v, %+v", base, again)
	}
	for name, change := range map[string]func(*Subject, *Layer){
		"another install": func(s *Subject, _ *Layer) { s.InstallID = "install-2" },
		"another channel": func(s *Subject, _ *Layer) { s.Channel.ID += "x" },
	} {
		if got := resolve(change); got.Name == base.Name || got.Scope == "" {
			t.Errorf("%s: %s of %s", name, got.Name, got.Scope)
		}
	}
	for name, change := range map[string]func(*Subject, *Layer){
		"a plan":            func(s *Subject, _ *Layer) { s.Plan = true },
		"nobody else":       func(s *Subject, _ *Layer) { s.Shared = false },
		"the settings' run": func(_ *Subject, l *Layer) { l.Scope = new(ScopeRun) },
	} {
		if got := resolve(change); got.Scope != "" || got.Labels[core.LabelScope] != ScopeRun {
			t.Errorf("%s: %s", name, got.Scope)
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	layers := []Layer{{Name: core.LayerGlobal, Mounts: []string{"loop-npmcache:~/.npm", "loop-gocache:/go", "~/.ssh:~/.ssh:ro", "~/.gitconfig:~/.gitconfig:ro"}, Envs: map[string]any{"A": "~/a", "B": 2}, ExtraDirs: []string{"~/other"}}}
	sub := subject("/home/mira/code/my-proj")
	h := projectTree().fill(layers, sub, linuxHost())
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := resolveLayers(layers, sub, h); err != nil {
			b.Fatal(err)
		}
	}
}

// TestALinkOutOfAFolderThatAgentsWrite: a mount shows the folder that its text names.
// Otherwise an agent could replace a folder of its project by a link. It would then
// choose the folder for its next run, under a text that was approved long ago.
func TestALinkOutOfAFolderThatAgentsWrite(t *testing.T) {
	fs := projectTree()
	const proj = "/home/mira/code/my-proj"
	fs[proj+"/data"] = "-> /home/mira/other"
	fs[proj+"/in/deep"] = "-> /home/mira/other"
	fs[proj+"/kept"] = "-> " + proj + "/real"
	fs[proj+"/real"] = "dir"
	fs["/srv/data/inner"] = "-> /home/mira/other"
	fs["/home/mira/byhand"] = "-> /home/mira/other"
	refused := func(spec core.Spec, ex core.Explanation, text string) bool {
		for _, m := range spec.Mounts {
			if strings.HasPrefix(m.Source, "/home/mira/other") {
				return false
			}
		}
		return slices.ContainsFunc(ex.Skipped, func(s core.SkippedMount) bool { return s.Text == text && strings.Contains(s.Reason, "agents write") })
	}
	ro := AccessRO
	for _, tc := range []struct {
		layer Layer
		text  string // the mount that is refused; empty: none is
	}{
		{Layer{Mounts: []string{proj + "/data:/data"}}, proj + "/data:/data"},
		{Layer{Mounts: []string{proj + "/data:/data:ro"}}, proj + "/data:/data:ro"},
		{Layer{Mounts: []string{proj + "/in/deep/x:/data"}}, proj + "/in/deep/x:/data"},
		{Layer{Mounts: []string{"/srv/data:/srv/data", "/srv/data/inner:/inner"}}, "/srv/data/inner:/inner"},
		{Layer{Mounts: []string{"/srv/data/inner:/inner"}, ExtraDirs: []string{"/srv/data"}}, "/srv/data/inner:/inner"},
		{Layer{Mounts: []string{"/srv/data:/elsewhere"}, ExtraDirs: []string{"/srv/data/inner"}}, "/srv/data/inner"},
		{Layer{Mounts: []string{proj + "/kept:/data"}}, ""},
		{Layer{Mounts: []string{"/srv/data:/srv/data:ro", "/srv/data/inner:/inner"}}, ""},
		{Layer{Mounts: []string{"/home/mira/byhand:/data"}}, ""},
		{Layer{Mounts: []string{proj + "/data:/data"}, Access: &ro}, ""},
	} {
		fs["/home/mira/other/x"] = "dir"
		tc.layer.Name = core.LayerGlobal
		spec, ex := mustResolve(t, fs, []Layer{tc.layer}, subject(proj), linuxHost())
		if tc.text == "" && len(ex.Skipped) > 0 || tc.text != "" && !refused(spec, ex, tc.text) {
			t.Errorf("%q %q: skipped %+v", tc.layer.Mounts, tc.layer.ExtraDirs, ex.Skipped)
		}
	}
}
