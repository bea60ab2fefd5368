package sandbox

import (
	"fmt"
	"slices"
	"strings"

	"loop/backend/core"
)

// maxCopies bounds the list: every channel has copies of its own, and they are
// looked at before each run.
const maxCopies = 50

// copyFiles plans the copies of host files that the container gets as its own.
// The root of a container is read-only, so a copy can only lie in its home or
// in Claude's folder, which are state of the channel; the caller puts it there
// on the host. What cannot be copied is shown as skipped.
func (p *plan) copyFiles(m Settings) {
	n := min(len(m.CopyFiles), maxCopies)
	list, rest := m.CopyFiles[:n], m.CopyFiles[n:]
	if len(rest) > 0 {
		p.skip(rest[0].Value, fmt.Sprintf("At most %d files are copied; this one and %d more are too many.", maxCopies, len(rest)-1))
	}
	for _, e := range list {
		c, reason := p.copyFile(e.Value)
		if reason != "" {
			p.skip(e.Value, reason)
			continue
		}
		if slices.ContainsFunc(p.copies, func(o core.FileCopy) bool { return o.Target == c.Target }) {
			continue
		}
		p.copies = append(p.copies, c)
		p.ex.set("copies["+c.Target+"]", c.Source, e.From)
	}
}

func (p *plan) copyFile(text string) (c core.FileCopy, skipped string) {
	if text == "" {
		return c, "The file to copy has no name."
	}
	if err := plainText(text); err != nil {
		return c, "The file cannot be copied: " + err.Error() + "."
	}
	source, err := expandHost(text, p.host, "")
	if err != nil {
		return c, err.Error() + "."
	}
	c = core.FileCopy{Source: p.host.resolved(source), Target: claudePath(ContainerPath(p.host.OS, source), p.home)}
	if reason := copyPlace(c.Target, p.home, p.bare()); reason != "" {
		return c, reason
	}
	v := p.host.checkSource(source)
	if v.refuse != "" {
		return c, "Refused: " + v.refuse + "."
	}
	switch f := p.host.fact(source); f.Kind {
	case PathFile:
	case PathMissing:
		return c, "The file does not exist."
	case PathDenied:
		return c, "The file cannot be looked at: " + f.Error + "."
	case PathDir:
		return c, "It is a folder; a folder can be mounted."
	default:
		return c, "Refused: it is not an ordinary file."
	}
	// What an agent can write it could replace by a link to something else.
	s := p.host.style()
	if slices.ContainsFunc(p.mounts, func(o planned) bool {
		return !o.Volume && !o.ReadOnly && (s.within(o.Source, c.Source) || o.written != "" && s.within(o.written, source))
	}) {
		return c, "Refused: it lies in a folder that agents write."
	}
	if v.credential {
		p.ex.notice("The copy of " + quote(text) + " holds credentials; it stays in the channel's own folder.")
	}
	return c, ""
}

// copyPlace says why no copy can lie at a container path, or "".
func copyPlace(target, home string, mounts []core.Mount) string {
	if !strings.HasPrefix(target, home+"/") && !strings.HasPrefix(target, ClaudeDir+"/") {
		return "Only files below your home directory can be copied, because the rest of a container is read-only. Mount it instead."
	}
	for _, o := range mounts {
		if o.Target == target {
			return "A mount has its path inside the container."
		}
		if inside(target, o.Target) {
			return "A mount lies below its path inside the container."
		}
	}
	outer := outerMount(core.Mount{Target: target}, mounts)
	if outer == nil || outer.Kind != core.MountState {
		return "It would lie inside another mount."
	}
	if target == home+"/.claude.json" || target == ClaudeDir+"/.claude.json" {
		return "Each channel has a .claude.json of its own, which the agent CLI writes."
	}
	if inside(home+"/.claude", target) || inside(ClaudeDir+"/projects", target) {
		return "Claude's transcripts are the channel's own."
	}
	return ""
}
