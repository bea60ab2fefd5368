package sandbox

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"loop/backend/core"
)

// explainer collects origins while the spec is made.
type explainer struct{ out core.Explanation }

func (e *explainer) set(field, value string, from core.SettingsOrigin) {
	o := core.FieldOrigin{Field: field, Value: value, Layer: from.Layer, Path: from.Path, Line: from.Line}
	e.out.Origins = append(e.out.Origins, o)
}

func (e *explainer) notice(text string) { e.out.Notices = append(e.out.Notices, text) }

// Resolve makes the complete spec of one container from merged settings. The same
// arguments give the same result, as far as host.Look does.
// Validate is for whoever makes the container. Errors are *core.Failure.
func Resolve(settings Settings, sub Subject, host Host) (core.Spec, core.Explanation, error) {
	ex := &explainer{}
	spec, err := resolve(settings, sub, host, ex)
	return spec, ex.out, err
}

func resolve(m Settings, sub Subject, host Host, ex *explainer) (core.Spec, error) {
	var spec core.Spec
	host, err := normalHost(host)
	if err != nil {
		return spec, err
	}
	if err := checkSubject(sub); err != nil {
		return spec, err
	}
	if err := checkNetwork(m.Network, sub.ModelOnRelay); err != nil {
		return spec, err
	}
	w, err := resolveWorkDir(sub, host)
	if err != nil {
		return spec, err
	}
	limits := resolveLimits(m, host, ex)
	p, err := planMounts(m, sub, host, w, ex)
	if err != nil {
		return spec, err
	}
	if sub.Plan { // not before: the plan of the mounts goes by what other runs may write
		m.Access = Setting[string]{AccessRO, fromRun}
	}
	agent := host.agentUser(p.home)
	if agent.UID == SupervisorID {
		return spec, core.Fail(core.CodeInvalid, nil,
			fmt.Sprintf("This user has uid %d, which Loop keeps for its supervisor inside containers.", SupervisorID),
			"Run Loop as another user.")
	}

	nameDir := w.dir
	if w.isDefault {
		nameDir = ""
	}
	scope, suffix := scopeOf(m, sub), sub.NameSuffix
	if scope != "" {
		sub.RunID, suffix = "", scopeSuffix(sub.InstallID, scope)
		if m.Scope.Value == ScopeSession {
			sub.Type = core.TypeAgent // whoever comes first
		}
	}
	spec = core.Spec{
		Name:            containerName(host.style(), nameDir, sub.Channel.ID, suffix),
		Type:            sub.Type,
		ChannelID:       sub.Channel.ID,
		StateID:         sub.Channel.StateID,
		RunID:           sub.RunID,
		Plan:            sub.Plan,
		Scope:           scope,
		Image:           sub.Image,
		Entrypoint:      []string{GuestBin, "init"},
		Tmpfs:           tmpfs(limits, p),
		WorkDir:         ContainerPath(host.OS, w.dir),
		User:            "0:0",
		Agent:           agent,
		Limits:          limits,
		ShmBytes:        typeRules[sub.Type].shm,
		CapDrop:         slices.Clone(capDrop),
		CapAdd:          slices.Clone(capAdd),
		NoNewPrivileges: true,
		ReadOnlyRoot:    true,
		Network:         m.Network.Value,
		StopGraceSec:    stopGraceSec,
	}
	for _, pm := range p.mounts {
		spec.Mounts = append(spec.Mounts, pm.Mount)
	}
	spec.Copies = p.copies
	if spec.Network != "none" {
		spec.ExtraHosts = []string{"host.docker.internal:host-gateway"}
	}
	if spec.Env, err = resolveEnv(m, sub, host, agent, p.chown, ex); err != nil {
		return core.Spec{}, err
	}
	spec.Hash = Hash(spec, sub.ImageID, strings.TrimPrefix(sub.GuestVolume, GuestVolumePrefix), m.Access.Value)
	spec.Fixed = fixed(spec)
	spec.Labels = labels(spec, sub)
	explainRest(ex, spec, m, w)
	ex.out.AddDirs = p.addDirs
	return spec, nil
}

// normalHost checks the facts that everything else leans on.
func normalHost(host Host) (Host, error) {
	s := host.style()
	for _, d := range []struct{ what, path string }{{"home directory", host.Home}, {"Loop folder", host.LoopHome}} {
		err := plainText(d.path)
		if err != nil || !s.abs(d.path) || s.isRoot(s.clean(d.path)) || strings.Contains(ContainerPath(host.OS, d.path), ":") {
			return host, core.Fail(core.CodeInvalid, err, fmt.Sprintf("The %s %q cannot be used.", d.what, d.path),
				"Check the variables HOME and LOOP_HOME: each must be an absolute path, not the top of the file system, "+
					"without colons or control characters.")
		}
	}
	host.Home, host.LoopHome = s.clean(host.Home), s.clean(host.LoopHome)
	if host.EngineOS != "" && host.EngineOS != "linux" {
		return host, core.Fail(core.CodeInvalid, nil, "The container engine runs "+host.EngineOS+" containers; Loop's are Linux containers.",
			"Switch the engine to Linux containers.")
	}
	switch host.EngineArch {
	case "", "amd64", "arm64", "x86_64", "aarch64":
	default:
		return host, core.Fail(core.CodeInvalid, nil, "The container engine's processor type "+quote(host.EngineArch)+" is not supported.",
			"Use an engine on amd64 or arm64.")
	}
	return host, nil
}

func checkSubject(sub Subject) error {
	bad := func(what string) error {
		return core.Fail(core.CodeInternal, nil, "The container's "+what+" is missing or not valid.", "")
	}
	switch {
	case !channelPattern.MatchString(string(sub.Channel.StateOwner())):
		return bad("state")
	case !channelPattern.MatchString(string(sub.Channel.ID)):
		return core.Fail(core.CodeInvalid, nil, fmt.Sprintf("The channel id %q is not valid.", sub.Channel.ID),
			"Use letters, digits, “-” and “_”.")
	case sub.ImageID == "":
		return bad("image id")
	case !strings.HasPrefix(sub.GuestVolume, GuestVolumePrefix) || !volumeName.MatchString(sub.GuestVolume):
		return bad("guest volume")
	}
	if _, known := typeRules[sub.Type]; !known {
		return bad("type")
	}
	return nil
}

// tmpfs are the standing ones, less those that a mount replaces, and the covers.
func tmpfs(l core.Limits, p *plan) []core.Tmpfs {
	out := slices.DeleteFunc(tmpfsFor(l.MemoryBytes), func(t core.Tmpfs) bool { return p.taken(t.Target) != nil })
	for _, c := range p.covers {
		if !slices.ContainsFunc(out, func(t core.Tmpfs) bool { return t.Target == c.Target }) {
			out = append(out, c)
		}
	}
	return out
}

// labels stamp everything by which the container is found again.
func labels(spec core.Spec, sub Subject) map[string]string {
	l := map[string]string{
		core.LabelApp:     core.LabelAppName,
		core.LabelType:    string(spec.Type),
		core.LabelChannel: string(spec.ChannelID),
		core.LabelInstall: sub.InstallID,
		core.LabelScope:   cmp.Or(spec.Scope, ScopeRun),
		core.LabelHash:    spec.Hash,
		core.LabelSpec:    core.SpecVersion,
	}
	if spec.RunID != "" {
		l[core.LabelRun] = string(spec.RunID)
	}
	return l
}

func explainRest(ex *explainer, spec core.Spec, m Settings, w work) {
	workFrom := fromChannel
	if w.isDefault {
		workFrom = fromBuiltin
	}
	preset := "job"
	if spec.Scope != "" {
		preset = "exec"
	}
	ex.set("preset", preset, m.Scope.From)
	ex.set("scope", cmp.Or(spec.Scope, ScopeRun), m.Scope.From)
	ex.set("layout", "mirror", fromBuiltin)
	ex.set("access", m.Access.Value, m.Access.From)
	if spec.Plan {
		ex.set("plan", "true", fromRun)
	}
	ex.set("name", spec.Name, workFrom)
	ex.set("type", string(spec.Type), fromRun)
	ex.set("channel_id", string(spec.ChannelID), fromChannel)
	if spec.RunID != "" {
		ex.set("run_id", string(spec.RunID), fromRun)
	}
	ex.set("image", spec.Image, m.Image.From)
	ex.set("entrypoint", strings.Join(spec.Entrypoint, " "), fromBuiltin)
	ex.set("labels", fmt.Sprint(len(spec.Labels)), fromBuiltin)
	ex.set("work_dir", spec.WorkDir, workFrom)
	ex.set("user", spec.User, fromBuiltin)
	ex.set("agent", fmt.Sprintf("%s (%d:%d)", spec.Agent.Name, spec.Agent.UID, spec.Agent.GID), fromHost)
	ex.set("cap_drop", strings.Join(spec.CapDrop, ","), fromBuiltin)
	ex.set("cap_add", strings.Join(spec.CapAdd, ","), fromBuiltin)
	ex.set("no_new_privileges", fmt.Sprint(spec.NoNewPrivileges), fromBuiltin)
	ex.set("read_only_root", fmt.Sprint(spec.ReadOnlyRoot), fromBuiltin)
	ex.set("network", spec.Network, m.Network.From)
	if len(spec.ExtraHosts) > 0 {
		ex.set("extra_hosts", strings.Join(spec.ExtraHosts, ","), fromBuiltin)
	}
	if spec.ShmBytes > 0 {
		ex.set("shm_bytes", fmt.Sprint(spec.ShmBytes), fromBuiltin)
	}
	ex.set("stop_grace_sec", fmt.Sprint(spec.StopGraceSec), fromBuiltin)
	for _, t := range spec.Tmpfs {
		ex.set("tmpfs["+t.Target+"]", t.Options, fromBuiltin)
	}
	ex.set("hash", spec.Hash, fromBuiltin)
	ex.set("fixed", spec.Fixed, fromBuiltin)
	slices.SortStableFunc(ex.out.Origins, func(a, b core.FieldOrigin) int { return strings.Compare(a.Field, b.Field) })
}
