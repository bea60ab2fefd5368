package sandbox

import (
	"slices"
	"strings"

	"loop/backend/core"
	"loop/backend/wire"
)

// markPlaces has loop init compare where things are mounted with where they are to be. An image
// may have links: they would lead a mount elsewhere, out of what the gate's rules name and into
// what an agent can move away. What lies in another mount is not the image's to move, and what
// the person mounts may lie behind a link that is meant.
func markPlaces(spec *core.Spec, ex *explainer) {
	var places strings.Builder
	add := func(at string, firm bool) {
		if !firm {
			at = wire.PlaceWithin + at
		}
		places.WriteString(at + "\n")
	}
	for _, m := range spec.Mounts {
		own := slices.Contains([]core.MountKind{core.MountSystem, core.MountState, core.MountWorkspace}, m.Kind)
		over := slices.ContainsFunc(spec.Tmpfs, func(t core.Tmpfs) bool { return inside(t.Target, m.Target) })
		add(m.Target, own && !over && outerMount(m, spec.Mounts) == nil)
	}
	for _, t := range spec.Tmpfs {
		add(t.Target, t.Target == runFS)
	}
	v := core.EnvVar{Name: wire.Places, Value: places.String(), Lane: LaneApp}
	spec.Env = append(spec.Env, v)
	slices.SortFunc(spec.Env, func(a, b core.EnvVar) int { return strings.Compare(a.Name, b.Name) })
	ex.set("env["+v.Name+"]", "where each mount is to be", fromBuiltin)
}

// places checks that loop init is told.
func (c *checker) places() {
	var told core.Spec
	told.Mounts, told.Tmpfs = c.spec.Mounts, c.spec.Tmpfs
	markPlaces(&told, &explainer{})
	c.must(slices.Contains(c.spec.Env, told.Env[0]), "loop init is not told where things are mounted")
}
