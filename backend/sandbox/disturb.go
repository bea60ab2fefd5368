package sandbox

import (
	"slices"

	"loop/backend/core"
)

// Disturbs reports whether an agent in a container of spec a could change where
// a mount of b comes from or where it lands, by putting a link into a folder
// that it can write. The engine follows links on both ends when b is started,
// so a must be held still from the last look at those places until then.
// Specs are those of one host, whose system is named.
func Disturbs(hostOS string, a, b core.Spec) bool {
	s := pathStyle{windows: hostOS == "windows", fold: hostOS != "linux"}
	var writable []string
	for _, m := range a.Mounts {
		if !m.Volume && !m.ReadOnly && m.Kind != core.MountSystem {
			writable = append(writable, m.Source)
		}
	}
	// The top of a folder cannot be replaced from inside it.
	below := func(place string) bool {
		return slices.ContainsFunc(writable, func(root string) bool {
			rel, ok := s.rel(root, place)
			return ok && rel != ""
		})
	}
	for _, m := range b.Mounts {
		if !m.Volume && below(m.Source) {
			return true
		}
		if outer := outerMount(m, b.Mounts); outer != nil && !outer.Volume && below(s.join(outer.Source, relTarget(outer.Target, m.Target))) {
			return true
		}
	}
	return false
}

// MountSources are the host paths of a spec's binds that anybody but Loop chose;
// they were links followed when the spec was resolved.
func MountSources(spec core.Spec) []string {
	var out []string
	for _, m := range spec.Mounts {
		if !m.Volume && m.Kind != core.MountSystem && m.Kind != core.MountState {
			out = append(out, m.Source)
		}
	}
	return out
}
