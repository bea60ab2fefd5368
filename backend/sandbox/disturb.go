package sandbox

import (
	"slices"

	"loop/backend/core"
)

// Disturbs reports whether an agent in a container with the mounts a could change
// where a mount of b comes from or where it lands, by putting a link into a folder
// that it can write. The engine follows links on both ends when b is started,
// so a must be held still from the last look at those places until then.
// Mounts are those of one host, whose system is named.
func Disturbs(hostOS string, a, b []core.Mount) bool {
	s := pathStyle{windows: hostOS == "windows", fold: hostOS != "linux"}
	// The top of a folder cannot be replaced from inside it.
	below := func(place string) bool {
		return slices.ContainsFunc(a, func(m core.Mount) bool {
			rel, ok := s.rel(m.Source, place)
			return ok && rel != "" && !m.Volume && !m.ReadOnly
		})
	}
	return slices.ContainsFunc(b, func(m core.Mount) bool {
		outer := outerMount(m, b)
		return !m.Volume && below(m.Source) ||
			outer != nil && !outer.Volume && below(s.join(outer.Source, relTarget(outer.Target, m.Target)))
	})
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
