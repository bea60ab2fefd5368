package sandbox

import (
	"strings"
	"testing"

	"loop/backend/core"
)

func TestDisturbs(t *testing.T) {
	const p = "/home/mira/code/my-proj"
	spec := func(ch core.ChannelID, dir string, hooks bool, mounts ...string) core.Spec {
		fs := projectTree()
		fs[dir], fs["/srv/data/sub"], fs["/srv/data/file"] = "dir", "dir", "file"
		if hooks {
			fs[dir+"/.git/hooks"] = "dir"
		}
		sub := subject(dir)
		sub.Channel.ID = ch
		got, _ := mustResolve(t, fs, []Layer{{Name: core.LayerGlobal, Mounts: mounts}}, sub, linuxHost())
		return got
	}
	for name, c := range map[string]struct {
		a, b core.Spec
		want bool
	}{
		"threads of a project with hooks":       {spec("a", p, true), spec("b", p, true), true},
		"threads of a project without any":      {spec("a", p, false), spec("b", p, false), false},
		"other projects":                        {spec("a", p, true), spec("b", "/home/mira/other", true), false},
		"one channel, project below the home":   {spec("a", p, false), spec("a", p, false), true},
		"one channel, project elsewhere":        {spec("a", "/srv/data", false), spec("a", "/srv/data", false), false},
		"a volume in the project":               {spec("a", p, false), spec("b", p, false, "loop-nm:"+p+"/node_modules"), true},
		"a mount out of the other's project":    {spec("a", "/srv/data", false), spec("b", p, false, "/srv/data/sub:/x:ro"), true},
		"the whole of the other's project":      {spec("a", "/srv/data", false), spec("b", p, false, "/srv/data:/x"), false},
		"the other's mount is read-only":        {spec("a", p, false, "/srv/data:/x:ro"), spec("b", p, false, "/srv/data/file:/y:ro"), false},
		"the other's mount is writable":         {spec("a", p, false, "/srv/data:/x"), spec("b", p, false, "/srv/data/file:/y:ro"), true},
		"a project with a name that begins so":  {spec("a", p, false), spec("b", p+"2", true), false},
		"a project inside the other's":          {spec("a", "/srv/data", false), spec("b", "/srv/data/sub", false), true},
		"a project around the other's, no hook": {spec("a", "/srv/data/sub", false), spec("b", "/srv/data", false), false},
	} {
		if got := Disturbs("linux", c.a.Mounts, c.b.Mounts); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	upper := spec("a", p, false)
	upper.Mounts[len(upper.Mounts)-1].Source = strings.ToUpper(p)
	if Disturbs("linux", upper.Mounts, spec("b", p, true).Mounts) || !Disturbs("darwin", upper.Mounts, spec("b", p, true).Mounts) {
		t.Error("names that differ in case alone are one on macOS, and two on Linux")
	}
}

// TestNothingIsMountedIntoAVolume: this computer cannot see what an agent left in a
// volume, so no mount may have its place in one.
func TestNothingIsMountedIntoAVolume(t *testing.T) {
	const p = "/home/mira/code/my-proj"
	h := linuxHost()
	h.GitExcludes = "/home/mira/.cache/ignore"
	fs := projectTree()
	fs[h.GitExcludes], fs["/home/mira/.cache/dir"], fs[p+"/.git/hooks"] = "file", "dir", "dir"
	layers := []Layer{{Name: core.LayerGlobal, ExtraDirs: []string{"~/.cache/dir"}, Mounts: []string{"loop-git:" + p + "/.git", "loop-cache:~/.cache", "/srv/data:~/.cache/data", "loop-x:~/.cache/x:ro", "loop-code:~/code", "loop-ro:/ro:ro", "/srv/data:/ro/data"}}}
	spec, ex := mustResolve(t, fs, layers, subject(p), h)
	var targets []string
	for _, m := range spec.Mounts {
		targets = append(targets, m.Target)
	}
	if got := strings.Join(targets[6:], " "); got != p+"/.git /home/mira/.cache /ro "+p || len(ex.Skipped) != 6 {
		t.Errorf("%s; skipped %+v", got, ex.Skipped)
	}
}
