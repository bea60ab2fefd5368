package sandbox

import "slices"

// Probes names the host paths whose facts Resolve and Validate need. host has
// all its fields but Paths. Settings that cannot be read are passed over here
// and reported by Resolve.
func Probes(layers []Layer, sub Subject, host Host) []string {
	s := host.style()
	if host.LoopHome == "" {
		host.LoopHome = sub.LoopHome
	}
	if !s.abs(host.Home) || !s.abs(host.LoopHome) || !channelPattern.MatchString(string(sub.Channel.ID)) || !channelPattern.MatchString(string(sub.Channel.StateOwner())) {
		return nil
	}
	host.Home, host.LoopHome = s.clean(host.Home), s.clean(host.LoopHome)
	seen := map[string]bool{}
	add := func(p string) {
		if p != "" && s.abs(p) && plainText(p) == nil {
			seen[s.clean(p)] = true
		}
	}
	home := ContainerPath(host.OS, host.Home)
	state := stateDir(s, host.LoopHome, sub.Channel.ID, "home")
	outers := []struct{ target, source string }{
		{home, state},
		{home + "/.claude", stateDir(s, host.LoopHome, sub.Channel.StateOwner(), "claude")},
	}
	var targets []string
	project := func(dir string) {
		if dir == "" || !s.abs(dir) {
			return
		}
		dir = s.clean(dir)
		add(dir)
		for _, name := range protectedInside {
			add(s.join(dir, name))
		}
		t := ContainerPath(host.OS, dir)
		targets = append(targets, t)
		outers = append(outers, struct{ target, source string }{t, dir})
	}

	add(host.Home)
	add(host.LoopHome)
	for _, m := range stateMounts(home) {
		add(stateDir(s, host.LoopHome, m.owner(sub.Channel.ID, sub.Channel.StateOwner()), m.name))
	}
	dir := sub.Channel.Dir
	if dir == "" {
		dir = stateDir(s, host.LoopHome, sub.Channel.ID, "work")
	}
	project(dir)
	project(sub.ParentDir)
	add(host.GitExcludes)
	if s.abs(host.GitExcludes) {
		targets = append(targets, ContainerPath(host.OS, host.GitExcludes))
	}
	if m, err := mergeLayers(layers); err == nil {
		extra := m.extraDirs.value
		if sub.ExtraDirs != nil {
			extra = sub.ExtraDirs
		}
		for _, text := range extra {
			if text == "" {
				continue
			}
			if p, err := expandHost(text, host, dir); err == nil {
				project(p)
			}
		}
		copies, _ := m.copyList()
		for _, text := range copies {
			if p, err := expandHost(text, host, ""); err == nil {
				add(p)
			}
		}
		for _, e := range m.mounts {
			t, err := ParseMount(e.text, host, dir)
			if err != nil {
				continue
			}
			targets = append(targets, t.Target)
			if !t.Volume {
				add(t.Source)
				outers = append(outers, struct{ target, source string }{t.Target, t.Source})
			}
		}
	}
	for _, t := range append(targets, home+"/.claude") {
		for _, o := range outers {
			if t != o.target && inside(o.target, t) {
				add(s.join(o.source, relTarget(o.target, t)))
			}
		}
	}
	out := sortedKeys(seen)
	return slices.Clip(out)
}
