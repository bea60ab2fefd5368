package sandbox

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

// TestPlanMounts goes through every kind of mount, with a plan and without.
func TestPlanMounts(t *testing.T) {
	fs := projectTree()
	dir := "/home/mira/code/my-proj"
	for _, p := range []string{dir + "/.loop", dir + "/.git/hooks", "/home/mira/x", "/home/mira/wt"} {
		fs[p] = "dir"
	}
	host := linuxHost()
	host.GitExcludes = "/home/mira/.gitignore_all"
	sub := subject("/home/mira/wt")
	sub.ParentDir = dir
	layers := []Layer{{Name: core.LayerGlobal, ExtraDirs: []string{"~/other"}, Mounts: []string{
		"~/x:/rw", "/srv/data:/ro:ro", "~/.ssh:/keys", "loop-v:/vol", "loop-w:/volro:ro", "~/x:" + dir + "/.git/hooks",
	}}}
	with := sub
	with.Plan = true
	rw, _ := mustResolve(t, fs, layers, sub, host)
	ro, why := mustResolve(t, fs, layers, with, host)
	for _, c := range []struct {
		target            string
		kind              core.MountKind
		writable, planned bool
	}{
		{GuestDir, core.MountSystem, false, false},
		{"/etc/passwd", core.MountSystem, false, false},
		{"/home/mira", core.MountState, true, true},
		{ClaudeDir, core.MountState, true, true},
		{GuestSpoolDir, core.MountState, true, true},
		{dir, core.MountWorkspace, true, false},
		{"/home/mira/wt", core.MountWorkspace, true, false},
		{"/home/mira/other", core.MountWorkspace, true, false},
		{dir + "/.loop", core.MountSurface, false, false},
		{dir + "/.git/hooks", core.MountExtra, true, false},
		{"/home/mira/.gitignore_all", core.MountSurface, false, false},
		{"/rw", core.MountExtra, true, false},
		{"/ro", core.MountExtra, false, false},
		{"/keys", core.MountCredential, false, false},
		{"/vol", core.MountVolume, true, false},
		{"/volro", core.MountVolume, false, false},
	} {
		for _, s := range []struct {
			spec     core.Spec
			writable bool
		}{{rw, c.writable}, {ro, c.planned}} {
			i := slices.IndexFunc(s.spec.Mounts, func(m core.Mount) bool { return m.Target == c.target })
			if i < 0 {
				t.Errorf("plan %v: nothing is mounted at %s", s.spec.Plan, c.target)
			} else if m := s.spec.Mounts[i]; m.Kind != c.kind || m.ReadOnly == s.writable {
				t.Errorf("plan %v: %+v", s.spec.Plan, m)
			}
		}
	}
	if len(rw.Mounts) != len(ro.Mounts) || rw.Hash == ro.Hash {
		t.Errorf("%d mounts, with a plan %d; the hashes are %s and %s", len(rw.Mounts), len(ro.Mounts), rw.Hash, ro.Hash)
	}
	for _, want := range []core.FieldOrigin{
		{Field: "plan", Value: "true", Layer: "run"},
		{Field: "access", Value: "ro", Layer: "run"},
		{Field: "mounts[" + dir + "]", Value: dir + " ro (plan)", Layer: "run"},
		{Field: "mounts[/rw]", Value: "/home/mira/x ro (plan)", Layer: "global"},
		{Field: "mounts[/ro]", Value: "/srv/data ro", Layer: "global"},
		{Field: "mounts[/home/mira]", Value: "/home/mira/.loop/channels/" + channelID + "/home rw", Layer: "built-in"},
		{Field: "env[CHOWN_PATHS]", Value: "", Layer: "built-in"},
	} {
		if !slices.Contains(why.Origins, want) {
			t.Errorf("not explained: %+v", want)
		}
	}
	if !slices.ContainsFunc(why.Notices, func(n string) bool { return strings.Contains(n, "plans first") }) {
		t.Errorf("notices %q", why.Notices)
	}
}

// TestPlanJudgesAsBefore: a plan refuses all that a run without a plan refuses, because
// agents that were not planning made those files.
func TestPlanJudgesAsBefore(t *testing.T) {
	fs := projectTree()
	maps.Copy(fs, tree{
		"/data/loop": "dir", "/data/p": "dir", "/home/mira/code/my-proj/out": "-> /srv/data", "/home/mira/code/my-proj/rc": "file",
	})
	host := linuxHost()
	host.LoopHome = "/data/loop"
	layers := []Layer{{
		Name: core.LayerGlobal, Mounts: []string{"/data:/data-rw", "~/code/my-proj/out:/out"}, CopyFiles: []string{"~/code/my-proj/rc"},
	}}
	sub := subject("/home/mira/code/my-proj")
	_, without := mustResolve(t, fs, layers, sub, host)
	sub.Plan = true
	_, with := mustResolve(t, fs, layers, sub, host)
	if len(without.Skipped) != 3 || !slices.Equal(with.Skipped, without.Skipped) {
		t.Errorf("left out %+v\nwith a plan %+v", without.Skipped, with.Skipped)
	}
}

// TestPlanMakesNoPlaces: a mount that would need a new folder in the project is left
// out. So is a mount inside it.
func TestPlanMakesNoPlaces(t *testing.T) {
	dir := "/home/mira/code/my-proj"
	sub := subject(dir)
	layers := []Layer{{Name: core.LayerGlobal, Mounts: []string{
		"/srv/data:" + dir + "/new", "/srv/data:" + dir + "/new/sub", "loop-n:" + dir + "/node_modules", "/srv/data:~/made",
	}}}
	fs := projectTree()
	fs["/srv/data/sub"] = "dir"
	without, _ := mustResolve(t, fs, layers, sub, linuxHost())
	sub.Plan = true
	with, why := mustResolve(t, fs, layers, sub, linuxHost())
	if len(why.Skipped) != 3 || len(without.Mounts) != len(with.Mounts)+3 {
		t.Errorf("left out %+v", why.Skipped)
	}
	for _, p := range Mountpoints(with, fs.fill(layers, sub, linuxHost())) {
		if p.Root == dir {
			t.Errorf("%s would be made in the project", p.Rel)
		}
	}

	// The agent's work folder cannot be left out.
	layers = []Layer{{Name: core.LayerGlobal, Mounts: []string{"/srv/data:/home/mira/code"}}}
	if _, _, err := resolveLayers(layers, sub, fs.fill(layers, sub, linuxHost())); err == nil {
		t.Error("a work directory was mounted where nothing is")
	} else {
		wantFailure(t, err, core.CodeMount, "would have to be made")
	}
	sub.Plan = false
	mustResolve(t, fs, layers, sub, linuxHost())
}

// TestPlanNamesFileSystems: a notice names the file systems that the engine leaves out.
func TestPlanNamesFileSystems(t *testing.T) {
	dir := "/home/mira/code/my-proj"
	fs := projectTree()
	fs[dir+"/shown"] = "dir"
	host := linuxHost()
	host.FileSystems = []string{"/", dir, dir + "/disk", dir + "/shown", "/home/mira/elsewhere"}
	layers := []Layer{{Name: core.LayerGlobal, Mounts: []string{dir + "/shown:" + dir + "/shown"}}}
	for _, plan := range []bool{false, true} {
		sub := subject(dir)
		sub.Plan = plan
		_, why := mustResolve(t, fs, layers, sub, host)
		said := slices.DeleteFunc(why.Notices, func(n string) bool { return !strings.Contains(n, "file system") })
		if n := map[bool]int{true: 1}[plan]; len(said) != n || n == 1 && !strings.Contains(said[0], dir+"/disk") {
			t.Errorf("plan %v: %q", plan, said)
		}
	}
}

// TestValidatePlan: the last check refuses a planning spec that can write.
func TestValidatePlan(t *testing.T) {
	fs := projectTree()
	dir := "/home/mira/code/my-proj"
	fs[dir+"/.loop"] = "dir"
	layers := []Layer{{Name: core.LayerGlobal, Mounts: []string{"/srv/data:/data", "loop-v:/vol"}}}
	sub := subject(dir)
	sub.Plan = true
	spec, _ := mustResolve(t, fs, layers, sub, linuxHost())
	h := fs.fill(layers, sub, linuxHost())
	if err := Validate(spec, h); err != nil {
		t.Fatal(err)
	}
	for i, m := range spec.Mounts {
		if m.Kind == core.MountState {
			continue
		}
		bad := spec
		bad.Mounts = slices.Clone(spec.Mounts)
		bad.Mounts[i].ReadOnly = false
		wantFailure(t, Validate(bad, h), core.CodeInvalid, "safety rule")
	}
	// A state folder that leads into the project could write there.
	for i, m := range spec.Mounts {
		if m.Kind != core.MountState {
			continue
		}
		h := h
		look := h.Look
		h.Look = func(p string) PathFact {
			if p == m.Source {
				return PathFact{Kind: PathDir, Target: "/home/mira/code"}
			}
			return look(p)
		}
		if err := Validate(spec, h); err == nil {
			t.Errorf("%s leads to the project and was accepted", spec.Mounts[i].Source)
		}
	}
	bad := spec
	inState := core.Mount{Kind: core.MountExtra, Source: spec.Mounts[3].Source + "/x", Target: "/x", ReadOnly: true}
	bad.Mounts = append(slices.Clone(spec.Mounts), inState)
	wantFailure(t, Validate(bad, h), core.CodeInvalid, "safety rule")
}
