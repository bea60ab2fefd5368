package sandbox

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"loop/backend/core"
)

var ofAgents = core.SettingsOrigin{Layer: core.LayerAgents, Path: "/home/mira/.loop/config.json", Line: 7}

// TestBindsOfAgents: a bind comes from the agent's folder or an allowed one, by its name and
// in truth, and never from what no container may see. What is missing below a link is judged
// by where the link leads.
func TestBindsOfAgents(t *testing.T) {
	const dir = "/home/mira/code/my-proj"
	fs := projectTree()
	for path, what := range map[string]string{
		"/srv/data": "dir", "/srv/data/in": "dir", "/srv/other": "dir", "/srv/data/out": "-> /srv/other", "/srv/data/etc": "-> /etc",
		"/srv/link": "-> /srv/data/in", dir + "/out": "-> /srv/other", dir + "/in": "dir", "/etc": "dir", "/etc/ssh": "dir", "/var": "dir",
		"/home/mira/.ssh": "dir", "/home/mira/.aws": "dir", "/home/mira/.docker": "dir", "/var/run/docker.sock": "socket", "/root": "dir",
		"/proc": "dir", "/sys": "dir", "/dev": "dir", "/boot": "dir", "/run": "dir", "/home/mira/.gnupg": "dir",
	} {
		fs[path] = what
	}
	for bind, comes := range map[string]bool{
		dir + "/in:/in": true, "/srv/data:/data": true, "/srv/data/in:/data:ro": true,
		"/srv/other:/x": false, "/srv/data/out:/x": false, dir + "/out:/x": false, "/srv/data/out/missing:/x": false, "/srv/data/etc/passwd:/x": false,
		"/srv/link:/x": false, // by its name it lies outside
		"/:/x":         false, "/etc:/x": false, "/proc:/x": false, "/sys:/x": false, "/dev:/x": false, "/boot:/x": false, "/run:/x": false, "/var:/x": false,
		"/root:/x": false, "/var/run/docker.sock:/x": false, "/home/mira:/x": false, "/home/mira/.ssh:/x": false, "/home/mira/.aws:/x": false,
		"/home/mira/.docker:/x": false, "/home/mira/.gnupg:/x": false, "/srv/data/../other:/x": false, "/srv:/x": false,
	} {
		sub := subject(dir)
		sub.Shared = true
		m := merged()
		m.Scope, m.Agent = Setting[string]{ScopeAgent, fromBuiltin}, "main"
		m.BindRoots = []Setting[string]{{"/srv/data", ofAgents}, {"/", ofAgents}} // the whole is no root
		m.Mounts = []Setting[string]{{bind, ofAgents}}
		h := fs.fill(nil, sub, linuxHost())
		spec, ex, err := Resolve(m, sub, h)
		if err == nil {
			err = Validate(spec, h)
		}
		if err != nil {
			t.Errorf("%s: %v", bind, err)
			continue
		}
		there := slices.ContainsFunc(spec.Mounts, func(o core.Mount) bool {
			return o.Target == "/x" || o.Target == "/in" || o.Target == "/data"
		})
		if there != comes || comes == (len(ex.Skipped) > 0) {
			t.Errorf("%s: is there: %v; %+v", bind, there, ex.Skipped)
		}
		// With the switch that says so they may come from wherever mounts may; what no container
		// may see stays away.
		m.AnyBinds.Value = true
		spec, _, err = Resolve(m, sub, h)
		if err == nil {
			err = Validate(spec, h)
		}
		i := slices.IndexFunc(spec.Mounts, func(o core.Mount) bool { return o.Target == "/x" })
		if err != nil || i >= 0 && !spec.Mounts[i].ReadOnly && !strings.HasPrefix(spec.Mounts[i].Source, "/srv") && spec.Mounts[i].Source != "/root" {
			t.Errorf("%s with the switch: %+v, %v", bind, spec.Mounts, err)
		}
	}
}

// TestTargetsOfAgents: binds and folders in memory do not cover what is Loop's or the image's.
func TestTargetsOfAgents(t *testing.T) {
	for target, comes := range map[string]bool{
		"/cache": true, "/usr/share/fonts": true, "/opt/loop": false, "/opt/loop/bin": false, "/etc/passwd": false, "/proc/x": false, "/usr/bin": false,
		"/": false, "/run/loop": false, "/var/run/docker.sock": false, "/home/mira": false, "/home": false, "/home/mira/.claude": false,
	} {
		sub, m := subject("/home/mira/code/my-proj"), merged()
		m.Mounts = []Setting[string]{{"volume:" + target, ofAgents}}
		m.Tmpfs = []Setting[string]{{target + ":size=1m", ofAgents}}
		fs := projectTree()
		h := fs.fill(nil, sub, linuxHost())
		for _, only := range []string{"mount", "tmpfs"} {
			one := m
			if only == "mount" {
				one.Tmpfs = nil
			} else {
				one.Mounts = nil
			}
			spec, ex, err := Resolve(one, sub, h)
			if err == nil {
				err = Validate(spec, h)
			}
			there := slices.ContainsFunc(spec.Mounts, func(o core.Mount) bool { return o.Source == "volume" }) ||
				slices.ContainsFunc(spec.Tmpfs, func(o core.Tmpfs) bool { return o.Target == target && strings.Contains(o.Options, "size=1m") })
			if said := len(ex.Skipped) > 0; err != nil || there != comes || comes && said || !comes && !said && target != GuestRunDir {
				t.Errorf("%s at %s: %v, is there: %v; %+v", only, target, err, there, ex.Skipped)
			}
		}
	}
}

// TestUserOfAgents: numbers, and not root's for a person who is not.
func TestUserOfAgents(t *testing.T) {
	for text, want := range map[string]string{"": "1000:1000", "1234": "1234:1234", "1234:99": "1234:99", "0": "", "0:0": "", "5:0": "", "mira": "", "64999": "", "-1": ""} {
		sub, m := subject("/home/mira/code/my-proj"), merged()
		m.User = Setting[string]{text, ofAgents}
		spec, _, err := Resolve(m, sub, projectTree().fill(nil, sub, linuxHost()))
		if (err == nil) != (want != "") {
			t.Errorf("%q: %v", text, err)
		}
		if got := strings.Join([]string{strconv.Itoa(spec.Agent.UID), strconv.Itoa(spec.Agent.GID)}, ":"); err == nil && got != want {
			t.Errorf("%q: %s", text, got)
		}
		if err != nil && (core.AsFailure(err).Remedy == "" || core.AsFailure(err).Cause == "") {
			t.Errorf("%q: %+v", text, core.AsFailure(err))
		}
	}
}

func FuzzTemplate(f *testing.F) {
	f.Add("/cache:size=1m", "db:10.0.0.1", "/srv/x:/y", "1000")
	f.Add(":", "host.docker.internal:host-gateway", "/var/run/docker.sock:/s", "0:0")
	f.Fuzz(func(t *testing.T, tmpfs, host, bind, user string) {
		sub, m := subject("/home/mira/code/my-proj"), merged()
		m.Tmpfs, m.Mounts = []Setting[string]{{tmpfs, ofAgents}}, []Setting[string]{{bind, ofAgents}}
		m.User = Setting[string]{user, ofAgents}
		if ParseExtraHost(host) == nil {
			m.ExtraHosts = []Setting[string]{{host, ofAgents}}
		}
		h := projectTree().fill(nil, sub, linuxHost())
		spec, _, err := Resolve(m, sub, h)
		if err != nil {
			return
		}
		if err := Validate(spec, h); err != nil {
			t.Errorf("what was resolved is not valid: %v", err)
		}
	})
}
