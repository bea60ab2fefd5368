package sandbox

import (
	"fmt"
	"slices"

	"loop/backend/core"
)

// Mountpoint is a place on the host where a mount of the container will be
// laid over another one. If nothing is there the engine makes it as root, in
// the person's folder; and if the agent put a link there, the mount lands
// elsewhere in the container. So the caller makes it beforehand, refusing
// links (hostfacts.MakeMountpoints).
type Mountpoint struct {
	Root string // host path of the outer mount
	Rel  string // slash separated, below Root
	File bool   // a file is mounted there, else a directory
}

// Mountpoints lists them for a spec, in the order of its mounts.
func Mountpoints(spec core.Spec, host Host) []Mountpoint {
	var out []Mountpoint
	for _, m := range spec.Mounts {
		outer := outerMount(m, spec.Mounts)
		if outer == nil || outer.Volume {
			continue
		}
		file := !m.Volume && host.fact(m.Source).Kind == PathFile
		out = append(out, Mountpoint{Root: outer.Source, Rel: relTarget(outer.Target, m.Target), File: file})
	}
	return out
}

// outerMount is the innermost mount that contains m's target.
func outerMount(m core.Mount, all []core.Mount) *core.Mount {
	var best *core.Mount
	for i := range all {
		o := &all[i]
		if o.Target != m.Target && inside(o.Target, m.Target) && (best == nil || len(o.Target) > len(best.Target)) {
			best = o
		}
	}
	return best
}

func relTarget(outer, inner string) string {
	if outer == "/" {
		return inner[1:]
	}
	return inner[len(outer)+1:]
}

func (p *plan) bare() []core.Mount {
	all := make([]core.Mount, len(p.mounts))
	for i, m := range p.mounts {
		all[i] = m.Mount
	}
	return all
}

// checkMountpoints refuses a spec in which a mount would land on a link that
// an agent planted below its home or its workspace in an earlier run.
func (p *plan) checkMountpoints() error {
	s, all := p.host.style(), p.bare()
	for i, m := range all {
		outer := outerMount(m, all)
		if outer == nil || outer.Volume {
			continue
		}
		written := p.taken(outer.Target).written
		rel := relTarget(outer.Target, m.Target)
		f := p.host.fact(s.join(written, rel))
		if p.mounts[i].Source == f.Target {
			continue
		}
		if want := s.join(p.host.resolved(written), rel); !s.same(f.Target, want) {
			return core.Fail(core.CodeMount, fmt.Errorf("%s leads to %s", s.join(written, rel), f.Target),
				"A link stands where "+quote(m.Target)+" is to be mounted.",
				"Remove the link "+quote(s.join(written, rel))+"; an agent may have made it.")
		}
	}
	return nil
}

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
