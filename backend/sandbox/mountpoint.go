package sandbox

import (
	"fmt"

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
