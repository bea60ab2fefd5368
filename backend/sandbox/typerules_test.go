package sandbox

import (
	"maps"
	"slices"
	"testing"

	"loop/backend/core"
	"loop/backend/wire"
)

// TestValidateByType breaks one rule of one container type at a time. The spec differs
// in nothing else.
func TestValidateByType(t *testing.T) {
	fs := projectTree()
	h := fs.fill(nil, subject("/home/mira/code/my-proj"), linuxHost())
	agent, _ := mustResolve(t, fs, nil, subject("/home/mira/code/my-proj"), linuxHost())
	agent.RunID = "run"
	shell := agent
	shell.Type, shell.RunID = core.TypeShell, ""
	sub := subject("/home/mira/code/my-proj")
	sub.Type = core.TypeChrome
	chrome, _, err := ResolveBrowser(BrowserSettings{
		MemoryMB: Setting[int]{Value: 2048}, CPUs: Setting[float64]{Value: 0.5}, Seccomp: "{}",
	}, sub, h)
	if err != nil {
		t.Fatal(err)
	}
	types := map[core.ContainerType]core.Spec{core.TypeAgent: agent, core.TypeShell: shell, core.TypeChrome: chrome}
	without := func(s *core.Spec, kind core.MountKind, target string) {
		s.Mounts = slices.DeleteFunc(s.Mounts, func(m core.Mount) bool { return m.Kind == kind && (target == "" || m.Target == target) })
	}
	for _, tc := range []struct {
		name    string
		types   []core.ContainerType // types whose rules the change breaks; the other types stay valid
		breakIt change
	}{
		{"unknown type", []core.ContainerType{"agent", "shell", "chrome"}, func(s *core.Spec) { s.Type = "sidecar" }},
		{"run", []core.ContainerType{"shell", "chrome"}, func(s *core.Spec) { s.RunID = "run" }},
		{"network", []core.ContainerType{"chrome"}, func(s *core.Spec) { s.Network = "bridge" }},
		{"no network", nil, func(s *core.Spec) { s.Network, s.ExtraHosts = "none", nil }},
		{"no workspace", []core.ContainerType{"agent", "shell"}, func(s *core.Spec) { without(s, core.MountWorkspace, "") }},
		{"workspace", []core.ContainerType{"chrome"}, func(s *core.Spec) {
			without(s, core.MountWorkspace, "")
			i := slices.IndexFunc(agent.Mounts, func(m core.Mount) bool { return m.Kind == core.MountWorkspace })
			s.Mounts = append(s.Mounts, agent.Mounts[i])
		}},
		{"no spool", []core.ContainerType{"agent", "shell"}, func(s *core.Spec) { without(s, core.MountState, GuestSpoolDir) }},
		{"state", []core.ContainerType{"chrome"}, func(s *core.Spec) {
			without(s, core.MountState, "")
			for _, m := range agent.Mounts {
				if m.Kind == core.MountState {
					s.Mounts = append(s.Mounts, m)
				}
			}
		}},
		{"extra mount", []core.ContainerType{"chrome"}, func(s *core.Spec) {
			s.Mounts = append(s.Mounts, core.Mount{Kind: core.MountExtra, Source: "/srv/data", Target: "/data"})
		}},
		{"copy", []core.ContainerType{"chrome"}, func(s *core.Spec) {
			s.Copies = []core.FileCopy{{Source: "/srv/data/x", Target: agent.Agent.Home + "/x"}}
		}},
		{"plan", []core.ContainerType{"shell", "chrome"}, func(s *core.Spec) {
			s.Plan = true
			for i := range s.Mounts {
				s.Mounts[i].ReadOnly = s.Mounts[i].Kind != core.MountState
			}
		}},
		{"name of another kind", []core.ContainerType{"chrome"}, func(s *core.Spec) { s.Name = "loop-work-012345" }},
		{"filter", nil, func(s *core.Spec) { s.Seccomp = "{}" }},
		{"no filter", []core.ContainerType{"agent", "shell", "chrome"}, func(s *core.Spec) { s.Seccomp = "unconfined" }},
		{"profile of another channel", []core.ContainerType{"chrome"}, func(s *core.Spec) {
			for i, m := range s.Mounts {
				if m.Target == ProfileDir {
					s.Mounts[i].Source = ProfileVolume("other", "install")
				}
			}
		}},
		{"shm of the engine", []core.ContainerType{"chrome"}, func(s *core.Spec) { s.ShmBytes = 0 }},
		{"shm", nil, func(s *core.Spec) { s.ShmBytes = chromeShm + 1<<20 }},
		{"shm below nothing", []core.ContainerType{"agent", "shell", "chrome"}, func(s *core.Spec) { s.ShmBytes = -1 }},
		{"shm is all memory", []core.ContainerType{"agent", "shell", "chrome"}, func(s *core.Spec) { s.ShmBytes = s.Limits.MemoryBytes }},
	} {
		for kind, spec := range types {
			spec.Mounts, spec.Labels = slices.Clone(spec.Mounts), map[string]string{}
			tc.breakIt(&spec)
			spec.Env = slices.DeleteFunc(slices.Clone(spec.Env), func(e core.EnvVar) bool { return e.Name == wire.Places })
			markPlaces(&spec, &explainer{}) // of what the mounts are now
			maps.Copy(spec.Labels, types[kind].Labels)
			spec.Labels[core.LabelType] = string(spec.Type)
			err := Validate(spec, h)
			if broken := slices.Contains(tc.types, kind); broken != (err != nil) {
				t.Errorf("%s of a %s container: %v", tc.name, kind, err)
			}
		}
	}
	for kind, spec := range types {
		spec.Labels = maps.Clone(spec.Labels)
		spec.Labels[core.LabelType] = string(kind)
		if err := Validate(spec, h); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if want := map[core.ContainerType]int64{core.TypeChrome: 512 << 20}[kind]; spec.ShmBytes != want {
			t.Errorf("%s has %d bytes of shared memory", kind, spec.ShmBytes)
		}
	}
}

type change = func(*core.Spec)

// TestHashKnowsSharedMemory: another size gives another hash. A spec without a size has
// the same hash as before the field existed.
func TestHashKnowsSharedMemory(t *testing.T) {
	a, b := core.Spec{}, core.Spec{ShmBytes: 1}
	if Hash(a, "i", "g", "rw") == Hash(b, "i", "g", "rw") {
		t.Error("the hash does not tell sizes of shared memory apart")
	}
}
