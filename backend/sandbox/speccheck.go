package sandbox

import (
	"cmp"
	"fmt"
	"net"
	"path"
	"regexp"
	"slices"
	"strings"

	"loop/backend/core"
	"loop/backend/wire"
)

// Validate checks the rules that no spec may break, wherever it comes from. It
// runs immediately before a container is made and shares no state with
// Resolve: it reads the spec as a stranger would. It looks at paths as far as the
// host can. The error is a *core.Failure and lists every broken rule.
func Validate(spec core.Spec, host Host) error {
	c := &checker{spec: spec, host: host, s: host.style()}
	c.identity()
	c.byType()
	c.hardening()
	c.env()
	c.mounts()
	c.copies()
	c.plan()
	c.setup()
	c.places()
	if len(c.bad) == 0 {
		return nil
	}
	return core.Fail(core.CodeInvalid, fmt.Errorf("validate spec %s: %s", spec.Name, strings.Join(c.bad, "; ")),
		"The container was not made, because its description breaks a safety rule: "+c.bad[0]+".",
		"Look at the settings of the channel; “loop explain” shows where each part comes from.")
}

type checker struct {
	spec core.Spec
	host Host
	s    pathStyle
	bad  []string
}

func (c *checker) must(ok bool, format string, args ...any) {
	if !ok {
		c.bad = append(c.bad, fmt.Sprintf(format, args...))
	}
}

func (c *checker) identity() {
	sp := c.spec
	c.must(channelPattern.MatchString(string(sp.ChannelID)), "the channel id %q is not valid", sp.ChannelID)
	c.must(sp.Image != "" && plainText(sp.Image) == nil, "the image is missing")
	c.must(slices.Equal(sp.Entrypoint, []string{GuestBin, "init"}), "the entrypoint is not loop init")
	c.must(len(sp.Hash) == 64 && len(sp.Fixed) == 64, "the hash is missing")
	shared := sp.RunID == "" && !sp.Plan && fits(sp.Scope, sp.ChannelID)
	c.must(sp.Scope == "" || shared, "the scope %q does not fit", sp.Scope)
	want := map[string]string{
		core.LabelApp: core.LabelAppName, core.LabelType: string(sp.Type), core.LabelChannel: string(sp.ChannelID),
		core.LabelHash: sp.Hash, core.LabelSpec: core.SpecVersion, core.LabelScope: cmp.Or(sp.Scope, ScopeRun),
	}
	for _, k := range sortedKeys(want) {
		c.must(sp.Labels[k] == want[k] && want[k] != "", "the label %s is missing or wrong", k)
	}
	c.must(sp.Labels[core.LabelInstall] != "", "the label %s is missing", core.LabelInstall)
}

func (c *checker) hardening() {
	sp := c.spec
	c.must(sp.User == "0:0", "the first process is not started as 0:0")
	c.must(slices.Equal(sp.CapDrop, capDrop), "not every capability is dropped")
	for _, cap := range sp.CapAdd {
		of := slices.Contains(capAdd, cap) || sp.Setup.Command != "" && slices.Contains(setupCaps, cap)
		c.must(of, "the capability %s is not one that may be added", cap)
	}
	c.must(sp.NoNewPrivileges, "no-new-privileges is off")
	c.must(sp.Agent.UID >= 0 && sp.Agent.UID != SupervisorID && sp.Agent.GID >= 0, "the agent's ids are not valid")
	c.must(sp.Agent.Name != "" && sp.Agent.Name != SupervisorName, "the agent has no name")
	c.must(sp.Limits.MemoryBytes > 0 && sp.Limits.CPUs > 0 && sp.Limits.Pids > 0, "a limit is missing")
	c.must(networkName.MatchString(sp.Network) && sp.Network != "host", "the network %q is not allowed", sp.Network)
	for _, h := range sp.ExtraHosts {
		c.must((h == hostGateway || ParseExtraHost(h) == nil) && sp.Network != "none", "the extra host %q is not allowed", h)
	}
	for _, a := range sp.DNS {
		c.must(net.ParseIP(a) != nil && sp.Network != "none", "the name server %q is not allowed", a)
	}
	c.must(!unconfined(sp.AppArmor) && !unconfined(sp.Seccomp), "a profile switches protection off")
	c.must(sp.AppArmor == "" || profileName.MatchString(sp.AppArmor), "the AppArmor profile %q is not a name", sp.AppArmor)
	c.must(sp.Limits.SwapBytes == 0 || sp.Limits.SwapBytes >= sp.Limits.MemoryBytes, "the swap limit is below the memory limit")
	c.must(sp.StopGraceSec == stopGraceSec, "the stop grace is %d seconds", sp.StopGraceSec)
}

var profileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$`)

// unconfined reports whether a profile is the word for none, however it is written.
func unconfined(profile string) bool {
	return strings.EqualFold(strings.Trim(profile, "\"' \t\r\n"), "unconfined")
}

func (c *checker) env() {
	last := ""
	for i, e := range c.spec.Env {
		c.must(envName.MatchString(e.Name), "the variable name %q is not valid", e.Name)
		c.must(i == 0 || e.Name > last, "the variables are not sorted or one is there twice")
		last = e.Name
		c.must(!e.Secret && modelNames[e.Name] == "" && (e.Lane == LaneApp || !core.NamesSecret(e.Name)),
			"the variable %s is a credential", e.Name)
		// What the settings and the channel add goes with each program.
		c.must(e.Lane == LaneApp || e.Lane == LaneInherited && e.Name == "TZ", "the variable %s is not Loop's own", e.Name)
		c.must(e.Name != "CHANNEL_ID" && e.Name != "LOOP_CHANNEL_ID", "the variable %s belongs to the programs of a channel", e.Name)
		c.must(!strings.ContainsRune(e.Value, 0), "the variable %s contains a NUL byte", e.Name)
	}
}

func (c *checker) mounts() {
	targets := map[string]bool{}
	target := func(t string) {
		c.must(plainText(t) == nil && path.IsAbs(t) && path.Clean(t) == t, "the container path %q is not absolute and clean", t)
		c.must(!targets[t], "two mounts share the container path %q", t)
		targets[t] = true
	}
	guest, spool, workspace := false, false, false
	for _, m := range c.spec.Mounts {
		target(m.Target)
		outer := outerMount(m, c.spec.Mounts)
		c.must(outer == nil || !outer.Volume, "the mount at %q lies inside a volume", m.Target)
		switch {
		case m.Kind == core.MountSystem:
			c.systemMount(m)
			guest = guest || m.Target == GuestDir
		case m.Kind == core.MountState:
			c.stateMount(m)
			spool = spool || m.Target == GuestSpoolDir
		case m.Target == ProfileDir && c.spec.Type == core.TypeChrome:
			own := ProfileVolume(c.spec.ChannelID, c.spec.Labels[core.LabelInstall])
			c.must(m.Volume && m.Source == own && !m.ReadOnly, "the profile does not come from the channel's volume")
		case m.Volume:
			c.must(m.Kind == core.MountVolume && volumeName.MatchString(m.Source) && !reservedVolume(m.Source),
				"the volume %q is not allowed", m.Source)
			c.openTarget(m)
		default:
			c.hostMount(m)
			workspace = workspace || inside(m.Target, c.spec.WorkDir)
		}
	}
	c.must(guest, "the guest program is not mounted")
	shows := typeRules[c.spec.Type].workspace
	c.must(spool == shows, "the spool of a %s container is mounted: %v", c.spec.Type, spool)
	c.must(workspace || !shows, "no mount shows the work directory")
	run := false
	for _, t := range c.spec.Tmpfs {
		target(t.Target)
		run = run || t.Target == GuestRunDir
		if !slices.ContainsFunc(tmpfsFor(0), func(o core.Tmpfs) bool { return o.Target == t.Target }) && t.Options != coverOptions {
			own, err := ParseTmpfs(t.Target + ":" + t.Options)
			c.must(err == nil && own == t && checkTarget(t.Target, c.spec.Agent.Home) == "", "the tmpfs at %q is not one that may be", t.Target)
		}
	}
	c.must(run, "there is no tmpfs at %s", GuestRunDir)
}

// copies are written by Loop itself, as the person, so they must not leave the
// channel's state, and must not bring what could not be mounted.
func (c *checker) copies() {
	home := c.spec.Agent.Home
	seen := map[string]bool{}
	for _, f := range c.spec.Copies {
		c.must(plainText(f.Target) == nil && path.Clean(f.Target) == f.Target, "the container path %q is not clean", f.Target)
		why := copyPlace(f.Target, home, c.spec.Mounts)
		c.must(why == "", "no copy can lie at %q: %s", f.Target, why)
		c.must(!seen[f.Target], "two copies share the container path %q", f.Target)
		seen[f.Target] = true
		if !c.s.abs(f.Source) || c.s.clean(f.Source) != f.Source || plainText(f.Source) != nil {
			c.must(false, "the file %q to copy is not an absolute and clean path", f.Source)
			continue
		}
		v := c.host.checkSource(f.Source)
		c.must(v.refuse == "", "%q may not be copied: %s", f.Source, v.refuse)
	}
}

// plan: where a run plans first, no mount but the channel's state can be written,
// and what can be written does not lead to anything else that is mounted.
func (c *checker) plan() {
	for _, m := range c.spec.Mounts {
		switch {
		case !c.spec.Plan:
		case m.Kind != core.MountState:
			c.must(m.ReadOnly, "the mount at %q is writable, though the run plans first", m.Target)
		default:
			for _, o := range c.spec.Mounts {
				below := c.s.within(m.Source, o.Source) || c.s.within(c.host.resolved(m.Source), o.Source)
				c.must(o.Volume || o.Kind == core.MountState || !below,
					"the mount at %q can be written by way of %q, though the run plans first", o.Target, m.Target)
			}
		}
	}
}

func (c *checker) systemMount(m core.Mount) {
	c.must(m.ReadOnly, "the system mount at %q is writable", m.Target)
	switch m.Target {
	case GuestDir:
		c.must(m.Volume && strings.HasPrefix(m.Source, GuestVolumePrefix), "the guest program does not come from its volume")
	case "/etc/passwd", "/etc/group":
		own := c.s.join(c.host.LoopHome, "run", "etc", path.Base(m.Target))
		c.must(!m.Volume && m.Source == own, "%s does not come from Loop's folder", m.Target)
	case wire.SetupDir:
		c.must(!m.Volume && m.Source == c.spec.Setup.Dir, "the folder of the set-up is not mounted from where it lies")
	default:
		c.must(false, "there is no system mount at %q", m.Target)
	}
}

func (c *checker) stateMount(m core.Mount) {
	home := c.spec.Agent.Home
	var of stateMount
	for _, s := range stateMounts(home) {
		if s.target == m.Target {
			of = s
		}
	}
	owner := of.owner(c.spec.ChannelID, cmp.Or(c.spec.StateID, c.spec.ChannelID))
	want := stateDir(c.s, c.host.LoopHome, owner, of.name)
	c.must(of.name != "" && !m.Volume && m.Source == want, "the state mount at %q is not this channel's", m.Target)
	real := stateDir(c.s, c.host.resolved(c.host.LoopHome), owner, of.name)
	c.must(c.s.same(c.host.resolved(want), real), "the state folder %q is a link", want)
}

func (c *checker) openTarget(m core.Mount) {
	why := checkTarget(m.Target, c.spec.Agent.Home)
	c.must(why == "", "%s", why)
}

func (c *checker) hostMount(m core.Mount) {
	switch m.Kind {
	case core.MountWorkspace, core.MountExtra, core.MountSurface, core.MountCredential:
	default:
		c.must(false, "the mount at %q has the kind %q", m.Target, m.Kind)
	}
	if !c.s.abs(m.Source) || c.s.clean(m.Source) != m.Source || plainText(m.Source) != nil {
		c.must(false, "the host path %q is not absolute and clean", m.Source)
		return
	}
	if m.Kind != core.MountSurface || !c.belowProject(m) {
		c.openTarget(m)
	}
	if c.ownWork(m.Source) {
		return
	}
	v := c.host.checkSource(m.Source)
	c.must(v.refuse == "", "%q may not be mounted: %s", m.Source, v.refuse)
	c.must(m.ReadOnly || !v.forceRO, "%q may only be mounted read-only", m.Source)
	c.must(m.ReadOnly || m.Kind != core.MountCredential && m.Kind != core.MountSurface, "the %s mount at %q is writable", m.Kind, m.Target)
	for _, loopHome := range []string{c.host.LoopHome, c.host.resolved(c.host.LoopHome)} {
		rel, contains := c.s.rel(m.Source, loopHome)
		if !contains {
			continue
		}
		cover := core.Tmpfs{Target: path.Join(m.Target, rel), Options: coverOptions}
		c.must(m.ReadOnly && slices.Contains(c.spec.Tmpfs, cover), "%q contains Loop's own folder", m.Source)
	}
}

// belowProject reports whether m lies inside a workspace mount, where Loop
// itself lays read-only binds.
func (c *checker) belowProject(m core.Mount) bool {
	return slices.ContainsFunc(c.spec.Mounts, func(o core.Mount) bool {
		return o.Kind == core.MountWorkspace && o.Target != m.Target && inside(o.Target, m.Target)
	})
}

// ownWork reports whether a source is a channel's default work directory. Any
// channel's may be one: a thread works in its parent's. They hold nothing but
// what agents wrote there.
func (c *checker) ownWork(src string) bool {
	for _, loopHome := range []string{c.host.LoopHome, c.host.resolved(c.host.LoopHome)} {
		rel, ok := c.s.rel(loopHome, src)
		if !ok {
			continue
		}
		parts := strings.Split(rel, "/")
		if len(parts) >= 3 && parts[0] == "channels" && channelPattern.MatchString(parts[1]) && parts[2] == "work" {
			return true
		}
		if src == c.spec.Seed.Copy && rel == "channels/"+string(c.spec.ChannelID)+"/"+copyFolder {
			return true
		}
	}
	return false
}
