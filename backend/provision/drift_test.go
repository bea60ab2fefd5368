package provision

import (
	"slices"
	"testing"

	"loop/backend/core"
)

// TestDrift: what differs is named, and whether it may wait.
func TestDrift(t *testing.T) {
	spec := core.Spec{Scope: "session:c", Fixed: "f", Hash: "h", Limits: core.Limits{MemoryBytes: 512, CPUs: 4.0 / 3, Pids: 9},
		Mounts: []core.Mount{{Kind: "project", Source: "/w", Target: "/w"}, {Source: "v", Target: "/a", Volume: true, NoCopy: true}}}
	now := Resolved{Spec: spec, rights: "r", imageID: "sha256:1"}
	made := core.Container{Scope: "session:c", Fixed: "f", Hash: "h", Rights: "r"}
	facts := core.ContainerFacts{ImageID: "sha256:1", Limits: core.Limits{MemoryBytes: 512, CPUs: 1.33333, Pids: 9},
		Mounts: []core.Mount{{Source: "v", Target: "/a", Volume: true}, {Source: "/w", Target: "/w"}}}
	for name, c := range map[string]struct {
		change   func(r *Resolved, f *core.ContainerFacts)
		parts    []string
		replaced bool
	}{
		"the same": {func(*Resolved, *core.ContainerFacts) {}, nil, false},
		"image":    {func(r *Resolved, _ *core.ContainerFacts) { r.Spec.Hash, r.imageID = "i", "sha256:2" }, []string{"image"}, false},
		"limits":   {func(r *Resolved, _ *core.ContainerFacts) { r.Spec.Hash, r.Spec.Limits.Pids = "i", 8 }, []string{"limits"}, false},
		"other":    {func(r *Resolved, _ *core.ContainerFacts) { r.Spec.Hash = "i" }, []string{"other settings"}, false},
		"mounts": {func(r *Resolved, f *core.ContainerFacts) {
			r.Spec.Fixed, r.Spec.Hash, f.Mounts = "g", "i", f.Mounts[:1]
		},
			[]string{"mounts"}, true},
		"reaches": {func(r *Resolved, _ *core.ContainerFacts) { r.Spec.Fixed = "g" },
			[]string{"what it reaches: its network, the gate, or a folder that was replaced"}, true},
		"rights": {func(r *Resolved, _ *core.ContainerFacts) { r.rights = "s" }, []string{"credentials"}, true},
		"scope": {func(r *Resolved, _ *core.ContainerFacts) { r.Spec.Scope = "" },
			[]string{"who shares it: the channel's next is that of one run alone"}, true},
	} {
		r, f := now, facts
		c.change(&r, &f)
		got := drift(r, made, f)
		if !slices.Equal(got.Parts, c.parts) || got.Changed != (c.parts != nil) || got.Replaced != c.replaced {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
