package sandbox

import (
	"cmp"
	"slices"
	"strings"

	"loop/backend/core"
)

// OnHost describes what a run gets on this computer itself, where it has no container: its
// folder, the state folders, and the variables that go with a spawn, beside the person's
// own environment. Of the settings, only variables, proxies and extra folders mean
// something there. Errors are *core.Failure.
func OnHost(m Settings, ch core.Channel, run core.RunID, host Host) (core.Spec, []core.EnvVar, core.Explanation, error) {
	ex := &explainer{}
	host, err := normalHost(host)
	if err != nil {
		return core.Spec{}, nil, ex.out, err
	}
	w, err := resolveWorkDir(Subject{Channel: ch}, host)
	if err != nil {
		return core.Spec{}, nil, ex.out, err
	}
	s := host.style()
	// The CLI names the folder of its conversations after where its folder really is.
	spec := core.Spec{
		Name: "this computer", Type: core.TypeAgent, ChannelID: ch.ID, StateID: ch.StateID, RunID: run, WorkDir: host.resolved(w.dir),
		Agent: core.AgentUser{Name: host.User, UID: host.UID, GID: host.GID, Home: host.Home}, Network: "host",
	}
	for _, sm := range stateMounts(host.Home) {
		src := stateDir(s, host.LoopHome, sm.owner(ch.ID, ch.StateOwner()), sm.name)
		spec.Mounts = append(spec.Mounts, core.Mount{Kind: core.MountState, Source: src, Target: sm.target})
	}
	workFrom := fromChannel
	if w.isDefault {
		workFrom = fromBuiltin
	}
	ex.set("work_dir", spec.WorkDir, workFrom)
	env, err := hostEnv(m, ch, host, ex)
	for _, d := range m.ExtraDirs {
		dir := d.Value
		if rest, ok := strings.CutPrefix(dir, "~/"); ok {
			dir = s.join(host.Home, rest)
		}
		if dir, perr := plainDir(dir, s); perr == nil && host.fact(dir).Kind == PathDir {
			ex.out.AddDirs = append(ex.out.AddDirs, dir)
			ex.set("extra_dirs", dir, d.From)
		}
	}
	if m.Network.Value == "none" {
		ex.notice("container_network is none, which does not hold without a container.")
	}
	if m.Access.Value == AccessRO {
		ex.notice("The settings let the agent only read its folder, which does not hold without a container.")
	}
	return spec, env, ex.out, err
}

// hostEnv are the variables of the settings. What could change how every program starts
// here, a start-up hook say, is left out: a project's file may have named it.
func hostEnv(m Settings, ch core.Channel, host Host, ex *explainer) ([]core.EnvVar, error) {
	l := lanes{vars: map[string]core.EnvVar{}, from: map[string]core.SettingsOrigin{}}
	if err := l.operator(m, host); err != nil {
		return nil, err
	}
	for _, name := range sortedKeys(l.vars) {
		up := strings.ToUpper(name)
		if slices.Contains(hostOnly, up) || slices.ContainsFunc(hostOnlyPrefixes, func(p string) bool { return strings.HasPrefix(up, p) }) {
			delete(l.vars, name)
			l.note("envs[%q] (%s) was left out: without a container it would change how programs of this computer start.", name, l.from[name])
		}
	}
	for i, p := range []Setting[string]{m.HTTPProxy, m.HTTPProxy, m.HTTPSProxy, m.HTTPSProxy} {
		if name := []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"}[i]; p.Value != "" {
			l.set(core.EnvVar{Name: name, Value: p.Value, Lane: LaneOperator, Secret: core.HoldsLogin(p.Value)}, p.From)
		}
	}
	around := strings.Split(cmp.Or(host.Env["NO_PROXY"], host.Env["no_proxy"]), ",")
	for _, n := range m.NoProxy {
		around = append(around, n.Value)
	}
	around = append(around, "localhost", "127.0.0.1", "::1") // where Loop's own listener is
	around = slices.DeleteFunc(around, func(n string) bool { return strings.TrimSpace(n) == "" })
	for _, name := range noProxyNames {
		l.set(core.EnvVar{Name: name, Value: strings.Join(slices.Compact(around), ","), Lane: LaneApp}, fromBuiltin)
	}
	l.channel(Settings{}, ch.ID)
	claude := stateDir(host.style(), host.LoopHome, ch.StateOwner(), "claude")
	l.set(core.EnvVar{Name: "CLAUDE_CONFIG_DIR", Value: claude, Lane: LaneApp}, fromBuiltin)
	var env []core.EnvVar
	for _, name := range sortedKeys(l.vars) {
		v := l.vars[name]
		env = append(env, v)
		if v.Secret {
			ex.set("spawn_env["+name+"]", "hidden", l.from[name])
		} else {
			ex.set("env["+name+"]", v.Value, l.from[name])
		}
	}
	ex.out.Notices = append(ex.out.Notices, l.notices...)
	return env, nil
}
