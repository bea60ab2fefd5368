package sandbox

import (
	"fmt"
	"slices"
	"strings"

	"loop/backend/core"
)

type parsedMount struct {
	text string
	from core.SettingsOrigin
	MountText
}

// configured admits the settings' mounts: a malformed one is an error, one
// that may not or cannot be mounted is skipped with its reason.
func (p *plan) configured(m Settings, w work, workspace []planned) error {
	var list []parsedMount
	for _, e := range m.Mounts {
		t, err := ParseMount(e.Value, p.host, w.dir)
		if err != nil {
			return core.Fail(core.CodeMount, fmt.Errorf("mount %q (%s): %w", e.Value, e.From, err),
				fmt.Sprintf("The mount %q (%s) is not valid: %v.", e.Value, e.From, err),
				"Correct it in the settings; the form is host:container[:mode].")
		}
		if i := slices.IndexFunc(list, func(o parsedMount) bool { return o.Target == t.Target }); i >= 0 {
			return core.Fail(core.CodeMount, nil,
				fmt.Sprintf("The mounts %q (%s) and %q (%s) have the same container path.", list[i].text, list[i].from, e.Value, e.From),
				"Keep one of them.")
		}
		list = append(list, parsedMount{e.Value, e.From, t})
	}
	p.writers = p.written(m, w, workspace, list)
	list = slices.DeleteFunc(list, func(c parsedMount) bool {
		reason := p.refusal(c, workspace)
		if reason != "" {
			p.skip(c.text, reason)
		}
		return reason != ""
	})
	for _, c := range list {
		switch {
		case slices.ContainsFunc(list, func(o parsedMount) bool { return o.Volume && o.Target != c.Target && inside(o.Target, c.Target) }):
			p.skip(c.text, "Refused: it would lie inside a volume.")
		case c.Volume:
			p.volume(c)
		default:
			p.hostMount(c, w)
		}
	}
	return nil
}

// written are the folders of the host, as they were named, that the agent will be
// able to write.
func (p *plan) written(m Settings, w work, workspace []planned, list []parsedMount) (dirs []string) {
	for _, o := range workspace {
		if !o.ReadOnly {
			dirs = append(dirs, o.written)
		}
	}
	for _, c := range list {
		if !c.Volume && !c.ReadOnly {
			dirs = append(dirs, c.Source)
		}
	}
	if m.Access.Value != AccessRO {
		for _, e := range m.ExtraDirs {
			if dir, err := expandHost(e.Value, p.host, w.dir); err == nil {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}

// ledOut reports whether a host path lies in a folder that the agent writes, by
// its name, and somewhere else in truth. The agent, or one before it, may have
// put the link there, and would choose what is mounted next time.
func (p *plan) ledOut(source string) bool {
	s, real := p.host.style(), p.host.resolved(source)
	return slices.ContainsFunc(p.writers, func(dir string) bool {
		return dir != source && s.within(dir, source) && !s.within(p.host.resolved(dir), real)
	})
}

const ledOutReason = "Refused: a link leads out of a folder that agents write, and they could let it lead anywhere. Name the place itself."

// refusal says why a mount cannot land at its target, or "". Nothing is mounted into a
// volume: its content cannot be looked at from here, and a link that an agent left there
// would move the mount.
func (p *plan) refusal(c parsedMount, workspace []planned) string {
	if reason := checkTarget(c.Target, p.home); reason != "" {
		return "Refused: " + reason + "."
	}
	if c.Volume && reservedVolume(c.Source) {
		return "Refused: volumes of this name belong to Loop."
	}
	for _, own := range []string{workTarget(p.settings, p.host, work{}), OriginalDir} {
		if p.settings.Layout.Value == LayoutWorkspace && inside(own, c.Target) {
			return "Refused: the container path " + quote(own) + " is the agent's folder."
		}
	}
	for _, o := range workspace {
		switch {
		case o.Target == c.Target:
			return "The work directory is mounted there already."
		case c.Volume && inside(c.Target, o.Target):
			return "Refused: the work directory would lie inside the volume."
		}
	}
	return ""
}

func (p *plan) volume(c parsedMount) {
	m := core.Mount{Kind: core.MountVolume, Source: c.Source, Target: c.Target, Volume: true, ReadOnly: c.ReadOnly, NoCopy: c.NoCopy}
	p.add(planned{Mount: m}, c.from)
	if !c.ReadOnly {
		p.chown = append(p.chown, c.Target)
	}
}

func reservedVolume(name string) bool {
	return slices.ContainsFunc([]string{GuestVolumePrefix, "loop-bind-", "loop-chrome-profile-"},
		func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

func (p *plan) hostMount(c parsedMount, w work) {
	s := p.host.style()
	f := p.host.fact(c.Source)
	v := p.host.checkSource(c.Source)
	own := w.isDefault && s.within(w.dir, c.Source)
	switch {
	case v.refuse != "" && !own:
		p.skip(c.text, "Refused: "+v.refuse+".")
		return
	case p.ledOut(c.Source):
		p.skip(c.text, ledOutReason)
		return
	case p.outside(p.settings, c.Source, c.from) != "":
		p.skip(c.text, p.outside(p.settings, c.Source, c.from))
		return
	case f.Kind == PathMissing:
		p.skip(c.text, "The host path "+quote(c.Source)+" does not exist.")
		return
	case f.Kind == PathDenied:
		p.skip(c.text, "The host path "+quote(c.Source)+" cannot be looked at: "+f.Error+".")
		return
	case f.Kind == PathSocket:
		p.skip(c.text, "Refused: a socket of this computer would reach past the container.")
		return
	case f.Kind == PathOther:
		p.skip(c.text, "Refused: it is neither a file nor a folder.")
		return
	}
	m := core.Mount{Kind: core.MountExtra, Source: f.Target, Target: c.Target, ReadOnly: c.ReadOnly}
	if v.credential {
		m.Kind = core.MountCredential
	}
	if v.forceRO && !m.ReadOnly {
		m.ReadOnly = true
		why := "it belongs to the operating system"
		if v.credential {
			why = "it holds credentials"
		}
		p.ex.notice("The mount " + quote(c.text) + " is read-only inside, because " + why + ".")
	}
	if !m.ReadOnly && s.within(m.Source, p.host.resolved(p.host.LoopHome)) {
		p.skip(c.text, "Refused: it contains Loop's own folder. It can be mounted read-only (:ro).")
		return
	}
	if c.Relabel != "" {
		p.ex.notice("The mode " + c.Relabel + " of the mount " + quote(c.text) +
			" has no effect: Loop does not change SELinux labels of host files.")
	}
	p.add(planned{Mount: m, written: c.Source}, c.from)
	if m.ReadOnly {
		p.coverLoopHome(m)
	}
}
