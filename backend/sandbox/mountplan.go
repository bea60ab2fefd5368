package sandbox

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"loop/backend/core"
)

// planned is a mount with the host path as it was written; core.Mount.Source has
// its links followed, so that a link swapped between now
// and the start of the container changes nothing.
type planned struct {
	core.Mount
	written string
	project bool // a directory the agent works in
	from    core.SettingsOrigin
	held    bool // read-only because the run plans first
}

// plan collects the mounts of one spec.
type plan struct {
	host  Host
	sub   Subject
	scope scope
	home  string // in the container
	// settings are those that the plan is made by.
	settings Settings
	mounts   []planned
	covers   []core.Tmpfs
	chown    []string
	addDirs  []string
	seed     core.WorkspaceSeed
	dirs     []string // in the container, in which agents work, where channels share it
	roots    []string // host paths of the projects among the mounts
	copies   []core.FileCopy
	writers  []string // host paths that the agent will be able to write, as they were named
	ex       *explainer
}

func (p *plan) taken(target string) *planned {
	for i := range p.mounts {
		if p.mounts[i].Target == target {
			return &p.mounts[i]
		}
	}
	return nil
}

// inVolume reports whether a container path lies in a volume of the settings.
func (p *plan) inVolume(target string) bool {
	return slices.ContainsFunc(p.mounts, func(o planned) bool { return o.Volume && inside(o.Target, target) })
}

func (p *plan) add(m planned, from core.SettingsOrigin) {
	m.from = from
	p.mounts = append(p.mounts, m)
}

func (p *plan) explain() {
	for _, m := range p.mounts {
		mode := "rw"
		switch {
		case m.held:
			mode = "ro (plan)"
		case m.ReadOnly:
			mode = "ro"
		}
		p.ex.set("mounts["+m.Target+"]", m.Source+" "+mode, m.from)
	}
}

func (p *plan) skip(text, reason string) {
	p.ex.out.Skipped = append(p.ex.out.Skipped, core.SkippedMount{Text: text, Reason: reason})
}

func planMounts(m Settings, sub Subject, sc scope, host Host, w work, ex *explainer) (*plan, error) {
	p := &plan{host: host, sub: sub, scope: sc, home: ContainerPath(host.OS, host.Home), settings: m, ex: ex}
	p.system()
	p.state()
	own := len(p.mounts)
	readOnly, from := m.Access.Value == AccessRO, m.Access.From
	if sub.Plan {
		from = fromRun
	}
	if err := p.workspace(w, from); err != nil {
		return nil, err
	}
	p.others(m, w, readOnly)
	workspace := slices.Clone(p.mounts[own:])
	// The seed's order is configured mounts, git excludes, then the work
	// directory; the work directory is planned first because it has the
	// stronger claim to its target.
	p.mounts = p.mounts[:own]
	if err := p.configured(m, w, workspace); err != nil {
		return nil, err
	}
	p.gitExcludes(workspace)
	p.mounts = append(p.mounts, workspace...)
	p.extraDirs(m, w, readOnly)
	p.protectProjects()
	p.copyFiles(m)
	if err := p.checkMountpoints(); err != nil {
		return nil, err
	}
	if sub.Plan {
		if err := p.holdReadOnly(); err != nil {
			return nil, err
		}
	}
	p.explain()
	return p, nil
}

func (p *plan) system() {
	guest := core.Mount{Kind: core.MountSystem, Source: p.sub.GuestVolume, Target: GuestDir, ReadOnly: true, Volume: true, NoCopy: true}
	p.add(planned{Mount: guest}, fromBuiltin)
	s := p.host.style()
	for _, name := range []string{"passwd", "group"} {
		src := s.join(p.host.LoopHome, "run", "etc", name)
		p.add(planned{Mount: core.Mount{Kind: core.MountSystem, Source: src, Target: "/etc/" + name, ReadOnly: true}, written: src}, fromBuiltin)
	}
}

// stateMount is one state folder and its place in the container.
type stateMount struct{ name, target string }

func stateMounts(home string) []stateMount {
	return []stateMount{{"home", home}, {"claude", ClaudeDir}, {"spool", GuestSpoolDir}}
}

// owner is the channel that the folder belongs to. Claude's memory is the state
// owner's, which threads share. The home is that of who shares the container: others
// run at the same time, and whoever can write a home that another container is about to
// be given can move the places where its mounts land. So is the output of runs.
func (m stateMount) owner(ch, state core.ChannelID) core.ChannelID {
	if m.name == "claude" {
		return state
	}
	return ch
}

func (p *plan) state() {
	s := p.host.style()
	for _, m := range stateMounts(p.home) {
		src := stateDir(s, p.host.LoopHome, m.owner(p.scope.owner, p.scope.memory), m.name)
		p.add(planned{Mount: core.Mount{Kind: core.MountState, Source: src, Target: m.target}, written: src}, fromBuiltin)
	}
}

// project is one directory under the path it has on the host.
func (p *plan) project(kind core.MountKind, dir string, readOnly bool) planned {
	return planned{Mount: core.Mount{
		Kind: kind, Source: p.host.resolved(dir), Target: ContainerPath(p.host.OS, dir), ReadOnly: readOnly,
	}, written: dir, project: true}
}

// workspace mounts the work directory by the layout and the access. For a worktree inside
// its parent the parent comes instead, and for one outside both, so that git finds the main
// .git.
func (p *plan) workspace(w work, from core.SettingsOrigin) error {
	s, access := p.host.style(), p.settings.Access.Value
	readOnly := access == AccessRO
	p.roots = append(p.roots, w.dir)
	at := workTarget(p.settings, p.host, w)
	if access == AccessNone || readOnly && p.settings.Layout.Value == LayoutWorkspace {
		p.seed = core.WorkspaceSeed{Original: p.host.resolved(w.dir), Copy: stateDir(s, p.host.LoopHome, p.scope.owner, copyFolder)}
		own := core.Mount{Kind: core.MountWorkspace, Source: p.seed.Copy, Target: at, ReadOnly: readOnly}
		p.add(planned{Mount: own, written: own.Source}, from)
		if readOnly {
			original := p.project(core.MountWorkspace, w.dir, true)
			original.Target = OriginalDir
			p.add(original, from)
			p.coverLoopHome(original.Mount)
		}
		return nil
	}
	dirs := []string{w.dir}
	if p.sub.ParentDir != "" {
		parent, err := p.mainWorktree()
		if err != nil {
			return err
		}
		p.roots = append(p.roots, parent)
		switch {
		case s.within(parent, w.dir) && at == ContainerPath(p.host.OS, w.dir):
			dirs = []string{parent}
		case s.within(w.dir, parent):
		default:
			dirs = []string{parent, w.dir}
		}
	}
	for _, d := range dirs {
		m := p.project(core.MountWorkspace, d, readOnly)
		if d == w.dir {
			m.Target = at
		}
		p.add(m, from)
		if readOnly {
			p.coverLoopHome(m.Mount)
		}
	}
	return nil
}

// copyFolder is the state folder with the copy that an agent works in.
const copyFolder = "copy"

// workTarget is where the agent works.
func workTarget(m Settings, host Host, w work) string {
	if m.Layout.Value == LayoutWorkspace {
		return cmp.Or(m.Workdir.Value, WorkspaceDir)
	}
	return ContainerPath(host.OS, w.dir)
}

// mainWorktree is the parent of a worktree, found fit.
func (p *plan) mainWorktree() (string, error) {
	s, parent := p.host.style(), p.sub.ParentDir
	if err := plainText(parent); err != nil || !s.abs(parent) {
		return "", failDir(fmt.Sprintf("The main worktree %q is not a usable path.", parent), "Choose the folder of the parent channel again.")
	}
	parent = s.clean(parent)
	return parent, checkProjectDir("main worktree", parent, ownWorkDir(p.sub, p.host, parent), p.host)
}

// others mounts the folders of the channels that share the container. One that cannot be
// used is left out, and shown: it is its own channel's fault.
func (p *plan) others(m Settings, w work, readOnly bool) {
	from := m.Scope.From
	if p.scope.key != ScopeShared || m.Access.Value == AccessNone {
		return
	}
	s := p.host.style()
	for _, ch := range p.sub.Others {
		own := Subject{Channel: ch, ParentDir: ch.ParentDir}
		ow, err := resolveWorkDir(own, p.host)
		if err == nil && ch.ParentDir != "" {
			err = checkProjectDir("main worktree", s.clean(ch.ParentDir), ownWorkDir(own, p.host, ch.ParentDir), p.host)
		}
		if err != nil {
			p.skip(ch.Dir, core.AsFailure(err).Cause)
			continue
		}
		for _, d := range []string{ch.ParentDir, ow.dir} {
			if d = s.clean(d); d == "" || d == "." || slices.Contains(p.roots, d) {
				continue
			}
			p.roots = append(p.roots, d)
			p.add(p.project(core.MountWorkspace, d, readOnly), from)
		}
		p.dirs = append(p.dirs, ContainerPath(p.host.OS, ow.dir))
	}
	if own := ContainerPath(p.host.OS, w.dir); !slices.Contains(p.dirs, own) {
		p.dirs = append(p.dirs, own)
	}
	slices.Sort(p.dirs)
	// Whoever comes first, the mounts are the same.
	all := slices.Clone(p.mounts)
	p.mounts = slices.DeleteFunc(p.mounts, func(m planned) bool {
		return m.project && slices.ContainsFunc(all, func(o planned) bool {
			return o.project && o.written != m.written && s.within(o.written, m.written)
		})
	})
	first := slices.IndexFunc(p.mounts, func(m planned) bool { return m.project }) // the rest is before them
	slices.SortFunc(p.mounts[first:], func(a, b planned) int { return strings.Compare(a.Target, b.Target) })
	slices.Sort(p.roots)
}

// coverLoopHome hides LOOP_HOME below a read-only mount that contains it.
func (p *plan) coverLoopHome(m core.Mount) {
	rel, ok := p.host.style().rel(m.Source, p.host.resolved(p.host.LoopHome))
	if !ok || rel == "" || m.Volume {
		return
	}
	p.covers = append(p.covers, core.Tmpfs{Target: path.Join(m.Target, rel), Options: coverOptions})
}

// gitExcludes mounts the file that core.excludesFile names, where it is.
func (p *plan) gitExcludes(workspace []planned) {
	file := p.host.GitExcludes
	s := p.host.style()
	if file == "" || !s.abs(file) || plainText(file) != nil {
		return
	}
	file = s.clean(file)
	f := p.host.fact(file)
	target := ContainerPath(p.host.OS, file)
	if f.Kind != PathFile || p.taken(target) != nil ||
		slices.ContainsFunc(workspace, func(m planned) bool { return inside(m.Target, target) }) {
		return
	}
	v := p.host.checkSource(file)
	reason := cmp.Or(v.refuse, when(v.credential, "credentials are kept there"),
		checkTarget(target, p.home), when(p.inVolume(target), "it would lie inside a volume"))
	if reason != "" {
		p.skip(file, "Refused (core.excludesFile of git): "+reason+".")
		return
	}
	p.add(planned{Mount: core.Mount{Kind: core.MountSurface, Source: f.Target, Target: target, ReadOnly: true}, written: file}, fromHost)
}

// extraDirs mounts each extra directory under its own path, unless a project
// mount shows it already; the CLI is told of all of them.
func (p *plan) extraDirs(m Settings, w work, readOnly bool) {
	s := p.host.style()
	var from core.SettingsOrigin // of the last
	for _, e := range m.ExtraDirs {
		text := e.Value
		if err := plainText(text); err != nil {
			p.skip(text, "The extra directory cannot be used: "+err.Error()+".")
			continue
		}
		dir, err := expandHost(text, p.host, w.dir)
		if err != nil {
			p.skip(text, err.Error()+".")
			continue
		}
		if err := checkProjectDir("extra directory", dir, ownWorkDir(p.sub, p.host, dir), p.host); err != nil {
			p.skip(text, core.AsFailure(err).Cause)
			continue
		}
		target := ContainerPath(p.host.OS, dir)
		if dir == w.dir || slices.Contains(p.addDirs, target) {
			continue
		}
		covered := slices.ContainsFunc(p.mounts, func(o planned) bool { return o.project && s.within(o.written, dir) })
		if !covered {
			reason := cmp.Or(when(p.ledOut(dir), ledOutReason),
				when(p.taken(target) != nil, "Another mount has its path inside the container."),
				when(p.inVolume(target), "Refused: it would lie inside a volume."))
			if reason != "" {
				p.skip(text, reason)
				continue
			}
			p.add(p.project(core.MountWorkspace, dir, readOnly), e.From)
		}
		p.roots = append(p.roots, dir)
		p.addDirs, from = append(p.addDirs, target), e.From
	}
	if len(p.addDirs) > 0 {
		p.ex.set("add_dirs", strings.Join(p.addDirs, " "), from)
	}
}

// protectedInside are the parts of a project that act on the host: Loop's own
// project settings, and programs that git runs.
var protectedInside = []string{".loop", ".git/hooks"}

// protectProjects lays read-only binds over them where they exist. A link is
// followed: what it leads to is protected if the agent could write it.
func (p *plan) protectProjects() {
	s := p.host.style()
	for _, m := range slices.Clone(p.mounts) {
		if !m.project || m.ReadOnly {
			continue
		}
		roots := []string{m.written}
		for _, r := range p.roots {
			if s.within(m.written, r) && !slices.Contains(roots, r) {
				roots = append(roots, r)
			}
		}
		for _, root := range roots {
			for _, name := range protectedInside {
				f := p.host.fact(s.join(root, name))
				if f.Kind != PathDir {
					continue
				}
				rel, ok := s.rel(m.Source, f.Target)
				if !ok || rel == "" {
					p.ex.notice(quote(s.join(root, name)) + " is a link that leads out of the project and could not be made read-only for the agent.")
					continue
				}
				target := path.Join(m.Target, rel)
				if p.taken(target) != nil || p.inVolume(target) {
					continue
				}
				surface := core.Mount{Kind: core.MountSurface, Source: f.Target, Target: target, ReadOnly: true}
				p.add(planned{Mount: surface, written: f.Target}, fromBuiltin)
			}
		}
	}
}
