package sandbox

import (
	"path"
	"slices"

	"loop/backend/core"
)

// holdReadOnly makes every mount read-only but the channel's state, for a run that
// plans first. It comes after all judgements: they go by what the agents of other
// runs write, which is the same with and without a plan.
func (p *plan) holdReadOnly() error {
	if err := p.leaveOutMissing(); err != nil {
		return err
	}
	p.ex.notice("This run plans first: your folders and volumes are read-only in its container.")
	s := p.host.style()
	for i := range p.mounts {
		m := &p.mounts[i]
		if m.Kind == core.MountState {
			continue
		}
		// Many engines make no more than the top of a tree read-only, so a mount
		// leaves out what else is mounted in that tree.
		for _, fs := range p.host.FileSystems {
			rel, ok := s.rel(m.Source, fs)
			if ok && rel != "" && !m.Volume && p.taken(path.Join(m.Target, rel)) == nil {
				p.ex.notice(quote(fs) + " is a file system of its own and an empty folder for this run; one that is named in “mounts” is shown.")
			}
		}
		m.ReadOnly, m.held = true, !m.ReadOnly
	}
	p.chown = nil // a volume that cannot be written cannot be given to the agent
	return nil
}

// leaveOutMissing drops mounts whose place would have to be made in a folder of
// the person's.
func (p *plan) leaveOutMissing() error {
	s := p.host.style()
	for i := 0; i < len(p.mounts); i++ {
		m := p.mounts[i]
		outer := outerMount(m.Mount, p.bare())
		if outer == nil || outer.Volume || outer.Kind == core.MountState {
			continue
		}
		place := s.join(p.taken(outer.Target).written, relTarget(outer.Target, m.Target))
		if p.host.fact(place).Kind != PathMissing {
			continue
		}
		if m.project {
			return core.Fail(core.CodeMount, nil,
				quote(m.Target)+" cannot be shown to a run that plans first, because "+quote(place)+" would have to be made for it.",
				"Make that folder, or send the prompt without planning first.")
		}
		p.skip(m.Source+":"+m.Target, "The run plans first, and "+quote(place)+" would have to be made for it.")
		p.mounts = slices.Delete(p.mounts, i, i+1)
		i = -1 // what lay in it lands elsewhere now
	}
	return nil
}
